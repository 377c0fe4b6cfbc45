//! Full subsequence matching, incrementally and without enumerating subsequences.
//!
//! A step matches *any later* event that fits, whatever lies between (MAP-coverage, Algorithm 1). An execution
//! of K events has up to K^4 such subsequences but far fewer instances, so the matcher never looks at
//! subsequences. It works on *classes*: all events of one thread, variable, kind and site. Classes are numbered
//! in the order of their first events, and three facts replace the search for positions:
//!
//! * A class `c1` is followed by an event of class `c2` exactly if the number of `c1` is below the number of classes
//!   that existed at the last event of `c2`, which is one number per class (its *reach*). This gives patterns
//!   1 to 8.
//! * `c1`, `c2`, `c3` occur in this order exactly if the number of `c1` is below the reach that `c2` had at the last
//!   event of `c3`; so a class keeps a copy of all reaches, made at its last event.
//! * The classes `c1` that fit are the first few of their thread, variable and kind. They are added to the set
//!   of instances as one word of bits.
//!
//! When a class occurs again, only the third steps whose copy has changed since its last event are looked at, and
//! a copy changes only when a reach has. Once all classes have occurred and have occurred again, no reach can change,
//! and an event costs a look-up and a few comparisons: this is what makes the time linear in the length of the trace.
//! Memory grows with the square of the number of classes, not with the length of the trace; beyond some thousand classes
//! no more is taken, and patterns on two variables are missed.
//!
//! A read-modify-write is two roles at one position, a read and a write; consecutive steps of a pattern differ in
//! thread or variable, so it can never be two steps of one occurrence.

mod run;

use super::catalogue::CATALOGUE;
use super::instance::{Instance, Match, Witness};
use super::set::{InstanceSet, NONE, Row};
use super::{Matcher, roles};
use crate::event::{Event, SiteId};
use crate::trace::NameId;
use run::{Class, Found, Key, Probe, Run, Visit};

/// The matcher of MAP-coverage: every subsequence counts.
///
/// ```
/// use raddle_core::pattern::{FullMatcher, Matcher};
/// use raddle_core::{Event, NameId};
/// let mut matcher = FullMatcher::default();
/// let (vars, mut new) = ([NameId(0)], Vec::new());
/// matcher.push(&Event::read(1, 4, 0), &vars, &mut new);
/// matcher.push(&Event::write(2, 9, 0), &vars, &mut new);
/// assert_eq!(new[0].instance.to_string(), "P1(s4 s9; n0)");
/// assert_eq!(new[0].witness.events(), [0, 1]);
///
/// // What would thread 1's pending read add?
/// let mut ahead = Vec::new();
/// matcher.preview(&Event::read(1, 5, 0), &vars, &mut ahead);
/// let ahead: Vec<String> = ahead.iter().map(|i| i.to_string()).collect();
/// assert_eq!(ahead, ["P2(s9 s5; n0)", "P4(s4 s9 s5; n0)"]);
/// ```
#[derive(Clone, Debug, Default)]
pub struct FullMatcher {
    run: Run,
    found: InstanceSet,
}

impl FullMatcher {
    /// A matcher that has seen nothing.
    pub fn new() -> Self {
        Self::default()
    }

    /// A matcher for which the two variables of a pattern have different names, as in T_C: it passes over what two objects of one
    /// kind, or two elements of one array, would make with each other.
    ///
    /// ```
    /// use raddle_core::pattern::{FullMatcher, Matcher, patterns_of};
    /// use raddle_core::{Event, NameId, Trace};
    /// let [one, other] = [0, 1].map(|var| move |thread, site| Event::write(thread, site, var));
    /// let events = [one(1, 1), one(2, 1), other(2, 2), other(1, 2)];
    /// let named = |names: [u32; 2]| Trace { vars: names.map(NameId).to_vec(), ..Trace::from_events(events) };
    /// let most = |names, mut matcher: FullMatcher| {
    ///     patterns_of(&mut matcher, &named(names)).iter().map(|i| i.sites().len()).max()
    /// };
    /// assert_eq!(most([7, 7], FullMatcher::new()), Some(4));
    /// assert_eq!(most([7, 7], FullMatcher::of_different_names()), Some(2));
    /// assert_eq!(most([7, 8], FullMatcher::of_different_names()), Some(4));
    /// ```
    pub fn of_different_names() -> Self {
        let mut matcher = Self::default();
        matcher.run.apart = true;
        matcher
    }

    /// Takes an event, and returns the number of new instances.
    fn step(&mut self, event: &Event, vars: &[NameId], mut list: Option<&mut Vec<Match>>) -> u64 {
        let mut new = 0;
        if let Some(access) = event.access() {
            for &kind in roles(&event.op) {
                let probe =
                    self.run.enter(event, access.var, kind, vars[access.var.0 as usize], &mut self.found);
                let row = Row::default();
                let mut add =
                    Add { found: &mut self.found, row, now: self.run.now, new: 0, list: list.as_deref_mut() };
                self.run.scan(&probe, &mut add);
                new += add.new;
                self.run.record(&probe);
            }
        }
        self.run.now += 1;
        new
    }
}

impl Matcher for FullMatcher {
    fn begin(&mut self) {
        self.run.reset();
    }

