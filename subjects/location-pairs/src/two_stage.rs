//! Two-stage access: each of two tables is protected, going from one to the other is not.

use crate::enter;
use std::sync::Mutex;
use std::sync::atomic::{AtomicI32, Ordering::Relaxed};

/// A key's slot in one table, the slot's value in another.
///
/// *Error*: between the two stages of [`get`](Tables::get), [`set`](Tables::set) changes both tables.
/// *By hand*: l1 and l2 are the first critical section of `get`, l3 and l4 the second; m1 to m4 those of `set`. Each stage has its
/// lock: 8 pairs, 16 targets. The locks leave l2-m1, m2-l1, l4-m3, m4-l3: 4. The error is l2-m1, and then m4-l3.
#[derive(Debug, Default)]
pub struct Tables {
    keys: Mutex<()>,
    slot: AtomicI32,
    values: Mutex<()>,
    value: AtomicI32,
}

impl Tables {
    /// Slot and value.
    pub fn get(&self) -> (i32, i32) {
        let slot = {
            let _keys = enter(&self.keys);
            self.slot.load(Relaxed)
        };
        let _values = enter(&self.values);
        (slot, self.value.load(Relaxed))
    }

    /// Changes slot and value.
    pub fn set(&self, slot: i32, value: i32) {
        {
            let _keys = enter(&self.keys);
            self.slot.store(slot, Relaxed);
        }
        let _values = enter(&self.values);
        self.value.store(value, Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_set_is_got() {
        let tables = Tables::default();
        tables.set(1, 2);
        assert_eq!(tables.get(), (1, 2));
    }
}
