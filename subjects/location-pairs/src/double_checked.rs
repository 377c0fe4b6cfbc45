//! Double-checked locking: the flag that says that a value is there is set before it is there.

use crate::enter;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicI32, Ordering::Relaxed};

/// A value that is made when it is first asked for.
///
/// *Error*: another thread sees the flag and reads the value before it is written.
/// *By hand*, [`get`](Lazy::get) and itself: l1 reads the flag, l2 enters, l3 reads the flag, l4 sets it, l5 writes the value, l6 leaves,
/// l7 reads the value. Two threads that write the same value do not depend on each other. Targets: l4 with l1 and l3, l5 with l7, in
/// both orders, and l2 and l6 with themselves and each other: 10. The lock leaves l1-l4, l4-l1, l5-l7, l7-l5, l6-l2: 5. The
/// error is l7-l5.
#[derive(Debug, Default)]
pub struct Lazy {
    monitor: Mutex<()>,
    ready: AtomicBool,
    value: AtomicI32,
}

impl Lazy {
    /// The value, 42.
    pub fn get(&self) -> i32 {
        if !self.ready.load(Relaxed) {
            let _monitor = enter(&self.monitor);
            if !self.ready.load(Relaxed) {
                self.ready.store(true, Relaxed);
                self.value.store(42, Relaxed);
            }
        }
        self.value.load(Relaxed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_thread_gets_the_value() {
        let lazy = Lazy::default();
        assert_eq!((lazy.get(), lazy.get()), (42, 42));
    }
}
