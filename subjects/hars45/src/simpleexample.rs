//! Simpleexample: two threads protect the same variables with swapped locks, and main with none.

use std::sync::atomic::{AtomicI32, Ordering::Relaxed};
use std::sync::{Arc, Mutex};
use std::thread;

#[derive(Default)]
struct Example {
    locks: [Mutex<()>; 2],
    a: AtomicI32,
    b: AtomicI32,
}

/// Two threads write `a` := 1 under their first lock and `b` := 2 under their second one; main looks without joining.
///
/// *Shared*: `a` and `b`. The locks are the same two for both threads, but in swapped order, so each variable is written
/// under different locks.
/// *Bug*: main's condition reads each variable up to twice, from left to right; what it finds unset at first may be set
/// when it is read again.
/// *Oracle*: main panics unless (`a` is 1 and `b` is 2) or `a` is 0 or `b` is 0. The threads go on after main has
/// returned.
pub fn simpleexample() {
    let example = Arc::new(Example::default());
    for first in [0, 1] {
        let example = Arc::clone(&example);
        thread::spawn(move || {
            {
                let _first = example.locks[first].lock().unwrap();
                example.a.store(1, Relaxed);
            }
            let _second = example.locks[1 - first].lock().unwrap();
            example.b.store(2, Relaxed);
        });
    }
    let accepted = (example.a.load(Relaxed) == 1 && example.b.load(Relaxed) == 2)
        || example.a.load(Relaxed) == 0
        || example.b.load(Relaxed) == 0;
    assert!(accepted, "a and b are neither set nor unset");
}

/// [`simpleexample`] with one lock around both writes and around main's look; the threads are joined.
pub fn simpleexample_fixed() {
    let example = Arc::new(Mutex::new((0, 0)));
    let threads = [(); 2].map(|()| {
        let example = Arc::clone(&example);
        thread::spawn(move || *example.lock().unwrap() = (1, 2))
    });
    {
        let (a, b) = *example.lock().unwrap();
        assert!((a == 1 && b == 2) || a == 0 || b == 0, "a and b are neither set nor unset");
    }
    for thread in threads {
        thread.join().unwrap();
    }
}
