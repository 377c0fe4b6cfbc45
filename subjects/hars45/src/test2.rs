//! Test2: one thread increments a number, another doubles it, and the increment is supposed to come first.

use std::sync::Arc;
use std::sync::atomic::{AtomicI32, Ordering::Relaxed};
use std::thread;

/// One thread increments `x`, which is 0 at first, the other doubles it; main joins both.
///
/// *Shared*: `x`, read and written by each thread.
/// *Bug*: nothing orders the threads, and the result is 2 only if the increment is done before the doubling begins.
/// *Oracle*: main panics if `x` is less than 2.
pub fn test2() {
    let x = Arc::new(AtomicI32::new(0));
    let shared = Arc::clone(&x);
    let incrementing = thread::spawn(move || shared.store(shared.load(Relaxed) + 1, Relaxed));
    let shared = Arc::clone(&x);
    let doubling = thread::spawn(move || shared.store(shared.load(Relaxed) * 2, Relaxed));
    incrementing.join().unwrap();
    doubling.join().unwrap();
    assert!(x.load(Relaxed) >= 2, "the doubling did not come last");
}

/// [`test2`] with the incrementing thread joined before the doubling one is started.
pub fn test2_fixed() {
    let x = Arc::new(AtomicI32::new(0));
    let shared = Arc::clone(&x);
    let incrementing = thread::spawn(move || shared.store(shared.load(Relaxed) + 1, Relaxed));
    incrementing.join().unwrap();
    let shared = Arc::clone(&x);
    let doubling = thread::spawn(move || shared.store(shared.load(Relaxed) * 2, Relaxed));
    doubling.join().unwrap();
    assert!(x.load(Relaxed) >= 2, "the doubling did not come last");
}
