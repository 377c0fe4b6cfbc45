//! A compact set of instances.
//!
//! An execution with a few hundred sites can contain millions of two-variable instances, so they are not stored
//! one by one. The sites that read a name, and those that write it, are numbered in the order in which they are
//! first met (their *rank*); the instances of one pattern on one name, or on two, are then a table of bits
//! indexed by the ranks of the steps ([`Table`]). A few words of a table can be tested or added at once, which
//! is what the full matcher lives on.
//!
//! Nothing here depends on hash order: maps are only looked up in, never walked.

use super::catalogue::{AccessKind, CATALOGUE, PATTERNS, Step, Which};
use super::fixed::FixedMap;
use super::instance::Instance;
use super::settled::Settled;
use super::shape::{Family, pattern_of_quad};
use super::table::Table;
use crate::event::SiteId;
use crate::trace::NameId;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::collections::BTreeMap;

/// No entry.
pub(super) const NONE: u32 = u32::MAX;
/// Patterns of one variable.
const SINGLE: usize = 8;

/// A set of [`Instance`]s.
///
/// ```
/// use raddle_core::pattern::{Instance, InstanceSet, PatternId};
/// use raddle_core::{NameId, SiteId};
/// let i = Instance::new(PatternId::new(2).unwrap(), &[SiteId(9), SiteId(5)], NameId(0), None);
/// let mut set = InstanceSet::default();
/// assert!(set.insert(&i));
/// assert!(!set.insert(&i));
/// let mut other = InstanceSet::default();
/// assert_eq!(other.merge(&set), 1);
/// assert_eq!(other.iter().collect::<Vec<_>>(), [i]);
/// ```
#[derive(Clone, Debug, Default)]
pub struct InstanceSet {
    name_index: FixedMap<u32, u32>,
    names: Vec<NameId>,
    /// By `name * 2 + kind`: the sites, by rank.
    groups: Vec<Vec<SiteId>>,
    access_index: FixedMap<(u32, SiteId), u32>,
    accesses: Vec<Access>,
    /// Accesses by kind.
    kinds: [u32; 2],
    /// By name: whether two variables of one execution have had it.
    shared: Vec<bool>,
    settled: Settled,
    /// By name: the first of its 8 tables.
    single: Vec<u32>,
    /// By name and name: the first of their 9 tables, or [`NONE`].
    double: Vec<Vec<u32>>,
    tables: Vec<Table>,
    /// The tables that are not empty.
    dirty: Vec<u32>,
    per_pattern: [u64; PATTERNS],
}

/// A name, a kind and a site.
#[derive(Clone, Copy, Debug)]
struct Access {
    group: u32,
    rank: u32,
}

/// A row of a table: where the instances with given third and fourth steps are.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Row {
    table: u32,
    row: usize,
}

impl InstanceSet {
    /// Adds an instance; whether it was new.
    pub fn insert(&mut self, instance: &Instance) -> bool {
        let [x, y] = [instance.x(), instance.y().unwrap_or(instance.x())].map(|n| self.name(n));
        let mut ranks = [0; 4];
        for (rank, (step, &site)) in
            ranks.iter_mut().zip(instance.pattern().pattern().steps.iter().zip(instance.sites()))
        {
            let access = self.access(if step.var == Which::X { x } else { y }, step.kind, site);
            *rank = self.rank(access);
        }
        let table = self.table(instance.pattern().index(), x, y);
        let row = self.row(table, ranks[2], ranks[3]);
        self.add(row, ranks[1], ranks[0] as usize / 64, 1 << (ranks[0] % 64)) != 0
    }

    /// Whether the instance is in the set.
    pub fn contains(&self, instance: &Instance) -> bool {
        self.locate(instance)
            .is_some_and(|(row, [r1, r2])| self.cell(row, r2)[r1 as usize / 64] >> (r1 % 64) & 1 == 1)
    }

    /// The number of instances.
    pub fn len(&self) -> u64 {
        self.per_pattern.iter().sum()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.dirty.is_empty()
    }

    /// The number of instances of each pattern, by [`PatternId::index`](super::PatternId::index).
    pub fn per_pattern(&self) -> &[u64; PATTERNS] {
        &self.per_pattern
    }

