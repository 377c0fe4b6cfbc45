//! Matching that is cut at writes, as the ARS and HARS code does it.
//!
//! Two accesses to one variable form a pair only if no write to it lies between them: walking forward from an
//! access, the walk ends with the first write, whoever made it. Patterns 1 to 3 are the pairs by different
//! threads that are not both reads; 4 to 8 are two pairs that share their middle access and have the same outer
//! thread; 9 to 17 are two pairs on different variables, between the same two threads in opposite directions,
//! told apart by the order of the four accesses. The papers do not mention the cut, but HARS's own example
//! holds only with it.
//!
//! The published code differs from the papers in two more ways, which are options here: it uses patterns 1 to 8
//! only ([`PatternRange::OneVariable`]), and it first drops repeated accesses ([`CutConfig::drop_repeated`]).
//!
//! A read-modify-write takes part as a read and as a write, and ends the walk as every write does. When it is the
//! middle access of a three-step pattern it has one role in both pairs.

use super::catalogue::{AccessKind, PatternId};
use super::fixed::FixedMap;
use super::instance::{Instance, Match, Witness};
use super::set::InstanceSet;
use super::shape::{Family, pattern_of_pair, pattern_of_triple, quad};
use super::{Matcher, roles};
use crate::event::{Event, SiteId, ThreadId, VarId};
use crate::trace::NameId;
use std::collections::{BTreeMap, BTreeSet};

/// Which patterns are looked for.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum PatternRange {
    /// Patterns 1 to 8, the default of the published ARS and HARS code.
    #[default]
    OneVariable,
    /// All 17.
    All,
}

/// How a [`CutMatcher`] works; the default is what the published HARS code does.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct CutConfig {
    /// Which patterns.
    pub patterns: PatternRange,
    /// When a thread repeats an access (same variable, kind and site), its earlier occurrence is deleted from
    /// the trace, so that loops collapse to their last round. Instances can thereby disappear again.
    pub drop_repeated: bool,
}

impl Default for CutConfig {
    fn default() -> Self {
        CutConfig { patterns: PatternRange::OneVariable, drop_repeated: true }
    }
}

/// The matcher of ARS and HARS: a write hides what came before it.
///
/// On read, write, read, write by two threads it finds patterns 2 and 3, where the full matcher also finds 1:
///
/// ```
/// use raddle_core::pattern::{patterns_of, CutConfig, CutMatcher, FullMatcher};
/// use raddle_core::{Event, Trace};
/// let t = Trace::from_events([
///     Event::read(1, 4, 0),
///     Event::write(1, 5, 0),
///     Event::read(2, 4, 0),
///     Event::write(2, 5, 0),
/// ]);
/// let names = |set: std::collections::BTreeSet<_>| -> Vec<String> {
///     set.iter().map(|i: &raddle_core::pattern::Instance| i.to_string()).collect()
/// };
/// let cut = patterns_of(&mut CutMatcher::new(CutConfig::default()), &t);
/// assert_eq!(names(cut), ["P2(s5 s4; n0)", "P3(s5 s5; n0)"]);
/// let full = patterns_of(&mut FullMatcher::new(), &t);
/// assert_eq!(names(full), ["P1(s4 s5; n0)", "P2(s5 s4; n0)", "P3(s5 s5; n0)"]);
/// ```
#[derive(Clone, Debug, Default)]
pub struct CutMatcher {
    config: CutConfig,
    run: Run,
    now: u32,
    /// With `drop_repeated`: the data accesses that still count.
    kept: Vec<(u32, Event, NameId)>,
    current: BTreeSet<Instance>,
    found: InstanceSet,
}

impl CutMatcher {
    /// A matcher that has seen nothing.
    pub fn new(config: CutConfig) -> Self {
        CutMatcher { config, ..Self::default() }
    }

    /// The instances of the execution under way: exactly those of the events so far.
    pub fn current(&self) -> &BTreeSet<Instance> {
        &self.current
    }

