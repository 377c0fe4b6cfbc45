//! Lamport: Lamport's fast mutual exclusion with waiting that gives up.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, Mutex};
use std::thread;

/// How often a loop may find its condition true before it gives up is two more than this.
const PATIENCE: u32 = 1;

/// Threads are numbered 1 and 2; 0 in `y` says that the section is free.
#[derive(Default)]
struct Lamport {
    x: AtomicUsize,
    y: AtomicUsize,
    flag: [AtomicBool; 3],
    shared: AtomicUsize,
}

impl Lamport {
    fn enter(&self, me: usize) {
        let other = 3 - me;
        let mut attempts = 0;
        loop {
            if attempts > PATIENCE {
                return;
            }
            attempts += 1;
            self.flag[me].store(true, Relaxed);
            self.x.store(me, Relaxed);
            if self.y.load(Relaxed) != 0 {
                self.flag[me].store(false, Relaxed);
                spin_while(|| self.y.load(Relaxed) != 0);
                continue;
            }
            self.y.store(me, Relaxed);
            if self.x.load(Relaxed) != me {
                self.flag[me].store(false, Relaxed);
                spin_while(|| self.flag[other].load(Relaxed));
                if self.y.load(Relaxed) != me {
                    spin_while(|| self.y.load(Relaxed) != 0);
                    continue;
                }
            }
            return;
        }
    }

    fn leave(&self, me: usize) {
        self.y.store(0, Relaxed);
        self.flag[me].store(false, Relaxed);
    }
}

/// Spins, but walks on when the patience is used up.
fn spin_while(busy: impl Fn() -> bool) {
    let mut turns = 0;
    while busy() {
        if turns > PATIENCE {
            break;
        }
        turns += 1;
    }
}

/// Two threads enter a critical section through Lamport's protocol and check their own write; nobody is joined.
///
/// *Shared*: `x`, `y`, a flag per thread, and `shared`, to which a thread inside writes its number before it reads it
/// back.
/// *Bug*: each of the four loops (the attempts, the two waits for `y`, the wait for the other's flag) is given up after
/// three looks, and the thread walks in.
/// *Oracle*: a thread panics if it does not read its own number. A panic of a thread that nobody joins is a failure.
pub fn lamport() {
    let lamport = Arc::new(Lamport::default());
    for me in [1, 2] {
        let lamport = Arc::clone(&lamport);
        thread::spawn(move || {
            lamport.enter(me);
            lamport.shared.store(me, Relaxed);
            assert!(lamport.shared.load(Relaxed) == me, "thread {me} is not alone in the critical section");
            lamport.leave(me);
        });
    }
}

/// [`lamport`] with a mutex in place of the protocol; both threads are joined.
pub fn lamport_fixed() {
    let shared = Arc::new(Mutex::new(0));
    let threads = [1, 2].map(|me| {
        let shared = Arc::clone(&shared);
        thread::spawn(move || {
            let mut shared = shared.lock().unwrap();
            *shared = me;
            assert!(*shared == me, "thread {me} is not alone in the critical section");
        })
    });
    for thread in threads {
        thread.join().unwrap();
    }
}
