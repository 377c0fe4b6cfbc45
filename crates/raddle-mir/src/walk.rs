//! One function, statement by statement: what it accesses, with the locks that are held there.

use crate::analysis::{Access, Held, Interner, Summary};
use crate::effects::{Kind, makes};
use crate::flow::{Flow, Val, flat};
use crate::locks::{Guards, LOCKS, guard_mode};
use crate::mir::{Operand, Place, Pos, Rvalue, Statement, Terminator};
use crate::paths::{Hop, PathId, Root};
use crate::program::Reason;
use crate::resolve::is_parameter;
use crate::ty::Inside;
use std::collections::{BTreeSet, HashMap};

/// How often a callee runs where it is called.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Times {
    /// Once.
    Once,
    /// As often as code outside of the crate calls it, or as there are objects to drop.
    Any,
}

/// The walk over one function.
pub(crate) struct Walk<'a> {
    pub id: usize,
    pub flow: Flow<'a>,
    pub locks: &'a mut Interner<Vec<Held>>,
    pub sections: &'a mut Interner<(usize, usize, Option<u32>)>,
    pub summaries: &'a [Summary],
    pub summary: Summary,
    pub loops: Vec<bool>,
    /// The function can be called again before it has returned.
    pub cyclic: bool,
    pub block: usize,
    /// The locks that are held here.
    pub held: u32,
}

