//! Little programs that run in memory, for the tests of strategies.
//!
//! A program is a list of operations per thread. It runs under a [`Strategy`] exactly as the runtime would run
//! it: every operation is a visible step, and the strategy is asked where it has a choice.

use super::{Choice, Finished, Strategy, View};
use crate::event::{Access, Event, LockMode, MethodId, Op, ThreadId, VarId};
use crate::outcome::{Kind, Outcome};
use crate::trace::{NameId, Trace};
use std::collections::{BTreeMap, BTreeSet};

/// One operation; variables and locks share one numbering.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Do {
    Read(u32),
    Write(u32),
    Lock(u32),
    TryLock(u32),
    /// Nothing when the thread does not have the lock.
    Unlock(u32),
    /// A method is entered.
    Enter(u32),
    /// A method is left, together with the step before.
    Leave(u32),
    /// Others may go on.
    Yield,
}

pub struct Program {
    /// Sites and operations, by thread.
    threads: Vec<Vec<(u32, Do)>>,
    /// Locks are given back together with the step before, not in a visible step of their own.
    pub silent_unlock: bool,
    /// Accesses of this variable under a lock are made together with the step before.
    pub silent_variable: Option<u32>,
    /// Whether a complete execution is a failure.
    pub fails: fn(&Run) -> bool,
}

/// One execution.
#[derive(Clone, Debug)]
pub struct Run {
    /// The threads of the visible steps.
    pub order: Vec<u32>,
    pub trace: Trace,
    pub outcome: Outcome,
    /// What each read and each attempt at a lock saw, by thread and position: the program's result.
    pub seen: BTreeMap<(u32, usize), u128>,
    /// Thread and position of each event.
    places: Vec<(u32, usize)>,
}

impl Program {
    /// Each operation of each thread has its own site: 100 times the thread, plus its position.
    pub fn new(threads: &[&[Do]]) -> Self {
        let site = |t: usize, i: usize| (100 * t + i) as u32;
        let of =
            |(t, ops): (usize, &&[Do])| ops.iter().enumerate().map(|(i, &op)| (site(t, i), op)).collect();
        Self::with(threads.iter().enumerate().map(of).collect())
    }

    /// All threads run the same code from site 0 on.
    pub fn same_code(n: usize, ops: &[Do]) -> Self {
        let code: Vec<(u32, Do)> = ops.iter().enumerate().map(|(i, &op)| (i as u32, op)).collect();
        Self::with(vec![code; n])
    }

    /// With the sites given.
    pub fn at(threads: &[&[(u32, Do)]]) -> Self {
        Self::with(threads.iter().map(|t| t.to_vec()).collect())
    }

    fn with(threads: Vec<Vec<(u32, Do)>>) -> Self {
        Program { threads, silent_unlock: false, silent_variable: None, fails: |_| false }
    }

    /// Runs once; `None` when the strategy has nothing left to try.
    pub fn run(&self, s: &mut dyn Strategy) -> Option<Run> {
        s.begin().then(|| self.execute(s))
    }

    /// Runs once as the execution with this number, apart from the others.
    pub fn run_apart(&self, s: &mut dyn Strategy, number: u64) -> Run {
        s.begin_apart(number);
        self.execute(s)
    }

    fn execute(&self, s: &mut dyn Strategy) -> Run {
        let ops = self.threads.iter().flatten();
        let n = ops.map(|(_, op)| object(*op) + 1).max().unwrap_or(0);
        let mut state = State {
            program: self,
            pc: vec![0; self.threads.len()],
            holders: BTreeMap::new(),
            values: BTreeMap::new(),
            run: Run {
                order: Vec::new(),
                trace: Trace { events: Vec::new(), vars: (0..n).map(NameId).collect() },
                outcome: Outcome::Passed,
                seen: BTreeMap::new(),
                places: Vec::new(),
            },
        };
        state.go(s);
        let run = state.run;
        s.end(&Finished { trace: &run.trace, outcome: &run.outcome, learned: false });
        run
    }

    /// All executions until the strategy has nothing left, at most `limit`.
    pub fn run_all(&self, s: &mut dyn Strategy, limit: usize) -> Vec<Run> {
        let runs: Vec<Run> = std::iter::from_fn(|| self.run(s)).take(limit).collect();
        assert!(runs.len() < limit, "the search does not end within {limit} executions");
        runs
    }
}

impl Run {
    /// The order of every two dependent steps, and which steps were made: equal exactly for executions of one
    /// Mazurkiewicz trace.
    pub fn dependences(&self) -> BTreeSet<[(u32, usize); 2]> {
        let events = &self.trace.events;
        let mut all: BTreeSet<_> = self.places.iter().map(|&p| [p, p]).collect();
        for (i, e) in events.iter().enumerate() {
            let later = events[i + 1..].iter().zip(&self.places[i + 1..]);
            all.extend(later.filter(|(f, _)| e.conflicts_with(f)).map(|(_, &p)| [self.places[i], p]));
        }
        all
    }

    pub fn complete(&self) -> bool {
        self.outcome != Outcome::Abandoned
    }
}