    /// The number of instances that involve each variable. An instance of a two-variable pattern counts for
    /// both of its variables, once if they have one name.
    pub fn per_variable(&self) -> BTreeMap<NameId, u64> {
        let mut counts = BTreeMap::new();
        for table in self.dirty.iter().map(|&t| &self.tables[t as usize]) {
            let [x, y] = table.names;
            *counts.entry(self.names[x as usize]).or_default() += table.len;
            if x != y {
                *counts.entry(self.names[y as usize]).or_default() += table.len;
            }
        }
        counts
    }

    /// All instances, in an order that depends only on the order in which they were added.
    pub fn iter(&self) -> impl Iterator<Item = Instance> + '_ {
        self.dirty.iter().flat_map(move |&t| {
            let table = &self.tables[t as usize];
            table.ones().map(move |ranks| self.instance(table, ranks))
        })
    }

    /// Adds all instances of another set; how many were new.
    pub fn merge(&mut self, other: &InstanceSet) -> u64 {
        let before = self.len();
        for theirs in other.dirty.iter().map(|&t| &other.tables[t as usize]) {
            let names = theirs.names.map(|n| self.name(other.names[n as usize]));
            let steps = CATALOGUE[theirs.pattern.index()].steps;
            // My rank for each of their ranks, by step.
            let mut ranks: [Vec<u32>; 4] = Default::default();
            for (step, ranks) in steps.iter().zip(&mut ranks) {
                let which = (step.var == Which::Y) as usize;
                let sites = &other.groups[group(theirs.names[which], step.kind)];
                for &site in sites {
                    let access = self.access(names[which], step.kind, site);
                    ranks.push(self.rank(access));
                }
            }
            let table = self.table(theirs.pattern.index(), names[0], names[1]);
            for bit in theirs.ones() {
                let mine = |step: usize| if step < steps.len() { ranks[step][bit[step] as usize] } else { 0 };
                let row = Row { table, row: self.tables[table as usize].row(mine(2), mine(3)) };
                self.add(row, mine(1), mine(0) as usize / 64, 1 << (mine(0) % 64));
            }
        }
        self.len() - before
    }

    /// Removes every instance but keeps the memory and the numbering.
    pub fn clear(&mut self) {
        for t in self.dirty.drain(..) {
            self.tables[t as usize].clear();
        }
        self.per_pattern = [0; PATTERNS];
        self.settled.unsettle();
    }

    fn instance(&self, table: &Table, ranks: [u32; 4]) -> Instance {
        let pattern = table.pattern.pattern();
        let mut sites = [SiteId(0); 4];
        for ((site, step), rank) in sites.iter_mut().zip(pattern.steps).zip(ranks) {
            let name = table.names[(step.var == Which::Y) as usize];
            *site = self.groups[group(name, step.kind)][rank as usize];
        }
        let [x, y] = table.names.map(|n| self.names[n as usize]);
        Instance::new(table.pattern, &sites[..pattern.steps.len()], x, pattern.has_y().then_some(y))
    }

    /// The row and the ranks of the first two steps, if the set has room for the instance.
    fn locate(&self, instance: &Instance) -> Option<(Row, [u32; 2])> {
        let x = self.known_name(instance.x())?;
        let y = instance.y().map_or(Some(x), |y| self.known_name(y))?;
        let mut ranks = [0; 4];
        for (rank, (kind, site, name)) in ranks.iter_mut().zip(instance.steps()) {
            *rank = self.rank(self.known_access(self.known_name(name)?, kind, site)?);
        }
        let row = self.known_row(instance.pattern().index(), x, y, ranks[2], ranks[3])?;
        let table = &self.tables[row.table as usize];
        let room = table.has_room(ranks[1], ranks[2], ranks[3]);
        (room && table.words(row.row, ranks[1]).len() > ranks[0] as usize / 64)
            .then_some((row, [ranks[0], ranks[1]]))
    }

    // What the full matcher uses. Names, ranks and tables are numbers; `pattern` is an index.

    /// The number of a name.
    pub(super) fn name(&mut self, name: NameId) -> u32 {
        let next = self.names.len() as u32;
        let index = *self.name_index.entry(name.0).or_insert(next);
        if index == next {
            self.names.push(name);
            self.groups.extend([Vec::new(), Vec::new()]);
            self.single.push(self.tables.len() as u32);
            self.double.push(Vec::new());
            self.tables.extend(CATALOGUE[..SINGLE].iter().map(|p| Table::new(p.id, [index; 2])));
        }
        index
    }

    /// The number of a name that has been met.
    pub(super) fn known_name(&self, name: NameId) -> Option<u32> {
        self.name_index.get(&name.0).copied()
    }

    /// The number of an access.
    pub(super) fn access(&mut self, name: u32, kind: AccessKind, site: SiteId) -> u32 {
        let group = group(name, kind);
        let next = self.accesses.len() as u32;
        let access = *self.access_index.entry((group as u32, site)).or_insert(next);
        if access == next {
            self.accesses.push(Access { group: group as u32, rank: self.groups[group].len() as u32 });
            self.groups[group].push(site);
            self.kinds[kind as usize] += 1;
            self.settled.unsettle();
        }
        access
    }

    /// The number of an access that has been met.
    pub(super) fn known_access(&self, name: u32, kind: AccessKind, site: SiteId) -> Option<u32> {
        self.access_index.get(&(group(name, kind) as u32, site)).copied()
    }

    /// The rank of an access's site among those with the same name and kind.
    pub(super) fn rank(&self, access: u32) -> u32 {
        self.accesses[access as usize].rank
    }

    /// Notes that two variables of one execution have this name.
    pub(super) fn share(&mut self, name: u32) {
        let shared = slot(&mut self.shared, name, false);
        if !*shared {
            *shared = true;
            self.settled.unsettle();
        }
    }

    /// Whether two variables of one execution have had this name.
    pub(super) fn is_shared(&self, name: u32) -> bool {
        self.shared.get(name as usize).copied().unwrap_or(false)
    }

    /// Whether every end with this fourth step is settled.
    pub(super) fn all_settled(&self, fourth: u32, kind: AccessKind) -> bool {
        let [reads, writes] = self.kinds;
        let thirds = if kind == AccessKind::Write { reads + writes } else { writes };
        self.settled.count(fourth) == thirds
    }

    /// Whether every possible instance with this third and fourth step is in the set, as far as is known.
    pub(super) fn is_settled(&self, third: u32, fourth: u32) -> bool {
        self.settled.get(third, fourth)
    }

    /// Finds out whether an end is settled; the steps are not both reads.
    pub(super) fn settle(&mut self, third: u32, fourth: u32) {
        if !self.settled.is_doubtful(third, fourth, self.len()) {
            return;
        }
        let [a3, a4] = [third, fourth].map(|a| self.accesses[a as usize]);
        let (n3, n4) = (a3.group / 2, a4.group / 2);
        let [k3, k4] = [a3, a4].map(|a| if a.group % 2 == 0 { AccessKind::Read } else { AccessKind::Write });
        let mut settled = true;
        if n3 != n4 || self.is_shared(n3) {
            settled = self.has_all(pattern_of_quad(Family::Xyxy, k4, k3).index(), n3, n4, a3.rank, a4.rank)
                && self.has_all(pattern_of_quad(Family::Xyyx, k3, k4).index(), n4, n3, a3.rank, a4.rank);
        }
        if n3 == n4 {
            let pattern = pattern_of_quad(Family::Xxyy, k4, k3).index();
            let mut others = (0..self.names.len() as u32).filter(|&x| x != n4 || self.is_shared(x));
            settled = settled && others.all(|x| self.has_all(pattern, x, n4, a3.rank, a4.rank));
        }
        self.settled.set(third, fourth, settled, self.len());
    }

    /// Whether every instance of a pattern with these third and fourth steps is in the set, without making room for them.
    fn has_all(&self, pattern: usize, x: u32, y: u32, r3: u32, r4: u32) -> bool {
        let steps = &CATALOGUE[pattern].steps[..2];
        let possible: usize = steps.iter().map(|s| self.sites_of(s, x, y)).product();
        let row = || self.known_row(pattern, x, y, r3, r4);
        possible == 0 || row().is_some_and(|r| self.tables[r.table as usize].count(r.row) == possible)
    }

    /// How many sites make this step of a pattern on names.
    fn sites_of(&self, step: &Step, x: u32, y: u32) -> usize {
        self.groups[group(if step.var == Which::X { x } else { y }, step.kind)].len()
    }

    /// The table of a pattern on names, with room for all ranks.
    pub(super) fn table(&mut self, pattern: usize, x: u32, y: u32) -> u32 {
        let first = if pattern < SINGLE { self.single[x as usize] } else { self.double(x, y) };
        let id = first + (if pattern < SINGLE { pattern } else { pattern - SINGLE }) as u32;
        let sites = self.accesses.len() as u32;
        if self.tables[id as usize].fitted != sites {
            let mut ranks = [1; 4];
            for (rank, step) in ranks.iter_mut().zip(CATALOGUE[pattern].steps) {
                *rank = self.sites_of(step, x, y) as u32;
            }
            self.tables[id as usize].fit(ranks);
            self.tables[id as usize].fitted = sites;
        }
        id
    }

    fn double(&mut self, x: u32, y: u32) -> u32 {
        let first = slot(&mut self.double[x as usize], y, NONE);
        if *first == NONE {
            *first = self.tables.len() as u32;
            self.tables.extend(CATALOGUE[SINGLE..].iter().map(|p| Table::new(p.id, [x, y])));
        }
        *first
    }

    /// The row of the third and fourth step, 0 for steps that the pattern lacks.
    pub(super) fn row(&self, table: u32, r3: u32, r4: u32) -> Row {
        Row { table, row: self.tables[table as usize].row(r3, r4) }
    }

    /// The row, if its table exists and has it.
    pub(super) fn known_row(&self, pattern: usize, x: u32, y: u32, r3: u32, r4: u32) -> Option<Row> {
        let id = if pattern < SINGLE {
            self.single.get(x as usize)? + pattern as u32
        } else {
            let first = *self.double.get(x as usize)?.get(y as usize)?;
            if first == NONE {
                return None;
            }
            first + (pattern - SINGLE) as u32
        };
        let table = &self.tables[id as usize];
        table.has_room(0, r3, r4).then(|| Row { table: id, row: table.row(r3, r4) })
    }

    /// The pattern and the names of a row.
    pub(super) fn meaning(&self, row: Row) -> (usize, [NameId; 2]) {
        let table = &self.tables[row.table as usize];
        (table.pattern.index(), table.names.map(|n| self.names[n as usize]))
    }

    /// Whether all instances of a row are in the set.
    pub(super) fn is_full(&self, row: Row) -> bool {
        self.tables[row.table as usize].is_full(row.row)
    }

    /// The bits of the first steps for a second step.
    pub(super) fn cell(&self, row: Row, r2: u32) -> &[u64] {
        let table = &self.tables[row.table as usize];
        if table.has_room(r2, 0, 0) { table.words(row.row, r2) } else { &[] }
    }

    /// Adds instances of a row with one second step; the bits that were new.
    pub(super) fn add(&mut self, row: Row, r2: u32, word: usize, bits: u64) -> u64 {
        let table = &mut self.tables[row.table as usize];
        let empty = table.len == 0;
        let new = table.add(row.row, r2, word, bits);
        if new != 0 {
            self.per_pattern[table.pattern.index()] += u64::from(new.count_ones());
            if empty {
                self.dirty.push(row.table);
            }
        }
        new
    }
}

