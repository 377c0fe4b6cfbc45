//! How far the pairs of methods have come.

use crate::harness::{Harness, ThunkId};
use crate::protocol::RunReply;
use raddle_core::coverage::method_pairs::{Counts, MethodPair, MethodPairs};
use raddle_core::event::MethodId;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::fmt::Write;

/// The pairs of methods of a harness, and for which of them tests could be made.
#[derive(Clone, PartialEq, Debug)]
pub struct PairCoverage {
    /// Tried and covered counts.
    pub counts: MethodPairs,
    methods: Vec<ThunkId>,
    built: BTreeSet<MethodPair>,
}

/// The pairs, sorted by how far they have come.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct PairReport {
    /// Ran at the same time.
    pub covered: Vec<(MethodPair, Counts)>,
    /// Not yet, although tests were made for them, or before any was tried.
    pub open: Vec<(MethodPair, Counts)>,
    /// Not yet, and no test could be made for them: a call never works on its own, or needs something that only
    /// one thread can have.
    pub never_possible: Vec<(MethodPair, Counts)>,
}

impl PairCoverage {
    /// Nothing tried, nothing covered.
    pub fn new(methods: &[ThunkId]) -> Self {
        let counts = MethodPairs::new(methods.iter().map(|t| MethodId(t.0)));
        PairCoverage { counts, methods: methods.to_vec(), built: BTreeSet::new() }
    }

    /// A test was made in which different suffixes call the two.
    pub fn built(&mut self, pair: MethodPair) {
        self.built.insert(pair);
    }

    /// Counts what the executions of a test covered. A test runs many times here and once in the paper, so that
    /// covered counts can be compared with tried counts: the average over the executions counts, rounded up.
    pub fn executed(&mut self, replies: &[RunReply]) {
        for reply in replies {
            for &(a, b, times) in &reply.pairs {
                let pair = MethodPair::new(MethodId(a), MethodId(b));
                self.counts.covered_times(pair, times.div_ceil(reply.executions.max(1)));
            }
        }
    }

    /// All pairs, sorted.
    pub fn report(&self) -> PairReport {
        let report = self.counts.report();
        let impossible =
            |(pair, counts): &(MethodPair, Counts)| counts.tried > 0 && !self.built.contains(pair);
        let (never_possible, open) = report.open.into_iter().partition(impossible);
        PairReport { covered: report.covered, open, never_possible }
    }

    /// How many pairs are covered, of how many.
    pub fn progress(&self) -> (usize, usize) {
        (self.counts.pairs().filter(|(_, c)| c.covered > 0).count(), self.counts.len())
    }

    /// A table of all pairs, one row per method: how often they ran at the same time, `.` for open, `-` for never
    /// possible so far.
    pub fn matrix(&self, harness: &Harness) -> String {
        let report = self.report();
        let impossible: BTreeSet<MethodPair> = report.never_possible.iter().map(|(p, _)| *p).collect();
        let name = |t: &ThunkId| harness.thunk(*t).name.as_str();
        let widest = self.methods.iter().map(|t| name(t).chars().count()).max().unwrap_or(0);
        let mut out = String::new();
        for (i, a) in self.methods.iter().enumerate() {
            let _ = write!(out, "{:>3} {:widest$}", i + 1, name(a));
            for b in &self.methods[..=i] {
                let pair = MethodPair::new(MethodId(a.0), MethodId(b.0));
                let covered = self.counts.counts(pair).map_or(0, |c| c.covered);
                let cell = match covered {
                    0 if impossible.contains(&pair) => "-".to_owned(),
                    0 => ".".to_owned(),
                    1..=9999 => covered.to_string(),
                    _ => "9999+".to_owned(),
                };
                let _ = write!(out, " {cell:>5}");
            }
            out.push('\n');
        }
        out
    }
}
