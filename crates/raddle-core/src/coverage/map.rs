//! MAP-coverage: how many of the possible pattern instances have been covered.
//!
//! The universe comes from the sites that read and write each variable ([`Accesses`]): every combination of such sites
//! that fits a pattern is an instance (MAP-coverage, Algorithm 3), and their number is T_C. For the two-variable
//! patterns all *ordered* pairs of *different* names count, which the paper's formula leaves open; with unordered pairs
//! coverage could reach 200 %.
//!
//! Covered instances come from the matchers of [`crate::pattern`], over any number of executions, as an
//! [`InstanceSet`]; sets from several workers are [merged](InstanceSet::merge). With [`Facts`], the rest is split into
//! what is still *open* and what is *infeasible*. The example of the paper, a threshold that one method reads at lines 4
//! and 5 and another sets at line 9:
//!
//! ```
//! use raddle_core::coverage::map::{Accesses, Report};
//! use raddle_core::pattern::{FullMatcher, Matcher};
//! use raddle_core::{Event, Trace};
//!
//! let run = Trace::from_events([Event::read(1, 4, 0), Event::write(2, 9, 0), Event::read(1, 5, 0)]);
//! let mut accesses = Accesses::default();
//! accesses.observe(&run);
//! assert_eq!(accesses.total(), 16);
//!
//! let mut matcher = FullMatcher::new();
//! for event in &run.events {
//!     matcher.count(event, &run.vars);
//! }
//! let report = Report::new(&accesses, matcher.found(), None);
//! assert_eq!((report.all.covered, report.all.total), (3, 16));
//! assert_eq!(report.all.ratio(), 0.1875);
//! ```

use super::feasible::{Facts, Profile};
use crate::event::SiteId;
use crate::pattern::{AccessKind, CATALOGUE, Instance, InstanceSet, PATTERNS, Pattern, Which};
use crate::trace::{NameId, Trace};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

/// The sites that read and write each variable. A read-modify-write site does both.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Accesses {
    variables: BTreeMap<NameId, Sites>,
}

/// The sites that touch a variable.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Sites {
    /// The sites that read it.
    pub reads: BTreeSet<SiteId>,
    /// The sites that write it.
    pub writes: BTreeSet<SiteId>,
}

/// What became of a set of possible instances.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Tally {
    /// All of them: T_C.
    pub total: u128,
    /// They occurred.
    pub covered: u128,
    /// They cannot occur, and did not.
    pub infeasible: u128,
}

/// MAP-coverage, split up.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Report {
    /// All instances.
    pub all: Tally,
    /// By pattern, in the order of the catalogue.
    pub per_pattern: Vec<Tally>,
    /// By variable. An instance on two variables counts for both.
    pub per_variable: BTreeMap<NameId, Tally>,
    /// Instances that occurred outside the universe: at sites that [`Accesses`] does not list, or on two variables with
    /// the same name. They count nowhere else.
    pub outside: u128,
    /// Instances that occurred although the facts rule them out. They count as covered; the facts are wrong.
    pub contradictions: Vec<Instance>,
}

impl Accesses {
    /// A site does this to a variable.
    pub fn add(&mut self, name: NameId, kind: AccessKind, site: SiteId) {
        let sites = self.variables.entry(name).or_default();
        match kind {
            AccessKind::Read => sites.reads.insert(site),
            AccessKind::Write => sites.writes.insert(site),
        };
    }

    /// Adds every access of a trace. A universe that is learned this way grows with what is tried; one from a
    /// static analysis does not.
    pub fn observe(&mut self, trace: &Trace) {
        for event in &trace.events {
            if let Some(access) = event.access() {
                for &kind in crate::pattern::roles(&event.op) {
                    self.add(trace.name(access.var), kind, event.site);
                }
            }
        }
    }

    /// Adds everything that another one has.
    pub fn merge(&mut self, other: &Accesses) {
        for (&name, theirs) in &other.variables {
            let mine = self.variables.entry(name).or_default();
            mine.reads.extend(&theirs.reads);
            mine.writes.extend(&theirs.writes);
        }
    }

    /// The variables and their sites.
    pub fn variables(&self) -> &BTreeMap<NameId, Sites> {
        &self.variables
    }

    /// T_C: the number of possible instances.
    pub fn total(&self) -> u128 {
        CATALOGUE.iter().map(|p| self.choices(p).map(|(x, y)| self.size(p, x, y)).sum::<u128>()).sum()
    }

