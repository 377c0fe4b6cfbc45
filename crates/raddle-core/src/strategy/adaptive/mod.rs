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
//! is used as long as what is wanted next continues it, and abandoned for another one otherwise. A subtrace is a path of choices in a tree
//! of those visited, which also knows what has been explored completely.
//!
//! An extension is executed, only to look at it, if nobody knows what it comes to. Mostly that is known from
//! other executions in which the thread was at the same point of its own history ([`steps`]), so that its patterns can be told at the decision before it. Extensions that
//! fail or end the execution are never foreseen but executed. An extension that ends is remembered, so that it is executed once. As long as
//! new scheduling points turn up, everything is executed ([`AdaptiveConfig::settle`]). A jump to another subtrace costs an execution all the same.
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
mod steps;
mod track;

pub use config::AdaptiveConfig;
pub use queue::Selection;

use super::tree::{Edge, Tree};
use super::{Choice, Finished, Strategy, View};
use crate::event::{Event, ThreadId};
use crate::outcome::Outcome;
#[cfg(test)]
use crate::pattern::Instance;
use crate::trace::NameId;
use known::{Known, Numbers, Rank};
use passed::{Bits, Passed};
use queue::Subtrace;
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64Mcg;
use std::collections::BTreeMap;
use steps::{Begun, Foreseen, Steps};
use track::Tracker;

/// So many degrees are kept for evaluations.
const DEGREES: usize = 50;

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
    numbers: Numbers,
    tree: Tree,
    /// The choices of the tree that were executed.
    reached: BTreeMap<Edge, Reached>,
    steps: Steps,
    queue: Vec<Subtrace>,
    /// The choice that was taken last, whose extensions are not in the queue yet; `None` at the beginning.
    at: Option<Edge>,
    /// Its extensions, as far as they are known, once the execution has been there.
    extensions: Option<Vec<(Edge, Option<Rank>)>>,
    /// Choices that lead to the one to be executed, last one first.
    follow: Vec<ThreadId>,
    /// The random execution at the start.
    first: bool,
    live: Live,
    /// Executions since the last one that showed new scheduling points.
    settled: u32,
    /// A descent from the first decision has ended in a passed trace.
    descended: bool,
    taken: u64,
    completed: u64,
    executions: u64,
    selection: Option<Selection>,
    /// Of the first choices.
    degrees: Vec<f64>,
}

/// What became of a choice that was executed.
#[derive(Debug)]
enum Reached {
    /// Another decision, after these accesses.
    Decision(Foreseen),
    /// The execution passed.
    End {
        patterns: Bits,
        heuristics: [u32; 3],
        /// It was taken and counts among the passed traces.
        taken: bool,
    },
}

/// Where to go next.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Go {
    /// To the first decision.
    Begin,
    /// After this choice.
    To(Edge),
    /// There is nothing left to try.
    Nowhere,
}

/// The execution under way.
#[derive(Debug)]
struct Live {
    known: Known,
    tracker: Tracker,
    /// The last choice, if the tree knows the execution.
    edge: Option<Edge>,
    /// The step under way, unless it has been made before.
    begun: Option<Begun>,
    decided: bool,
    /// It did not go where it went before; chance decides the rest.
    lost: bool,
}

