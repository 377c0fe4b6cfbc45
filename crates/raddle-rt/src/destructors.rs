//! The destructors of shared values that a thread runs as their last owner: see [`owners`](crate::owners).

use raddle_core::SiteId;

/// A destructor in progress.
#[derive(Debug)]
pub struct Destructor {
    /// The count that has come to zero.
    pub count: usize,
    /// Where it was taken down.
    pub site: SiteId,
    /// Raw events of the thread before it.
    pub raw: u64,
    /// Raw events of the thread before it that showed nothing.
    pub dull: u64,
}

/// What a thread does as a last owner.
#[derive(Debug, Default)]
pub struct Destructors {
    pub running: Vec<Destructor>,
    /// Raw events that showed nothing.
    pub dull: u64,
}

impl Destructors {
    /// Whether there is a destructor whose events are counted.
    #[inline(always)]
    pub fn are_running(&self) -> bool {
        !self.running.is_empty()
    }

    /// Forgets everything but where there is room.
    pub fn clear(&mut self) {
        self.running.clear();
        self.dull = 0;
    }
}
