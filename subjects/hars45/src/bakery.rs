//! Bakery: Lamport's bakery lock without its tie-break, and with impatient waiting.

use std::sync::atomic::{AtomicBool, AtomicI32, Ordering::Relaxed};
use std::sync::{Arc, Mutex};
use std::thread;

/// How often a spin loop may find its condition true before it gives up is two more than this.
const PATIENCE: u32 = 20;

#[derive(Default)]
struct Bakery {
    entering: [AtomicBool; 2],
    ticket: [AtomicI32; 2],
    x: AtomicI32,
}

impl Bakery {
    fn lock(&self, me: usize) {
        let other = 1 - me;
        self.entering[me].store(true, Relaxed);
        let max = self.ticket[0].load(Relaxed).max(self.ticket[1].load(Relaxed));
        self.ticket[me].store(max + 1, Relaxed);
        self.entering[me].store(false, Relaxed);
        spin_while(|| self.entering[other].load(Relaxed));
        spin_while(|| {
            let theirs = self.ticket[other].load(Relaxed);
            theirs != 0 && self.ticket[other].load(Relaxed) < self.ticket[me].load(Relaxed)
        });
    }

    fn unlock(&self, me: usize) {
        self.ticket[me].store(0, Relaxed);
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

/// Two threads take a bakery lock; thread 0 checks its own write inside. Nobody is joined.
///
/// *Shared*: `entering[2]`, `ticket[2]` and `x`. Thread 0 writes 1 to `x` and reads it back; thread 1 writes 2.
/// *Bug*: both threads may draw the same ticket, and the tie is not broken; or a wait is given up after 22 looks. Then
/// thread 1's write falls between thread 0's write and read.
/// *Oracle*: thread 0 panics if it does not read 1. A panic of a thread that nobody joins is a failure.
pub fn bakery() {
    let bakery = Arc::new(Bakery::default());
    let shared = Arc::clone(&bakery);
    thread::spawn(move || {
        shared.lock(0);
        shared.x.store(1, Relaxed);
        assert!(shared.x.load(Relaxed) == 1, "thread 0 is not alone in the critical section");
        shared.unlock(0);
    });
    let shared = Arc::clone(&bakery);
    thread::spawn(move || {
        shared.lock(1);
        shared.x.store(2, Relaxed);
        shared.unlock(1);
    });
}

/// [`bakery`] with a mutex in place of the bakery lock; both threads are joined.
pub fn bakery_fixed() {
    let x = Arc::new(Mutex::new(0));
    let threads = [1, 2].map(|id| {
        let x = Arc::clone(&x);
        thread::spawn(move || {
            let mut x = x.lock().unwrap();
            *x = id;
            assert!(*x == id, "thread {id} is not alone in the critical section");
        })
    });
    for thread in threads {
        thread.join().unwrap();
    }
}