impl Adaptive {
    /// From a seed.
    pub fn new(seed: u64, config: AdaptiveConfig) -> Self {
        let passed = Passed::default();
        Adaptive {
            config,
            rng: Pcg64Mcg::seed_from_u64(seed),
            live: Live {
                known: Known::new(config, &passed),
                tracker: Tracker::default(),
                edge: None,
                begun: None,
                decided: false,
                lost: false,
            },
            passed,
            undrained: Vec::new(),
            numbers: Numbers::default(),
            tree: Tree::default(),
            reached: BTreeMap::new(),
            steps: Steps::default(),
            queue: Vec::new(),
            at: None,
            extensions: None,
            follow: Vec::new(),
            first: true,
            settled: 0,
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

    /// Takes subtraces until the execution has to go somewhere: to an extension about which nothing is known, or to the
    /// subtrace taken. The live execution is at the decision given, if there is one.
    fn advance(&mut self, live: Option<(u32, &View<'_>)>) -> Go {
        loop {
            if self.tree.is_explored() {
                return Go::Nowhere;
            }
            let Some(node) = self.tree.after(self.at) else { return self.at.map_or(Go::Begin, Go::To) };
            let extensions = match (self.extensions.take(), live) {
                (Some(e), _) => e,
                (None, Some((n, view))) if n == node => self.look(node, view),
                (None, _) => return self.at.map_or(Go::Begin, Go::To),
            };
            if let Some(edge) = self.unknown(&extensions) {
                self.extensions = Some(extensions);
                return Go::To(edge);
            }
            for (edge, rank) in extensions {
                let (distance, heuristics) = rank.unwrap_or_default();
                self.queue.push(Subtrace { edge, distance, heuristics });
            }
            if let Some(again) = self.take(node) {
                return Go::To(again);
            }
        }
    }

    /// The extensions of the subtrace that the live execution has come to, with what is known about them.
    fn look(&mut self, node: u32, view: &View<'_>) -> Vec<(Edge, Option<Rank>)> {
        self.catch_up(view.events, view.vars);
        let mut accesses = Foreseen::new();
        let foresees = self.foresees();
        let mut extensions = Vec::with_capacity(view.enabled.len());
        for edge in self.tree.choices(node) {
            if self.config.prune && self.tree.is_closed(edge) {
                continue;
            }
            let (i, thread) = (edge.slot as usize, view.enabled[edge.slot as usize].thread);
            let known = &self.live.known;
            let rank = match self.reached.get(&edge) {
                Some(Reached::End { patterns, heuristics, .. }) => {
                    Some((self.passed.distance(patterns), *heuristics))
                }
                Some(Reached::Decision(accesses)) => {
                    Some(known.foresee(thread, accesses, view.vars, &mut self.numbers, &self.passed))
                }
                None if foresees && self.steps.foresee(view, i, &self.live.tracker, &mut accesses) => {
                    Some(known.foresee(thread, &accesses, view.vars, &mut self.numbers, &self.passed))
                }
                None => None,
            };
            extensions.push((edge, rank));
        }
        // The authors' set of passed traces has each of them once: to take one again only means to begin again. Without pruning that is
        // what a search of a small program mostly does, so it is done only where there is nothing else.
        if extensions.iter().any(|(e, _)| !self.was_taken(*e)) {
            extensions.retain(|(e, _)| !self.was_taken(*e));
        }
        extensions
    }

    /// Whether a choice ended a trace that was taken.
    fn was_taken(&self, edge: Edge) -> bool {
        matches!(self.reached.get(&edge), Some(Reached::End { taken: true, .. }))
    }

    /// Whether it is time to believe what steps came to.
    fn foresees(&self) -> bool {
        self.config.foresee && self.settled >= self.config.settle
    }

    /// An extension that has to be executed.
    fn unknown(&self, extensions: &[(Edge, Option<Rank>)]) -> Option<Edge> {
        let mut unknown = extensions.iter().filter(|(_, rank)| rank.is_none()).map(|(edge, _)| *edge);
        let first = unknown.clone().next();
        // The thread that went on so far comes first: whoever comes last can be continued without another execution,
        // and what is chosen is a switch more often than not.
        let last = self.at.map(|e| self.tree.thread(e));
        unknown.find(|e| Some(self.tree.thread(*e)) == last).or(first)
    }

    /// An extension that nothing was known about has come to something.
    fn note(&mut self, edge: Edge, rank: Rank) {
        let mut extensions = self.extensions.iter_mut().flatten();
        if let Some((_, r)) = extensions.find(|(e, _)| *e == edge) {
            *r = Some(rank);
        }
    }

    /// Takes the best subtrace that does not end, or begins again. Returns one that is to be executed, although it is known how it ends.
    fn take(&mut self, node: u32) -> Option<Edge> {
        let stay = Some(node).filter(|_| self.config.stay && self.foresees());
        loop {
            let heuristics = self.config.heuristics && !(self.config.cold && self.descended);
            let best = queue::select(&mut self.queue, self.config, heuristics, stay, &mut self.rng);
            let Some((chosen, selection)) = best else { break };
            self.selection = Some(selection);
            if self.degrees.len() < DEGREES {
                self.degrees.push(f64::from(selection.degree.0) / f64::from(selection.degree.1));
            }
            let Some(Reached::End { patterns, taken, .. }) = self.reached.get_mut(&chosen.edge) else {
                self.at = Some(chosen.edge);
                return None;
            };
            if !std::mem::replace(taken, true) {
                let patterns = patterns.clone();
                self.passes(patterns);
                self.close(chosen.edge);
                self.descended = true;
            } else if !self.config.drain {
                self.queue.clear();
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
        let open = |e: Edge| !closed.contains(&e.node) && !self.tree.is_closed(e);
        self.queue.retain(|s| open(s.edge));
        if let Some(extensions) = &mut self.extensions {
            extensions.retain(|(e, _)| open(*e));
        }
        if self.at.is_some_and(|e| !open(e)) {
            self.at = None;
            self.extensions = None;
            self.queue.clear();
        }
        self.tree.recycle(closed);
    }

    /// Forgets the tree, which has changed shape.
    fn start_again(&mut self) {
        self.tree.clear();
        self.reached.clear();
        self.steps.clear();
        self.queue.clear();
        self.follow.clear();
        self.at = None;
        self.extensions = None;
    }

    /// The execution does not go where it went before, so nothing is known about it.
    fn lose(&mut self) {
        self.live.lost = true;
        self.live.known = Known::new(self.config, &self.passed);
    }

    fn any(&mut self, view: &View<'_>) -> Choice {
        let i = self.rng.random_range(0..view.enabled.len());
        self.live.begun = Some(self.steps.begin(view, i, &self.live.tracker));
        Choice::Run(i)
    }

    fn run(&mut self, edge: Edge, view: &View<'_>) -> Choice {
        let i = edge.slot as usize;
        self.live.known.chosen(view.enabled[i].thread);
        if !self.reached.contains_key(&edge) {
            self.live.begun = Some(self.steps.begin(view, i, &self.live.tracker));
        }
        self.live.edge = Some(edge);
        Choice::Run(i)
    }

    fn catch_up(&mut self, events: &[Event], vars: &[NameId]) {
        self.live.known.catch_up(events, vars, &mut self.numbers, &self.passed);
    }

    /// The step under way has led to a decision.
    fn arrive(&mut self, view: &View<'_>) {
        if let Some(begun) = self.live.begun.take() {
            self.steps.decides(begun, view, &self.live.tracker);
            if let Some(edge) = self.live.edge.filter(|_| !self.live.lost) {
                let accesses = view.events[begun.events_before()..].iter().filter(|e| e.access().is_some());
                let named = |e: &Event| (*e, e.object().map_or(NameId(0), |v| view.vars[v.0 as usize]));
                self.reached.insert(edge, Reached::Decision(accesses.map(named).collect()));
                if self.extensions.is_some() {
                    self.catch_up(view.events, view.vars);
                    self.note(edge, self.live.known.rank(&self.passed));
                }
            }
        }
        self.live.tracker.catch_up(view.events, view.vars);
    }
}

impl Strategy for Adaptive {
    fn begin(&mut self) -> bool {
        if self.follow.is_empty() && !self.first {
            match self.advance(None) {
                Go::Begin => {}
                Go::To(edge) => self.follow = self.tree.path(edge),
                Go::Nowhere => return false,
            }
        }
        self.live.known = Known::new(self.config, &self.passed);
        self.live.tracker.begin();
        (self.live.edge, self.live.begun) = (None, None);
        (self.live.decided, self.live.lost) = (false, false);
        self.executions += 1;
        true
    }

    /// On the way to where something is to be seen, nothing has to be looked at.
    fn choose_blindly(&mut self, enabled: usize) -> Option<usize> {
        if self.follow.len() < 2 || self.live.lost {
            return None;
        }
        let node = self.tree.after(self.live.edge)?;
        let thread = *self.follow.last()?;
        let mut choices = self.tree.choices(node);
        let known = choices.len();
        let edge = choices.find(|e| self.tree.thread(*e) == thread).filter(|_| known == enabled)?;
        self.follow.pop();
        self.live.known.chosen(thread);
        self.live.edge = Some(edge);
        self.live.decided = true;
        Some(edge.slot as usize)
    }

    fn choose(&mut self, view: &View<'_>) -> Choice {
        self.live.decided = true;
        if self.live.lost || self.first && !self.config.enter_first {
            self.arrive(view);
            return self.any(view);
        }
        let Some(node) = self.tree.enter(self.live.edge, view.enabled) else {
            self.lose();
            self.arrive(view);
            return self.any(view);
        };
        self.arrive(view);
        if self.first {
            let slot = self.rng.random_range(0..view.enabled.len()) as u32;
            return self.run(Edge { node, slot }, view);
        }
        if self.follow.is_empty() {
            let wanted = match self.advance(Some((node, view))) {
                Go::To(edge) => edge,
                Go::Begin | Go::Nowhere => return Choice::Abandon,
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
            if let Some(begun) = self.live.begun.take() {
                self.steps.ends(begun, &run.trace.events, &run.trace.vars, passed, &self.live.tracker);
            }
            self.catch_up(&run.trace.events, &run.trace.vars);
            let lost = self.live.lost || run.learned;
            match self.live.edge.filter(|_| !lost) {
                Some(edge) if passed && !self.first => self.ended(edge),
                edge => {
                    if passed {
                        let patterns = self.live.known.patterns().clone();
                        self.passes(patterns);
                    } else {
                        self.taken += 1;
                    }
                    if let Some(edge) = edge {
                        self.close(edge);
                    }
                }
            }
            if !self.live.decided {
                self.tree.close_root();
            }
            self.first = false;
        }
        self.settled = if run.learned { 0 } else { self.settled.saturating_add(1) };
        if run.learned || self.live.lost || self.reached.len() > REMEMBERED {
            self.start_again();
        }
    }

    /// The papers' P, and the distinguishable degrees of the first 50 choices, as the HARS paper measures them for its RQ1.
    fn notes(&self) -> Vec<f64> {
        std::iter::once(self.taken as f64).chain(self.degrees.iter().copied()).collect()
    }
}

impl Adaptive {
    /// The execution passed and ended with this choice.
    fn ended(&mut self, edge: Edge) {
        let rank = self.live.known.rank(&self.passed);
        let patterns = self.live.known.patterns().clone();
        // It was to go on, so it was taken.
        let mut taken = self.extensions.is_none() && self.at == Some(edge);
        if taken {
            self.passes(patterns.clone());
            self.descended = true;
            self.at = None;
        } else {
            self.note(edge, rank);
            // More may have been recorded than when it was taken.
            taken = self.was_taken(edge) && self.passed.distance(&patterns) == 0;
        }
        self.reached.insert(edge, Reached::End { patterns, heuristics: rank.1, taken });
        if taken {
            self.close(edge);
        }
    }
}
