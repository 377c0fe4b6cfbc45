//! Where values live that are no plain data: the object under test, handles, guards, iterators.
//!
//! A value may borrow from another slot; the lifetimes in its type are then `'static`, and a [`Loan`] says the truth.

use std::any::Any;
use std::cell::RefCell;

/// How threads may share a value.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Sharing {
    /// `Sync`, and `Send`.
    Shared,
    /// `Send` only.
    Owned,
    /// Neither, or borrowing: it stays with its thread.
    Local,
}

/// How a call takes a slot.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Pass {
    /// By `&`.
    Shared,
    /// By `&mut`.
    Exclusive,
    /// By value.
    Move,
}

/// What is in a slot.
struct Held {
    ty: u32,
    value: Box<dyn Any>,
}

/// The slot with number `by` borrows from the slot with number `from`.
#[derive(Clone, Copy)]
struct Loan {
    from: u32,
    by: u32,
    exclusive: bool,
}

/// The slots that one thread made, and those of the setup as it may use them.
pub struct Frame<'a> {
    /// Index of the suffix, or nothing for the first thread.
    suffix: Option<u32>,
    setup: Option<&'a Setup<'a>>,
    /// The number of the first slot in `own`.
    first: u32,
    own: Vec<Option<Held>>,
    loans: Vec<Loan>,
    /// Data that results may borrow from; dropped after all slots.
    kept: RefCell<Vec<Box<dyn Any>>>,
}

/// The first thread's slots while the suffixes run.
///
/// No thread changes the table itself; a suffix may change the values of the slots that are given to it, and no
/// other thread looks at those.
pub struct Setup<'a> {
    slots: *mut Option<Held>,
    len: u32,
    loans: &'a [Loan],
    types: &'static [Sharing],
    give: &'a [(u32, u32)],
}

// SAFETY: the pointer leads to a table that outlives the suffixes. `Frame::may` lets a thread have a slot by reference
// only if its type is `Sync`, otherwise only the one thread to which it is given, and that only if it is `Send`.
unsafe impl Sync for Setup<'_> {}

impl<'a> Frame<'a> {
    /// The first thread's.
    pub fn first() -> Self {
        Frame { suffix: None, setup: None, first: 0, own: Vec::new(), loans: Vec::new(), kept: RefCell::default() }
    }

    /// A suffix's.
    pub fn suffix(index: u32, setup: &'a Setup<'a>) -> Self {
        Frame {
            suffix: Some(index),
            setup: Some(setup),
            first: setup.len,
            own: Vec::new(),
            loans: Vec::new(),
            kept: RefCell::default(),
        }
    }

