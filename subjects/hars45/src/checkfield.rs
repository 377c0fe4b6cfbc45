//! Checkfield: a thread asserts what it has just written to an object that another thread writes too.

use std::sync::atomic::{AtomicI32, Ordering::Relaxed};
use std::sync::{Arc, Mutex};
use std::thread;

#[derive(Default)]
struct Numbers {
    number: AtomicI32,
    num2: AtomicI32,
}

/// Two threads write the two fields of one object; nobody is joined.
///
/// *Shared*: `number` and `num2`, unprotected. Thread 1 reads `number`, writes 12 to both, asserts `number`, reads
/// `num2`. Thread 2 writes 13 and 1.
/// *Bug*: thread 2's write of `number` falls between thread 1's write and its assertion.
/// *Oracle*: thread 1 panics if `number` is not 12. A panic of a thread that nobody joins is a failure.
pub fn checkfield() {
    let numbers = Arc::new(Numbers::default());
    let shared = Arc::clone(&numbers);
    thread::spawn(move || {
        let _printed = shared.number.load(Relaxed);
        shared.number.store(12, Relaxed);
        shared.num2.store(12, Relaxed);
        assert!(shared.number.load(Relaxed) == 12, "number is not 12");
        let _printed = shared.num2.load(Relaxed);
    });
    thread::spawn(move || {
        numbers.number.store(13, Relaxed);
        numbers.num2.store(1, Relaxed);
    });
}

/// [`checkfield`] with each thread's accesses in one critical section; both threads are joined.
pub fn checkfield_fixed() {
    let numbers = Arc::new(Mutex::new((0, 0)));
    let shared = Arc::clone(&numbers);
    let first = thread::spawn(move || {
        let mut numbers = shared.lock().unwrap();
        *numbers = (12, 12);
        assert!(numbers.0 == 12, "number is not 12");
    });
    let second = thread::spawn(move || *numbers.lock().unwrap() = (13, 1));
    first.join().unwrap();
    second.join().unwrap();
}
