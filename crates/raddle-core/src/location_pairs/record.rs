//! The record machine of every pair of methods, over any number of executions.

use super::fsm::{Instance, Target, Transition};
use super::reduce::{Breach, Reduction};
use crate::coverage::method_pairs::MethodPair;
use crate::trace::Trace;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

/// What any instance has done in any execution: the edges taken, the targets offered by dependent states, and
/// those covered.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(into = "Stored", from = "Stored")]
pub struct Record {
    /// How often each edge was taken.
    edges: BTreeMap<MethodPair, BTreeMap<Transition, u64>>,
    /// How often each target was covered; 0 for those only offered.
    targets: BTreeMap<Target, u64>,
}

/// What one execution added to a record.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Observed {
    /// Edges never taken before.
    pub edges: u64,
    /// Targets never covered before, each with the indices of the two events that covered it.
    pub targets: Vec<(Target, [usize; 2])>,
    /// Atomic blocks that were not.
    pub breaches: BTreeSet<Breach>,
}

/// Says which targets no execution can cover.
///
/// This is where an analysis of the control flow comes in. It must be sound: a target is ruled out only if
/// there is a proof. A target that was covered all the same is reported as a contradiction.
pub trait Feasibility {
    /// Whether the target is proved out of reach.
    fn ruled_out(&self, target: &Target) -> bool;
}

/// Rules out nothing.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct NothingRuledOut;

/// All known targets.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Report {
    /// Covered, with how often.
    pub covered: Vec<(Target, u64)>,
    /// Neither covered nor ruled out.
    pub open: Vec<Target>,
    /// Ruled out.
    pub infeasible: Vec<Target>,
    /// Covered although ruled out: the analysis is wrong. These are among the covered as well.
    pub contradictions: Vec<Target>,
}

impl Feasibility for NothingRuledOut {
    fn ruled_out(&self, _: &Target) -> bool {
        false
    }
}

impl Record {
    /// Runs an instance for every two overlapping method executions of the trace, and notes what they do.
    pub fn observe(&mut self, trace: &Trace, reduction: &Reduction) -> Observed {
        let (executions, breaches) = reduction.apply(trace);
        let mut observed = Observed { breaches, ..Observed::default() };
        for (i, a) in executions.iter().enumerate() {
            for b in &executions[i + 1..] {
                // Executions stand in the order of their start, so nothing later overlaps either.
                if a.left.is_some_and(|left| left < b.entered) {
                    break;
                }
                if let Some(instance) = Instance::new(a, b) {
                    self.follow(instance, &mut observed);
                }
            }
        }
        observed
    }

    fn follow(&mut self, mut instance: Instance<'_>, observed: &mut Observed) {
        let pair = instance.pair();
        let edges = self.edges.entry(pair).or_default();
        let mut arrived_anew = true;
        loop {
            // What a state offers was noted when the edge that leads to it was first taken.
            if arrived_anew {
                for target in instance.offers().into_iter().flatten() {
                    self.targets.entry(target).or_insert(0);
                }
            }
            let Some(step) = instance.next() else { return };
            let taken = edges.entry(step.transition.canonical(pair)).or_insert(0);
            arrived_anew = *taken == 0;
            observed.edges += u64::from(arrived_anew);
            *taken += 1;
            if let Some((target, first)) = step.covers {
                let covered = self.targets.entry(target).or_insert(0);
                if *covered == 0 {
                    observed.targets.push((target, [first, step.at]));
                }
                *covered += 1;
            }
        }
    }

    /// Adds what another record holds.
    pub fn merge(&mut self, other: &Record) {
        for (pair, edges) in &other.edges {
            let mine = self.edges.entry(*pair).or_default();
            for (edge, n) in edges {
                *mine.entry(*edge).or_insert(0) += n;
            }
        }
        for (target, n) in &other.targets {
            *self.targets.entry(*target).or_insert(0) += n;
        }
    }

    /// The machine of a pair: every edge taken and how often.
    pub fn edges(&self, pair: MethodPair) -> impl Iterator<Item = (&Transition, u64)> {
        self.edges.get(&pair).into_iter().flatten().map(|(edge, n)| (edge, *n))
    }

    /// The required transitions of a pair that were taken, and how often.
    pub fn required(&self, pair: MethodPair) -> impl Iterator<Item = (&Transition, u64)> {
        self.edges(pair).filter(|(edge, _)| edge.is_required())
    }

    /// The pairs of methods that ever overlapped.
    pub fn pairs(&self) -> impl Iterator<Item = MethodPair> {
        self.edges.keys().copied()
    }

    /// Every target that was offered, and how often it was covered.
    pub fn targets(&self) -> impl Iterator<Item = (&Target, u64)> {
        self.targets.iter().map(|(target, n)| (target, *n))
    }

    /// Covered, open and infeasible targets. Known are those that some dependent state offered; `more` adds
    /// those that an analysis of the code finds.
    pub fn report(&self, more: impl IntoIterator<Item = Target>, feasibility: &dyn Feasibility) -> Report {
        let mut all = self.targets.clone();
        for target in more {
            all.entry(target).or_insert(0);
        }
        let mut report = Report::default();
        for (target, n) in all {
            match (n > 0, feasibility.ruled_out(&target)) {
                (true, ruled_out) => {
                    report.covered.push((target, n));
                    report.contradictions.extend(ruled_out.then_some(target));
                }
                (false, true) => report.infeasible.push(target),
                (false, false) => report.open.push(target),
            }
        }
        report
    }
}

/// A record as lists, because keys of JSON objects are strings.
#[derive(Serialize, Deserialize)]
struct Stored {
    edges: Vec<(MethodPair, Vec<(Transition, u64)>)>,
    targets: Vec<(Target, u64)>,
}

impl From<Record> for Stored {
    fn from(record: Record) -> Self {
        let edges = record.edges.into_iter().map(|(pair, edges)| (pair, Vec::from_iter(edges)));
        Stored { edges: edges.collect(), targets: Vec::from_iter(record.targets) }
    }
}

impl From<Stored> for Record {
    fn from(stored: Stored) -> Self {
        let edges = stored.edges.into_iter().map(|(pair, edges)| (pair, BTreeMap::from_iter(edges)));
        Record { edges: edges.collect(), targets: BTreeMap::from_iter(stored.targets) }
    }
}
