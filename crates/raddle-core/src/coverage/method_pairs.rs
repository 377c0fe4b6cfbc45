//! Concurrent method pairs: which methods have run at the same time.
//!
//! The metric of CovCon (Section IV). Its domain is every unordered pair of public methods of the type under
//! test, a method paired with itself included, so `n` methods have `n (n + 1) / 2` pairs. For each pair two
//! numbers are kept:
//!
//! - *covered*: how often the two methods ran at the same time. When a thread enters `m`, every method that
//!   stands on the stack of another thread at that moment is counted once against `m` ([`Running`],
//!   Algorithm 1). Methods called by methods count as well.
//! - *tried*: how often a test was made to run the two at the same time.
//!
//! A pair that was never tried comes first; otherwise a pair is worth trying again when its two numbers are
//! close and small. That is the [`score`] of Definition 2, and a [`Selector`] draws pairs by it.
//!
//! ```
//! use raddle_core::coverage::method_pairs::{MethodPair, MethodPairs};
//! use raddle_core::{Event, MethodId, Op, Trace};
//!
//! let (push, pop) = (MethodId(0), MethodId(1));
//! let enter = |thread, method| Event::new(thread, 0, Op::Enter(method));
//! let leave = |thread, method| Event::new(thread, 0, Op::Leave(method));
//! // Thread 1 is inside `push` when thread 2 enters `pop`; thread 1's second call comes too late.
//! let trace = Trace::from_events([
//!     enter(1, push),
//!     enter(2, pop),
//!     leave(1, push),
//!     leave(2, pop),
//!     enter(1, push),
//!     leave(1, push),
//! ]);
//!
//! let mut coverage = MethodPairs::new([push, pop]);
//! coverage.observe(&trace);
//! assert_eq!(coverage.counts(MethodPair::new(pop, push)).unwrap().covered, 1);
//! let report = coverage.report();
//! assert_eq!((report.covered.len(), report.open.len()), (1, 2));
//! ```
//!
//! Identity of objects plays no part, as in the authors' code: two methods that run at the same time on
//! different objects are counted too.

use crate::event::{Event, MethodId, Op, ThreadId};
use crate::trace::Trace;
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64Mcg;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Two methods without order; the smaller is kept first.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
pub struct MethodPair(MethodId, MethodId);

/// The two numbers kept for a pair.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Counts {
    /// Tests made to run the two methods at the same time: the paper's `R(p)`.
    pub tried: u64,
    /// How often the two methods ran at the same time: the paper's `C(p)`.
    pub covered: u64,
}

/// Which part of a trace counts.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Cut {
    /// All of it: the paper's Algorithm 1.
    #[default]
    Nothing,
    /// As in the authors' code, method starts after the moment at which only one thread has any method event
    /// left do not count. It matters only for methods that were never left.
    LastThreadAlone,
}

/// The methods that every thread is inside of, followed event by event: the `Mcur` of Algorithm 1.
///
/// An end event takes the innermost method off its thread's stack, whichever it names. The last step of a
/// thread empties its stack: a thread that has ended runs nothing.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Running {
    stacks: BTreeMap<ThreadId, Vec<MethodId>>,
}

/// Tried and covered counts of every pair of a set of methods.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct MethodPairs {
    /// Ascending, without repetition.
    methods: Vec<MethodId>,
    /// One per pair: row by row of the lower triangle, so pair (i, j) with i <= j stands at j (j + 1) / 2 + i.
    counts: Vec<Counts>,
    cut: Cut,
}

/// The pairs of a domain, split by whether they have been covered.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Report {
    /// Pairs that ran at the same time at least once.
    pub covered: Vec<(MethodPair, Counts)>,
    /// Pairs that never did.
    pub open: Vec<(MethodPair, Counts)>,
}

/// How the next pair is chosen.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Rule {
    /// The paper: a pool of all pairs that share the lowest score, drawn at random until it is empty.
    LowestScore,
    /// The authors' code: every pair once in random order; from then on a pool of the best pairs by score,
    /// drawn at random until it is empty. The pool holds a quarter of all pairs (at least one), at most 100.
    BestQuarter,
}

