//! Mix0: the store-buffer litmus test, with its condition stated wrongly.

use std::sync::Arc;
use std::sync::atomic::{AtomicI32, Ordering, Ordering::Relaxed};
use std::thread;

#[derive(Default)]
struct Litmus {
    x: AtomicI32,
    y: AtomicI32,
}

/// Main starts a thread, writes `x` and reads `y`; the thread writes `y` and reads `x`; main joins it.
///
/// *Shared*: `x` and `y`, unprotected.
/// *Bug*: the condition meant to catch store buffering catches the harmless order in which main is done before the
/// thread's write: main reads 0 and the thread reads 1.
/// *Oracle*: main panics if it has read something else than 1 and the thread something else than 0.
pub fn mix0() {
    let litmus = Arc::new(Litmus::default());
    let shared = Arc::clone(&litmus);
    let thread = thread::spawn(move || {
        shared.y.store(1, Relaxed);
        shared.x.load(Relaxed)
    });
    litmus.x.store(1, Relaxed);
    let a = litmus.y.load(Relaxed);
    let b = thread.join().unwrap();
    assert!(a == 1 || b == 0, "main read {a} and the thread read {b}");
}

/// [`mix0`] with the litmus condition as it is meant, on sequentially consistent accesses, which never show it.
pub fn mix0_fixed() {
    let litmus = Arc::new(Litmus::default());
    let shared = Arc::clone(&litmus);
    let thread = thread::spawn(move || {
        shared.y.store(1, Ordering::SeqCst);
        shared.x.load(Ordering::SeqCst)
    });
    litmus.x.store(1, Ordering::SeqCst);
    let a = litmus.y.load(Ordering::SeqCst);
    let b = thread.join().unwrap();
    assert!(a == 1 || b == 1, "neither thread saw the other's write");
}
