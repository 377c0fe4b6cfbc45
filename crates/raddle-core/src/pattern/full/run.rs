//! What the full matcher knows about the execution under way.

use super::super::catalogue::AccessKind;
use super::super::set::{InstanceSet, NONE, slot};
use super::super::shape::{Family, pattern_of_pair, pattern_of_quad, pattern_of_triple};
use crate::event::{Event, SiteId, VarId};
use crate::trace::NameId;

/// With more classes of events than this, no more copies of reaches are made: their number times itself would fill the
/// memory. Patterns on two variables that need them are then not found in this execution; all others are.
const MOST_COPIED: usize = 4096;

#[derive(Clone, Debug)]
pub(super) struct Run {
    /// The index of the next event.
    pub now: u32,
    /// Two variables of a pattern have different names.
    pub apart: bool,
    /// By [`VarId`]; [`NONE`] if it has not been met.
    var_index: Vec<u32>,
    vars: Pool<Var>,
    groups: Pool<Group>,
    /// By `variable * roles + role`.
    slots: Vec<Slot>,
    /// A role is a thread and a kind; there is room for so many.
    roles: usize,
    /// In the order of their first events.
    classes: Vec<Class>,
    /// By class: the number of classes that existed at its last event.
    reach: Vec<u32>,
    /// Counts changes of `reach`.
    changes: u32,
    /// The changes themselves.
    history: Vec<Change>,
    /// A copy of `reach` for each class, `stride` apart; how long it is stands in [`Class::copied`].
    copies: Vec<u32>,
    stride: usize,
    /// Counts new copies.
    advances: u32,
    /// The class with the newest copy: the head of the list linked by [`Class::older`] and [`Class::newer`].
    newest: u32,
}

/// A dynamic variable.
#[derive(Clone, Debug, Default)]
struct Var {
    id: VarId,
    /// The number of its name in the set of instances.
    name: u32,
    classes: Vec<u32>,
    /// Counts changes of the reach of its classes.
    version: u32,
}

/// One thread, one kind, one variable.
#[derive(Clone, Debug, Default)]
pub(super) struct Group {
    /// Ascending.
    classes: Vec<u32>,
    /// By rank of the site.
    by_rank: Vec<u32>,
    /// For each n from 0: the ranks of the first n classes as bits, `width` words.
    bits: Vec<u64>,
    width: usize,
}

/// A group in short.
#[derive(Clone, Copy, Debug)]
struct Slot {
    /// [`NONE`] if there is no group.
    group: u32,
    /// Its first class.
    first: u32,
    /// Its last class.
    last: u32,
}

/// All events of one thread, variable, kind and site.
#[derive(Clone, Copy, Debug)]
pub(super) struct Class {
    thread: u32,
    var: u32,
    kind: AccessKind,
    pub site: SiteId,
    /// Its number in the set of instances.
    access: u32,
    /// The rank of its site there.
    rank: u32,
    /// Index of its first event.
    pub first: u32,
    /// Index of its last event.
    pub last: u32,
    /// The version of its variable when it last occurred.
    version: u32,
    /// Copies up to this one have been looked at.
    seen: u32,
    /// When its copy was made; 0 if there is none.
    advanced: u32,
    /// How many changes its copy has taken in.
    changes: u32,
    /// How many classes its copy covers.
    copied: u32,
    older: u32,
    newer: u32,
    /// The last change of its reach.
    change: u32,
}

/// A reach changed.
#[derive(Clone, Copy, Debug)]
struct Change {
    /// At this event.
    at: u32,
    /// The change of the same class before it.
    before: u32,
}

/// An event in one of its roles.
#[derive(Clone, Copy, Debug)]
pub(super) struct Probe {
    thread: u32,
    /// [`NONE`] if the variable has not been met.
    var: u32,
    pub kind: AccessKind,
    pub site: SiteId,
    /// [`NONE`] if the class has not been met.
    class: u32,
    /// Its number in the set of instances, which might not know it: then [`NONE`].
    pub access: u32,
    rank: u32,
}

