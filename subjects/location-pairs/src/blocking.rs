//! A blocking critical section: whoever needs the lock meanwhile does without.

use crate::enter;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};
use std::thread;
use std::time::Duration;

/// A journal that is written to something slow.
///
/// *Error*: while [`flush`](Journal::flush) blocks inside its critical section, [`note`](Journal::note) does not get the lock and drops its entry.
/// *By hand*: l1 enters, l2 reads the entries and leaves. m1 tries to enter, m2 reads the number of entries, m3 writes it, m4 leaves; m5 leaves if
/// the lock was taken but is poisoned. Pairs: l1 with m1, m4, m5; l2 with m1, m3, m4, m5: 14 targets. l1-m1 and m1-l2 are possible because an
/// attempt may fail, l2-m1, m4-l1 and m5-l1 follow one after the other, m1-l1 is an attempt that fails because of a third thread; the rest
/// is not, as whoever has the lock is alone: 6. The error is l1-m1.
#[derive(Debug, Default)]
pub struct Journal {
    monitor: Mutex<()>,
    entries: AtomicU32,
}

impl Journal {
    /// Writes the journal.
    pub fn flush(&self) -> u32 {
        let _monitor = enter(&self.monitor);
        thread::sleep(Duration::from_millis(1));
        self.entries.load(Relaxed)
    }

    /// Adds an entry, if that is possible at once.
    pub fn note(&self) -> bool {
        let Ok(_monitor) = self.monitor.try_lock() else { return false };
        let entries = self.entries.load(Relaxed);
        self.entries.store(entries.saturating_add(1), Relaxed);
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_are_counted() {
        let journal = Journal::default();
        assert!(journal.note() && journal.note());
        assert_eq!(journal.flush(), 2);
    }
}
