//! Which memory-access patterns have occurred, and which could.

use crate::harness::ThunkId;
use crate::protocol::{MethodAccess, NO_THUNK, RunReply};
use raddle_core::coverage::map::{Accesses, Report};
use raddle_core::pattern::{AccessKind, Instance, InstanceSet, PatternId};
use raddle_core::{NameId, SiteId};
use std::collections::{BTreeMap, BTreeSet, VecDeque};

/// An access as patterns see it.
pub type Point = (AccessKind, SiteId, NameId);

/// What the methods of a type do to shared variables, and which instances have occurred.
///
/// Both are learned from executions, so the universe (T_C) grows with what is tried; what a static analysis knows is
/// added with [`PatternCoverage::add`].
#[derive(Clone, Debug, Default)]
pub struct PatternCoverage {
    accesses: Accesses,
    by_point: BTreeMap<Point, BTreeSet<ThunkId>>,
    by_method: BTreeMap<ThunkId, BTreeSet<Point>>,
    covered: InstanceSet,
    /// Pairs of places, one after the other, that two threads visited with nothing written in between, one of them to write: Location
    /// Pairs. That is what instances of the first three patterns are, whatever the variable.
    locations: BTreeSet<(SiteId, SiteId)>,
    /// Whether each of the last tests showed something new.
    recent: VecDeque<bool>,
}

/// How many tests say what to expect of the next one.
const RECENT: usize = 100;

impl PatternCoverage {
    /// A method can do this.
    pub fn add(&mut self, access: &MethodAccess) {
        let point = (access.kind, access.site, access.name);
        self.accesses.add(access.name, access.kind, access.site);
        // The dropping of what a thread made is no call that a test could be made of.
        if access.thunk == NO_THUNK {
            return;
        }
        self.by_point.entry(point).or_default().insert(ThunkId(access.thunk));
        self.by_method.entry(ThunkId(access.thunk)).or_default().insert(point);
    }

    /// Adds what the executions of a test showed; how many instances were new.
    pub fn tested(&mut self, replies: &[RunReply]) -> usize {
        let new: usize = replies.iter().map(|r| self.executed(r)).sum();
        if self.recent.len() == RECENT {
            self.recent.pop_front();
        }
        self.recent.push_back(new > 0);
        new
    }

    /// The chance that another test shows an instance that has not occurred, as far as the last hundred tell; `None`
    /// before the first. An estimate from above while the search makes progress.
    pub fn chance_of_new(&self) -> Option<f64> {
        let new = self.recent.iter().filter(|new| **new).count();
        (!self.recent.is_empty()).then(|| new as f64 / self.recent.len() as f64)
    }

    fn executed(&mut self, reply: &RunReply) -> usize {
        reply.accesses.iter().for_each(|a| self.add(a));
        let mut new = 0;
        for instance in &reply.patterns {
            if !self.covered.insert(instance) {
                continue;
            }
            new += 1;
            if let [first, second] = instance.sites()[..] {
                self.locations.insert((first, second));
            }
        }
        new
    }

    /// How many pairs of places two threads have visited one right after the other (Location Pairs).
    pub fn locations(&self) -> usize {
        self.locations.len()
    }

    /// Whether an instance has occurred.
    pub fn is_covered(&self, instance: &Instance) -> bool {
        self.covered.contains(instance)
    }

    /// The methods that do this.
    pub fn methods(&self, point: Point) -> impl Iterator<Item = ThunkId> + '_ {
        self.by_point.get(&point).into_iter().flatten().copied()
    }

    /// What a method does.
    pub fn points(&self, method: ThunkId) -> impl Iterator<Item = Point> + '_ {
        self.by_method.get(&method).into_iter().flatten().copied()
    }

    /// All that is known to be done.
    pub fn all_points(&self) -> impl Iterator<Item = Point> + '_ {
        self.by_point.keys().copied()
    }

    /// The instances that have occurred.
    pub fn covered(&self) -> &InstanceSet {
        &self.covered
    }

    /// The sites of every variable.
    pub fn accesses(&self) -> &Accesses {
        &self.accesses
    }

    /// Instances that have not occurred, at most so many, most bug-prone patterns first.
    pub fn open(&self, most: usize) -> Vec<Instance> {
        Self::most_prone_first(&self.accesses, |i| !self.covered.contains(i), most)
    }

    /// Instances that fit, at most so many, most bug-prone patterns first: the third, those of three steps on one
    /// variable, the other short ones, those on two variables.
    pub fn most_prone_first(
        accesses: &Accesses,
        fits: impl Fn(&Instance) -> bool,
        most: usize,
    ) -> Vec<Instance> {
        const FIRST: [u8; 8] = [3, 4, 7, 1, 2, 5, 6, 8];
        let rank = |i: &Instance| FIRST.iter().position(|p| PatternId::new(*p) == Some(i.pattern()));
        let mut found = Vec::new();
        for turn in (0..FIRST.len()).map(Some).chain([None]) {
            let fitting = accesses.instances().filter(|i| rank(i) == turn && fits(i));
            found.extend(fitting.take(most - found.len()));
            if found.len() == most {
                break;
            }
        }
        found
    }

    /// MAP-coverage over what is known.
    pub fn report(&self) -> Report {
        Report::new(&self.accesses, &self.covered, None)
    }
}
