//! An operation that is not atomic is taken to be: `n++`.

use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

/// A counter.
///
/// *Error*: between the read and the write of [`increment`](Counter::increment) another one writes.
/// *By hand*, `increment` and itself: l1 reads, l2 writes. Targets: l1-l2, l2-l1, l2-l2, all of them possible. The error is l1-l2.
#[derive(Debug, Default)]
pub struct Counter {
    n: AtomicU32,
}

impl Counter {
    /// Adds one.
    pub fn increment(&self) {
        let n = self.n.load(Relaxed);
        self.n.store(n.saturating_add(1), Relaxed);
    }

    /// The sum.
    pub fn get(&self) -> u32 {
        self.n.load(Relaxed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts() {
        let counter = Counter::default();
        counter.increment();
        counter.increment();
        assert_eq!(counter.get(), 2);
    }
}
