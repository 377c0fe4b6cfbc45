//! What calls and drops do: into the crate, where a summary tells, and out of it, where types and closures tell.

use crate::effects::{CHANGING_ON_DROP, Effect, Kind, effect, may_call};
use crate::fit::same;
use crate::flow::{Flow, Val, flat};
use crate::locks::{LOCKS, guard_mode};
use crate::mir::{Callee, Operand, Place, Pos};
use crate::paths::{Hop, PathId, Root};
use crate::program::Reason;
use crate::resolve::called;
use crate::ty::{Inside, Ty};
use crate::walk::{Times, Walk};
use raddle_core::LockMode;
use std::collections::{BTreeMap, BTreeSet};

impl Walk<'_> {
    pub(crate) fn call(&mut self, callee: &Callee, args: &[Operand], pos: Pos) {
        let targets = self.flow.program.targets(callee);
        if targets.len() > 1 {
            self.count(Reason::Dispatch);
        }
        for &target in targets {
            self.inline(target, Times::Once, |flow, path| flow.substitute(path, args));
        }
        if !targets.is_empty() {
            // What is given to a generic function of the crate is called by it, but which closure that is only the
            // caller knows.
            self.callbacks(None, args, pos);
            return;
        }
        let Callee::Path(text) = callee else {
            self.count(Reason::FunctionPointer);
            return;
        };
        let program = self.flow.program;
        let Some(called) = program.called.get(text) else { return };
        for (i, arg) in args.iter().enumerate() {
            let Operand::Place(place) = arg else { continue };
            let ty = self.flow.place_type(place);
            match effect(called, i, &ty) {
                Effect::None => {}
                Effect::Exactly(kind) => {
                    for path in self.pointees(arg, &ty) {
                        self.record(path, kind, pos);
                    }
                }
                Effect::Header => {
                    for path in self.pointees(arg, &ty) {
                        self.record(path, Kind::Read, pos);
                    }
                }
                Effect::Anything => self.anything(arg, &ty, pos),
            }
        }
        if called.of_trait.as_deref().is_some_and(|t| ["Fn", "FnMut", "FnOnce"].contains(&t)) {
            // A function of the user's: it can do anything to memory that is not the crate's.
            self.count(Reason::FunctionPointer);
            let path = self.flow.paths.object(Ty::unknown(), false);
            self.record(path, Kind::Read, pos);
            self.record(path, Kind::Write, pos);
        }
        self.callbacks(Some(text), args, pos);
    }
    /// A function of the crate becomes a function pointer. Whoever calls it, it is called because of this function.
    pub(crate) fn pointed_to(&mut self, operand: &Operand) {
        let Operand::Const(text) = operand else { return };
        for &f in self.flow.program.function_item(text) {
            self.count(Reason::FunctionPointer);
            self.inline(f, Times::Any, |flow, path| {
                let p = flow.paths.get(path);
                if matches!(p.root, Root::Arg(_)) { flow.cut(&p) } else { BTreeSet::from([path]) }
            });
        }
    }

    /// What a pointer argument points to.
    fn pointees(&mut self, arg: &Operand, ty: &Ty) -> BTreeSet<PathId> {
        let Ty::Pointer { to, .. } = ty else { return BTreeSet::new() };
        let mut found = BTreeSet::new();
        for val in flat(&self.flow.operand(arg)) {
            if let Val::Ptr(p) = val {
                found.extend(self.flow.coerce(p, to, 0));
            }
        }
        if found.is_empty() && matches!(arg, Operand::Place(_)) {
            self.count(Reason::UnknownPointer);
            found.insert(self.flow.paths.object(to.clone(), false));
        }
        found
    }

    /// Code outside of the crate does what it likes through a pointer, as far as the pointer allows it.
    fn anything(&mut self, arg: &Operand, ty: &Ty, pos: Pos) {
        let mut iterates_mutably = false;
        ty.walk(&mut |t| iterates_mutably |= t.is_library(&["IterMut"]));
        let (pointees, mutable) = match ty {
            Ty::Pointer { mutable, .. } => (self.pointees(arg, ty), *mutable),
            _ => {
                let vals = flat(&self.flow.operand(arg));
                let pointers =
                    vals.into_iter().filter_map(|v| if let Val::Ptr(p) = v { Some(p) } else { None });
                (pointers.collect(), iterates_mutably)
            }
        };
        let mut shared = false;
        for path in pointees {
            shared |= self.flow.paths.get(path).is_shared();
            self.spread(path, mutable, pos, 0);
        }
        if shared {
            self.count(Reason::ForeignCode);
        }
    }

    /// Accesses a location and what library types in it keep elsewhere.
    fn spread(&mut self, at: PathId, mutable: bool, pos: Pos, depth: usize) {
        let path = self.flow.paths.get(at);
        if path.ty.is_library(LOCKS) || depth > 3 {
            return;
        }
        let mutable =
            mutable || path.ty.is_library(&["OnceLock", "OnceCell", "LazyLock", "AtomicCell", "RefCell"]);
        self.record(at, Kind::Read, pos);
        if mutable {
            self.record(at, Kind::Write, pos);
        }
        if let Root::Local(_) = path.root
            && (guard_mode(&path.ty).is_some()
                || path.ty.is_library(&["Iter", "IterMut", "Ref", "RefMut"])
                || matches!(&*path.ty, Ty::Pointer { .. }))
        {
            let mutable = mutable
                && !path.ty.is_library(&["Iter", "Ref"])
                && guard_mode(&path.ty) != Some(LockMode::Shared);
            for (_, ty) in path.ty.contents() {
                for inner in self.flow.coerce(at, &ty, 0) {
                    if inner != at && self.flow.paths.get(inner).is_shared() {
                        self.spread(inner, mutable, pos, depth + 1);
                    }
                }
            }
            return;
        }
        for (inside, ty) in path.ty.contents() {
            match inside {
                Inside::Behind { sequence }
                    if path.is_shared() && !matches!(&*path.ty, Ty::Pointer { .. }) =>
                {
                    let inner = self.flow.paths.hop(at, Hop::Deref { to: ty, sequence });
                    self.spread(inner, mutable, pos, depth + 1);
                }
                Inside::Element => {
                    let inner = self.flow.paths.hop(at, Hop::Index(ty));
                    self.spread(inner, mutable, pos, depth + 1);
                }
                Inside::Inline => {
                    let inner = self.flow.paths.retype(at, ty);
                    if inner != at {
                        self.spread(inner, mutable, pos, depth + 1);
                    }
                }
                Inside::Behind { .. } => {}
            }
        }
    }

    /// Functions of the crate that code elsewhere may call because it is given them.
    fn callbacks(&mut self, foreign: Option<&str>, args: &[Operand], _pos: Pos) {
        let program = self.flow.program;
        let called = foreign.and_then(|text| program.called.get(text));
        let mut candidates: BTreeMap<usize, Option<Place>> = BTreeMap::new();
        for arg in args {
            let place = match arg {
                Operand::Const(text) => {
                    for &f in program.function_item(text) {
                        candidates.entry(f).or_insert(None);
                    }
                    continue;
                }
                Operand::Place(place) => place,
            };
            let ty = self.flow.place_type(place);
            ty.walk(&mut |t| match t {
                Ty::Closure(text) => {
                    if let Some(f) = program.index.closure(text) {
                        candidates.entry(f).or_insert(Some(place.clone()));
                    }
                }
                Ty::Named { path, library: false, .. } => {
                    let Some(called) = called else { return };
                    for (of_trait, f) in program.index.trait_methods(path) {
                        if may_call(called, of_trait) {
                            candidates.entry(f).or_insert(Some(place.clone()));
                        }
                    }
                }
                _ => {}
            });
        }
        if !candidates.is_empty() {
            self.count(Reason::Callback);
        }
        for (f, first) in candidates {
            self.inline(f, Times::Any, |flow, path| {
                let p = flow.paths.get(path);
                match (&p.root, &first) {
                    (Root::Arg(1), Some(place)) => own_argument(flow, place, path),
                    (Root::Arg(_), _) => given(flow, args, path),
                    _ => BTreeSet::from([path]),
                }
            });
        }
    }

    /// Drops of values whose type, or a type inside of it, has a `drop` in the crate.
    pub(crate) fn drop_of(&mut self, place: &Place, pos: Pos) {
        let program = self.flow.program;
        let ty = self.flow.place_type(place);
        if place.is_indirect() {
            // What is dropped is looked at: a pointer to free, elements to drop.
            for path in self.flow.locations(place) {
                self.record(path, Kind::Read, pos);
            }
        }
        if ty.is_library(CHANGING_ON_DROP) {
            for val in flat(&self.flow.operand(&Operand::Place(place.clone()))) {
                if let Val::Ptr(p) = val {
                    self.spread(p, true, pos, 0);
                }
            }
        }
        let mut dropped = BTreeSet::new();
        let by_guard = called("dropped::drop");
        ty.walk(&mut |t| {
            // A guard of a lock that the crate implements itself gives it back.
            if let Some(path) = t.own_path().filter(|_| guard_mode(&ty).is_some()) {
                let methods = program.index.trait_methods(path);
                dropped.extend(methods.filter(|(of_trait, _)| may_call(&by_guard, of_trait)).map(|(_, f)| f));
            }
            if let Some(path) = t.own_path()
                && let Some(f) = program.drops.get(path)
            {
                dropped.insert(*f);
            }
        });
        for f in dropped {
            let place = place.clone();
            self.inline(f, Times::Any, |flow, path| {
                let p = flow.paths.get(path);
                match p.root {
                    Root::Arg(1) => {
                        let Some((Hop::Deref { to, .. }, rest)) = p.hops.split_first() else {
                            return BTreeSet::new();
                        };
                        let starts = flow.locations(&place);
                        let starts: BTreeSet<PathId> =
                            starts.into_iter().flat_map(|s| flow.coerce(s, to, 0)).collect();
                        if starts.is_empty() { flow.cut(&p) } else { flow.follow(starts, rest) }
                    }
                    Root::Arg(_) => flow.cut(&p),
                    _ => BTreeSet::from([path]),
                }
            });
        }
    }
}

