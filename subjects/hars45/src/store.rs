//! Store: two threads add to one counter without a lock.

use std::sync::atomic::{AtomicI32, Ordering::Relaxed};
use std::sync::{Arc, Mutex};
use std::thread;

const ROUNDS: i32 = 3;
const AMOUNT: i32 = 100;

/// Two threads add 100 to a counter three times each; main joins them.
///
/// *Shared*: the counter, read and written by each addition.
/// *Bug*: an addition is lost when another falls between its read and its write.
/// *Oracle*: main panics unless the counter is 600.
pub fn store() {
    let store = Arc::new(AtomicI32::new(0));
    let threads = [(); 2].map(|()| {
        let store = Arc::clone(&store);
        thread::spawn(move || {
            for _ in 0..ROUNDS {
                store.store(store.load(Relaxed) + AMOUNT, Relaxed);
            }
        })
    });
    for thread in threads {
        thread.join().unwrap();
    }
    let stored = store.load(Relaxed);
    assert!(stored == 2 * ROUNDS * AMOUNT, "{stored} is stored");
}

/// [`store`] with a lock around each addition.
pub fn store_fixed() {
    let store = Arc::new(Mutex::new(0));
    let threads = [(); 2].map(|()| {
        let store = Arc::clone(&store);
        thread::spawn(move || {
            for _ in 0..ROUNDS {
                *store.lock().unwrap() += AMOUNT;
            }
        })
    });
    for thread in threads {
        thread.join().unwrap();
    }
    let stored = *store.lock().unwrap();
    assert!(stored == 2 * ROUNDS * AMOUNT, "{stored} is stored");
}
