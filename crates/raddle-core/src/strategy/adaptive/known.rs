//! What the events of a subtrace amount to.

use super::AdaptiveConfig;
use super::passed::Bits;
use crate::event::{Event, SiteId, ThreadId, VarId};
use crate::pattern::{CutConfig, CutMatcher, Instance};
use crate::trace::NameId;
use std::collections::{BTreeMap, BTreeSet};

/// What the events of a subtrace amount to.
#[derive(Clone, Debug)]
pub(super) struct Known {
    matcher: CutMatcher,
    patterns: Bits,
    /// Events accounted for.
    seen: usize,
    /// `None` when repeated accesses count: then all writes do.
    writes: Option<BTreeSet<(ThreadId, SiteId, VarId)>>,
    write_count: u32,
    variables: BTreeSet<VarId>,
    switches: u32,
    last: Option<ThreadId>,
    names: bool,
}

impl Known {
    /// Nothing has happened.
    pub fn new(config: AdaptiveConfig) -> Self {
        let cut = CutConfig { patterns: config.patterns, drop_repeated: config.drop_repeated };
        Known {
            matcher: CutMatcher::new(cut),
            patterns: Bits::default(),
            seen: 0,
            writes: config.drop_repeated.then(BTreeSet::new),
            write_count: 0,
            variables: BTreeSet::new(),
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

    /// Whom the last decision chose.
    pub fn last(&self) -> Option<ThreadId> {
        self.last
    }

    /// Accounts for the events that have happened.
    pub fn catch_up(&mut self, events: &[Event], vars: &[NameId], numbers: &mut BTreeMap<Instance, u32>) {
        let mut instances = Vec::new();
        for e in events.get(self.seen..).unwrap_or_default() {
            let Some(access) = e.access() else { continue };
            instances.clear();
            if self.matcher.advance(e, vars, &mut instances) {
                self.patterns.clear();
            }
            for i in &instances {
                let next = numbers.len() as u32;
                let i = if self.names { *i } else { i.without_names() };
                self.patterns.insert(*numbers.entry(i).or_insert(next));
            }
            self.variables.insert(access.var);
            if e.is_write() {
                let new = self.writes.as_mut().is_none_or(|w| w.insert((e.thread, e.site, access.var)));
                self.write_count += u32::from(new);
            }
        }
        self.seen = events.len();
    }

    /// The patterns in it.
    pub fn patterns(&self) -> &Bits {
        &self.patterns
    }

    /// TSF, WOP (as a count) and SVC.
    pub fn heuristics(&self) -> [u32; 3] {
        [self.switches, self.write_count, self.variables.len() as u32]
    }
}