    /// The event, on a variable with this name, happened. Like [`count`](Matcher::count), but neither [`found`](Matcher::found) nor
    /// [`current`](Self::current) learns of it. Appends instances: when it returns `true`, all that there are now, because an earlier
    /// access was dropped; otherwise those that may have been added to them. Some can be listed twice.
    pub fn advance(&mut self, event: &Event, name: NameId, instances: &mut Vec<Instance>) -> bool {
        self.step(event, name, &mut |m| instances.push(m.instance))
    }

    /// [`advance`](Self::advance) for an event of which [`foresee`](Self::foresee) still says what it would report now. Not when repeated accesses are dropped.
    pub(crate) fn advance_foreseen(&mut self, event: &Event, name: NameId) {
        self.run.record(self.now, event, name, self.config.patterns == PatternRange::All);
        self.now += 1;
    }

    /// Whose accesses made pairs with the last access. What [`foresee`](Self::foresee) says about an event is the same after an access as before
    /// unless the event is on its variable or by such a thread. Not when repeated accesses are dropped.
    pub(crate) fn paired(&self) -> &[ThreadId] {
        &self.run.paired
    }

    /// What [`advance`](Self::advance) would report if the event, on a variable with this name, happened next.
    pub fn foresee(&self, event: &Event, name: NameId, instances: &mut Vec<Instance>) -> bool {
        if event.access().is_none() {
            return false;
        }
        let all = self.config.patterns == PatternRange::All;
        let repeated = if self.config.drop_repeated { self.repeated(event) } else { None };
        let replayed;
        let run = match repeated {
            None => &self.run,
            Some(i) => {
                let (run, matches) = self.replay_without(i);
                instances.extend(matches.iter().map(|m| m.instance));
                replayed = run;
                &replayed
            }
        };
        run.scan(self.now, event, name, all, &mut |m| instances.push(m.instance));
        repeated.is_some()
    }

    /// Visits the instances that end with the event; all there are, and `true`, if it repeats one that is dropped.
    fn step(&mut self, event: &Event, name: NameId, visit: &mut dyn FnMut(Match)) -> bool {
        let now = self.now;
        self.now += 1;
        if event.access().is_none() {
            return false;
        }
        let mut replaced = false;
        if self.config.drop_repeated {
            if let Some(i) = self.repeated(event) {
                let (run, matches) = self.replay_without(i);
                self.run = run;
                matches.into_iter().for_each(&mut *visit);
                self.kept.remove(i);
                replaced = true;
            }
            self.kept.push((now, *event, name));
        }
        let all = self.config.patterns == PatternRange::All;
        self.run.scan(now, event, name, all, visit);
        self.run.record(now, event, name, all);
        replaced
    }

    /// The event happened, and `current` learns of it; its matches.
    fn push_current(&mut self, event: &Event, vars: &[NameId]) -> Vec<Match> {
        let name = event.access().map_or(NameId(0), |a| vars[a.var.0 as usize]);
        let mut matches = Vec::new();
        if self.step(event, name, &mut |m| matches.push(m)) {
            self.current.clear();
        }
        self.current.extend(matches.iter().map(|m| m.instance));
        matches
    }

    /// The earlier occurrence of the same access by the same thread.
    fn repeated(&self, event: &Event) -> Option<usize> {
        let key = |e: &Event| (e.thread, e.site, e.object(), std::mem::discriminant(&e.op));
        self.kept.iter().position(|(_, e, _)| key(e) == key(event))
    }

    /// Everything from the beginning, without one of the accesses kept.
    fn replay_without(&self, dropped: usize) -> (Run, Vec<Match>) {
        let all = self.config.patterns == PatternRange::All;
        let (mut run, mut matches) = (Run::default(), Vec::new());
        let kept = self.kept[..dropped].iter().chain(&self.kept[dropped + 1..]);
        for (i, event, name) in kept {
            run.scan(*i, event, *name, all, &mut |m| matches.push(m));
            run.record(*i, event, *name, all);
        }
        (run, matches)
    }
}

impl Matcher for CutMatcher {
    fn begin(&mut self) {
        self.run = Run::default();
        self.now = 0;
        self.kept.clear();
        self.current.clear();
    }

    fn clear(&mut self) {
        self.begin();
        self.found.clear();
    }

    fn push(&mut self, event: &Event, vars: &[NameId], new: &mut Vec<Match>) {
        for m in self.push_current(event, vars) {
            if self.found.insert(&m.instance) {
                new.push(m);
            }
        }
    }

