//! What the events of the execution under way amount to.

use super::AdaptiveConfig;
use super::passed::{Bits, Passed};
use crate::event::{Event, Op, SiteId, ThreadId, VarId};
use crate::pattern::fixed::FixedMap;
use crate::pattern::{CutConfig, CutMatcher, Instance};
use crate::trace::NameId;
use std::collections::BTreeSet;

/// What earlier executions have come to.
#[derive(Debug)]
pub(super) struct Past {
    pub passed: Passed,
    /// The number of each instance in [`Bits`].
    numbers: FixedMap<Instance, u32>,
    names: bool,
}

impl Past {
    /// Nothing has happened yet.
    pub fn new(config: AdaptiveConfig) -> Self {
        Past { passed: Passed::default(), numbers: FixedMap::default(), names: config.names }
    }

    /// The number of an instance.
    fn number(&mut self, instance: &Instance) -> u32 {
        let next = self.numbers.len() as u32;
        let instance = if self.names { *instance } else { instance.without_names() };
        *self.numbers.entry(instance).or_insert(next)
    }

    /// The instances with these numbers.
    #[cfg(test)]
    pub fn instances(&self, numbers: &Bits) -> BTreeSet<Instance> {
        self.numbers.iter().filter(|(_, n)| numbers.contains(**n)).map(|(i, _)| *i).collect()
    }
}

/// The accesses of a step, with the names of their variables.
pub(super) type Accesses = Vec<(Event, NameId)>;

/// How far a subtrace is from the passed traces, and its heuristics.
pub(super) type Rank = (u32, [u32; 3]);

/// What the events of the execution under way amount to.
#[derive(Clone, Debug)]
pub(super) struct Known {
    matcher: CutMatcher,
    patterns: Bits,
    /// How often the patterns have changed.
    version: u32,
    /// By passed trace: how many of the patterns it lacks.
    lacking: Vec<u16>,
    /// The least of these, and which trace that is.
    nearest: Option<(u16, usize)>,
    /// By thread: what its pending access would add.
    ahead: Vec<Ahead>,
    /// Events accounted for.
    seen: usize,
    /// `None` when repeated accesses count: then all writes do.
    writes: Option<BTreeSet<(ThreadId, SiteId, VarId)>>,
    write_count: u32,
    variables: Bits,
    variable_count: u32,
    switches: u32,
    last: Option<ThreadId>,
    /// Used again and again.
    instances: Vec<Instance>,
    numbers: Vec<u32>,
}

/// What a pending access would add.
#[derive(Clone, Debug, Default)]
struct Ahead {
    /// Site, variable and kind of the access; `None` when what follows does not hold any more.
    of: Option<(SiteId, VarId, u8)>,
    /// The patterns that were not there before, ascending.
    new: Vec<u32>,
    /// The distance with them, when the patterns had changed so often.
    distance: u32,
    version: u32,
}

impl Known {
    /// Nothing has happened.
    pub fn new(config: AdaptiveConfig, past: &Past) -> Self {
        let cut = CutConfig { patterns: config.patterns, drop_repeated: config.drop_repeated };
        Known {
            matcher: CutMatcher::new(cut),
            patterns: Bits::default(),
            version: 0,
            lacking: vec![0; past.passed.len()],
            nearest: (past.passed.len() > 0).then_some((0, 0)),
            ahead: Vec::new(),
            seen: 0,
            writes: config.drop_repeated.then(BTreeSet::new),
            write_count: 0,
            variables: Bits::default(),
            variable_count: 0,
            switches: 0,
            last: None,
            instances: Vec::new(),
            numbers: Vec::new(),
        }
    }

    /// At a decision this thread was chosen.
    pub fn chosen(&mut self, thread: ThreadId) {
        self.switches += u32::from(self.last.is_some_and(|t| t != thread));
        self.last = Some(thread);
    }

