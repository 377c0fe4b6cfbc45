//! Conformance tests for std, run by `cargo raddle test`. The tests know nothing of raddle.
//!
//! `tests/<family>.rs` holds a module `correct`: every test passes under every interleaving.
//! `tests/broken_<family>.rs` holds a module `broken`: every test passes or fails depending on the schedule
//! only, and the prefix of its name says how it fails: `panics_`, `deadlocks_` or `livelocks_` (threads that
//! run for ever, spinning). Natively a broken test may hang, which is why those files are separate.
//! `tests/virtual_time.rs` sleeps for hours and is meant for virtual time only.

use std::cell::UnsafeCell;

/// A cell for plain, unsynchronised accesses by several threads: what a hand-made lock protects.
#[derive(Default)]
pub struct Plain<T>(UnsafeCell<T>);

// SAFETY: the cell gives out only a raw pointer; whoever dereferences it answers for the synchronisation.
unsafe impl<T: Send> Sync for Plain<T> {}

impl<T> Plain<T> {
    /// Wraps a value.
    pub const fn new(value: T) -> Self {
        Plain(UnsafeCell::new(value))
    }

    /// The address of the value; every access through it is an ordinary, unsynchronised one.
    #[inline(always)]
    pub const fn get(&self) -> *mut T {
        self.0.get()
    }
}
