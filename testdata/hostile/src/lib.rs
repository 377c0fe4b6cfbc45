//! A crate with nothing wrong in it but its build script.

use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};

/// Counts.
#[derive(Debug, Default)]
pub struct Tally(AtomicUsize);

impl Tally {
    /// Nothing counted yet.
    pub fn new() -> Self {
        Tally::default()
    }

    /// Counts one more.
    pub fn count(&self) -> usize {
        self.0.fetch_add(1, SeqCst)
    }
}
