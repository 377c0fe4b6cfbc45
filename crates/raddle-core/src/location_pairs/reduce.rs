//! From the events of a trace to the actions of its method executions.
//!
//! The paper makes its machines smaller by three reductions, which [`Reduction`] applies to each method execution
//! in this order:
//!
//! 1. An execution of a block marked *pure* that indeed changed nothing is no action at all.
//! 2. A block marked *atomic* is two actions: the first takes all the locks of the block, the second
//!    gives them back and has the effect of everything in between. A [`Breach`] is reported if another thread
//!    wrote what the block uses while it ran.
//! 3. *Method-local* actions, those that act on nothing another thread can see, are lumped: as many as
//!    follow each other are one action.
//!
//! Two things differ from the paper because a trace shows events and not code. A lump does not end at a
//! branch, since branches leave no event. And whether an execution of a pure block was pure is decided by what
//! it did, not by whether it ended normally.

use super::action::{Action, Effect, append};
use crate::event::{Event, MethodId, Op, SiteId, ThreadId, VarId};
use crate::trace::{NameId, Trace};
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

/// How events become actions. The default marks no blocks.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Reduction {
    /// Which objects other threads can see.
    pub globals: Globals,
    /// What becomes of method-local actions.
    pub locals: Locals,
    /// Blocks marked `pure`.
    pub pure: Vec<Block>,
    /// Blocks marked `atomic`.
    pub atomic: Vec<Block>,
    /// Also take as atomic whatever stands between the acquisition of a lock and the moment at which as
    /// many locks have been given back as were taken.
    pub critical_sections: bool,
}

/// Which objects other threads can see.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Globals {
    /// Those that two threads act on in this execution.
    #[default]
    Shared,
    /// All.
    All,
    /// Those with these names, whatever the execution.
    Named(BTreeSet<NameId>),
}

/// What becomes of method-local actions.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Locals {
    /// As many as follow each other are one action, as in the paper. It is independent of everything, so
    /// taking it ends the wait for a dependent successor.
    #[default]
    Lumped,
    /// They belong to the action before them and leave no step, exactly like private code that was never
    /// recorded. Coverage then does not depend on how much private code a runtime records.
    Absorbed,
}

/// A block of code by the first and last of its events.
///
/// An execution of the block runs from an event at `begin` to the next event at `end` of the same method
/// execution. If `begin` is met again before, the earlier start was not an execution of the block.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Block {
    /// Where it begins.
    pub begin: SiteId,
    /// Where it ends; may equal `begin` for a block of one event.
    pub end: SiteId,
}

/// One call of a method.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct MethodExecution {
    /// Who made it.
    pub thread: ThreadId,
    /// What was called.
    pub method: MethodId,
    /// The index of the start event.
    pub entered: usize,
    /// The index of the end event (or of the thread's last step); `None` if the trace ends before.
    pub left: Option<usize>,
    /// What it did, calls it made included, in order.
    pub actions: Vec<Action>,
    /// The effects of all actions, action by action.
    effects: Vec<Effect>,
}

/// Another thread wrote a variable that an atomic block uses, in the middle of the block.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
pub struct Breach {
    /// Index of the first event of the block.
    pub begin: usize,
    /// Index of its last event.
    pub end: usize,
    /// Index of the other thread's write.
    pub intruder: usize,
}

impl Reduction {
    /// The method executions of a trace by the order of their start events, and the breaches of atomic blocks.
    pub fn apply(&self, trace: &Trace) -> (Vec<MethodExecution>, BTreeSet<Breach>) {
        let view = View { reduction: self, trace, global: self.globals.in_trace(trace) };
        let mut breaches = BTreeSet::new();
        let mut executions = calls(trace);
        for (execution, own) in &mut executions {
            view.reduce(own, execution, &mut breaches);
        }
        (executions.into_iter().map(|(execution, _)| execution).collect(), breaches)
    }
}

impl MethodExecution {
    /// What the action with this index does to objects that other threads can see; nothing if it is
    /// method-local or there is no such action.
    pub fn effects(&self, action: usize) -> &[Effect] {
        let Some(end) = self.actions.get(action).map(|a| a.effects_end) else { return &[] };
        let begin = action.checked_sub(1).map_or(0, |before| self.actions[before].effects_end);
        &self.effects[begin..end]
    }