    /// Those of these events, all that have happened, that are not accounted for.
    pub fn unseen<'e>(&self, events: &'e [Event]) -> &'e [Event] {
        events.get(self.seen..).unwrap_or_default()
    }

    /// Accounts for the events that have happened.
    pub fn catch_up(&mut self, events: &[Event], vars: &[NameId], past: &mut Past) {
        for e in self.unseen(events) {
            self.happens(e, name_of(e, vars), past);
        }
        self.seen = events.len();
    }

    fn happens(&mut self, e: &Event, name: NameId, past: &mut Past) {
        let Some(access) = e.access() else { return };
        let ahead = self.ahead.get_mut(e.thread.0 as usize).filter(|a| a.of.is_some() && a.of == shape(e));
        if let Some(ahead) = ahead {
            let new = std::mem::take(&mut ahead.new);
            self.matcher.advance_foreseen(e, name);
            self.add(new.iter().copied(), &past.passed);
            self.ahead[e.thread.0 as usize].new = new;
        } else {
            let mut instances = std::mem::take(&mut self.instances);
            instances.clear();
            if self.matcher.advance(e, name, &mut instances) {
                self.patterns.clear();
                self.lacking.fill(0);
                self.nearest = self.nearest.map(|_| (0, 0));
                self.version += 1;
            }
            let mut numbers = std::mem::take(&mut self.numbers);
            numbers.clear();
            numbers.extend(instances.iter().map(|i| past.number(i)));
            self.add(numbers.iter().copied(), &past.passed);
            (self.instances, self.numbers) = (instances, numbers);
        }
        for ahead in &mut self.ahead {
            ahead.of = ahead.of.filter(|(_, var, _)| *var != access.var);
        }
        for t in self.matcher.paired() {
            if let Some(ahead) = self.ahead.get_mut(t.0 as usize) {
                ahead.of = None;
            }
        }
        self.variable_count += u32::from(self.variables.insert(access.var.0));
        if e.is_write() {
            let new = self.writes.as_mut().is_none_or(|w| w.insert((e.thread, e.site, access.var)));
            self.write_count += u32::from(new);
        }
    }

    /// It has these patterns too; some of them it may have had before.
    fn add(&mut self, patterns: impl Iterator<Item = u32>, passed: &Passed) {
        let (mut new, mut farther) = (false, false);
        for n in patterns {
            if self.patterns.insert(n) {
                passed.add(n, &mut self.lacking);
                farther |= self.nearest.is_some_and(|(_, t)| !passed.has(t, n));
                new = true;
            }
        }
        self.version += u32::from(new);
        if farther {
            let least = self.lacking.iter().min().copied();
            let at = |least| (least, self.lacking.iter().position(|n| *n == least).unwrap_or(0));
            self.nearest = least.map(at);
        }
    }

    /// The patterns in it.
    pub fn patterns(&self) -> &Bits {
        &self.patterns
    }

    fn distance(&self, passed: &Passed) -> u32 {
        self.distance_with(&[], passed)
    }

    /// Its distance, and TSF, WOP (as a count) and SVC.
    pub fn rank(&self, past: &Past) -> Rank {
        (self.distance(&past.passed), [self.switches, self.write_count, self.variable_count])
    }

    /// What it would be if this thread were chosen and made these accesses, and nobody else any.
    pub fn after(&self, thread: ThreadId, accesses: &Accesses, past: &mut Past) -> Rank {
        let mut then = self.clone();
        then.chosen(thread);
        for (e, name) in accesses {
            then.happens(e, *name, past);
        }
        then.rank(past)
    }

    /// How far it would be if this pending event were the next, and nothing came after it.
    pub fn glance(&mut self, e: &Event, name: NameId, past: &mut Past) -> u32 {
        let of = shape(e);
        if of.is_none() {
            return self.distance(&past.passed);
        }
        if self.writes.is_some() {
            return self.after(e.thread, &vec![(*e, name)], past).0;
        }
        let t = e.thread.0 as usize;
        if self.ahead.len() <= t {
            self.ahead.resize_with(t + 1, Ahead::default);
        }
        let mut ahead = std::mem::take(&mut self.ahead[t]);
        let known = ahead.of == of;
        if !known {
            self.instances.clear();
            self.matcher.foresee(e, name, &mut self.instances);
            ahead.of = of;
            ahead.new.clear();
            ahead.new.extend(self.instances.iter().map(|i| past.number(i)));
            ahead.new.sort_unstable();
            ahead.new.dedup();
        }
        if !known || ahead.version != self.version {
            ahead.version = self.version;
            ahead.new.retain(|n| !self.patterns.contains(*n));
            ahead.distance = self.distance_with(&ahead.new, &past.passed);
        }
        let distance = ahead.distance;
        self.ahead[t] = ahead;
        distance
    }

    /// Its distance, together with patterns that it does not have.
    fn distance_with(&self, new: &[u32], passed: &Passed) -> u32 {
        match self.nearest.filter(|_| self.lacking.len() == passed.len()) {
            Some((distance, nearest)) if new.iter().all(|n| passed.has(nearest, *n)) => distance.into(),
            _ => passed.distance_with(&self.lacking, &self.patterns, new),
        }
    }
}

/// What tells accesses of a thread apart: site, variable and kind.
fn shape(e: &Event) -> Option<(SiteId, VarId, u8)> {
    let (access, kind) = match &e.op {
        Op::Read(a) => (a, 0),
        Op::Write(a) => (a, 1),
        Op::Rmw(a) => (a, 2),
        _ => return None,
    };
    Some((e.site, access.var, kind))
}

/// The name of the object of an event.
pub(super) fn name_of(e: &Event, vars: &[NameId]) -> NameId {
    e.object().and_then(|v| vars.get(v.0 as usize)).copied().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::super::super::HARS;
    use super::*;
    use rand::{RngExt, SeedableRng};
    use rand_pcg::Pcg64Mcg;

    #[test]
    fn what_a_glance_says_is_what_the_event_then_comes_to() {
        for words in ["p17", "p8", "no-repeats"] {
            let config = HARS.with(words).unwrap();
            let (mut past, mut rng) = (Past::new(config), Pcg64Mcg::seed_from_u64(7));
            let mut farther = 0;
            for _ in 0..60 {
                let mut known = Known::new(config, &past);
                let mut any = |t: u32| {
                    let (site, var) = (rng.random_range(0..3), rng.random_range(0..3));
                    if rng.random() { Event::read(t, site, var) } else { Event::write(t, site, var) }
                };
                let mut pending: Vec<Event> = (0..4).map(&mut any).collect();
                for i in 0..30 {
                    let before = known.distance(&past.passed);
                    for e in &pending {
                        let name = NameId(e.object().unwrap().0);
                        let mut forgetful = known.clone();
                        forgetful.ahead.clear();
                        let expected = forgetful.after(e.thread, &vec![(*e, name)], &mut past).0;
                        assert_eq!(known.glance(e, name, &mut past), expected, "{words}");
                        farther += u32::from(expected > before);
                    }
                    let t = (i * 7 + i / 3) % 4;
                    let e = std::mem::replace(&mut pending[t], any(t as u32));
                    known.happens(&e, NameId(e.object().unwrap().0), &mut past);
                }
                past.passed.insert(known.patterns().clone());
            }
            assert!(farther > 100, "{words}: {farther}");
        }
    }
}
