//! Even: a generator of even numbers counts in two unprotected steps.

use std::sync::atomic::{AtomicI32, Ordering::Relaxed};
use std::sync::{Arc, Mutex};
use std::thread;

const THREADS: usize = 4;
const CALLS: usize = 100;

#[derive(Default)]
struct EvenGenerator {
    value: AtomicI32,
}

impl EvenGenerator {
    fn next(&self) -> i32 {
        self.value.store(self.value.load(Relaxed) + 1, Relaxed);
        self.value.store(self.value.load(Relaxed) + 1, Relaxed);
        self.value.load(Relaxed)
    }
}

/// Four threads ask a generator for the next even number a hundred times each; nobody is joined.
///
/// *Shared*: `value`, incremented twice (read, write, read, write) and read by each call.
/// *Bug*: any other thread's step inside a call makes the value odd.
/// *Oracle*: a thread panics on an odd number. A panic of a thread that nobody joins is a failure.
pub fn even() {
    let generator = Arc::new(EvenGenerator::default());
    for _ in 0..THREADS {
        let generator = Arc::clone(&generator);
        thread::spawn(move || {
            for _ in 0..CALLS {
                let value = generator.next();
                assert!(value % 2 == 0, "{value} is not even");
            }
        });
    }
}

/// [`even`] with a lock around each call; the threads are joined.
pub fn even_fixed() {
    let generator = Arc::new(Mutex::new(EvenGenerator::default()));
    let threads = [(); THREADS].map(|()| {
        let generator = Arc::clone(&generator);
        thread::spawn(move || {
            for _ in 0..CALLS {
                let value = generator.lock().unwrap().next();
                assert!(value % 2 == 0, "{value} is not even");
            }
        })
    });
    for thread in threads {
        thread.join().unwrap();
    }
}
