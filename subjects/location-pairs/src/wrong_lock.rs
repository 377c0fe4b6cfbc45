//! The wrong lock, or none: both methods are careful, each with a lock of its own.

use crate::enter;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

/// A counter with two locks.
///
/// *Error*: between the read and the write of one method, the other one writes.
/// *By hand*: l1 enters, l2 reads, l3 writes, l4 leaves; m1 to m4 alike with the other lock. Pairs: l2 with m3, l3 with m2, l3 with m3: 6
/// targets, and nothing rules them out. The error is l2-m3.
#[derive(Debug, Default)]
pub struct Counter {
    right: Mutex<()>,
    wrong: Mutex<()>,
    n: AtomicU32,
}

impl Counter {
    /// Adds one.
    pub fn add(&self) {
        let _right = enter(&self.right);
        let n = self.n.load(Relaxed);
        self.n.store(n.saturating_add(1), Relaxed);
    }

    /// Adds one, with the wrong lock.
    pub fn add_wrongly(&self) {
        let _wrong = enter(&self.wrong);
        let n = self.n.load(Relaxed);
        self.n.store(n.saturating_add(1), Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_count() {
        let counter = Counter::default();
        counter.add();
        counter.add_wrongly();
        assert_eq!(counter.n.load(Relaxed), 2);
    }
}