/// The instances of a pattern that share variables and the third and fourth step.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Key {
    /// Index in the catalogue.
    pub pattern: usize,
    /// x and y; x twice if there is no y.
    pub names: [u32; 2],
    pub vars: [VarId; 2],
    /// Of the third and fourth step; 0 for a step that the pattern lacks.
    pub ranks: [u32; 2],
}

/// Instances that end with the probed event and differ in the first step only.
#[derive(Clone, Copy, Debug)]
pub(super) struct Found<'r> {
    pub run: &'r Run,
    pub probe: &'r Probe,
    /// The first steps are the first `upto` classes of this group.
    pub first: &'r Group,
    pub upto: usize,
    /// The second step, if it is not the probed event.
    pub second: Option<&'r Class>,
    /// Its rank.
    pub rank: u32,
    /// The third step, if it is not the probed event.
    pub third: Option<&'r Class>,
}

/// Who is told what a scan finds.
pub(super) trait Visit {
    /// Whether nothing can be new about four steps that end with the third access, or any, and the probed event.
    fn is_settled(&mut self, third: Option<u32>, probe: &Probe) -> bool;
    /// What follows has this key; `false` if it is of no interest.
    fn open(&mut self, key: Key) -> bool;
    /// Something was found.
    fn found(&mut self, found: Found<'_>);
}

impl Default for Run {
    fn default() -> Self {
        Run {
            now: 0,
            apart: false,
            var_index: Vec::new(),
            vars: Pool::default(),
            groups: Pool::default(),
            slots: Vec::new(),
            roles: 0,
            classes: Vec::new(),
            reach: Vec::new(),
            changes: 0,
            history: Vec::new(),
            copies: Vec::new(),
            stride: 0,
            advances: 0,
            newest: NONE,
        }
    }
}

impl Run {
    /// Forgets the execution and keeps the memory.
    pub fn reset(&mut self) {
        for v in self.vars.live() {
            self.var_index[v.id.0 as usize] = NONE;
        }
        self.vars.release();
        self.groups.release();
        self.slots.clear();
        self.classes.clear();
        self.reach.clear();
        self.history.clear();
        (self.now, self.changes, self.advances, self.newest) = (0, 0, 0, NONE);
    }

    pub fn class(&self, id: u32) -> &Class {
        &self.classes[id as usize]
    }

    /// The probe of an event that is about to be recorded.
    pub fn enter(
        &mut self,
        event: &Event,
        var: VarId,
        kind: AccessKind,
        name: NameId,
        set: &mut InstanceSet,
    ) -> Probe {
        let (thread, site) = (event.thread.0, event.site);
        let index = slot(&mut self.var_index, var.0, NONE);
        if *index == NONE {
            *index = self.vars.take();
            let name = set.name(name);
            self.vars[*index].restart(var, name);
            let others = &self.vars.live()[..*index as usize];
            if !self.apart && !set.is_shared(name) && others.iter().any(|v| v.name == name) {
                set.share(name);
            }
        }
        let var = *index;
        let role = role(thread, kind);
        if role as usize >= self.roles {
            self.make_roles(role as usize + 1);
        }
        self.slots.resize((self.vars.used * self.roles).max(self.slots.len()), Slot::EMPTY);
        let slot = &mut self.slots[var as usize * self.roles + role as usize];
        if slot.group == NONE {
            slot.group = self.groups.take();
            self.groups[slot.group].restart();
        }
        let group = &mut self.groups[slot.group];
        let access = set.access(self.vars[var].name, kind, site);
        let rank = set.rank(access);
        let mut class = group.class_of_rank(rank);
        if class == NONE {
            class = self.classes.len() as u32;
            group.push(class, rank);
            slot.first = slot.first.min(class);
            slot.last = class;
            self.vars[var].classes.push(class);
            self.classes.push(Class::new(thread, var, kind, site, [access, rank], self.now));
            self.reach.push(0);
        }
        Probe { thread, var, kind, site, class, access, rank }
    }

