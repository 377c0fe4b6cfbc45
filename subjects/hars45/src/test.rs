//! Test: one thread increments a number, another doubles it, and the increment must not be lost.

use std::sync::atomic::{AtomicI32, Ordering::Relaxed};
use std::sync::{Arc, Mutex};
use std::thread;

/// One thread increments `x`, which is 0 at first, the other doubles it; main joins both.
///
/// *Shared*: `x`, read and written by each thread.
/// *Bug*: the increment falls between the doubling's read and its write, and is lost.
/// *Oracle*: main panics if `x` is less than 1.
pub fn test() {
    let x = Arc::new(AtomicI32::new(0));
    let shared = Arc::clone(&x);
    let incrementing = thread::spawn(move || shared.store(shared.load(Relaxed) + 1, Relaxed));
    let shared = Arc::clone(&x);
    let doubling = thread::spawn(move || shared.store(shared.load(Relaxed) * 2, Relaxed));
    incrementing.join().unwrap();
    doubling.join().unwrap();
    assert!(x.load(Relaxed) >= 1, "the increment is lost");
}

/// [`test()`] with a lock around each update.
pub fn test_fixed() {
    let x = Arc::new(Mutex::new(0));
    let shared = Arc::clone(&x);
    let incrementing = thread::spawn(move || *shared.lock().unwrap() += 1);
    let shared = Arc::clone(&x);
    let doubling = thread::spawn(move || *shared.lock().unwrap() *= 2);
    incrementing.join().unwrap();
    doubling.join().unwrap();
    assert!(*x.lock().unwrap() >= 1, "the increment is lost");
}
