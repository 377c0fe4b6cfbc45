//! What all methods of a component together make true of its fields.
//!
//! - A field is *protected* by a lock if every write of it, in whatever method, holds that lock of the same object exclusively.
//!   While a thread holds the lock, nobody else changes the field.
//! - A field is *guarded* by a lock if the reads hold it, too. Accesses of guarded fields under their lock are
//!   both-movers, so a critical section with nothing else inside is atomic.
//! - A field is *constant* if nothing writes it: to read it is a method-local action.
//! - All writes of a field may store one constant (a flag that is only set) or never make it smaller. That is beyond the paper.

use super::held::{Held, held};
use super::program::{Action, Base, Change, Component, Method, Object, Term, Value};
use crate::event::LockMode;
use std::collections::BTreeSet;

/// What the writes of a field have in common.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Writes {
    /// There are none.
    None,
    /// All store this.
    Constant(i64),
    /// None makes it smaller.
    Grow,
    /// Nothing.
    Any,
}

/// What is known of one field.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct FieldFacts {
    /// The fields that are locks and held at every write.
    pub protected: BTreeSet<usize>,
    /// The fields that are locks and held at every access.
    pub guarded: BTreeSet<usize>,
    /// What the writes have in common.
    pub writes: Writes,
}

/// What is known of a component.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ComponentFacts {
    /// By field.
    pub fields: Vec<FieldFacts>,
    /// The locks held before each node, by method.
    pub held: Vec<Vec<Held>>,
}

impl ComponentFacts {
    /// Of a component. With `ownership`, what methods do to an object that no other thread can reach does not count.
    pub fn new(component: &Component, ownership: bool) -> ComponentFacts {
        let held: Vec<Vec<Held>> = component.methods.iter().map(held).collect();
        let fields = (0..component.fields.len()).map(|f| field(component, &held, f, ownership)).collect();
        ComponentFacts { fields, held }
    }

    /// Whether a lock that is held keeps others from writing an object.
    pub fn protects(&self, lock: &Object, object: &Object) -> bool {
        guards(lock, object, &self.fields[object.field].protected)
    }

    /// Whether nothing writes the field.
    pub fn is_constant(&self, field: usize) -> bool {
        self.fields[field].writes == Writes::None
    }
}

/// Whether a lock is one of these fields of the object.
pub fn guards(lock: &Object, object: &Object, fields: &BTreeSet<usize>) -> bool {
    lock.base == object.base && lock.base != Base::Any && fields.contains(&lock.field)
}

fn field(component: &Component, held: &[Vec<Held>], f: usize, ownership: bool) -> FieldFacts {
    let locks: BTreeSet<usize> = (0..component.fields.len()).collect();
    let (mut protected, mut guarded) = (locks.clone(), locks);
    let mut writes = Writes::None;
    for (method, held) in component.methods.iter().zip(held) {
        for (node, held) in method.nodes.iter().zip(held) {
            let Some((object, writing)) = node.action.access() else { continue };
            let owned = ownership && method.exclusive && object.base == Base::Local(0);
            if owned || !component.overlap(object.field, f) {
                continue;
            }
            let of = |exclusive: bool| locks_of(method, held, object, exclusive);
            let mine = of(writing);
            guarded.retain(|lock| mine.contains(lock));
            if writing {
                protected.retain(|lock| mine.contains(lock));
                let value = if object.field == f { written(&node.action) } else { Writes::Any };
                writes = writes.and(value);
            }
        }
    }
    if component.fields[f].open {
        return FieldFacts { protected: BTreeSet::new(), guarded: BTreeSet::new(), writes: Writes::Any };
    }
    FieldFacts { protected, guarded, writes }
}

/// The held locks that are fields of the object that is accessed.
fn locks_of(method: &Method, held: &Held, object: &Object, exclusive: bool) -> BTreeSet<usize> {
    let steady = match object.base {
        Base::Local(local) => method.is_constant(local),
        Base::Static => true,
        Base::Any => false,
    };
    let fits = |(lock, mode): &(&Object, &LockMode)| {
        lock.base == object.base && (!exclusive || **mode == LockMode::Exclusive)
    };
    held.iter().filter(|_| steady).filter(fits).map(|(lock, _)| lock.field).collect()
}

fn written(action: &Action) -> Writes {
    match action {
        Action::Write { value: Value::Term(Term::Const(c)), .. } => Writes::Constant(*c),
        Action::Update { change: Change::To(c), .. } => Writes::Constant(*c),
        Action::Update { change: Change::Grows, .. } => Writes::Grow,
        _ => Writes::Any,
    }
}

impl Writes {
    fn and(self, other: Writes) -> Writes {
        match (self, other) {
            (Writes::None, w) | (w, Writes::None) => w,
            (a, b) if a == b => a,
            _ => Writes::Any,
        }
    }
}