/// Draws pairs to try, by a [`Rule`] and a seed.
#[derive(Clone, Debug)]
pub struct Selector {
    rule: Rule,
    rng: Pcg64Mcg,
    pool: Vec<MethodPair>,
    /// Whether every pair has been put into the pool once; only [`Rule::BestQuarter`] asks.
    first_round_done: bool,
}

/// The score of Definition 2; the lower, the sooner the pair should be tried.
///
/// ```
/// use raddle_core::coverage::method_pairs::score;
/// assert_eq!(score(0, 7), 0); // never tried: at once
/// assert_eq!(score(5, 0), 25); // tried in vain: probably cannot run at the same time
/// assert_eq!(score(1, 9), 8); // runs at the same time without being tried
/// assert_eq!(score(2, 2), 2);
/// ```
pub fn score(tried: u64, covered: u64) -> u64 {
    tried.abs_diff(covered).max(1).saturating_mul(tried)
}

impl MethodPair {
    /// The pair of two methods, in whatever order they come.
    pub fn new(a: MethodId, b: MethodId) -> Self {
        MethodPair(a.min(b), a.max(b))
    }

    /// The two methods, the smaller first.
    pub fn methods(self) -> (MethodId, MethodId) {
        (self.0, self.1)
    }
}

impl Running {
    /// Follows one event and calls `covered` once for every pair that it covers.
    pub fn step(&mut self, event: &Event, mut covered: impl FnMut(MethodPair)) {
        match event.op {
            Op::Enter(method) => {
                for (_, stack) in self.stacks.iter().filter(|(thread, _)| **thread != event.thread) {
                    stack.iter().for_each(|&other| covered(MethodPair::new(method, other)));
                }
                self.stacks.entry(event.thread).or_default().push(method);
            }
            Op::Leave(_) => {
                self.stacks.get_mut(&event.thread).and_then(Vec::pop);
            }
            Op::Exit => {
                self.stacks.remove(&event.thread);
            }
            _ => {}
        }
    }
}

impl MethodPairs {
    /// Nothing tried, nothing covered, over all pairs of the methods.
    pub fn new(methods: impl IntoIterator<Item = MethodId>) -> Self {
        let mut methods: Vec<MethodId> = methods.into_iter().collect();
        methods.sort_unstable();
        methods.dedup();
        let n = methods.len();
        MethodPairs { methods, counts: vec![Counts::default(); n * (n + 1) / 2], cut: Cut::Nothing }
    }

    /// Counts only the part of each trace that `cut` leaves.
    pub fn with_cut(mut self, cut: Cut) -> Self {
        self.cut = cut;
        self
    }

    /// The number of pairs.
    pub fn len(&self) -> usize {
        self.counts.len()
    }

    /// Whether there are no methods and so no pairs.
    pub fn is_empty(&self) -> bool {
        self.counts.is_empty()
    }