fn object(op: Do) -> u32 {
    match op {
        Do::Read(v) | Do::Write(v) | Do::Lock(v) | Do::TryLock(v) | Do::Unlock(v) => v,
        Do::Enter(_) | Do::Leave(_) | Do::Yield => 0,
    }
}

struct State<'p> {
    program: &'p Program,
    pc: Vec<usize>,
    holders: BTreeMap<u32, usize>,
    values: BTreeMap<u32, u128>,
    run: Run,
}

impl State<'_> {
    fn go(&mut self, s: &mut dyn Strategy) {
        loop {
            for t in 0..self.pc.len() {
                self.settle(t, s);
            }
            let pending: Vec<Event> = (0..self.pc.len()).filter_map(|t| self.pending(t)).collect();
            let free = |e: &&Event| match e.op {
                Op::Acquire { lock, .. } => !self.holders.contains_key(&lock.0),
                _ => true,
            };
            let enabled: Vec<Event> = pending.iter().filter(free).copied().collect();
            let chosen = match enabled.len() {
                0 => {
                    self.run.outcome = if !pending.is_empty() {
                        s.stuck(&pending);
                        Outcome::Failed(Kind::Deadlock)
                    } else if (self.program.fails)(&self.run) {
                        Outcome::Failed(Kind::Panic)
                    } else {
                        Outcome::Passed
                    };
                    return;
                }
                1 if !s.every_step() => 0,
                _ => {
                    let choice = s.choose(&View {
                        enabled: &enabled,
                        last: ThreadId(*self.run.order.last().unwrap_or(&0)),
                        events: &self.run.trace.events,
                        vars: &self.run.trace.vars,
                        decision: self.run.order.len(),
                    });
                    match choice {
                        Choice::Run(i) => i,
                        Choice::Abandon => {
                            self.run.outcome = Outcome::Abandoned;
                            return;
                        }
                    }
                }
            };
            let t = enabled[chosen].thread.0;
            self.run.order.push(t);
            self.step(t as usize, s);
        }
    }

    fn next(&self, t: usize) -> Option<(u32, Do)> {
        self.program.threads[t].get(self.pc[t]).copied()
    }

    /// What the thread does without being asked.
    fn settle(&mut self, t: usize, s: &mut dyn Strategy) {
        loop {
            match self.next(t) {
                Some((_, Do::Leave(_))) => self.step(t, s),
                Some((_, Do::Unlock(l))) if self.holders.get(&l) != Some(&t) => self.pc[t] += 1,
                Some((_, Do::Unlock(_))) if self.program.silent_unlock => self.step(t, s),
                Some((_, Do::Read(v) | Do::Write(v)))
                    if Some(v) == self.program.silent_variable && self.holders.values().any(|h| *h == t) =>
                {
                    self.step(t, s);
                }
                _ => return,
            }
        }
    }

    fn pending(&self, t: usize) -> Option<Event> {
        let (site, op) = self.next(t)?;
        let access = |v| Access::plain(VarId(v), 8);
        let mode = LockMode::Exclusive;
        let op = match op {
            Do::Read(v) => Op::Read(access(v)),
            Do::Write(v) => Op::Write(access(v)),
            Do::Lock(l) => Op::Acquire { lock: VarId(l), mode },
            Do::TryLock(l) => Op::TryAcquire { lock: VarId(l), mode },
            Do::Unlock(l) => Op::Release { lock: VarId(l), mode },
            Do::Enter(m) => Op::Enter(MethodId(m)),
            Do::Leave(m) => Op::Leave(MethodId(m)),
            Do::Yield => Op::Yield,
        };
        Some(Event::new(t as u32, site, op))
    }

    fn step(&mut self, t: usize, s: &mut dyn Strategy) {
        let mut e = self.pending(t).expect("it is enabled");
        let place = (t as u32, self.pc[t]);
        self.pc[t] += 1;
        match &mut e.op {
            Op::Read(a) => {
                let value = *self.values.get(&a.var.0).unwrap_or(&0);
                a.read = crate::Content::of(value);
                self.run.seen.insert(place, value);
            }
            Op::Write(a) => {
                let value = 1000 * (u128::from(place.0) + 1) + place.1 as u128;
                a.written = crate::Content::of(value);
                self.values.insert(a.var.0, value);
            }
            Op::Acquire { lock, .. } => {
                self.holders.insert(lock.0, t);
            }
            &mut Op::TryAcquire { lock, mode } => {
                let free = !self.holders.contains_key(&lock.0);
                self.run.seen.insert(place, u128::from(free));
                if free {
                    self.holders.insert(lock.0, t);
                    e.op = Op::Acquire { lock, mode };
                }
            }
            Op::Release { lock, .. } => {
                self.holders.remove(&lock.0);
            }
            Op::Enter(_) | Op::Leave(_) | Op::Yield => {}
            _ => unreachable!("programs have no other operations"),
        }
        self.run.trace.events.push(e);
        self.run.places.push(place);
        s.happened(&e);
    }
}
