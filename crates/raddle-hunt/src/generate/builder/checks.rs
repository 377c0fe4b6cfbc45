//! What a test looks at when all is quiet.
//!
//! The state that the suffixes leave behind is part of what they did. A few methods that take nothing and return
//! something are called at the end, so that a wrong state shows in a result: of a type with many properties, those that
//! are known to look at what the suffixes write. If the type counts its items and can
//! be emptied, it is counted and then emptied: the two numbers must agree.

use super::shop::Shop;
use super::values::one_of;
use super::{Builder, Draft};
use crate::harness::{Domain, Pass, Role, Thunk, ThunkId, TypeId};
use crate::protocol::{Executor, ExecutorError};
use crate::test::{Step, Test};
use crate::value::Value;

/// Methods called at the end for their result alone.
const OBSERVERS: usize = 3;
/// More items than this are not taken out one by one.
const MOST_ITEMS: u32 = 16;
/// Methods that take one item out and return `None` or `Err` when there is none.
const DRAINS: [&str; 9] = [
    "pop",
    "try_pop",
    "dequeue",
    "try_dequeue",
    "try_recv",
    "pop_front",
    "pop_first",
    "remove_first",
    "poll",
];

/// The method that tells how many items an object of the type has.
pub fn len_of(shop: &Shop, ty: TypeId) -> Option<ThunkId> {
    let mut nullary = shop.methods.iter().filter(|m| nullary_on(shop.thunk(**m)) == Some((ty, Pass::Shared)));
    nullary.find(|m| shop.short_name(**m) == "len").copied()
}

/// The method that takes items out of an object of the type, one at a time.
pub fn drain_of(shop: &Shop, ty: TypeId) -> Option<ThunkId> {
    let takes = |m: &&ThunkId| {
        matches!(nullary_on(shop.thunk(**m)), Some((t, pass)) if t == ty && pass != Pass::Move)
            && DRAINS.contains(&shop.short_name(**m))
    };
    shop.methods.iter().find(takes).copied()
}

/// The type that a method without other parameters works on, if its result can be seen.
fn nullary_on(thunk: &Thunk) -> Option<(TypeId, Pass)> {
    match thunk.params[..] {
        [Domain::Slot { ty, pass }]
            if thunk.role == Role::Method && thunk.output.printed && thunk.output.slots.is_empty() =>
        {
            Some((ty, pass))
        }
        _ => None,
    }
}

impl Builder {
    /// The calls to make at the end of the test; only such that work after the setup.
    pub fn checks(&mut self, exec: &mut dyn Executor, draft: &Draft) -> Result<Vec<Step>, ExecutorError> {
        let given = |slot: u32| draft.give().iter().any(|(s, _)| *s == slot);
        let scope = &draft.setup().scope;
        let subject = scope.slots().find(|(i, s)| s.primary && !given(*i) && scope.may(*i, Pass::Shared));
        let Some((slot, ty)) = subject.map(|(i, s)| (i, s.ty)) else { return Ok(Vec::new()) };
        let owned = scope.may(slot, Pass::Exclusive);
        let call = |thunk: ThunkId| Step::new(thunk, vec![Value::Slot(slot)]);

        let mut checks = Vec::new();
        let len = len_of(&self.shop, ty);
        let drain = drain_of(&self.shop, ty);
        checks.extend(len.map(call));
        let mut observers: Vec<ThunkId> = self.shop.methods.clone();
        observers.retain(|m| {
            nullary_on(self.shop.thunk(*m)) == Some((ty, Pass::Shared))
                && Some(*m) != len
                && Some(*m) != drain
        });
        // Observers may change the state, so they come after the count only if nothing is taken out later.
        if drain.is_none() || len.is_none() {
            for left in (0..OBSERVERS.min(observers.len())).rev() {
                let seeing: Vec<ThunkId> =
                    observers.iter().copied().filter(|o| self.observers.contains(o)).collect();
                // The last one is any: not all that methods write and look at is known.
                let known = left > 0 && !seeing.is_empty();
                let observer = one_of(&mut self.rng, if known { &seeing } else { &observers });
                observers.retain(|o| *o != observer);
                checks.push(call(observer));
            }
        }
        let items = draft.most_items();
        if let Some(drain) = drain.filter(|_| items <= MOST_ITEMS)
            && (owned || matches!(nullary_on(self.shop.thunk(drain)), Some((_, Pass::Shared))))
        {
            checks.extend((0..=items).map(|_| call(drain)));
        }
        self.working(exec, draft, checks)
    }

    /// Leaves out what fails.
    fn working(
        &mut self,
        exec: &mut dyn Executor,
        draft: &Draft,
        mut checks: Vec<Step>,
    ) -> Result<Vec<Step>, ExecutorError> {
        let setup = &draft.setup().steps;
        while !checks.is_empty() {
            let test = Test { setup: [&setup[..], &checks].concat(), ..Test::default() };
            match self.first_fault(exec, &test)? {
                None => break,
                Some(at) if at < setup.len() => return Ok(Vec::new()),
                Some(at) => {
                    let bad = checks[at - setup.len()].thunk;
                    checks.retain(|c| c.thunk != bad);
                }
            }
        }
        Ok(checks)
    }
}