    /// All pairs with their counts, in a fixed order.
    pub fn pairs(&self) -> impl Iterator<Item = (MethodPair, Counts)> + '_ {
        let rows = self.methods.iter().enumerate();
        rows.flat_map(|(j, &b)| self.methods[..=j].iter().map(move |&a| MethodPair::new(a, b)))
            .zip(self.counts.iter().copied())
    }

    /// The counts of a pair; `None` when a method is not one of ours.
    pub fn counts(&self, pair: MethodPair) -> Option<Counts> {
        self.index(pair).map(|i| self.counts[i])
    }

    /// A test was made for the pair.
    pub fn tried(&mut self, pair: MethodPair) {
        if let Some(i) = self.index(pair) {
            self.counts[i].tried += 1;
        }
    }

    /// The pair ran at the same time once more; what [`Running::step`] reports goes here.
    pub fn covered(&mut self, pair: MethodPair) {
        if let Some(i) = self.index(pair) {
            self.counts[i].covered += 1;
        }
    }

    /// The pair ran at the same time so many times more.
    pub fn covered_times(&mut self, pair: MethodPair, times: u64) {
        if let Some(i) = self.index(pair) {
            self.counts[i].covered += times;
        }
    }

    /// Counts what a whole execution covers. Methods that are not ours are passed over.
    pub fn observe(&mut self, trace: &Trace) {
        let events = match self.cut {
            Cut::Nothing => &trace.events[..],
            Cut::LastThreadAlone => until_last_thread_alone(&trace.events),
        };
        let mut running = Running::default();
        for event in events {
            running.step(event, |pair| self.covered(pair));
        }
    }

    /// Adds what was tried and covered elsewhere; pairs that are not ours are passed over.
    pub fn merge(&mut self, other: &MethodPairs) {
        for (pair, counts) in other.pairs() {
            if let Some(i) = self.index(pair) {
                self.counts[i].tried += counts.tried;
                self.counts[i].covered += counts.covered;
            }
        }
    }

    /// Covered and open pairs.
    pub fn report(&self) -> Report {
        let (covered, open) = self.pairs().partition(|(_, counts)| counts.covered > 0);
        Report { covered, open }
    }

    fn index(&self, pair: MethodPair) -> Option<usize> {
        let i = self.methods.binary_search(&pair.0).ok()?;
        let j = self.methods.binary_search(&pair.1).ok()?;
        Some(j * (j + 1) / 2 + i)
    }
}

/// The events up to the last method event of the thread that is second to last to have one.
fn until_last_thread_alone(events: &[Event]) -> &[Event] {
    let mut last = BTreeMap::new();
    for (i, event) in events.iter().enumerate() {
        if matches!(event.op, Op::Enter(_) | Op::Leave(_)) {
            last.insert(event.thread, i);
        }
    }
    let mut ends: Vec<usize> = last.into_values().collect();
    ends.sort_unstable_by(|a, b| b.cmp(a));
    match ends.get(1) {
        Some(&end) => &events[..=end],
        None => events,
    }
}

impl Selector {
    /// A selector whose choices the seed decides.
    pub fn new(rule: Rule, seed: u64) -> Self {
        Selector { rule, rng: Pcg64Mcg::seed_from_u64(seed), pool: Vec::new(), first_round_done: false }
    }

    /// Chooses the next pair and counts it as tried; `None` when there are no pairs.
    ///
    /// Scores are computed only when the pool is empty, so a choice may rest on older counts, as in the paper.
    pub fn next(&mut self, pairs: &mut MethodPairs) -> Option<MethodPair> {
        if self.pool.is_empty() {
            self.pool = self.refill(pairs);
        }
        if self.pool.is_empty() {
            return None;
        }
        let pair = self.pool.swap_remove(self.rng.random_range(0..self.pool.len()));
        pairs.tried(pair);
        Some(pair)
    }

    fn refill(&mut self, pairs: &MethodPairs) -> Vec<MethodPair> {
        match self.rule {
            Rule::LowestScore => {
                let scored = || pairs.pairs().map(|(pair, c)| (score(c.tried, c.covered), pair));
                let lowest = scored().map(|(score, _)| score).min();
                scored().filter(|(score, _)| Some(*score) == lowest).map(|(_, pair)| pair).collect()
            }
            Rule::BestQuarter if !self.first_round_done => {
                self.first_round_done = true;
                pairs.pairs().map(|(pair, _)| pair).collect()
            }
            Rule::BestQuarter => {
                let mut best: Vec<_> = pairs.pairs().map(|(pair, c)| (score_in_code(c), pair)).collect();
                best.sort_by_key(|(score, _)| *score); // stable: equal scores keep the order of the pairs
                best.truncate((best.len() / 4).clamp(1, 100));
                best.into_iter().map(|(_, pair)| pair).collect()
            }
        }
    }
}

/// The code has no case for pairs never tried: its first round leaves none.
fn score_in_code(counts: Counts) -> u64 {
    counts.tried.abs_diff(counts.covered).max(1).saturating_mul(counts.tried.max(1))
}