    /// Every possible instance, by pattern. There can be very many: see [`total`](Accesses::total).
    pub fn instances(&self) -> impl Iterator<Item = Instance> + '_ {
        CATALOGUE.iter().flat_map(move |p| {
            self.choices(p).flat_map(move |(x, y)| {
                let options: Vec<Vec<SiteId>> = p
                    .steps
                    .iter()
                    .map(|s| self.sites(s.kind, pick(s.var, x, y)).iter().copied().collect())
                    .collect();
                combinations(options).map(move |sites| Instance::new(p.id, &sites, x, p.has_y().then_some(y)))
            })
        })
    }

    /// Whether an instance is possible.
    pub fn contains(&self, instance: &Instance) -> bool {
        instance.y() != Some(instance.x())
            && instance.steps().all(|(kind, site, name)| self.sites(kind, name).contains(&site))
    }

    /// The variables on which a pattern can occur; the same one twice if the pattern has one.
    fn choices(&self, pattern: &Pattern) -> impl Iterator<Item = (NameId, NameId)> + '_ {
        let two = pattern.has_y();
        let names = move || self.variables.keys().copied();
        names().flat_map(move |x| names().filter(move |y| (x != *y) == two).map(move |y| (x, y)))
    }

    /// The number of instances of a pattern on given variables.
    fn size(&self, pattern: &Pattern, x: NameId, y: NameId) -> u128 {
        pattern.steps.iter().map(|s| self.sites(s.kind, pick(s.var, x, y)).len() as u128).product()
    }

    fn sites(&self, kind: AccessKind, name: NameId) -> &BTreeSet<SiteId> {
        static NONE: BTreeSet<SiteId> = BTreeSet::new();
        let sites = self.variables.get(&name);
        sites.map_or(&NONE, |s| if kind == AccessKind::Read { &s.reads } else { &s.writes })
    }

    /// The number of instances that the facts rule out. Sites with the same facts are counted together, so this
    /// takes time by the number of different facts and not by the number of instances.
    fn infeasible(&self, facts: &Facts, pattern: &Pattern, x: NameId, y: NameId) -> u128 {
        let groups = |kind, name| -> Vec<(Profile<'_>, u128)> {
            let mut groups: BTreeMap<Profile<'_>, u128> = BTreeMap::new();
            for &site in self.sites(kind, name) {
                *groups.entry(facts.profile(name, kind, site)).or_default() += 1;
            }
            groups.into_iter().collect()
        };
        let options = pattern.steps.iter().map(|s| groups(s.kind, pick(s.var, x, y))).collect();
        combinations(options)
            .filter(|choice| {
                let profiles: Vec<Profile<'_>> = choice.iter().map(|(p, _)| *p).collect();
                !facts.is_possible(pattern, &profiles)
            })
            .map(|choice| choice.iter().map(|(_, n)| n).product::<u128>())
            .sum()
    }
}

impl Tally {
    /// Neither covered nor infeasible: still to be tried.
    pub fn open(&self) -> u128 {
        self.total - self.covered - self.infeasible
    }

    /// MAP-coverage: covered over total; 1 when there is nothing to cover.
    pub fn ratio(&self) -> f64 {
        if self.total == 0 { 1.0 } else { self.covered as f64 / self.total as f64 }
    }
}

impl Report {
    /// Compares what was covered with what is possible. Without facts nothing is infeasible.
    pub fn new(accesses: &Accesses, covered: &InstanceSet, facts: Option<&Facts>) -> Self {
        let mut report = Report { per_pattern: vec![Tally::default(); PATTERNS], ..Report::default() };
        for pattern in &CATALOGUE {
            for (x, y) in accesses.choices(pattern) {
                let infeasible = facts.map_or(0, |f| accesses.infeasible(f, pattern, x, y));
                let total = accesses.size(pattern, x, y);
                report.note(pattern, x, y, |tally| {
                    tally.total += total;
                    tally.infeasible += infeasible;
                });
            }
        }
        let mut counts: BTreeMap<(usize, NameId, NameId), [u128; 2]> = BTreeMap::new();
        for instance in covered.iter() {
            if !accesses.contains(&instance) {
                report.outside += 1;
                continue;
            }
            let key = (instance.pattern().index(), instance.x(), instance.y().unwrap_or(instance.x()));
            let [covered, contradicting] = counts.entry(key).or_default();
            *covered += 1;
            if facts.is_some_and(|f| !f.is_feasible(&instance)) {
                *contradicting += 1;
                report.contradictions.push(instance);
            }
        }
        for ((pattern, x, y), [covered, contradicting]) in counts {
            report.note(&CATALOGUE[pattern], x, y, |tally| {
                tally.covered += covered;
                tally.infeasible -= contradicting;
            });
        }
        report.contradictions.sort_unstable();
        report
    }

    /// Changes the tallies in which an instance counts.
    fn note(&mut self, pattern: &Pattern, x: NameId, y: NameId, change: impl Fn(&mut Tally)) {
        change(&mut self.all);
        change(&mut self.per_pattern[pattern.id.index()]);
        change(self.per_variable.entry(x).or_default());
        if y != x {
            change(self.per_variable.entry(y).or_default());
        }
    }
}

fn pick(which: Which, x: NameId, y: NameId) -> NameId {
    if which == Which::X { x } else { y }
}

/// One element of each, in every way.
fn combinations<T: Clone>(options: Vec<Vec<T>>) -> impl Iterator<Item = Vec<T>> {
    let total: u128 = options.iter().map(|o| o.len() as u128).product();
    (0..total).map(move |mut n| {
        let pick = |o: &Vec<T>| {
            let len = o.len() as u128;
            let element = o[(n % len) as usize].clone();
            n /= len;
            element
        };
        options.iter().map(pick).collect()
    })
}
