//! Which locks a method certainly holds at each of its nodes.
//!
//! A forward data flow that keeps what holds on every way. That a lock was taken by an attempt is known where the local
//! that tells has been looked at.

use super::program::{Action, Comparison, Method, Object, Term, Test, Value};
use crate::event::LockMode;
use std::collections::{BTreeMap, BTreeSet};

/// Locks, each with how it is held.
pub type Held = BTreeMap<Object, LockMode>;

#[derive(Clone, PartialEq, Eq, Default)]
struct Known {
    held: Held,
    /// The local has this value only if the lock is held.
    attempts: BTreeSet<(usize, i64, Object, LockMode)>,
}

/// The locks that are held before each node; nothing for nodes that are never reached.
pub fn held(method: &Method) -> Vec<Held> {
    let mut entry: Vec<Option<Known>> = vec![None; method.nodes.len()];
    entry[0] = Some(Known::default());
    let mut work = vec![0];
    while let Some(n) = work.pop() {
        let Some(known) = entry[n].clone() else { continue };
        let node = &method.nodes[n];
        for (way, &next) in node.next.iter().enumerate() {
            let mut after = known.clone();
            after.step(method, &node.action, way);
            let joined = match &entry[next] {
                None => after,
                Some(old) => old.join(&after),
            };
            if entry[next].as_ref() != Some(&joined) {
                entry[next] = Some(joined);
                work.push(next);
            }
        }
    }
    entry.into_iter().map(|known| known.unwrap_or_default().held).collect()
}

/// Whether a lock expression means the same lock whenever it is evaluated in one call.
pub fn is_steady(method: &Method, lock: &Object) -> bool {
    use super::program::Base;
    let index = |term| !matches!(term, Term::Local(local) if !method.is_constant(local));
    let base = match lock.base {
        Base::Local(local) => method.is_constant(local),
        Base::Static => true,
        Base::Any => false,
    };
    lock.single && base && lock.index.is_none_or(index)
}

impl Known {
    fn join(&self, other: &Known) -> Known {
        let held = self.held.iter().filter_map(|(lock, mode)| {
            let mode = if other.held.get(lock)? == mode { *mode } else { LockMode::Shared };
            Some((*lock, mode))
        });
        Known {
            held: held.collect(),
            attempts: self.attempts.intersection(&other.attempts).copied().collect(),
        }
    }

    fn step(&mut self, method: &Method, action: &Action, way: usize) {
        match action {
            Action::Release { lock } => {
                release(&mut self.held, lock);
                self.attempts.retain(|(_, _, other, _)| !same_kind(other, lock));
            }
            Action::Acquire { lock, mode } if is_steady(method, lock) => {
                self.held.insert(*lock, *mode);
            }
            Action::Branch(test) => {
                if let Some((local, value)) = learned(test, way) {
                    let taken = self.attempts.iter().filter(|(l, v, ..)| (*l, *v) == (local, value));
                    self.held.extend(taken.map(|(_, _, lock, mode)| (*lock, *mode)));
                }
            }
            _ => {}
        }
        if let Some(local) = action.sets() {
            let copied = self.copied(local, action);
            self.attempts.retain(|(l, ..)| *l != local);
            self.attempts.extend(copied);
        }
        if let Action::TryAcquire { lock, mode, into: Some(into) } = action
            && is_steady(method, lock)
        {
            self.attempts.insert((*into, 1, *lock, *mode));
        }
    }

    /// What a local tells about attempts once it is set.
    fn copied(&self, local: usize, action: &Action) -> Vec<(usize, i64, Object, LockMode)> {
        let Action::Assign { value, .. } = action else { return vec![] };
        let (from, told) = match value {
            Value::Term(Term::Local(from)) => (*from, None),
            Value::Test(test) => match learned(test, 0) {
                Some((from, value)) => (from, Some(value)),
                None => return vec![],
            },
            _ => return vec![],
        };
        let of = self.attempts.iter().filter(|(l, ..)| *l == from);
        let told = |value: i64| told.map_or(value, |asked| i64::from(value == asked));
        of.map(|(_, value, lock, mode)| (local, told(*value), *lock, *mode)).collect()
    }
}

/// The lock that is given back; if it is not known which that is, all that it can be.
pub fn release<M>(held: &mut BTreeMap<Object, M>, lock: &Object) {
    if held.remove(lock).is_none() {
        held.retain(|other, _| !same_kind(other, lock));
    }
}

fn same_kind(a: &Object, b: &Object) -> bool {
    a.field == b.field || !a.single || !b.single
}

/// The local that a branch going this way tells the value of, given that it is 0 or 1.
fn learned(test: &Test, way: usize) -> Option<(usize, i64)> {
    let (local, constant) = match (test.left, test.right) {
        (Term::Local(local), Term::Const(c)) | (Term::Const(c), Term::Local(local)) => (local, c),
        _ => return None,
    };
    let equal = match test.by {
        Comparison::Equal => way == 0,
        Comparison::Unequal => way == 1,
        Comparison::Less | Comparison::NotLess => return None,
    };
    (0..2).contains(&constant).then_some((local, if equal { constant } else { 1 - constant }))
}
