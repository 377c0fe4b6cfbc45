//! Models of pthread locks, conditions, barriers, semaphores and once controls, kept beside the objects, by
//! address. An object that was statically initialised, or initialised outside an execution, starts free.

use raddle_core::LockMode;
use std::collections::BTreeMap;

/// A mutex, spin lock or reader-writer lock.
#[derive(Default, Debug)]
pub struct Lock {
    /// Exclusive owner and how often.
    pub owner: Option<(usize, u32)>,
    /// Threads that hold it for reading.
    pub readers: Vec<usize>,
}

/// A barrier.
#[derive(Default, Debug)]
pub struct Barrier {
    /// How many it takes to pass.
    pub need: u32,
    /// How many are there.
    pub arrived: u32,
}

/// All models of one execution.
#[derive(Default, Debug)]
pub struct Models {
    /// By address.
    pub locks: BTreeMap<usize, Lock>,
    /// By address.
    pub barriers: BTreeMap<usize, Barrier>,
    /// Values, by address.
    pub semaphores: BTreeMap<usize, u32>,
    /// Once controls in progress.
    pub once: BTreeMap<usize, bool>,
}

impl Models {
    /// Forgets all.
    pub fn clear(&mut self) {
        *self = Self::default();
    }

    /// Whether a lock can be taken now.
    pub fn free(&self, addr: usize, mode: LockMode) -> bool {
        self.locks
            .get(&addr)
            .is_none_or(|l| l.owner.is_none() && (mode == LockMode::Shared || l.readers.is_empty()))
    }

    /// Whether a thread has a lock to itself.
    pub fn is_owner(&self, addr: usize, thread: usize) -> bool {
        self.locks.get(&addr).is_some_and(|l| l.owner.is_some_and(|(o, _)| o == thread))
    }

    /// A thread has a lock from now on.
    pub fn take(&mut self, addr: usize, mode: LockMode, me: usize) {
        let l = self.locks.entry(addr).or_default();
        match mode {
            LockMode::Exclusive => l.owner = Some((me, 1)),
            LockMode::Shared => l.readers.push(me),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn readers_share_a_lock_and_a_writer_does_not() {
        let mut models = Models::default();
        assert!(models.free(8, LockMode::Exclusive));
        models.take(8, LockMode::Shared, 1);
        assert!(models.free(8, LockMode::Shared) && !models.free(8, LockMode::Exclusive));
        models.take(16, LockMode::Exclusive, 2);
        assert!(!models.free(16, LockMode::Shared) && models.is_owner(16, 2) && !models.is_owner(16, 1));
    }
}