    /// The probe of an event that is only considered.
    pub fn peek(
        &self,
        event: &Event,
        var: VarId,
        kind: AccessKind,
        name: NameId,
        set: &InstanceSet,
    ) -> Probe {
        let (thread, site) = (event.thread.0, event.site);
        let access = set.known_name(name).and_then(|n| set.known_access(n, kind, site));
        let (access, rank) = access.map_or((NONE, NONE), |a| (a, set.rank(a)));
        let var = self.var_index.get(var.0 as usize).copied().unwrap_or(NONE);
        let mut class = NONE;
        if var != NONE && rank != NONE {
            class = self.group(var, role(thread, kind)).map_or(NONE, |g| g.class_of_rank(rank));
        }
        Probe { thread, var, kind, site, class, access, rank }
    }

    /// Visits everything that the probed event completes, except what its class completed before.
    pub fn scan(&self, probe: &Probe, visit: &mut impl Visit) {
        if probe.var == NONE {
            return;
        }
        let var = &self.vars[probe.var];
        let (version, seen) = match self.classes.get(probe.class as usize) {
            Some(c) => (c.version, c.seen),
            None => (0, 0),
        };
        if var.version != version {
            self.scan_pairs(probe, var, visit);
            self.scan_triples(probe, var, visit);
        }
        // A thread that has done nothing yet cannot have made an earlier step.
        let is_new = role(probe.thread, probe.kind) as usize >= self.roles;
        if is_new || visit.is_settled(None, probe) {
            return;
        }
        let mut next = self.newest;
        while next != NONE {
            let third = &self.classes[next as usize];
            if third.advanced <= seen {
                break;
            }
            let fits = third.thread != probe.thread && !both_read(third.kind, probe.kind);
            if fits && !visit.is_settled(Some(third.access), probe) {
                self.scan_quads(probe, next, third, visit);
            }
            next = third.older;
        }
    }

    fn scan_pairs(&self, probe: &Probe, var: &Var, visit: &mut impl Visit) {
        for role in 0..self.roles as u32 {
            let kind = if role % 2 == 0 { AccessKind::Read } else { AccessKind::Write };
            if role / 2 == probe.thread || both_read(kind, probe.kind) {
                continue;
            }
            let Some(first) = self.group(probe.var, role) else { continue };
            let upto = first.classes.len();
            let pattern = pattern_of_pair(kind, probe.kind).index();
            if visit.open(Key { pattern, names: [var.name; 2], vars: [var.id; 2], ranks: [0, 0] }) {
                visit.found(Found {
                    run: self,
                    probe,
                    first,
                    upto,
                    second: None,
                    rank: probe.rank,
                    third: None,
                });
            }
        }
    }

    fn scan_triples(&self, probe: &Probe, var: &Var, visit: &mut impl Visit) {
        use AccessKind::{Read, Write};
        for (k1, k2) in [(Read, Write), (Write, Read), (Write, Write)] {
            let Some(pattern) = pattern_of_triple(k1, k2, probe.kind) else { continue };
            let Some(first) = self.group(probe.var, role(probe.thread, k1)) else { continue };
            let mut open = None;
            for &c in &var.classes {
                let second = &self.classes[c as usize];
                if second.thread == probe.thread || second.kind != k2 {
                    continue;
                }
                let upto = first.below(self.reach[c as usize]);
                if upto > 0 {
                    let key = Key {
                        pattern: pattern.index(),
                        names: [var.name; 2],
                        vars: [var.id; 2],
                        ranks: [probe.rank, 0],
                    };
                    if !*open.get_or_insert_with(|| visit.open(key)) {
                        break;
                    }
                    let rank = second.rank;
                    visit.found(Found {
                        run: self,
                        probe,
                        first,
                        upto,
                        second: Some(second),
                        rank,
                        third: None,
                    });
                }
            }
        }
    }