    fn count(&mut self, event: &Event, vars: &[NameId]) -> u64 {
        let before = self.found.len();
        for m in self.push_current(event, vars) {
            self.found.insert(&m.instance);
        }
        self.found.len() - before
    }

    fn preview(&self, event: &Event, vars: &[NameId], new: &mut Vec<Instance>) {
        let Some(access) = event.access() else { return };
        let name = vars[access.var.0 as usize];
        let all = self.config.patterns == PatternRange::All;
        let mut ahead = BTreeSet::new();
        let mut add = |m: Match| {
            if !self.found.contains(&m.instance) {
                ahead.insert(m.instance);
            }
        };
        match self.config.drop_repeated.then(|| self.repeated(event)).flatten() {
            None => self.run.scan(self.now, event, name, all, &mut add),
            Some(i) => {
                let (run, matches) = self.replay_without(i);
                matches.into_iter().for_each(&mut add);
                run.scan(self.now, event, name, all, &mut add);
            }
        }
        new.extend(ahead);
    }

    fn found(&self) -> &InstanceSet {
        &self.found
    }

    fn patterns(&self) -> BTreeSet<Instance> {
        self.current.clone()
    }
}

/// What is known about the execution under way.
#[derive(Clone, Debug, Default)]
struct Run {
    vars: BTreeMap<VarId, Var>,
    /// All pairs, by ascending end; only kept for two-variable patterns.
    pairs: Vec<Pair>,
    /// By the two threads: the first occurrence of each pair, by ascending end.
    firsts: BTreeMap<(ThreadId, ThreadId), Vec<Pair>>,
    /// The pairs in `firsts`.
    met: FixedMap<PairKey, ()>,
    /// So many of `firsts` have been combined with this second pair.
    combined: FixedMap<PairKey, u32>,
    /// The threads of the accesses that made pairs with the last one.
    paired: Vec<ThreadId>,
}

/// The accesses to a variable that no later write hides.
#[derive(Clone, Debug, Default)]
struct Var {
    write: Option<Visible>,
    /// Since the write.
    reads: Vec<Visible>,
}

#[derive(Clone, Debug)]
struct Visible {
    event: Event,
    at: u32,
    /// The pairs that end here, one per thread, site and roles.
    before: Vec<Before>,
}

#[derive(Clone, Copy, Debug)]
struct Before {
    thread: ThreadId,
    site: SiteId,
    at: u32,
    /// Of the pair's first and second access.
    kinds: [AccessKind; 2],
}

#[derive(Clone, Copy, Debug)]
struct Pair {
    threads: [ThreadId; 2],
    var: VarId,
    name: NameId,
    sites: [SiteId; 2],
    kinds: [AccessKind; 2],
    at: [u32; 2],
}

type PairKey = (u32, u32, u32, u32, u32, u8);

impl Run {
    /// Visits everything that ends with the event.
    fn scan(&self, now: u32, event: &Event, name: NameId, all: bool, visit: &mut dyn FnMut(Match)) {
        self.pairs_ending_with(now, event, name, |visible, pair| {
            let [k1, k2] = pair.kinds;
            visit(one_variable(pattern_of_pair(k1, k2), &pair.sites, name, &pair.at));
            for b in visible.before.iter().filter(|b| b.thread == event.thread && b.kinds[1] == k1) {
                if let Some(pattern) = pattern_of_triple(b.kinds[0], k1, k2) {
                    let sites = [b.site, pair.sites[0], pair.sites[1]];
                    visit(one_variable(pattern, &sites, name, &[b.at, pair.at[0], pair.at[1]]));
                }
            }
            if all {
                self.combine(&pair, visit);
            }
        });
    }

