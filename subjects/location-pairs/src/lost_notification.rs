//! A lost notification: it is sent before anybody waits for it.

use crate::enter;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Condvar, Mutex, PoisonError};

/// A gate that opens once.
///
/// *Error*: [`wait`](Gate::wait) finds the gate closed, [`open`](Gate::open) opens it and tells all who wait, and only then the first one
/// waits, for ever.
/// *By hand*: l1 reads whether it is open, l2 enters, l3 waits (which leaves, waits, and enters), l4 leaves. m1 opens, m2 notifies.
/// Pairs: l1 with m1, the waiting with m2: 4 targets, all possible. The error is m2 followed by the waiting.
#[derive(Debug, Default)]
pub struct Gate {
    monitor: Mutex<()>,
    opened: Condvar,
    is_open: AtomicBool,
}

impl Gate {
    /// Opens the gate.
    pub fn open(&self) {
        self.is_open.store(true, Relaxed);
        self.opened.notify_all();
    }

    /// Returns when the gate is open.
    pub fn wait(&self) {
        if !self.is_open.load(Relaxed) {
            let monitor = enter(&self.monitor);
            drop(self.opened.wait(monitor).unwrap_or_else(PoisonError::into_inner));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nobody_waits_in_front_of_an_open_gate() {
        let gate = Gate::default();
        gate.open();
        gate.wait();
    }
}
