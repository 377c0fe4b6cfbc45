//! Little programs for checks of closures.

use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;

/// Two threads count to two, one step at a time or with a lost update.
pub fn count(atomic: bool) -> u32 {
    let n = AtomicU32::new(0);
    thread::scope(|s| {
        for _ in 0..2 {
            s.spawn(|| {
                if atomic {
                    n.fetch_add(1, Ordering::SeqCst);
                } else {
                    n.store(n.load(Ordering::SeqCst) + 1, Ordering::SeqCst);
                }
            });
        }
    });
    n.into_inner()
}
