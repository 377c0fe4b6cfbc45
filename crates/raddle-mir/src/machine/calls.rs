//! Calls and drops: functions of the crate are put in the place of their call, locks, condition variables and atomics are
//! known, and everything else does what `walk` finds, in any order and number.

use super::body::{Body, holds_guard};
use super::graph::{Graph, Step};
use crate::effects::{Effect, Kind, effect};
use crate::locks::{LOCKS, guard_mode};
use crate::mir::{Callee, Operand, Place, Pos};
use crate::paths::{PathId, Root};
use crate::resolve::Called;
use crate::ty::Ty;
use raddle_core::LockMode;
use raddle_core::location_pairs::ruling_out::{Action, Change, Comparison, Term, Test, Value};
use std::collections::BTreeSet;

/// A function with more steps than this is not put in the place of its calls.
const STEPS: usize = 400;
/// Nor is anything put into a function that has got as long as this.
const TOTAL: usize = 1_500;

/// Methods of guards that give the lock back for a while.
const UNLOCKING: &[&str] = &["unlocked", "unlocked_fair", "bump"];

/// Functions that have other threads call what they are given.
const STARTING: &[&str] = &["spawn", "scope", "execute", "join"];

impl Body<'_, '_> {
    pub(super) fn call(&mut self, dest: &Place, callee: &Callee, args: &[Operand], pos: Pos) {
        let terms: Vec<Option<Term>> = args.iter().map(|arg| self.operand(arg, pos)).collect();
        let targets = self.walk.flow.program.targets(callee).to_vec();
        if !targets.is_empty() {
            self.hand_over(args, pos);
        }
        if let [target] = targets[..]
            && let Some(graph) = self.callees.get(&target).cloned().flatten()
            && graph.steps.len() <= STEPS
            && self.graph.steps.len() + graph.steps.len() <= TOTAL
        {
            return self.inline(&graph, target, dest, args, &terms, pos);
        }
        let program = self.walk.flow.program;
        let called = match callee {
            Callee::Path(text) if targets.is_empty() => program.called.get(text),
            _ => None,
        };
        if called.is_some_and(|called| STARTING.iter().any(|name| called.name.contains(name))) {
            // What the other thread does, it does whenever it likes: under none of the locks that are held here.
            let lock = self.unknown_lock();
            self.then(Action::Release { lock }, pos);
        }
        if let Some(called) = called
            && (self.synchronise(called, dest, args, pos) || self.atomic(called, dest, args, &terms, pos))
        {
            return;
        }
        self.foreign(callee, args, pos);
        self.set(dest, Value::Unknown, pos);
    }

    /// A guard that a function of the crate is given may be dropped in it at any time: it counts as given back at once.
    fn hand_over(&mut self, args: &[Operand], pos: Pos) {
        for arg in args {
            if let Operand::Place(place) = arg
                && place.steps.is_empty()
                && holds_guard(&self.function.local_type(place.local))
            {
                self.release(place.local, pos);
            }
        }
    }

    /// What is not known exactly: all that it may access.
    fn foreign(&mut self, callee: &Callee, args: &[Operand], pos: Pos) {
        for arg in args {
            if let Operand::Place(place) = arg {
                self.leave(place, pos);
            }
        }
        self.walk.summary = Default::default();
        self.walk.call(callee, args, pos);
        self.found(pos);
    }

    /// Whatever the walk has found since it was told to look.
    fn found(&mut self, pos: Pos) {
        let accesses = std::mem::take(&mut self.walk.summary).accesses;
        let all: BTreeSet<(PathId, Kind)> = accesses.iter().map(|a| (a.path, a.kind)).collect();
        let known = all.into_iter().filter(|(path, _)| {
            let path = self.walk.flow.paths.get(*path);
            path.is_shared() && path.root != Root::Fresh
        });
        let actions = known.map(|(object, kind)| match kind {
            Kind::Read => Action::Read { object, into: None },
            Kind::Write => Action::Write { object, value: Value::Unknown },
            Kind::Rmw => Action::Update { object, into: None, change: Change::Any },
        });
        self.any_of(actions.collect(), pos);
    }

    pub(super) fn drop(&mut self, place: &Place, pos: Pos) {
        self.walk.summary = Default::default();
        self.walk.drop_of(place, pos);
        self.found(pos);
        let ty = self.walk.flow.place_type(place);
        let whole_guard = place.steps.is_empty() && guard_mode(&ty).is_some();
        if !whole_guard && !place.is_indirect() && holds_guard(&ty) {
            self.release(place.local, pos);
        }
    }

    /// The lock or condition variable that an argument points to.
    fn pointee(&mut self, arg: &Operand, ty: &Ty) -> PathId {
        let Ty::Pointer { to, .. } = ty else { return self.unknown_lock() };
        let mut found = BTreeSet::new();
        for (_, vals) in self.walk.flow.operand(arg) {
            for val in vals {
                if let crate::flow::Val::Ptr(p) = val {
                    found.extend(self.walk.flow.coerce(p, to, 0));
                }
            }
        }
        match found.first() {
            Some(one) if found.len() == 1 => *one,
            _ => self.walk.flow.paths.object(to.clone(), false),
        }
    }