    fn scan_quads(&self, probe: &Probe, id: u32, third: &Class, visit: &mut impl Visit) {
        // The roles of the fourth and third step are also those of the first and second; see `shape`.
        let (outer, inner) = (role(probe.thread, probe.kind), role(third.thread, third.kind));
        let copy = &self.copies[id as usize * self.stride..][..third.copied as usize];
        let name = self.vars[probe.var].name;
        let excluded = |other: u32| other == probe.var || self.apart && self.vars[other].name == name;
        let mut offer =
            |family: Family, [k1, k2]: [AccessKind; 2], x: u32, y: u32, first: &Slot, second: &Slot| {
                if second.first == second.last
                    && copy.get(second.first as usize).is_none_or(|&reach| reach <= first.first)
                {
                    return;
                }
                let pattern = pattern_of_quad(family, k1, k2).index();
                self.offer_quads(probe, third, copy, pattern, [x, y], [first.group, second.group], visit);
            };
        if third.var == probe.var {
            for x in 0..self.vars.used as u32 {
                let (first, second) = (self.slot(x, outer), self.slot(x, inner));
                if first.group != NONE && second.group != NONE && !excluded(x) {
                    offer(Family::Xxyy, [probe.kind, third.kind], x, probe.var, first, second);
                }
            }
            return;
        }
        let (s_outer, s_inner) = (self.slot(third.var, outer), self.slot(probe.var, inner));
        if s_outer.group != NONE && s_inner.group != NONE && !excluded(third.var) {
            offer(Family::Xyxy, [probe.kind, third.kind], third.var, probe.var, s_outer, s_inner);
            offer(Family::Xyyx, [third.kind, probe.kind], probe.var, third.var, s_inner, s_outer);
        }
    }

    /// Visits the instances with first and second steps from these groups, given the reaches at the third step.
    #[allow(clippy::too_many_arguments)]
    fn offer_quads(
        &self,
        probe: &Probe,
        third: &Class,
        copy: &[u32],
        pattern: usize,
        vars: [u32; 2],
        groups: [u32; 2],
        visit: &mut impl Visit,
    ) {
        let [first, seconds] = groups.map(|g| &self.groups[g]);
        let mut open = false;
        for &c in &seconds.classes {
            let upto = first.below(copy.get(c as usize).copied().unwrap_or(0));
            if upto == 0 {
                continue;
            }
            if !open {
                let [x, y] = vars.map(|v| &self.vars[v]);
                let ranks = [third.rank, probe.rank];
                open = visit.open(Key { pattern, names: [x.name, y.name], vars: [x.id, y.id], ranks });
                if !open {
                    return;
                }
            }
            let second = &self.classes[c as usize];
            let (rank, second, third) = (second.rank, Some(second), Some(third));
            visit.found(Found { run: self, probe, first, upto, second, rank, third });
        }
    }

    /// Records that the probed event happened; `scan` has been called.
    pub fn record(&mut self, probe: &Probe) {
        let id = probe.class as usize;
        self.classes[id].seen = self.advances;
        self.classes[id].last = self.now;
        if self.classes[id].changes != self.changes {
            self.copy(probe.class);
        }
        let var = &mut self.vars[probe.var];
        let class = &mut self.classes[id];
        let end = self.reach.len() as u32;
        if self.reach[id] != end {
            self.reach[id] = end;
            self.changes += 1;
            var.version += 1;
            self.history.push(Change { at: self.now, before: class.change });
            class.change = self.history.len() as u32 - 1;
        }
        class.version = var.version;
    }

    /// The first event of a class after the first event of another one; there is one.
    pub fn occurrence_after(&self, class: &Class, other: &Class) -> u32 {
        let mut at = NONE;
        let mut change = class.change;
        while let Some(c) = self.history.get(change as usize) {
            if c.at <= other.first {
                break;
            }
            (at, change) = (c.at, c.before);
        }
        at
    }