    fn push(&mut self, site: SiteId, at: usize, effects: impl IntoIterator<Item = Effect>) {
        let begin = self.effects.len();
        for effect in effects {
            append(&mut self.effects, begin, effect);
        }
        self.actions.push(Action { site, at, effects_end: self.effects.len() });
    }
}

impl Globals {
    /// For every object of the trace, whether other threads can see it.
    fn in_trace(&self, trace: &Trace) -> Vec<bool> {
        match self {
            Globals::All => vec![true; trace.vars.len()],
            Globals::Named(names) => trace.vars.iter().map(|name| names.contains(name)).collect(),
            Globals::Shared => {
                let mut first: Vec<Option<ThreadId>> = vec![None; trace.vars.len()];
                let mut shared = vec![false; trace.vars.len()];
                for event in &trace.events {
                    if let Some(VarId(v)) = event.object() {
                        let owner = *first[v as usize].get_or_insert(event.thread);
                        shared[v as usize] |= owner != event.thread;
                    }
                }
                shared
            }
        }
    }
}

impl Block {
    /// The index in `own` at which the execution of the block that begins at index `i` ends.
    fn close(&self, events: &[Event], own: &[usize], i: usize) -> Option<usize> {
        let site = |k: usize| events[own[k]].site;
        if site(i) != self.begin {
            return None;
        }
        let stop = (i..own.len()).find(|&k| site(k) == self.end || (k > i && site(k) == self.begin))?;
        (site(stop) == self.end).then_some(stop)
    }
}

/// The calls of a trace by start event, each with the indices of the events its thread took inside it.
fn calls(trace: &Trace) -> Vec<(MethodExecution, Vec<usize>)> {
    let mut calls: Vec<(MethodExecution, Vec<usize>)> = Vec::new();
    let mut open: Vec<(ThreadId, Vec<usize>)> = Vec::new();
    for (i, event) in trace.events.iter().enumerate() {
        let known = open.iter().position(|(thread, _)| *thread == event.thread).unwrap_or_else(|| {
            open.push((event.thread, Vec::new()));
            open.len() - 1
        });
        let stack = &mut open[known].1;
        let ended = match event.op {
            Op::Leave(_) => stack.len().saturating_sub(1),
            Op::Exit => 0,
            _ => stack.len(),
        };
        for call in stack.drain(ended..) {
            calls[call].0.left = Some(i);
        }
        for &call in stack.iter() {
            calls[call].1.push(i);
        }
        if let Op::Enter(method) = event.op {
            stack.push(calls.len());
            let call = MethodExecution {
                thread: event.thread,
                method,
                entered: i,
                left: None,
                actions: Vec::new(),
                effects: Vec::new(),
            };
            calls.push((call, Vec::new()));
        }
    }
    calls
}

struct View<'a> {
    reduction: &'a Reduction,
    trace: &'a Trace,
    global: Vec<bool>,
}

