//! Reorder2: two variables that belong together are written in two critical sections.

use std::sync::{Arc, Mutex};
use std::thread;

const SETTERS: i32 = 4;

#[derive(Default)]
struct Pair {
    a: i32,
    b: i32,
}

/// Setter i of four writes `a` := i and `b` := -i, each under the lock; main joins them and starts a checker.
///
/// *Shared*: `a` and `b`, always accessed under one lock.
/// *Bug*: the two writes are two critical sections, so the last writers of `a` and `b` may differ.
/// *Oracle*: the checker panics unless the sum of `a` and `b` is 0; main joins it.
pub fn reorder2() {
    let pair = Arc::new(Mutex::new(Pair::default()));
    let setters: Vec<_> = (0..SETTERS)
        .map(|i| {
            let pair = Arc::clone(&pair);
            thread::spawn(move || {
                pair.lock().unwrap().a = i;
                pair.lock().unwrap().b = -i;
            })
        })
        .collect();
    for setter in setters {
        setter.join().unwrap();
    }
    check(pair);
}

fn check(pair: Arc<Mutex<Pair>>) {
    let checker = thread::spawn(move || {
        let pair = pair.lock().unwrap();
        assert!(pair.a + pair.b == 0, "a and b do not belong together");
    });
    checker.join().unwrap();
}

/// [`reorder2`] with both writes in one critical section.
pub fn reorder2_fixed() {
    let pair = Arc::new(Mutex::new(Pair::default()));
    let setters: Vec<_> = (0..SETTERS)
        .map(|i| {
            let pair = Arc::clone(&pair);
            thread::spawn(move || *pair.lock().unwrap() = Pair { a: i, b: -i })
        })
        .collect();
    for setter in setters {
        setter.join().unwrap();
    }
    check(pair);
}
