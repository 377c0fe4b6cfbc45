//! Simpletest: a condition is asserted right after it has been tested.

use std::sync::atomic::{AtomicI32, Ordering::Relaxed};
use std::sync::{Arc, Mutex};
use std::thread;

struct Numbers {
    x: AtomicI32,
    y: AtomicI32,
}

/// One thread moves a unit from `x` to `y`; the other derives `y` from `x` and tests it. Nobody is joined.
///
/// *Shared*: `x` and `y`, both 1 at first, unprotected. Thread 1 reads and writes `x`, then reads and writes `y`.
/// Thread 2 reads `x`, writes `y` := x - 1 and, if it then reads a `y` that is not positive, reads it to print it and
/// once more to assert it.
/// *Bug*: thread 1's write makes `y` positive between thread 2's test and its assertion of the same condition.
/// *Oracle*: the assertion, in a thread that nobody joins.
pub fn simpletest() {
    let numbers = Arc::new(Numbers { x: AtomicI32::new(1), y: AtomicI32::new(1) });
    let shared = Arc::clone(&numbers);
    thread::spawn(move || {
        shared.x.store(shared.x.load(Relaxed) - 1, Relaxed);
        shared.y.store(shared.y.load(Relaxed) + 1, Relaxed);
    });
    thread::spawn(move || {
        numbers.y.store(numbers.x.load(Relaxed) - 1, Relaxed);
        if numbers.y.load(Relaxed) <= 0 {
            let _printed = numbers.y.load(Relaxed);
            assert!(numbers.y.load(Relaxed) <= 0, "y has become positive since it was tested");
        }
    });
}

/// [`simpletest`] with a lock around each thread's accesses; both threads are joined.
pub fn simpletest_fixed() {
    let numbers = Arc::new(Mutex::new((1, 1)));
    let shared = Arc::clone(&numbers);
    let first = thread::spawn(move || {
        let (x, y) = &mut *shared.lock().unwrap();
        *x -= 1;
        *y += 1;
    });
    let second = thread::spawn(move || {
        let (x, y) = &mut *numbers.lock().unwrap();
        *y = *x - 1;
        if *y <= 0 {
            assert!(*y <= 0, "y has become positive since it was tested");
        }
    });
    first.join().unwrap();
    second.join().unwrap();
}