impl View<'_> {
    fn event(&self, index: usize) -> &Event {
        &self.trace.events[index]
    }

    /// Whether the event acts on nothing that another thread can see.
    fn is_local(&self, index: usize) -> bool {
        !self.event(index).object().is_some_and(|v| self.global[v.0 as usize])
    }

    fn effect(&self, index: usize) -> Option<Effect> {
        if self.is_local(index) { None } else { Effect::of(self.event(index)) }
    }

    fn reduce(&self, own: &[usize], into: &mut MethodExecution, breaches: &mut BTreeSet<Breach>) {
        let own = self.without_pure_executions(own);
        let mut i = 0;
        let mut lump: Option<(SiteId, usize)> = None;
        while i < own.len() {
            let block_end = self.atomic_block(&own, i);
            let members = &own[i..=block_end.unwrap_or(i)];
            let (first, last) = (members[0], members[members.len() - 1]);
            i += members.len();
            if members.iter().all(|&e| self.is_local(e)) {
                lump = Some((lump.map_or(self.event(first).site, |(site, _)| site), last));
                continue;
            }
            self.push_lump(lump.take(), into);
            if block_end.is_some() {
                breaches.extend(self.breaches(members));
                self.push_block(members, into);
            } else {
                into.push(self.event(first).site, first, self.effect(first));
            }
        }
        self.push_lump(lump, into);
    }

    fn push_lump(&self, lump: Option<(SiteId, usize)>, into: &mut MethodExecution) {
        if let (Some((site, at)), Locals::Lumped) = (lump, self.reduction.locals) {
            into.push(site, at, None);
        }
    }

    /// The two actions of an atomic block. The first is complete with the acquisitions that open the block; without
    /// locks it does nothing, and is absorbed where method-local actions are.
    fn push_block(&self, members: &[usize], into: &mut MethodExecution) {
        let is_acquire = |i: &usize| matches!(self.event(*i).op, Op::Acquire { .. });
        let opening = members.iter().take_while(|&i| is_acquire(i)).last().unwrap_or(&members[0]);
        let last = members[members.len() - 1];
        let halves = [(members[0], *opening, true), (last, last, false)];
        for (place, at, acquires) in halves {
            let part = members.iter().filter(|&i| is_acquire(i) == acquires);
            let effects: Vec<Effect> = part.filter_map(|&i| self.effect(i)).collect();
            if !effects.is_empty() || self.reduction.locals == Locals::Lumped {
                into.push(self.event(place).site, at, effects);
            }
        }
    }

    fn without_pure_executions<'o>(&self, own: &'o [usize]) -> Cow<'o, [usize]> {
        if self.reduction.pure.is_empty() {
            return Cow::Borrowed(own);
        }
        let mut kept = Vec::new();
        let mut i = 0;
        while i < own.len() {
            let mut ends = self.reduction.pure.iter().filter_map(|b| b.close(&self.trace.events, own, i));
            match ends.find(|&end| self.changes_nothing(&own[i..=end])) {
                Some(end) => i = end + 1,
                None => {
                    kept.push(own[i]);
                    i += 1;
                }
            }
        }
        Cow::Owned(kept)
    }

    /// Whether the events, taken together, leave every global object as it was: nothing is written (or only
    /// what was there), every lock taken is given back, nobody is woken and no thread is made.
    fn changes_nothing(&self, events: &[usize]) -> bool {
        let mut held: BTreeMap<VarId, u32> = BTreeMap::new();
        for &i in events {
            if self.event(i).object().is_some() && self.is_local(i) {
                continue;
            }
            match self.event(i).op {
                Op::Write(_) | Op::Wait { .. } | Op::Wake { .. } | Op::Spawn(_) => return false,
                Op::Rmw(a) if a.read.get().is_none() || a.read != a.written => return false,
                Op::Acquire { lock, .. } => *held.entry(lock).or_default() += 1,
                Op::Release { lock, .. } => match held.get_mut(&lock) {
                    Some(n) if *n > 0 => *n -= 1,
                    _ => return false,
                },
                _ => {}
            }
        }
        held.values().all(|&n| n == 0)
    }

    /// The index in `own` of the last event of the atomic block that begins at index `i`.
    fn atomic_block(&self, own: &[usize], i: usize) -> Option<usize> {
        let marked = self.reduction.atomic.iter().find_map(|b| b.close(&self.trace.events, own, i));
        marked.or_else(|| self.critical_section(own, i))
    }

    fn critical_section(&self, own: &[usize], i: usize) -> Option<usize> {
        if !self.reduction.critical_sections || !matches!(self.event(own[i]).op, Op::Acquire { .. }) {
            return None;
        }
        let mut held = 0;
        (i..own.len()).find(|&k| {
            match self.event(own[k]).op {
                Op::Acquire { .. } => held += 1,
                Op::Release { .. } => held -= 1,
                _ => {}
            }
            held == 0
        })
    }

    fn breaches(&self, members: &[usize]) -> Vec<Breach> {
        let (begin, end) = (members[0], members[members.len() - 1]);
        let thread = self.event(begin).thread;
        let used: BTreeSet<VarId> = members
            .iter()
            .filter(|&&i| !self.is_local(i))
            .filter_map(|&i| self.event(i).access())
            .map(|access| access.var)
            .collect();
        let intrudes = |&i: &usize| {
            let event = self.event(i);
            event.thread != thread
                && event.is_write()
                && event.access().is_some_and(|a| used.contains(&a.var))
        };
        (begin..end).filter(intrudes).map(|intruder| Breach { begin, end, intruder }).collect()
    }
}
