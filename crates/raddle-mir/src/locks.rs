//! Which locks are held at each point of a function.
//!
//! A lock is held while a guard for it is alive. Guards are values of the guard types of `std::sync` and `lock_api`
//! (`parking_lot`). A forward data-flow over the control-flow graph keeps the locals that hold a guard on **every**
//! path: a guard comes with the result of a call, moves with moves, and goes with a drop, with the end of its storage, or
//! into anything that is not a guard. A `Result` with a guard in both variants counts, an `Option` does not.
//!
//! A *section* is one continuous holding of a lock: where it began. Sections that can begin more than once in one call have no number.

use crate::mir::{Function, Operand, Place, Rvalue, Statement, Step, Terminator};
use crate::ty::Ty;
use raddle_core::LockMode;
use std::collections::BTreeMap;

/// The guards at a point: the local, and the block whose call began the section, if there is only one.
pub(crate) type Guards = BTreeMap<usize, Option<usize>>;

const GUARDS: &[(&str, LockMode)] = &[
    ("MutexGuard", LockMode::Exclusive),
    ("MappedMutexGuard", LockMode::Exclusive),
    ("ReentrantMutexGuard", LockMode::Exclusive),
    ("RwLockReadGuard", LockMode::Shared),
    ("MappedRwLockReadGuard", LockMode::Shared),
    ("RwLockUpgradableReadGuard", LockMode::Shared),
    ("RwLockWriteGuard", LockMode::Exclusive),
    ("MappedRwLockWriteGuard", LockMode::Exclusive),
];

/// Types that are locks.
pub(crate) const LOCKS: &[&str] = &["Mutex", "RwLock", "ReentrantMutex", "ReentrantLock", "FairMutex"];

/// The mode of the guard that a value of a type certainly holds.
pub(crate) fn guard_mode(ty: &Ty) -> Option<LockMode> {
    let Ty::Named { path, library: true, args } = ty else { return None };
    if let Some((_, mode)) = GUARDS.iter().find(|(name, _)| name == path) {
        return Some(*mode);
    }
    match path.as_str() {
        "PoisonError" => args.first().and_then(|t| guard_mode(t)),
        "Result" => {
            let [ok, err] = args.as_slice() else { return None };
            guard_mode(err).and(guard_mode(ok))
        }
        _ => None,
    }
}

/// The guards at the beginning of each block.
pub(crate) fn guards(function: &Function) -> Vec<Guards> {
    let loops = function.loops();
    let mut entry: Vec<Option<Guards>> = vec![None; function.blocks.len()];
    if let Some(first) = entry.first_mut() {
        *first = Some(Guards::new());
    }
    if function.blocks.is_empty() || !function.locals.iter().any(|t| guard_mode(t).is_some()) {
        return vec![Guards::new(); function.blocks.len()];
    }
    let mut work: Vec<usize> = vec![0];
    while let Some(b) = work.pop() {
        let Some(mut state) = entry[b].clone() else { continue };
        let block = &function.blocks[b];
        for (statement, _) in &block.statements {
            step(function, statement, &mut state);
        }
        let targets = block.end.targets();
        for (i, &target) in targets.iter().enumerate() {
            let mut state = state.clone();
            finish(function, &block.end, b, loops[b], i == 0, &mut state);
            let old = entry[target].clone();
            let new = match &old {
                None => state,
                Some(old) => join(old, &state),
            };
            if old.as_ref() != Some(&new) {
                entry[target] = Some(new);
                work.push(target);
            }
        }
    }
    entry.into_iter().map(Option::unwrap_or_default).collect()
}

fn join(a: &Guards, b: &Guards) -> Guards {
    let both = a.iter().filter_map(|(local, section)| {
        let other = b.get(local)?;
        Some((*local, section.filter(|_| section == other)))
    });
    both.collect()
}

/// What a statement does to the guards.
pub(crate) fn step(function: &Function, statement: &Statement, guards: &mut Guards) {
    match statement {
        Statement::Dead(local) => {
            guards.remove(local);
        }
        Statement::Assign(dest, Rvalue::Use(Operand::Place(from)) | Rvalue::Cast(Operand::Place(from))) => {
            let taken = if moves(function, from) {
                guards.remove(&from.local)
            } else {
                comes_out(from).then_some(None)
            };
            if let Some(section) = taken
                && dest.steps.is_empty()
                && guard_mode(&function.local_type(dest.local)).is_some()
            {
                guards.insert(dest.local, section);
            }
        }
        Statement::Assign(_, Rvalue::Aggregate { fields, .. }) => {
            for (_, operand) in fields {
                if let Operand::Place(place) = operand {
                    guards.remove(&place.local);
                }
            }
        }
        _ => {}
    }
}

/// Whether a guard is taken out of the value of a local that may be something else as well, such as the result of an attempt.
fn comes_out(place: &Place) -> bool {
    let Some(Step::Field(_, ty)) = place.steps.last() else { return false };
    !place.is_indirect() && guard_mode(ty).is_some()
}

/// A guard is not `Copy`: to use it, or the variant of a result that it is in, is to move it.
fn moves(function: &Function, place: &Place) -> bool {
    !place.is_indirect() && guard_mode(&function.local_type(place.local)).is_some()
}

pub(crate) fn finish(
    function: &Function,
    end: &Terminator,
    block: usize,
    loops: bool,
    first: bool,
    guards: &mut Guards,
) {
    match end {
        Terminator::Drop { place, .. } if place.steps.is_empty() => {
            guards.remove(&place.local);
        }
        Terminator::Call { dest, args, returns, callee, .. } => {
            let mut carried = None;
            for arg in args {
                if let Operand::Place(place) = arg
                    && moves(function, place)
                {
                    carried = guards.remove(&place.local).or(carried);
                }
            }
            let holds = dest.steps.is_empty() && guard_mode(&function.local_type(dest.local)).is_some();
            if first && *returns && holds {
                // A wait gives the lock back and takes it again: another section.
                let waits = matches!(callee, crate::mir::Callee::Path(path) if path.contains("Condvar"));
                let fresh = (!loops).then_some(block);
                guards.insert(dest.local, if waits { fresh } else { carried.unwrap_or(fresh) });
            }
        }
        _ => {}
    }
}
