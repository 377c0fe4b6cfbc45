//! What is in the slots while a sequence of calls is being built.
//!
//! The compiler cannot check a test, so the rules of ownership are kept here: a slot is used by reference while
//! others may see it, by `&mut` or by value only by the thread that owns it, and not while something borrows from it.

use super::shop::{Shop, slots_of};
use crate::harness::{Pass, Sharing, TypeId};
use crate::test::Step;
use crate::value::Value;

/// What a thread may do with a slot.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Access {
    /// Everything.
    Owned,
    /// Use it by reference.
    Shared,
    /// Nothing: it is empty, or another thread's.
    None,
}

/// A slot as far as it is known.
#[derive(Clone, PartialEq, Debug)]
pub struct Slot {
    /// The type.
    pub ty: TypeId,
    /// What the thread may do with it.
    pub access: Access,
    /// What the test is about: made by its first constructor, or by a second one beside it.
    pub primary: bool,
    /// The slots that it borrows from, and whether by `&mut`.
    borrows: Vec<(u32, bool)>,
}

/// The slots that one thread sees.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Scope {
    slots: Vec<Slot>,
    /// Slots from here on were made by this thread itself.
    own_from: usize,
}

impl Scope {
    /// How many slots there are.
    pub fn len(&self) -> usize {
        self.slots.len()
    }

    /// A slot.
    pub fn slot(&self, i: u32) -> &Slot {
        &self.slots[i as usize]
    }

    /// All slots with their numbers.
    pub fn slots(&self) -> impl Iterator<Item = (u32, &Slot)> {
        self.slots.iter().enumerate().map(|(i, s)| (i as u32, s))
    }

    /// The slots of these types from a number on are what the test is about, too.
    pub fn add_primary(&mut self, from: usize, types: &[TypeId]) {
        for slot in self.slots[from..].iter_mut().filter(|s| types.contains(&s.ty)) {
            slot.primary = true;
        }
    }

    /// Whether a slot is one of the setup.
    pub fn is_setup(&self, i: u32) -> bool {
        self.own_from == 0 || (i as usize) < self.own_from
    }

    /// Slots that this thread made and still has.
    pub fn own(&self) -> impl Iterator<Item = (u32, &Slot)> {
        self.slots().filter(|(i, s)| *i as usize >= self.own_from && s.access != Access::None)
    }

    /// Whether a slot may be passed like this.
    pub fn may(&self, i: u32, pass: Pass) -> bool {
        let slot = &self.slots[i as usize];
        let borrowed = |how: fn(&bool) -> bool| {
            self.slots.iter().any(|s| {
                s.access != Access::None && s.borrows.iter().any(|(from, mutably)| *from == i && how(mutably))
            })
        };
        match (slot.access, pass) {
            (Access::None, _) => false,
            (_, Pass::Shared) => !borrowed(|mutably| *mutably),
            (access, _) => access == Access::Owned && !borrowed(|_| true),
        }
    }

    /// The slots of a type that may be passed like this.
    pub fn usable(&self, ty: TypeId, pass: Pass) -> impl Iterator<Item = u32> {
        self.slots().filter(move |(i, s)| s.ty == ty && self.may(*i, pass)).map(|(i, _)| i)
    }

    /// Takes note of a call.
    pub fn called(&mut self, shop: &Shop, step: &Step, primary: bool) {
        let thunk = shop.thunk(step.thunk);
        let mut passed = Vec::new();
        for (domain, value) in thunk.params.iter().zip(&step.args) {
            let passes = slots_of(domain);
            for slot in slots_in(value) {
                let ty = self.slots[slot as usize].ty;
                let pass = passes.iter().find(|(t, _)| *t == ty).map_or(Pass::Move, |(_, pass)| *pass);
                passed.push((slot, pass));
            }
        }
        let mut borrows = Vec::new();
        for (slot, pass) in passed {
            match pass {
                Pass::Move => {
                    // What it borrowed from may be borrowed on by what the call returns.
                    let moved = &mut self.slots[slot as usize];
                    moved.access = Access::None;
                    borrows.append(&mut moved.borrows);
                }
                Pass::Shared => borrows.push((slot, false)),
                Pass::Exclusive => borrows.push((slot, true)),
            }
        }
        for ty in &thunk.output.slots {
            let local = shop.sharing(*ty) == Sharing::Local;
            let borrows = if local { borrows.clone() } else { Vec::new() };
            self.slots.push(Slot { ty: *ty, access: Access::Owned, primary, borrows });
        }
    }

    /// What suffix `suffix` sees of these slots of the setup, of which `give` says whose some of them are.
    pub fn for_suffix(&self, shop: &Shop, give: &[(u32, u32)], suffix: u32) -> Scope {
        let mut scope = self.clone();
        scope.own_from = scope.slots.len();
        for (i, slot) in scope.slots.iter_mut().enumerate() {
            let owner = give.iter().find(|(s, _)| *s as usize == i).map(|(_, owner)| *owner);
            slot.access = match (slot.access, owner, shop.sharing(slot.ty)) {
                (Access::None, _, _) => Access::None,
                (_, Some(owner), _) if owner == suffix => Access::Owned,
                (_, None, Sharing::Shared) if self.may(i as u32, Pass::Shared) => Access::Shared,
                _ => Access::None,
            };
        }
        scope
    }
}

/// The slots that a value names.
pub fn slots_in(value: &Value) -> Vec<u32> {
    match value {
        Value::Slot(s) => vec![*s],
        Value::List(l) => l.iter().flat_map(slots_in).collect(),
        Value::Some(v) | Value::Ok(v) | Value::Err(v) | Value::Closure(Some(v)) => slots_in(v),
        _ => Vec::new(),
    }
}