    /// Copies all reaches for a class and puts it at the head of the list.
    fn copy(&mut self, id: u32) {
        let n = self.reach.len();
        if n > MOST_COPIED {
            return;
        }
        if n > self.stride {
            self.widen(n.next_power_of_two().max(64));
        }
        let start = id as usize * self.stride;
        if self.copies.len() < start + self.stride {
            self.copies.resize(start + self.stride, 0);
        }
        self.copies[start..start + n].copy_from_slice(&self.reach);
        self.advances += 1;
        let Class { older, newer, advanced, .. } = self.classes[id as usize];
        let class = &mut self.classes[id as usize];
        (class.advanced, class.changes, class.copied) = (self.advances, self.changes, n as u32);
        if self.newest == id {
            return;
        }
        (class.older, class.newer) = (self.newest, NONE);
        if advanced != 0 {
            self.classes[newer as usize].older = older;
            if older != NONE {
                self.classes[older as usize].newer = newer;
            }
        }
        if self.newest != NONE {
            self.classes[self.newest as usize].newer = id;
        }
        self.newest = id;
    }

    fn widen(&mut self, stride: usize) {
        let rows = self.copies.len().checked_div(self.stride).unwrap_or(0);
        let mut copies = vec![0; rows * stride];
        for r in 0..rows {
            copies[r * stride..][..self.stride]
                .copy_from_slice(&self.copies[r * self.stride..][..self.stride]);
        }
        (self.copies, self.stride) = (copies, stride);
    }

    /// Makes room for so many roles.
    fn make_roles(&mut self, roles: usize) {
        let roles = roles.next_multiple_of(4);
        let mut slots = vec![Slot::EMPTY; self.vars.used * roles];
        for (var, old) in self.slots.chunks(self.roles.max(1)).enumerate() {
            slots[var * roles..][..old.len()].copy_from_slice(old);
        }
        (self.slots, self.roles) = (slots, roles);
    }

    /// The role is one that there is room for.
    fn slot(&self, var: u32, role: u32) -> &Slot {
        self.slots.get(var as usize * self.roles + role as usize).unwrap_or(&Slot::EMPTY)
    }

    fn group(&self, var: u32, role: u32) -> Option<&Group> {
        let id = if (role as usize) < self.roles { self.slot(var, role).group } else { NONE };
        (id != NONE).then(|| &self.groups[id])
    }
}

impl Slot {
    const EMPTY: Slot = Slot { group: NONE, first: NONE, last: NONE };
}

impl Var {
    fn restart(&mut self, id: VarId, name: u32) {
        (self.id, self.name, self.version) = (id, name, 0);
        self.classes.clear();
    }
}

impl Group {
    fn restart(&mut self) {
        self.classes.clear();
        self.by_rank.clear();
        self.bits.clear();
        self.bits.push(0);
        self.width = 1;
    }

    fn push(&mut self, class: u32, rank: u32) {
        self.classes.push(class);
        *slot(&mut self.by_rank, rank, NONE) = class;
        let need = rank as usize / 64 + 1;
        if need > self.width {
            let mut bits = Vec::with_capacity((self.bits.len() / self.width + 1) * need);
            for old in self.bits.chunks(self.width) {
                bits.extend_from_slice(old);
                bits.resize(bits.len() + need - self.width, 0);
            }
            (self.bits, self.width) = (bits, need);
        }
        let start = self.bits.len();
        self.bits.extend_from_within(start - self.width..);
        self.bits[start + rank as usize / 64] |= 1 << (rank % 64);
    }

    /// The class of the site with this rank, or [`NONE`].
    pub fn class_of_rank(&self, rank: u32) -> u32 {
        self.by_rank.get(rank as usize).copied().unwrap_or(NONE)
    }

