//! Consistency: two variables that should be written together are not.

use std::sync::atomic::{AtomicI32, Ordering::Relaxed};
use std::sync::{Arc, Mutex};
use std::thread;

#[derive(Default)]
struct Pair {
    a: AtomicI32,
    b: AtomicI32,
}

/// Three threads each write their number to `a` and then to `b`; main joins them.
///
/// *Shared*: `a` and `b`, unprotected.
/// *Bug*: the last writer of `a` is not the last writer of `b`.
/// *Oracle*: main panics if `a` and `b` differ.
pub fn consistency() {
    let pair = Arc::new(Pair::default());
    let writers = [0, 1, 2].map(|i| {
        let pair = Arc::clone(&pair);
        thread::spawn(move || {
            pair.a.store(i, Relaxed);
            pair.b.store(i, Relaxed);
        })
    });
    for writer in writers {
        writer.join().unwrap();
    }
    assert!(pair.a.load(Relaxed) == pair.b.load(Relaxed), "a and b differ");
}

/// [`consistency`] with both writes in one critical section.
pub fn consistency_fixed() {
    let pair = Arc::new(Mutex::new((0, 0)));
    let writers = [0, 1, 2].map(|i| {
        let pair = Arc::clone(&pair);
        thread::spawn(move || *pair.lock().unwrap() = (i, i))
    });
    for writer in writers {
        writer.join().unwrap();
    }
    let pair = pair.lock().unwrap();
    assert!(pair.0 == pair.1, "a and b differ");
}