/// The place of a name and kind in [`InstanceSet::groups`].
fn group(name: u32, kind: AccessKind) -> usize {
    name as usize * 2 + kind as usize
}

/// The element at `index`, after filling up with `empty` as far as needed.
pub(super) fn slot<T: Clone>(v: &mut Vec<T>, index: u32, empty: T) -> &mut T {
    let index = index as usize;
    if v.len() <= index {
        v.resize(index + 1, empty);
    }
    &mut v[index]
}

impl PartialEq for InstanceSet {
    fn eq(&self, other: &Self) -> bool {
        self.len() == other.len() && self.iter().all(|i| other.contains(&i))
    }
}

impl Eq for InstanceSet {}

impl Extend<Instance> for InstanceSet {
    fn extend<I: IntoIterator<Item = Instance>>(&mut self, instances: I) {
        for i in instances {
            self.insert(&i);
        }
    }
}

impl FromIterator<Instance> for InstanceSet {
    fn from_iter<I: IntoIterator<Item = Instance>>(instances: I) -> Self {
        let mut set = InstanceSet::default();
        set.extend(instances);
        set
    }
}

impl Serialize for InstanceSet {
    /// As a sorted sequence.
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut all: Vec<Instance> = self.iter().collect();
        all.sort_unstable();
        all.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for InstanceSet {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Ok(Vec::<Instance>::deserialize(deserializer)?.into_iter().collect())
    }
}
