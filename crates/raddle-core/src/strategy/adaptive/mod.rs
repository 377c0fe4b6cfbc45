//! Adaptive randomised search: what ARS and HARS share.
//!
//! The search grows *subtraces*, prefixes of executions. One that was taken is executed one step further in every
//! possible way: each enabled thread's pending step, and what that thread does up to its next one. All these extensions go
//! into a queue, and the queue's best element is taken next.
//! The best is the one whose memory-access patterns are farthest from those of the passed traces: the distance
//! is the least number, over the passed traces, of patterns of the subtrace that the trace lacks. HARS breaks
//! ties by three heuristics, ARS by chance. An extension that fails ends the search; one that ends well is a passed
//! trace once it is taken.
//!
//! The authors' model checker goes back to the state of any subtrace. We execute its choices again: the live execution
//! is used as long as what is wanted next continues it, and abandoned for another one otherwise. What a step came to
//! is remembered, so that no step is executed twice only to look at it. A subtrace is a path of choices in a tree
//! of those visited, which also knows what has been explored completely.
//!
//! Hence three counts. [`taken`](Adaptive::taken) is the papers' P, the passed traces and the failing one;
//! [`completed`](Adaptive::completed) also has the extensions that came to an end but were never taken;
//! [`executions`](Adaptive::executions) is everything that ran.
//!
//! Where the papers and the published code disagree the code is the default for the search and the papers for what a pattern is:
//! all 17, on variables with names, of all accesses. See [`AdaptiveConfig`]. Deviations
//! of our own: a failing trace counts as explored but not as passed, so that the search can go
//! on; when new scheduling points were learned the tree is dropped, but not the passed traces.

mod config;
mod known;
mod passed;
mod queue;

pub use config::AdaptiveConfig;
pub use queue::Selection;

use super::tree::{Edge, Tree};
use super::{Choice, Finished, Strategy, View};
use crate::event::{Event, ThreadId};
use crate::outcome::Outcome;
use crate::pattern::Instance;
use crate::trace::NameId;
use known::Known;
use passed::{Bits, Passed};
use queue::Subtrace;
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64Mcg;
use std::collections::BTreeMap;
use std::sync::Arc;

/// So many degrees are kept for evaluations.
const DEGREES: usize = 50;
/// So many traces are taken without any execution, because their end is known, before one is executed again all the same.
/// Without pruning nothing else ends the search of a small program.
const FROM_MEMORY: u32 = 100;

/// So many steps are remembered. Then the tree is dropped, but not the passed traces, so that a long search does not need ever
/// more memory.
const REMEMBERED: usize = 1 << 15;

/// The search behind ARS and HARS.
#[derive(Debug)]
pub struct Adaptive {
    config: AdaptiveConfig,
    rng: Pcg64Mcg,
    passed: Passed,
    /// Patterns of the traces passed since the queue was last empty; only when draining.
    undrained: Vec<Bits>,
    /// The number of each instance in [`Bits`].
    numbers: BTreeMap<Instance, u32>,
    tree: Tree,
    /// What became of each choice of the tree that was executed.
    reached: BTreeMap<Edge, Reached>,
    queue: Vec<Subtrace>,
    /// The choice that was taken last, whose extensions are not in the queue yet; `None` at the beginning.
    at: Option<Edge>,
    /// Choices that lead to the one to be executed, last one first.
    follow: Vec<ThreadId>,
    /// The random execution at the start.
    first: bool,
    live: Live,
    /// Traces taken since the last execution.
    from_memory: u32,
    /// A descent from the first decision has ended in a passed trace.
    descended: bool,
    taken: u64,
    completed: u64,
    executions: u64,
    selection: Option<Selection>,
    /// Of the first choices.
    degrees: Vec<f64>,
}

/// What became of a choice.
#[derive(Debug)]
struct Reached {
    known: Arc<Known>,
    end: End,
}

/// Whether an execution ended, and passed, before it came to another decision.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum End {
    No,
    Seen,
    /// It was taken and counts among the passed traces.
    Taken,
}

/// The execution under way.
#[derive(Debug)]
struct Live {
    known: Arc<Known>,
    /// The last choice, if the tree knows the execution.
    edge: Option<Edge>,
    decided: bool,
    /// It did not go where it went before; chance decides the rest.
    lost: bool,
}

impl Adaptive {
    /// From a seed.
    pub fn new(seed: u64, config: AdaptiveConfig) -> Self {
        Adaptive {
            config,
            rng: Pcg64Mcg::seed_from_u64(seed),
            passed: Passed::default(),
            undrained: Vec::new(),
            numbers: BTreeMap::new(),
            tree: Tree::default(),
            reached: BTreeMap::new(),
            queue: Vec::new(),
            at: None,
            follow: Vec::new(),
            first: true,
            live: Live::new(config),
            from_memory: 0,
            descended: false,
            taken: 0,
            completed: 0,
            executions: 0,
            selection: None,
            degrees: Vec::new(),
        }
    }

