//! Types for `cargo raddle hunt`: one with a bug, one without, and some that cannot be hunted.

use std::cell::Cell;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};

/// Counts, and loses what is counted at the same time.
#[derive(Debug, Default)]
pub struct Tally {
    count: AtomicUsize,
}

impl Tally {
    /// Nothing counted yet.
    pub fn new() -> Self {
        Tally::default()
    }

    /// Counts one more; gives the sum.
    pub fn count(&self) -> usize {
        let sum = self.count.load(SeqCst) + 1;
        self.count.store(sum, SeqCst);
        sum
    }

    /// The sum.
    pub fn sum(&self) -> usize {
        self.count.load(SeqCst)
    }

    /// Back to zero.
    pub fn reset(&self) {
        self.count.store(0, SeqCst);
    }
}

/// The same with a lock.
#[derive(Debug, Default)]
pub struct Ledger {
    count: Mutex<usize>,
}

impl Ledger {
    /// Nothing counted yet.
    pub fn new() -> Self {
        Ledger::default()
    }

    /// Counts one more; gives the sum.
    pub fn count(&self) -> usize {
        let mut count = self.count.lock().unwrap();
        *count += 1;
        *count
    }

    /// The sum.
    pub fn sum(&self) -> usize {
        *self.count.lock().unwrap()
    }
}

/// Not for threads.
#[derive(Debug, Default)]
pub struct Lonely {
    count: Cell<usize>,
}

impl Lonely {
    /// Counts one more.
    pub fn count(&self) {
        self.count.set(self.count.get() + 1);
    }
}

/// Nobody can make one.
#[derive(Debug)]
pub struct Unmade {
    count: AtomicUsize,
}

impl Unmade {
    /// Counts one more.
    pub fn count(&self) -> usize {
        self.count.fetch_add(1, SeqCst)
    }
}