/// The first parameter of a callback: the closure or value itself, or a pointer to it.
fn own_argument(flow: &mut Flow<'_>, place: &Place, path: PathId) -> BTreeSet<PathId> {
    let p = flow.paths.get(path);
    let starts = flow.locations(place);
    let Some((first, rest)) = p.hops.split_first() else { return starts };
    let Hop::Deref { to, .. } = first else { return flow.follow(starts, &p.hops) };
    let ty = flow.place_type(place);
    if same(&ty, to, &flow.program.items) {
        return flow.follow(starts, rest);
    }
    let found: BTreeSet<PathId> = starts.iter().flat_map(|s| flow.coerce(*s, to, 0)).collect();
    if found.is_empty() {
        // An adapter around the closure: its fields are somewhere in there.
        return flow.follow(starts, rest);
    }
    flow.follow(found, rest)
}

/// Another parameter of a callback: something of its type among what the caller passes, or any object.
fn given(flow: &mut Flow<'_>, args: &[Operand], path: PathId) -> BTreeSet<PathId> {
    let p = flow.paths.get(path);
    let Some(at) = p.hops.iter().position(|h| matches!(h, Hop::Deref { .. })) else { return BTreeSet::new() };
    let Hop::Deref { to, .. } = &p.hops[at] else { return BTreeSet::new() };
    let mut starts = BTreeSet::new();
    for arg in args {
        for val in flat(&flow.operand(arg)) {
            if let Val::Ptr(s) = val {
                starts.extend(flow.coerce(s, to, 0));
            }
        }
    }
    if starts.is_empty() && to.own_path().is_some_and(|path| flow.program.items.is_type(path)) {
        for arg in args {
            for val in flat(&flow.operand(arg)) {
                if let Val::Ptr(s) = val {
                    starts.extend(flow.descend(s, to, 0));
                }
            }
        }
    }
    if starts.is_empty() { flow.cut(&p) } else { flow.follow(starts, &p.hops[at + 1..]) }
}
