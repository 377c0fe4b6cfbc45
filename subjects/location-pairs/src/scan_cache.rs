//! The cache of the Scan file system: a block is marked clean although it has been written since it was copied to the disk.

use crate::enter;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicI32, Ordering::Relaxed};

/// A cache of one block.
///
/// *Error*: [`sync`](Cache::sync) copies the block in one critical section and marks it clean in another; what
/// [`write`](Cache::write) stores in between never gets to the disk.
/// *By hand*: l1 and l2 are the first critical section, l3 and l4 the second; m1 and m2 that of `write`. All are about one lock: 8
/// pairs, 16 targets. The lock leaves l2-m1, l4-m1, m2-l1, m2-l3: 4. The error is l2-m1, and then m2-l3.
#[derive(Debug, Default)]
pub struct Cache {
    monitor: Mutex<()>,
    block: AtomicI32,
    dirty: AtomicBool,
    disk: AtomicI32,
}

impl Cache {
    /// Changes the block.
    pub fn write(&self, value: i32) {
        let _monitor = enter(&self.monitor);
        self.block.store(value, Relaxed);
        self.dirty.store(true, Relaxed);
    }

    /// Writes the block to the disk.
    pub fn sync(&self) {
        {
            let _monitor = enter(&self.monitor);
            self.disk.store(self.block.load(Relaxed), Relaxed);
        }
        let _monitor = enter(&self.monitor);
        self.dirty.store(false, Relaxed);
    }

    /// Whether a clean block is what is on the disk.
    pub fn is_sound(&self) -> bool {
        let _monitor = enter(&self.monitor);
        self.dirty.load(Relaxed) || self.block.load(Relaxed) == self.disk.load(Relaxed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_block_that_was_synced_is_on_the_disk() {
        let cache = Cache::default();
        cache.write(3);
        cache.sync();
        assert!(cache.is_sound() && !cache.dirty.load(Relaxed));
    }
}
