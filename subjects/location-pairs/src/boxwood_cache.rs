//! The cache of Boxwood (Fig. 5): a block is flushed while it is being overwritten.

use crate::enter;
use std::sync::Mutex;
use std::sync::atomic::{AtomicI32, Ordering::Relaxed};

/// A cache of one entry, and what is below it.
///
/// *Error*: [`flush`](Cache::flush) copies the entry under a lock that [`copy_to_cache`](Cache::copy_to_cache) does not take, and so stores
/// half of it old, half new.
/// *By hand*: l1 writes the data, l2 the sequence number. m1 enters, m2 reads the data, m3 writes it down, m4 leaves. The one pair is
/// l1 with m2: 2 targets, and nothing rules them out. The error is m2-l1.
#[derive(Debug, Default)]
pub struct Cache {
    clean: Mutex<()>,
    data: [AtomicI32; 2],
    sequence: AtomicI32,
    stored: [AtomicI32; 2],
}

impl Cache {
    /// Overwrites the entry.
    pub fn copy_to_cache(&self, data: [i32; 2], sequence: i32) {
        for (cell, value) in self.data.iter().zip(data) {
            cell.store(value, Relaxed);
        }
        self.sequence.store(sequence, Relaxed);
    }

    /// Writes the entry down.
    pub fn flush(&self) {
        let _clean = enter(&self.clean);
        for i in 0..2 {
            self.stored[i].store(self.data[i].load(Relaxed), Relaxed);
        }
    }

    /// What was written down last.
    pub fn stored(&self) -> [i32; 2] {
        let _clean = enter(&self.clean);
        [self.stored[0].load(Relaxed), self.stored[1].load(Relaxed)]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_flushed_is_stored() {
        let cache = Cache::default();
        cache.copy_to_cache([1, 2], 7);
        assert_eq!(cache.stored(), [0, 0]);
        cache.flush();
        assert_eq!(cache.stored(), [1, 2]);
    }
}