    /// Lets suffixes use the slots; `give` says which belong to whom.
    pub fn share<'b>(&'b mut self, types: &'static [Sharing], give: &'b [(u32, u32)]) -> Setup<'b> {
        Setup {
            len: self.own.len() as u32,
            slots: self.own.as_mut_ptr(),
            loans: &self.loans,
            types,
            give,
        }
    }

    /// Makes room for the slots of a step; returns the first one's number.
    pub fn make(&mut self, count: u32) -> u32 {
        let next = self.first + self.own.len() as u32;
        self.own.extend((0..count).map(|_| None));
        next
    }

    fn place(&self, slot: u32) -> Option<*mut Option<Held>> {
        if slot >= self.first {
            let index = (slot - self.first) as usize;
            return self.own.get(index).map(|place| (&raw const *place).cast_mut());
        }
        let setup = self.setup?;
        // SAFETY: it lies within the table, which does not move while suffixes run.
        Some(unsafe { setup.slots.add(slot as usize) })
    }

    /// Whether this thread may now take a slot of type `ty` in this way.
    pub fn may(&self, slot: u32, ty: u32, pass: Pass) -> bool {
        let Some(place) = self.place(slot) else { return false };
        if slot < self.first {
            let Some(setup) = self.setup else { return false };
            let owner = setup.give.iter().find(|(given, _)| *given == slot).map(|(_, suffix)| *suffix);
            let sharing = setup.types.get(ty as usize).copied().unwrap_or(Sharing::Local);
            let allowed = match owner {
                Some(owner) => Some(owner) == self.suffix && sharing != Sharing::Local,
                None => pass == Pass::Shared && sharing == Sharing::Shared,
            };
            if !allowed {
                return false;
            }
        }
        // SAFETY: it is a slot of this thread, one that is given to it alone, or one that nobody changes now.
        let full = unsafe { &*place }.as_ref().is_some_and(|held| held.ty == ty);
        let lent = |loan: &Loan| loan.from == slot && (loan.exclusive || pass != Pass::Shared);
        full && !self.loans.iter().any(lent) && !self.setup.is_some_and(|s| s.loans.iter().any(lent))
    }

    /// Borrows. The caller has asked [`may`](Self::may) and records a loan for what is kept.
    pub fn shared<T: 'static>(&self, slot: u32) -> &'static T {
        let place = self.place(slot).expect("the slot exists");
        // SAFETY: as in `may`; the value is boxed, does not move, and is not dropped while a loan on it lasts.
        let held = unsafe { &*place }.as_ref().expect("the slot is full");
        let value: &T = held.value.downcast_ref().expect("the slot has the type that was asked for");
        // SAFETY: see above; without a loan, the reference ends with the call.
        unsafe { &*(&raw const *value) }
    }

    /// Borrows mutably. The caller has asked [`may`](Self::may) and records a loan for what is kept.
    pub fn exclusive<T: 'static>(&self, slot: u32) -> &'static mut T {
        let place = self.place(slot).expect("the slot exists");
        // SAFETY: `may` said that the slot is this thread's and that there is no loan on it.
        let held = unsafe { &mut *place }.as_mut().expect("the slot is full");
        let value: &mut T = held.value.downcast_mut().expect("the slot has the type that was asked for");
        // SAFETY: as for `shared`.
        unsafe { &mut *(&raw mut *value) }
    }

    /// Takes the value out. The caller has asked [`may`](Self::may).
    pub fn take<T: 'static>(&self, slot: u32) -> T {
        let place = self.place(slot).expect("the slot exists");
        // SAFETY: `may` said that the slot is this thread's and that there is no loan on it.
        let held = unsafe { &mut *place }.take().expect("the slot is full");
        match held.value.downcast() {
            Ok(value) => *value,
            Err(_) => unreachable!("the slot has the type that was asked for"),
        }
    }

    /// Keeps data until all slots of the thread have been dropped.
    pub fn keep<T: 'static>(&self, value: T) -> &'static T {
        let value = Box::new(value);
        let place = &raw const *value;
        self.kept.borrow_mut().push(value);
        // SAFETY: a box does not move what it holds, and what borrows from it is in a slot or ends with the call.
        unsafe { &*place }
    }

    /// What the value in a slot borrows from.
    pub fn lenders(&self, slot: u32) -> Vec<(u32, bool)> {
        let mine = self.loans.iter().filter(|loan| loan.by == slot);
        mine.map(|loan| (loan.from, loan.exclusive)).collect()
    }

    /// Notes that a slot was emptied.
    pub fn emptied(&mut self, slot: u32) {
        self.loans.retain(|loan| loan.by != slot);
    }

    /// Fills a slot of this thread; what it had is dropped before.
    pub fn fill(&mut self, slot: u32, ty: u32, value: Box<dyn Any>, lenders: &[(u32, bool)]) {
        let index = (slot - self.first) as usize;
        self.own[index] = None;
        self.emptied(slot);
        self.own[index] = Some(Held { ty, value });
        self.loans.extend(lenders.iter().map(|&(from, exclusive)| Loan { from, by: slot, exclusive }));
    }

    /// The last slot that is full is emptied; what was in it is returned to be dropped.
    pub fn pop(&mut self) -> Option<Box<dyn Any>> {
        while let Some(place) = self.own.pop() {
            if let Some(held) = place {
                self.emptied(self.first + self.own.len() as u32);
                return Some(held.value);
            }
        }
        None
    }

    /// Whether anything is left.
    pub fn is_empty(&self) -> bool {
        self.own.iter().all(Option::is_none)
    }
}