    /// Locks and condition variables; whether it was one.
    fn synchronise(&mut self, called: &Called, dest: &Place, args: &[Operand], pos: Pos) -> bool {
        let Some(Operand::Place(first)) = args.first() else { return false };
        let ty = self.walk.flow.place_type(first);
        let to = match &*ty {
            Ty::Pointer { to, .. } => to.clone(),
            _ => return false,
        };
        if to.is_library(&["Condvar"]) && called.name != "new" {
            self.condition(called, &args[0], &ty, args, pos);
            self.set(dest, Value::Unknown, pos);
            return true;
        }
        if guard_mode(&to).is_some() && UNLOCKING.contains(&called.name.as_str()) {
            self.release(first.local, pos);
            return false;
        }
        let result = self.walk.flow.place_type(dest);
        if !to.is_library(LOCKS) || !holds_guard(&result) {
            return false;
        }
        let lock = self.pointee(&args[0], &ty);
        let mode = mode_of(&result);
        // A lock that a thread can take twice keeps nobody out that this analysis could tell.
        let again = to.is_library(&["ReentrantMutex", "ReentrantLock"]);
        let lock = if again { self.walk.flow.paths.object(to, false) } else { lock };
        if guard_mode(&result).is_some() {
            self.then(Action::Acquire { lock, mode }, pos);
            self.set(dest, Value::Unknown, pos);
            return true;
        }
        let into = self.temporary();
        self.then(Action::TryAcquire { lock, mode, into: Some(into) }, pos);
        // `Ok` is variant 0 and `Some` is variant 1.
        let asked = i64::from(!result.is_library(&["Result"]));
        let value = if result.is_library(&["Result", "Option"]) {
            let right = Term::Const(1);
            let by = if asked == 1 { Comparison::Equal } else { Comparison::Unequal };
            Value::Test(Test { left: Term::Local(into), by, right })
        } else {
            Value::Unknown
        };
        self.set(dest, value, pos);
        true
    }

    /// A wait gives the lock back and takes it again.
    fn condition(&mut self, called: &Called, condition: &Operand, ty: &Ty, args: &[Operand], pos: Pos) {
        let condition = self.pointee(condition, ty);
        let guard = args.iter().find_map(|arg| match arg {
            Operand::Place(place) => {
                let ty = self.walk.flow.place_type(place);
                let held = holds_guard(&ty) || matches!(&*ty, Ty::Pointer { to, .. } if holds_guard(to));
                held.then_some((place.local, mode_of(&ty)))
            }
            Operand::Const(_) => None,
        });
        let Some((local, mode)) = guard.filter(|_| called.name.starts_with("wait")) else {
            return self.then(Action::Signal(condition), pos);
        };
        let lock = self.walk.lock_of(local).unwrap_or_else(|| self.unknown_lock());
        self.then(Action::Release { lock }, pos);
        self.then(Action::Signal(condition), pos);
        self.then(Action::Acquire { lock, mode }, pos);
    }

    /// Operations on atomics; whether it was one.
    fn atomic(
        &mut self,
        called: &Called,
        dest: &Place,
        args: &[Operand],
        terms: &[Option<Term>],
        pos: Pos,
    ) -> bool {
        let Some(Operand::Place(first)) = args.first() else { return false };
        let ty = self.walk.flow.place_type(first);
        let Effect::Exactly(kind) = effect(called, 0, &ty) else { return false };
        if !called.plain.contains("::atomic::") {
            return false;
        }
        let Ty::Pointer { to, .. } = &*ty else { return false };
        let mut found = BTreeSet::new();
        for (_, vals) in self.walk.flow.operand(&args[0]) {
            for val in vals {
                if let crate::flow::Val::Ptr(p) = val {
                    found.extend(self.walk.flow.coerce(p, to, 0));
                }
            }
        }
        if found.is_empty() {
            found.insert(self.walk.flow.paths.object(to.clone(), false));
        }
        let (shared, others) = self.shared(found);
        let argument = |i: usize| terms.get(i).copied().flatten();
        let into = self.temporary();
        let action = |object: PathId| match kind {
            Kind::Read => Action::Read { object, into: Some(into) },
            Kind::Write => Action::Write { object, value: argument(1).map_or(Value::Unknown, Value::Term) },
            Kind::Rmw => {
                let old = !called.name.starts_with("compare_") && !called.name.contains("update");
                let change = change(called.name.as_str(), to, &argument);
                Action::Update { object, into: old.then_some(into), change }
            }
        };
        let mut ways: Vec<_> = shared.into_iter().map(action).collect();
        if others {
            ways.push(Action::Assign { local: into, value: Value::Unknown });
        }
        self.one_of(ways, false, pos);
        let known =
            kind != Kind::Write && !called.name.starts_with("compare_") && !called.name.contains("update");
        let value = if known { Value::Term(Term::Local(into)) } else { Value::Unknown };
        self.set(dest, value, pos);
        true
    }