    fn clear(&mut self) {
        self.run.reset();
        self.found.clear();
    }

    fn push(&mut self, event: &Event, vars: &[NameId], new: &mut Vec<Match>) {
        self.step(event, vars, Some(new));
    }

    fn count(&mut self, event: &Event, vars: &[NameId]) -> u64 {
        self.step(event, vars, None)
    }

    fn preview(&self, event: &Event, vars: &[NameId], new: &mut Vec<Instance>) {
        let mut ahead = Vec::new();
        if let Some(access) = event.access() {
            for &kind in roles(&event.op) {
                let probe = self.run.peek(event, access.var, kind, vars[access.var.0 as usize], &self.found);
                let mut foresee =
                    Foresee { found: &self.found, vars, key: Key::default(), row: None, list: &mut ahead };
                self.run.scan(&probe, &mut foresee);
            }
        }
        ahead.sort_unstable();
        ahead.dedup();
        new.append(&mut ahead);
    }

    fn found(&self) -> &InstanceSet {
        &self.found
    }
}

/// Adds what the scan finds to the set of instances.
struct Add<'a> {
    found: &'a mut InstanceSet,
    row: Row,
    now: u32,
    new: u64,
    list: Option<&'a mut Vec<Match>>,
}

impl Visit for Add<'_> {
    fn is_settled(&mut self, third: Option<u32>, probe: &Probe) -> bool {
        let Some(third) = third else { return self.found.all_settled(probe.access, probe.kind) };
        if self.found.is_settled(third, probe.access) {
            return true;
        }
        self.found.settle(third, probe.access);
        false
    }

    fn open(&mut self, key: Key) -> bool {
        let table = self.found.table(key.pattern, key.names[0], key.names[1]);
        self.row = self.found.row(table, key.ranks[0], key.ranks[1]);
        !self.found.is_full(self.row)
    }

    fn found(&mut self, found: Found<'_>) {
        for (word, &bits) in found.first.bits(found.upto).iter().enumerate() {
            let new = self.found.add(self.row, found.rank, word, bits);
            if new == 0 {
                continue;
            }
            self.new += u64::from(new.count_ones());
            if let Some(list) = &mut self.list {
                for first in found.firsts(word, new) {
                    let (sites, events, steps) = found.steps(first, self.now);
                    let (pattern, names) = self.found.meaning(self.row);
                    list.push(Match {
                        instance: instance(pattern, &sites[..steps], names),
                        witness: Witness::new(&events[..steps]),
                    });
                }
            }
        }
    }
}

/// Lists what the scan finds and the set of instances lacks.
struct Foresee<'a> {
    found: &'a InstanceSet,
    vars: &'a [NameId],
    key: Key,
    row: Option<Row>,
    list: &'a mut Vec<Instance>,
}

impl Visit for Foresee<'_> {
    fn is_settled(&mut self, third: Option<u32>, probe: &Probe) -> bool {
        match third {
            _ if probe.access == NONE => false,
            None => self.found.all_settled(probe.access, probe.kind),
            Some(third) => self.found.is_settled(third, probe.access),
        }
    }

    fn open(&mut self, key: Key) -> bool {
        self.row = self.found.known_row(key.pattern, key.names[0], key.names[1], key.ranks[0], key.ranks[1]);
        self.key = key;
        true
    }

    fn found(&mut self, found: Found<'_>) {
        let known = self.row.map_or(&[][..], |row| self.found.cell(row, found.rank));
        for (word, &bits) in found.first.bits(found.upto).iter().enumerate() {
            for first in found.firsts(word, bits & !known.get(word).unwrap_or(&0)) {
                let (sites, _, steps) = found.steps(first, 0);
                let names = self.key.vars.map(|v| self.vars[v.0 as usize]);
                self.list.push(instance(self.key.pattern, &sites[..steps], names));
            }
        }
    }
}

fn instance(pattern: usize, sites: &[SiteId], [x, y]: [NameId; 2]) -> Instance {
    let pattern = &CATALOGUE[pattern];
    Instance::new(pattern.id, sites, x, pattern.has_y().then_some(y))
}

impl<'r> Found<'r> {
    /// The classes of first steps that the bits of a word stand for.
    fn firsts(&self, word: usize, mut bits: u64) -> impl Iterator<Item = &'r Class> + use<'r> {
        let (run, group) = (self.run, self.first);
        std::iter::from_fn(move || {
            let bit = (bits != 0).then(|| bits.trailing_zeros())?;
            bits &= bits - 1;
            Some(run.class(group.class_of_rank(word as u32 * 64 + bit)))
        })
    }

    /// Sites, events and number of steps, given the first one.
    fn steps(&self, first: &Class, now: u32) -> ([SiteId; 4], [u32; 4], usize) {
        let site = self.probe.site;
        match (self.second, self.third) {
            (None, _) => ([first.site, site, site, site], [first.first, now, 0, 0], 2),
            (Some(second), third) => {
                let at = self.run.occurrence_after(second, first);
                match third {
                    None => ([first.site, second.site, site, site], [first.first, at, now, 0], 3),
                    Some(third) => {
                        let sites = [first.site, second.site, third.site, site];
                        (sites, [first.first, at, third.last, now], 4)
                    }
                }
            }
        }
    }
}