    /// How many classes have a number below this.
    fn below(&self, number: u32) -> usize {
        match self.classes.last() {
            Some(&last) if last < number => self.classes.len(),
            _ => self.classes.partition_point(|&c| c < number),
        }
    }

    /// The ranks of the first classes as bits.
    pub fn bits(&self, upto: usize) -> &[u64] {
        &self.bits[upto * self.width..][..self.width]
    }
}

impl Class {
    fn new(
        thread: u32,
        var: u32,
        kind: AccessKind,
        site: SiteId,
        [access, rank]: [u32; 2],
        now: u32,
    ) -> Self {
        Class {
            thread,
            var,
            kind,
            site,
            access,
            rank,
            first: now,
            last: now,
            version: 0,
            seen: 0,
            advanced: 0,
            changes: 0,
            copied: 0,
            older: NONE,
            newer: NONE,
            change: NONE,
        }
    }
}

fn both_read(k1: AccessKind, k2: AccessKind) -> bool {
    k1 == AccessKind::Read && k2 == AccessKind::Read
}

/// A thread and a kind as one number.
fn role(thread: u32, kind: AccessKind) -> u32 {
    thread * 2 + kind as u32
}

/// A vector whose elements are reused with the memory they own.
#[derive(Clone, Debug)]
struct Pool<T> {
    items: Vec<T>,
    used: usize,
}

impl<T> Default for Pool<T> {
    fn default() -> Self {
        Pool { items: Vec::new(), used: 0 }
    }
}

impl<T: Default> Pool<T> {
    /// An element in whatever state its last user left it.
    fn take(&mut self) -> u32 {
        if self.used == self.items.len() {
            self.items.push(T::default());
        }
        self.used += 1;
        self.used as u32 - 1
    }

    fn live(&self) -> &[T] {
        &self.items[..self.used]
    }

    fn release(&mut self) {
        self.used = 0;
    }
}

impl<T> std::ops::Index<u32> for Pool<T> {
    type Output = T;
    fn index(&self, i: u32) -> &T {
        &self.items[i as usize]
    }
}

impl<T> std::ops::IndexMut<u32> for Pool<T> {
    fn index_mut(&mut self, i: u32) -> &mut T {
        &mut self.items[i as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pattern::{FullMatcher, Matcher};

    /// The patterns of an execution in which `others` variables are read, and then two threads read and write two more.
    fn found(others: u32) -> (Vec<String>, usize) {
        let mut matcher = FullMatcher::new();
        let vars: Vec<NameId> = (0..others).map(|_| NameId(9)).chain([NameId(0), NameId(1)]).collect();
        let (x, y) = (others, others + 1);
        let mut new = Vec::new();
        for var in 0..others {
            matcher.push(&Event::read(3, 8, var), &vars, &mut new);
        }
        let last = [Event::write(1, 1, x), Event::read(2, 2, x), Event::read(2, 3, y), Event::write(1, 4, y)];
        last.iter().for_each(|e| matcher.push(e, &vars, &mut new));
        (new.iter().map(|m| m.instance.to_string()).collect(), matcher.run.copies.len())
    }

    #[test]
    fn an_execution_with_very_many_variables_needs_bounded_memory_and_shows_what_is_on_one() {
        let of = |found: Vec<String>| -> (Vec<String>, Vec<String>) {
            found.into_iter().partition(|f| f.contains("; n0 n1)") || f.contains("; n1 n0)"))
        };
        let (few, copied) = found(10);
        let (on_two, on_one) = of(few);
        assert!(!on_two.is_empty() && !on_one.is_empty() && copied > 0, "{on_two:?} {on_one:?}");
        let (many, copied) = found(2 * MOST_COPIED as u32);
        assert_eq!(of(many), (vec![], on_one));
        assert!(copied <= 2 * MOST_COPIED * MOST_COPIED, "{copied}");
    }
}