impl Walk<'_> {
    /// These guards are alive from here on.
    pub(crate) fn hold(&mut self, guards: &Guards) {
        let mut held = Vec::new();
        for (&local, section) in guards {
            let Some(mode) = guard_mode(&self.flow.function.local_type(local)) else { continue };
            match self.lock_of(local) {
                Some(lock) => {
                    let section = section.filter(|_| !self.cyclic);
                    let section = section.map(|b| self.sections.intern((self.id, b, None)));
                    held.push(Held { lock, mode, section });
                }
                None => self.count(Reason::UnknownLock),
            }
        }
        held.sort();
        self.held = self.locks.intern(held);
    }

    /// The lock that the guard in a local belongs to, if there is just one.
    pub(crate) fn lock_of(&mut self, local: usize) -> Option<PathId> {
        let value = self.flow.operand(&Operand::Place(Place::local(local)));
        let mut found = BTreeSet::new();
        for val in flat(&value) {
            let Val::Ptr(p) = val else { continue };
            self.find_lock(p, &mut found, 0);
        }
        found.first().copied().filter(|_| found.len() == 1)
    }

    fn find_lock(&mut self, at: PathId, found: &mut BTreeSet<PathId>, depth: usize) {
        let path = self.flow.paths.get(at);
        if depth > 4 {
            return;
        }
        if path.ty.is_library(LOCKS) {
            if path.is_shared() {
                found.insert(at);
            }
            return;
        }
        if let Root::Local(local) = path.root
            && path.hops.is_empty()
            && guard_mode(&path.ty).is_some()
        {
            let value = self.flow.operand(&Operand::Place(Place::local(local)));
            for val in flat(&value) {
                if let Val::Ptr(p) = val {
                    self.find_lock(p, found, depth + 1);
                }
            }
            return;
        }
        // A lock inside a wrapper (`CachePadded<Mutex<T>>`) or behind one (`Arc<Mutex<T>>`).
        for (inside, ty) in path.ty.contents() {
            let inner = match inside {
                Inside::Inline => self.flow.paths.retype(at, ty),
                Inside::Element => self.flow.paths.hop(at, Hop::Index(ty)),
                Inside::Behind { sequence } => self.flow.paths.hop(at, Hop::Deref { to: ty, sequence }),
            };
            self.find_lock(inner, found, depth + 1);
        }
    }

    pub(crate) fn count(&mut self, reason: Reason) {
        *self.summary.counts.entry(reason).or_default() += 1;
    }

    /// Whether what is done here can be done more than once in one call.
    fn repeats(&self) -> bool {
        self.loops[self.block] || self.cyclic
    }

    pub(crate) fn record(&mut self, path: PathId, kind: Kind, pos: Pos) {
        if self.flow.paths.get(path).is_shared() {
            let again = self.repeats();
            self.summary.add(Access { path, kind, pos, function: self.id as u32, locks: self.held, again });
        }
    }

    /// Pointers that are loaded on the way to a place are read.
    fn reach(&mut self, place: &Place, pos: Pos) -> BTreeSet<PathId> {
        let mut loads = Vec::new();
        let found = self.flow.trace(place, &mut |_, p| loads.push(p));
        for load in loads {
            self.record(load, Kind::Read, pos);
        }
        found
    }

    fn touch(&mut self, place: &Place, kind: Kind, pos: Pos) {
        for path in self.reach(place, pos) {
            self.record(path, kind, pos);
        }
    }

    fn operand(&mut self, operand: &Operand, pos: Pos) {
        if let Operand::Place(place) = operand {
            self.touch(place, Kind::Read, pos);
        }
    }

    pub(crate) fn statement(&mut self, statement: &Statement, pos: Pos) {
        match statement {
            Statement::Assign(dest, value) => {
                match value {
                    Rvalue::Use(o) => self.operand(o, pos),
                    Rvalue::Cast(o) => {
                        self.operand(o, pos);
                        self.pointed_to(o);
                    }
                    Rvalue::Address { place, .. } => drop(self.reach(place, pos)),
                    Rvalue::Inspect(place) => self.touch(place, Kind::Read, pos),
                    Rvalue::Aggregate { head, fields, .. } => {
                        fields.iter().for_each(|(_, o)| self.operand(o, pos));
                        self.built(head, dest, pos);
                    }
                    Rvalue::Compute(_, operands) => operands.iter().for_each(|o| self.operand(o, pos)),
                    Rvalue::ThreadLocal(_) => {}
                }
                self.touch(dest, Kind::Write, pos);
            }
            Statement::SetDiscriminant(place) => self.touch(place, Kind::Write, pos),
            Statement::Dead(_) | Statement::Nothing => {}
        }
    }

    /// A struct of the crate is built. The optimiser may build it where it will be needed.
    fn built(&mut self, head: &str, dest: &Place, pos: Pos) {
        let ty = self.flow.place_type(dest);
        if !head.is_empty() && !head.starts_with('{') && ty.own_path().is_some() {
            let path = self.flow.paths.fresh(ty);
            self.record(path, Kind::Write, pos);
        }
    }

    pub(crate) fn terminator(&mut self, end: &Terminator, pos: Pos) {
        match end {
            Terminator::Jump { operands, .. } => operands.iter().for_each(|o| self.operand(o, pos)),
            Terminator::Drop { place, .. } => self.drop_of(place, pos),
            Terminator::Call { dest, callee, args, .. } => {
                args.iter().for_each(|a| self.operand(a, pos));
                self.call(callee, args, pos);
                if self.flow.program.targets(callee).is_empty() {
                    let ty = self.flow.place_type(dest);
                    if makes(&ty, &|t| is_parameter(t, &self.flow.program.items)) {
                        let path = self.flow.paths.fresh(ty);
                        self.record(path, Kind::Write, pos);
                    }
                }
                self.touch(dest, Kind::Write, pos);
            }
            Terminator::Return | Terminator::Stop => {}
        }
    }

    /// Adds the accesses of a callee, with its paths in terms of this function.
    pub(crate) fn inline(
        &mut self,
        target: usize,
        times: Times,
        mut place: impl FnMut(&mut Flow<'_>, PathId) -> BTreeSet<PathId>,
    ) {
        self.summary.calls.insert(target);
        let summaries = self.summaries;
        let mut known: HashMap<PathId, BTreeSet<PathId>> = HashMap::new();
        let mut lock_sets: HashMap<u32, u32> = HashMap::new();
        let repeated = times == Times::Any || self.repeats();
        let mut made = BTreeSet::new();
        for access in &summaries[target].accesses {
            let paths =
                known.entry(access.path).or_insert_with(|| place(&mut self.flow, access.path)).clone();
            if paths.iter().all(|p| !self.flow.paths.get(*p).is_shared()) {
                continue;
            }
            let locks = match lock_sets.get(&access.locks) {
                Some(locks) => *locks,
                None => {
                    let locks = self.lift(access.locks, &mut place);
                    lock_sets.insert(access.locks, locks);
                    locks
                }
            };
            for path in paths {
                if self.flow.paths.get(path).is_shared() {
                    made.insert(Access { path, locks, again: access.again || repeated, ..*access });
                }
            }
        }
        for access in made {
            // What an earlier call of the same function has done is done again.
            let again = access.again || self.summary.makes(&access);
            self.summary.add(Access { again, ..access });
        }
    }

    /// The locks of a callee in terms of this function, together with those held here.
    fn lift(&mut self, locks: u32, place: &mut impl FnMut(&mut Flow<'_>, PathId) -> BTreeSet<PathId>) -> u32 {
        if locks == 0 {
            return self.held;
        }
        let mut all = self.locks.get(self.held).clone();
        for held in self.locks.get(locks).clone() {
            let found = place(&mut self.flow, held.lock);
            // Which of several it is cannot be told, so none is certain.
            let Some(&lock) = found.first().filter(|_| found.len() == 1) else { continue };
            let section = held.section.filter(|_| !self.repeats());
            let section = section.map(|s| self.sections.intern((self.id, self.block, Some(s))));
            all.push(Held { lock, mode: held.mode, section });
        }
        all.sort();
        all.dedup();
        self.locks.intern(all)
    }
}