    /// Remembers the event; `scan` has been called.
    fn record(&mut self, now: u32, event: &Event, name: NameId, all: bool) {
        let mut before: Vec<Before> = Vec::new();
        let mut pairs = Vec::new();
        self.pairs_ending_with(now, event, name, |_, pair| {
            let b =
                Before { thread: pair.threads[0], site: pair.sites[0], at: pair.at[0], kinds: pair.kinds };
            if !before.iter().any(|o| (o.thread, o.site, o.kinds) == (b.thread, b.site, b.kinds)) {
                before.push(b);
            }
            pairs.push(pair);
        });
        self.paired.clear();
        self.paired.extend(before.iter().map(|b| b.thread));
        if all {
            for pair in pairs {
                let [a, b] = pair.threads;
                let upto =
                    self.firsts.get(&(b, a)).map_or(0, |f| f.partition_point(|p| p.at[1] < pair.at[0]));
                let done = self.combined.entry(pair.key()).or_insert(0);
                *done = (*done).max(upto as u32);
                if self.met.insert(pair.key(), ()).is_none() {
                    self.firsts.entry((a, b)).or_default().push(pair);
                }
                self.pairs.push(pair);
            }
        }
        let Some(access) = event.access() else { return };
        let var = self.vars.entry(access.var).or_default();
        let visible = Visible { event: *event, at: now, before };
        if event.is_write() {
            var.write = Some(visible);
            var.reads.clear();
        } else {
            var.reads.push(visible);
        }
    }

    fn pairs_ending_with(&self, now: u32, event: &Event, name: NameId, mut f: impl FnMut(&Visible, Pair)) {
        let Some(var) = event.access().map(|a| a.var) else { return };
        let Some(state) = self.vars.get(&var) else { return };
        let reads = if event.is_write() { &state.reads[..] } else { &[] };
        for v in state.write.iter().chain(reads).filter(|v| v.event.thread != event.thread) {
            for &k1 in roles(&v.event.op) {
                for &k2 in roles(&event.op) {
                    if k1 == AccessKind::Write || k2 == AccessKind::Write {
                        let pair = Pair {
                            threads: [v.event.thread, event.thread],
                            var,
                            name,
                            sites: [v.event.site, event.site],
                            kinds: [k1, k2],
                            at: [v.at, now],
                        };
                        f(v, pair);
                    }
                }
            }
        }
    }

    /// Combines a pair that ends now with the earlier pairs in the opposite direction on other variables.
    fn combine(&self, last: &Pair, visit: &mut dyn FnMut(Match)) {
        let [a, b] = last.threads;
        let opposite = |p: &&Pair| p.threads == [b, a] && p.var != last.var;
        if let Some(firsts) = self.firsts.get(&(b, a)) {
            let upto = firsts.partition_point(|p| p.at[1] < last.at[0]);
            let done = self.combined.get(&last.key()).map_or(0, |&n| n as usize).min(upto);
            for p in firsts[done..upto].iter().filter(opposite) {
                two_variables(Family::Xxyy, [(p, 0), (p, 1), (last, 0), (last, 1)], visit);
            }
        }
        for p in self.pairs.iter().rev().take_while(|p| p.at[1] > last.at[0]).filter(opposite) {
            if p.at[0] < last.at[0] {
                two_variables(Family::Xyxy, [(p, 0), (last, 0), (p, 1), (last, 1)], visit);
            } else {
                two_variables(Family::Xyyx, [(last, 0), (p, 0), (p, 1), (last, 1)], visit);
            }
        }
    }
}

impl Pair {
    fn key(&self) -> PairKey {
        let [t1, t2] = self.threads.map(|t| t.0);
        let [s1, s2] = self.sites.map(|s| s.0);
        (t1, t2, self.var.0, s1, s2, self.kinds[0] as u8 * 2 + self.kinds[1] as u8)
    }
}

fn one_variable(pattern: PatternId, sites: &[SiteId], name: NameId, at: &[u32]) -> Match {
    Match { instance: Instance::new(pattern, sites, name, None), witness: Witness::new(at) }
}

fn two_variables(family: Family, steps: [(&Pair, usize); 4], visit: &mut dyn FnMut(Match)) {
    if let Some(pattern) = quad(family, steps.map(|(p, i)| p.kinds[i])) {
        let y = if family == Family::Xxyy { steps[2].0.name } else { steps[1].0.name };
        let sites = steps.map(|(p, i)| p.sites[i]);
        visit(Match {
            instance: Instance::new(pattern, &sites, steps[0].0.name, Some(y)),
            witness: Witness::new(&steps.map(|(p, i)| p.at[i])),
        });
    }
}
