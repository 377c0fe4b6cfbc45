//! A hash table from 64-bit keys to 32-bit numbers: no randomness, no thread-locals, cleared in constant
//! time.

use crate::heap;

#[derive(Clone, Copy)]
struct Slot {
    key: u64,
    epoch: u32,
    value: u32,
}

/// The table.
pub struct Table {
    slots: Vec<Slot>,
    used: usize,
    epoch: u32,
}

impl Table {
    /// An empty table, small: a forked child copies the pages it writes to.
    pub fn new() -> Self {
        Table { slots: vec![Slot { key: 0, epoch: 0, value: 0 }; 1 << 6], used: 0, epoch: 1 }
    }

    /// Forgets everything.
    pub fn clear(&mut self) {
        self.epoch += 1;
        self.used = 0;
    }

    /// How many keys there are.
    pub fn len(&self) -> usize {
        self.used
    }

    fn find(&self, key: u64) -> usize {
        let mask = self.slots.len() - 1;
        let mut i = mix(key) as usize & mask;
        while self.slots[i].epoch == self.epoch && self.slots[i].key != key {
            i = (i + 1) & mask;
        }
        i
    }

    /// The number of a key.
    #[inline]
    pub fn get(&self, key: u64) -> Option<u32> {
        let s = &self.slots[self.find(key)];
        (s.epoch == self.epoch).then_some(s.value)
    }

    /// Gives a key a number.
    pub fn set(&mut self, key: u64, value: u32) {
        if self.used * 2 > self.slots.len() {
            let empty = Slot { key: 0, epoch: 0, value: 0 };
            let len = self.slots.len() * 2;
            let new = heap::beside(self.slots.as_ptr(), || vec![empty; len]);
            let old = std::mem::replace(&mut self.slots, new);
            self.used = 0;
            let epoch = self.epoch;
            for s in old.into_iter().filter(|s| s.epoch == epoch) {
                self.set(s.key, s.value);
            }
        }
        let i = self.find(key);
        if self.slots[i].epoch != self.epoch {
            self.used += 1;
        }
        self.slots[i] = Slot { key, epoch: self.epoch, value };
    }
}

/// Spreads the bits of a key.
#[inline]
pub fn mix(key: u64) -> u64 {
    let h = key.wrapping_mul(0x9E37_79B9_7F4A_7C15);
    h ^ (h >> 29)
}