    /// Passed traces and the failing one: the papers' P when the last one failed.
    pub fn taken(&self) -> u64 {
        self.taken
    }

    /// Executions that ran to their end.
    pub fn completed(&self) -> u64 {
        self.completed
    }

    /// Executions begun, those included that were given up for another subtrace.
    pub fn executions(&self) -> u64 {
        self.executions
    }

    /// How the last subtrace was chosen.
    pub fn selection(&self) -> Option<Selection> {
        self.selection
    }

    /// The patterns of the last execution.
    #[cfg(test)]
    pub(super) fn known_patterns(&self) -> std::collections::BTreeSet<Instance> {
        let has = |n: u32| self.live.known.patterns().contains(n);
        self.numbers.iter().filter(|(_, n)| has(**n)).map(|(i, _)| *i).collect()
    }

    /// Takes subtraces until one has an extension that was never executed: that one. `None` when there is none, or
    /// the tree has no decision yet.
    fn advance(&mut self) -> Option<Edge> {
        loop {
            let node = self.tree.after(self.at).filter(|_| !self.tree.is_explored())?;
            let open = |&e: &Edge| !(self.config.prune && self.tree.is_closed(e));
            let children: Vec<Edge> = self.tree.choices(node).filter(open).collect();
            let fresh = |e: &&Edge| !self.reached.contains_key(e);
            // The thread that went on so far comes first: whoever comes last can be continued without another execution,
            // and what is chosen is a switch more often than not.
            let last = self.at.and_then(|e| self.reached.get(&e)).and_then(|r| r.known.last());
            let stays = |e: &&Edge| Some(self.tree.thread(**e)) == last;
            if let Some(&edge) = children.iter().filter(fresh).find(stays).or(children.iter().find(fresh)) {
                return Some(edge);
            }
            for edge in children {
                let known = &self.reached[&edge].known;
                let distance = self.passed.distance(known.patterns());
                self.queue.push(Subtrace { edge, distance, heuristics: known.heuristics() });
            }
            if let Some(again) = self.take() {
                return Some(again);
            }
        }
    }

    /// Takes the best subtrace that does not end, or begins again. Returns one that is to be executed again, if enough
    /// has come from memory.
    fn take(&mut self) -> Option<Edge> {
        loop {
            let heuristics = self.config.heuristics && !(self.config.cold && self.descended);
            let best = queue::select(&mut self.queue, self.config, heuristics, &mut self.rng);
            let Some((chosen, selection)) = best else { break };
            self.selection = Some(selection);
            if self.degrees.len() < DEGREES {
                self.degrees.push(f64::from(selection.degree.0) / f64::from(selection.degree.1));
            }
            let reached = self.reached.get_mut(&chosen.edge)?;
            match std::mem::replace(&mut reached.end, End::Taken) {
                End::No => {
                    reached.end = End::No;
                    self.at = Some(chosen.edge);
                    return None;
                }
                End::Seen => {
                    let patterns = reached.known.patterns().clone();
                    self.passes(patterns);
                    self.close(chosen.edge);
                    self.descended = true;
                }
                // The authors' set of passed traces has each of them once.
                End::Taken if self.config.drain => {}
                End::Taken => self.queue.clear(),
            }
            self.from_memory += 1;
            if self.from_memory >= FROM_MEMORY && !self.config.prune {
                self.at = None;
                return Some(chosen.edge);
            }
        }
        for patterns in self.undrained.drain(..) {
            self.passed.insert(patterns);
        }
        self.at = None;
        None
    }

    /// A trace passed.
    fn passes(&mut self, patterns: Bits) {
        self.taken += 1;
        if self.config.drain && !self.first {
            self.undrained.push(patterns);
        } else {
            self.passed.insert(patterns);
            self.queue.clear();
        }
    }

    /// There is nothing more to see after this choice.
    fn close(&mut self, edge: Edge) {
        if !self.config.prune {
            return;
        }
        let closed = self.tree.close(edge);
        for n in &closed {
            let of = |slot| Edge { node: *n, slot };
            let below: Vec<Edge> = self.reached.range(of(0)..=of(u32::MAX)).map(|(e, _)| *e).collect();
            for e in below {
                self.reached.remove(&e);
            }
        }
        let open = |s: &Subtrace| !closed.contains(&s.edge.node) && !self.tree.is_closed(s.edge);
        self.queue.retain(open);
        if self.at.is_some_and(|e| closed.contains(&e.node) || self.tree.is_closed(e)) {
            self.at = None;
            self.queue.clear();
        }
        self.tree.recycle(closed);
    }

