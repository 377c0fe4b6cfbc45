//! A sleep is taken for synchronisation.

use std::sync::atomic::{AtomicI32, Ordering::Relaxed};
use std::thread;
use std::time::Duration;

/// A result that one thread writes and another one reads some time later.
///
/// *Error*: the reader wakes before the writer has written.
/// *By hand*: l1 writes, m1 reads: 2 targets, both possible. The error is m1-l1.
#[derive(Debug, Default)]
pub struct Answer {
    value: AtomicI32,
}

impl Answer {
    /// Writes the result.
    pub fn compute(&self) {
        self.value.store(42, Relaxed);
    }

    /// Reads the result, which surely is there after a millisecond.
    pub fn wait(&self) -> i32 {
        thread::sleep(Duration::from_millis(1));
        self.value.load(Relaxed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_computed_before_is_read() {
        let answer = Answer::default();
        answer.compute();
        assert_eq!(answer.wait(), 42);
    }
}
