//! What the events of the execution under way amount to.

use super::AdaptiveConfig;
use super::passed::{Bits, Passed};
use crate::event::{Event, SiteId, ThreadId, VarId};
use crate::pattern::fixed::FixedMap;
use crate::pattern::{CutConfig, CutMatcher, Instance};
use crate::trace::NameId;
use std::collections::BTreeSet;

/// The number of each instance in [`Bits`].
pub(super) type Numbers = FixedMap<Instance, u32>;

/// What the events of the execution under way amount to.
#[derive(Clone, Debug)]
pub(super) struct Known {
    matcher: CutMatcher,
    patterns: Bits,
    /// By passed trace: how many of the patterns it lacks.
    lacking: Vec<u32>,
    /// The least of these.
    nearest: Option<u32>,
    /// Events accounted for.
    seen: usize,
    /// `None` when repeated accesses count: then all writes do.
    writes: Option<BTreeSet<(ThreadId, SiteId, VarId)>>,
    write_count: u32,
    variables: Bits,
    variable_count: u32,
    switches: u32,
    last: Option<ThreadId>,
    names: bool,
}

/// How far a subtrace is from the passed traces, and its heuristics.
pub(super) type Rank = (u32, [u32; 3]);

impl Known {
    /// Nothing has happened.
    pub fn new(config: AdaptiveConfig, passed: &Passed) -> Self {
        let cut = CutConfig { patterns: config.patterns, drop_repeated: config.drop_repeated };
        Known {
            matcher: CutMatcher::new(cut),
            patterns: Bits::default(),
            lacking: vec![0; passed.len()],
            nearest: (passed.len() > 0).then_some(0),
            seen: 0,
            writes: config.drop_repeated.then(BTreeSet::new),
            write_count: 0,
            variables: Bits::default(),
            variable_count: 0,
            switches: 0,
            last: None,
            names: config.names,
        }
    }

    /// At a decision this thread was chosen.
    pub fn chosen(&mut self, thread: ThreadId) {
        self.switches += u32::from(self.last.is_some_and(|t| t != thread));
        self.last = Some(thread);
    }

    /// Accounts for the events that have happened.
    pub fn catch_up(&mut self, events: &[Event], vars: &[NameId], numbers: &mut Numbers, passed: &Passed) {
        for e in events.get(self.seen..).unwrap_or_default() {
            self.happens(e, vars, numbers, passed);
        }
        self.seen = events.len();
    }

    fn happens(&mut self, e: &Event, vars: &[NameId], numbers: &mut Numbers, passed: &Passed) {
        let Some(access) = e.access() else { return };
        let mut instances = Vec::new();
        if self.matcher.advance(e, vars, &mut instances) {
            self.patterns.clear();
            self.lacking.fill(0);
            self.nearest = self.nearest.map(|_| 0);
        }
        let mut new = false;
        for i in &instances {
            let n = number(i, self.names, numbers);
            if self.patterns.insert(n) {
                passed.add(n, &mut self.lacking);
                new = true;
            }
        }
        if new {
            self.nearest = self.lacking.iter().min().copied();
        }
        self.variable_count += u32::from(self.variables.insert(access.var.0));
        if e.is_write() {
            let new = self.writes.as_mut().is_none_or(|w| w.insert((e.thread, e.site, access.var)));
            self.write_count += u32::from(new);
        }
    }

    /// The patterns in it.
    pub fn patterns(&self) -> &Bits {
        &self.patterns
    }

    /// Its distance, and TSF, WOP (as a count) and SVC.
    pub fn rank(&self, passed: &Passed) -> Rank {
        let distance = self.nearest.filter(|_| self.lacking.len() == passed.len());
        let distance = distance.unwrap_or_else(|| passed.distance(&self.patterns));
        (distance, [self.switches, self.write_count, self.variable_count])
    }

    /// What it would be if this thread were chosen and made these accesses, and nobody else any.
    pub fn foresee(
        &self,
        thread: ThreadId,
        accesses: &[(Event, NameId)],
        vars: &[NameId],
        numbers: &mut Numbers,
        passed: &Passed,
    ) -> Rank {
        if self.writes.is_some() {
            return self.clone().execute(thread, accesses, vars, numbers, passed);
        }
        let (distance, mut heuristics) = self.rank(passed);
        heuristics[0] += u32::from(self.last.is_some_and(|t| t != thread));
        let mut new: Vec<u32> = Vec::new();
        let mut touched: Vec<(VarId, bool)> = Vec::new();
        let mut instances = Vec::new();
        for (e, name) in accesses {
            let Some(access) = e.access() else { continue };
            heuristics[1] += u32::from(e.is_write());
            let before = touched.iter().position(|(v, _)| *v == access.var);
            if before.is_none() {
                heuristics[2] += u32::from(!self.variables.contains(access.var.0));
                touched.push((access.var, false));
            }
            let before = before.unwrap_or(touched.len() - 1);
            // The thread's own write hides what the others did, and its own accesses make no pair with it.
            if !touched[before].1 {
                instances.clear();
                self.matcher.foresee(e, *name, &mut instances);
                for i in &instances {
                    let n = number(i, self.names, numbers);
                    if !self.patterns.contains(n) && !new.contains(&n) {
                        new.push(n);
                    }
                }
            }
            touched[before].1 |= e.is_write();
        }
        if new.is_empty() {
            return (distance, heuristics);
        }
        (passed.distance_with(&self.lacking, &self.patterns, &new), heuristics)
    }

    fn execute(
        mut self,
        thread: ThreadId,
        accesses: &[(Event, NameId)],
        vars: &[NameId],
        numbers: &mut Numbers,
        passed: &Passed,
    ) -> Rank {
        self.chosen(thread);
        let mut vars = vars.to_vec();
        for (e, name) in accesses {
            let Some(access) = e.access() else { continue };
            if vars.len() <= access.var.0 as usize {
                vars.resize(access.var.0 as usize + 1, *name);
            }
            self.happens(e, &vars, numbers, passed);
        }
        self.rank(passed)
    }
}

fn number(instance: &Instance, names: bool, numbers: &mut Numbers) -> u32 {
    let next = numbers.len() as u32;
    let instance = if names { *instance } else { instance.without_names() };
    *numbers.entry(instance).or_insert(next)
}