    /// Forgets the tree, which has changed shape.
    fn start_again(&mut self) {
        self.tree.clear();
        self.reached.clear();
        self.queue.clear();
        self.follow.clear();
        self.at = None;
    }

    /// The execution does not go where it went before, so nothing is known about it.
    fn lose(&mut self) {
        self.live.lost = true;
        self.live.known = Arc::new(Known::new(self.config));
    }

    fn any(&mut self, view: &View<'_>) -> Choice {
        Choice::Run(self.rng.random_range(0..view.enabled.len()))
    }

    fn run(&mut self, edge: Edge, view: &View<'_>) -> Choice {
        match self.reached.get(&edge) {
            Some(r) => self.live.known = r.known.clone(),
            None => {
                self.catch_up(view.events, view.vars);
                Arc::make_mut(&mut self.live.known).chosen(view.enabled[edge.slot as usize].thread);
            }
        }
        self.live.edge = Some(edge);
        Choice::Run(edge.slot as usize)
    }

    fn catch_up(&mut self, events: &[Event], vars: &[NameId]) {
        Arc::make_mut(&mut self.live.known).catch_up(events, vars, &mut self.numbers);
    }
}

impl Strategy for Adaptive {
    fn begin(&mut self) -> bool {
        if self.follow.is_empty() && !self.first {
            if let Some(edge) = self.advance() {
                self.follow = self.tree.path(edge);
            }
            if self.tree.is_explored() {
                return false;
            }
        }
        self.live = Live::new(self.config);
        self.from_memory = 0;
        self.executions += 1;
        true
    }

    fn choose(&mut self, view: &View<'_>) -> Choice {
        self.live.decided = true;
        if self.live.lost || self.first && !self.config.enter_first {
            return self.any(view);
        }
        let Some(node) = self.tree.enter(self.live.edge, view.enabled) else {
            self.lose();
            return self.any(view);
        };
        if let Some(edge) = self.live.edge
            && !self.reached.contains_key(&edge)
        {
            self.catch_up(view.events, view.vars);
            self.reached.insert(edge, Reached { known: self.live.known.clone(), end: End::No });
        }
        if self.first {
            let slot = self.rng.random_range(0..view.enabled.len()) as u32;
            return self.run(Edge { node, slot }, view);
        }
        if self.follow.is_empty() {
            let Some(wanted) = self.advance() else {
                self.lose();
                return self.any(view);
            };
            match self.tree.path_from(node, wanted) {
                Some(path) => self.follow = path,
                None => {
                    self.follow = self.tree.path(wanted);
                    return Choice::Abandon;
                }
            }
        }
        let thread = self.follow.pop();
        match view.enabled.iter().position(|e| Some(e.thread) == thread) {
            Some(i) => self.run(Edge { node, slot: i as u32 }, view),
            None => {
                self.lose();
                self.any(view)
            }
        }
    }

    fn end(&mut self, run: &Finished<'_>) {
        if *run.outcome != Outcome::Abandoned {
            if !self.follow.is_empty() {
                // It ended before it came to where it had been.
                self.lose();
            }
            self.completed += 1;
            let passed = *run.outcome == Outcome::Passed;
            self.catch_up(&run.trace.events, &run.trace.vars);
            let lost = self.live.lost || run.learned || self.live.edge.is_none();
            if passed && !lost && !self.first {
                let edge = self.live.edge.expect("not lost");
                self.reached.insert(edge, Reached { known: self.live.known.clone(), end: End::Seen });
            } else if passed {
                let patterns = self.live.known.patterns().clone();
                self.passes(patterns);
            } else {
                self.taken += 1;
            }
            if let Some(edge) = self.live.edge.filter(|_| !lost && (!passed || self.first)) {
                self.close(edge);
            }
            if !self.live.decided {
                self.tree.close_root();
            }
            self.first = false;
        }
        if run.learned || self.live.lost || self.reached.len() > REMEMBERED {
            self.start_again();
        }
    }

    /// The papers' P, and the distinguishable degrees of the first 50 choices, as the HARS paper measures them for its RQ1.
    fn notes(&self) -> Vec<f64> {
        std::iter::once(self.taken as f64).chain(self.degrees.iter().copied()).collect()
    }
}

impl Live {
    fn new(config: AdaptiveConfig) -> Self {
        Live { known: Arc::new(Known::new(config)), edge: None, decided: false, lost: false }
    }
}