    /// Puts a function in the place of its call.
    fn inline(
        &mut self,
        graph: &Graph,
        target: usize,
        dest: &Place,
        args: &[Operand],
        terms: &[Option<Term>],
        pos: Pos,
    ) {
        let offset = self.graph.locals;
        self.graph.locals += graph.locals;
        let callee = &self.walk.flow.program.mir.functions[target];
        for (i, term) in terms.iter().enumerate().take(callee.params) {
            if !matches!(&*callee.local_type(i + 1), Ty::Pointer { .. }) {
                let value = term.map_or(Value::Unknown, Value::Term);
                self.then(Action::Assign { local: offset + i + 1, value }, pos);
            }
        }
        // The steps of the call hang on a step of their own; each has its number in the callee plus `first`.
        self.then(Action::Choose, pos);
        let caller = self.graph.steps[self.at].spot.clone();
        let (entry, out) = (self.at, self.graph.steps.len());
        self.graph.steps.push(Step { action: Action::Choose, next: vec![], spot: caller.clone() });
        let first = self.graph.steps.len();
        self.graph.steps[entry].next.push(first);
        let mut alternatives = Vec::new();
        for (n, step) in graph.steps.iter().enumerate() {
            let spot = step.spot.called_from(&caller);
            let next: Vec<usize> = match step.action {
                Action::Return => vec![out],
                _ => step.next.iter().map(|m| first + m).collect(),
            };
            let ways = self.translated(&step.action, args, offset);
            match &ways[..] {
                [one] => self.graph.steps.push(Step { action: one.clone(), next, spot }),
                _ => {
                    alternatives.push((first + n, ways, next, spot.clone()));
                    self.graph.steps.push(Step { action: Action::Choose, next: vec![], spot });
                }
            }
        }
        for (n, ways, next, spot) in alternatives {
            for action in ways {
                let m = self.graph.steps.len();
                self.graph.steps[n].next.push(m);
                self.graph.steps.push(Step { action, next: next.clone(), spot: spot.clone() });
            }
        }
        self.at = out;
        self.set(dest, Value::Term(Term::Local(offset)), pos);
    }

    /// An action of a callee in terms of this function: one of these.
    fn translated(
        &mut self,
        action: &Action<PathId>,
        args: &[Operand],
        offset: usize,
    ) -> Vec<Action<PathId>> {
        let local = |l: usize| offset + l;
        let Some(&path) = action.object() else {
            return match action {
                Action::Return => vec![Action::Choose],
                _ => vec![action.map(|p| *p, local)],
            };
        };
        let found = self.walk.flow.substitute(path, args);
        let synchronises = action.access().is_none();
        if synchronises {
            let one = match found.first() {
                Some(one) if found.len() == 1 => *one,
                _ => {
                    let ty = self.walk.flow.paths.get(path).ty.clone();
                    self.walk.flow.paths.object(ty, false)
                }
            };
            return vec![action.map(|_| one, local)];
        }
        let (shared, others) = self.shared(found);
        let mut ways: Vec<_> = shared.iter().map(|p| action.map(|_| *p, local)).collect();
        if others || ways.is_empty() {
            // Memory of this function's own.
            ways.push(match action.sets() {
                Some(into) => Action::Assign { local: local(into), value: Value::Unknown },
                None => Action::Choose,
            });
        }
        ways
    }
}

fn mode_of(ty: &Ty) -> LockMode {
    let mut mode = None;
    ty.walk(&mut |t| mode = mode.or(guard_mode(t)));
    mode.unwrap_or(LockMode::Exclusive)
}

/// What an atomic operation makes of a value.
fn change(name: &str, ty: &Ty, argument: &dyn Fn(usize) -> Option<Term>) -> Change {
    let constant = |i: usize| match argument(i) {
        Some(Term::Const(c)) => Some(c),
        _ => None,
    };
    let wide = ty.is_library(&["AtomicUsize", "AtomicU64", "AtomicIsize", "AtomicI64"]);
    let bool = ty.is_library(&["AtomicBool"]);
    match name {
        "swap" => constant(1).map_or(Change::Any, Change::To),
        "fetch_or" if bool && constant(1) == Some(1) => Change::To(1),
        "fetch_and" if bool && constant(1) == Some(0) => Change::To(0),
        _ if name.starts_with("compare_") => constant(2).map_or(Change::Any, Change::To),
        // Nobody counts to 2^63.
        "fetch_add" if wide && constant(1).is_some_and(|c| c > 0) => Change::Grows,
        "fetch_max" => Change::Grows,
        _ => Change::Any,
    }
}
