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
//! of those visited, which also knows what has been explored completely. An extension is executed, only to look at it, if nobody has come there
//! before ([`search`]).
//!
//! That takes tens of executions for each trace, and is done only as long as it shows new scheduling points. Then the search goes on by what
//! the threads are about to do, without giving up executions ([`glance`]).
//!
//! Hence three counts. [`taken`](Adaptive::taken) is the papers' P, the passed traces and the failing one;
//! [`completed`](Adaptive::completed) also has the extensions that came to an end but were never taken;
//! [`executions`](Adaptive::executions) is everything that ran.
//!
//! Where the papers and the published code disagree the code is the default for the search and the papers for what a pattern is:
//! all 17, on variables with names, of all accesses. See [`AdaptiveConfig`]. Deviations
//! of our own, besides glancing: a failing trace counts as explored but not as passed, so that the search can go
//! on; when new scheduling points were learned the tree is dropped, but not the passed traces.

mod config;
mod glance;
mod known;
mod passed;
mod queue;
mod search;

pub use config::AdaptiveConfig;
pub use queue::Selection;

use super::pos::Priorities;
use super::tree::{Edge, Tree};
use super::{Choice, Finished, Strategy, View};
use crate::event::{Event, ThreadId};
use crate::outcome::Outcome;
#[cfg(test)]
use crate::pattern::Instance;
use crate::trace::NameId;
use known::{Accesses, Known, Past, Rank, name_of};
use passed::Bits;
use queue::Subtrace;
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64Mcg;
use std::collections::BTreeMap;

/// So many decisions are remembered. Then the tree is dropped, but not the passed traces, so that a long search does not need ever
/// more memory.
const REMEMBERED: usize = 1 << 16;

/// The search behind ARS and HARS.
#[derive(Debug)]
pub struct Adaptive {
    config: AdaptiveConfig,
    rng: Pcg64Mcg,
    past: Past,
    /// Patterns of the traces passed since the queue was last empty; only when draining.
    undrained: Vec<Bits>,
    tree: Tree,
    /// What became of choices of the tree: when the search looks, of all that were executed, later of those after which an execution ended.
    reached: BTreeMap<Edge, Reached>,
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
    Decision(Accesses),
    /// The execution passed.
    End {
        patterns: Bits,
        heuristics: [u32; 3],
        /// It was taken and counts among the passed traces.
        taken: bool,
    },
}

/// The execution under way.
#[derive(Debug)]
struct Live {
    known: Known,
    /// The last choice, if the tree knows the execution.
    edge: Option<Edge>,
    /// Events before the step under way, unless it has been made before.
    begun: Option<usize>,
    /// The lots of the pending steps, when the search glances.
    lots: Priorities,
    decided: bool,
    /// It did not go where it went before; chance decides the rest.
    lost: bool,
}

impl Adaptive {
    /// From a seed.
    pub fn new(seed: u64, config: AdaptiveConfig) -> Self {
        let past = Past::new(config);
        Adaptive {
            config,
            rng: Pcg64Mcg::seed_from_u64(seed),
            live: Live {
                known: Known::new(config, &past),
                edge: None,
                begun: None,
                lots: Priorities::new(true),
                decided: false,
                lost: false,
            },
            past,
            undrained: Vec::new(),
            tree: Tree::default(),
            reached: BTreeMap::new(),
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
        self.past.instances(self.live.known.patterns())
    }

    /// Whether no scheduling points have turned up for long.
    fn is_settled(&self) -> bool {
        self.settled >= self.config.settle
    }

    /// Whether a choice ended a trace that was taken.
    fn was_taken(&self, edge: Edge) -> bool {
        matches!(self.reached.get(&edge), Some(Reached::End { taken: true, .. }))
    }

    /// A trace passed.
    fn passes(&mut self, patterns: Bits) {
        self.taken += 1;
        if self.config.drain && !self.first && !self.is_settled() {
            self.undrained.push(patterns);
        } else {
            self.past.passed.insert(patterns);
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

    /// Gives up the descent under way.
    fn start_again(&mut self) {
        self.queue.clear();
        self.follow.clear();
        self.at = None;
        self.extensions = None;
        for patterns in self.undrained.drain(..) {
            self.past.passed.insert(patterns);
        }
    }

    /// The execution does not go where it went before, so nothing is known about it.
    fn lose(&mut self) {
        self.live.lost = true;
        self.live.known = Known::new(self.config, &self.past);
    }

    fn any(&mut self, view: &View<'_>) -> Choice {
        Choice::Run(self.rng.random_range(0..view.enabled.len()))
    }

    fn run(&mut self, edge: Edge, view: &View<'_>) -> Choice {
        let i = edge.slot as usize;
        self.live.known.chosen(view.enabled[i].thread);
        self.live.edge = Some(edge);
        Choice::Run(i)
    }

    fn catch_up(&mut self, events: &[Event], vars: &[NameId]) {
        self.live.known.catch_up(events, vars, &mut self.past);
    }
}

impl Strategy for Adaptive {
    fn begin(&mut self) -> bool {
        if self.is_settled() && !self.first {
            self.start_again();
            if self.tree.is_explored() {
                return false;
            }
        } else if !self.first && !self.plan() {
            return false;
        }
        self.live.known = Known::new(self.config, &self.past);
        self.live.lots.clear();
        (self.live.edge, self.live.begun) = (None, None);
        (self.live.decided, self.live.lost) = (false, false);
        self.executions += 1;
        true
    }

    fn choose_blindly(&mut self, enabled: usize) -> Option<usize> {
        self.follow_blindly(enabled)
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
        if self.first {
            let slot = self.rng.random_range(0..view.enabled.len()) as u32;
            self.run(Edge { node, slot }, view)
        } else if self.is_settled() {
            self.glance(node, view)
        } else {
            self.search(node, view)
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
        if run.learned || self.live.lost || self.tree.len() > REMEMBERED {
            self.start_again();
            self.tree.clear();
            self.reached.clear();
        }
    }

    /// The papers' P, and the distinguishable degrees of the first 50 choices, as the HARS paper measures them for its RQ1.
    fn notes(&self) -> Vec<f64> {
        std::iter::once(self.taken as f64).chain(self.degrees.iter().copied()).collect()
    }
}
