//! Peterson: Peterson's mutual exclusion with waiting that gives up.

use std::sync::atomic::{AtomicBool, AtomicI32, AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, Mutex};
use std::thread;

/// How often the spin loop may find its condition true before it gives up is two more than this.
const PATIENCE: u32 = 1;

#[derive(Default)]
struct Peterson {
    flag: [AtomicBool; 2],
    turn: AtomicUsize,
    x: AtomicI32,
}

impl Peterson {
    fn enter(&self, me: usize) {
        let other = 1 - me;
        self.flag[me].store(true, Relaxed);
        self.turn.store(other, Relaxed);
        let mut turns = 0;
        while self.flag[other].load(Relaxed) && self.turn.load(Relaxed) == other {
            if turns > PATIENCE {
                break;
            }
            turns += 1;
        }
    }

    fn leave(&self, me: usize) {
        self.flag[me].store(false, Relaxed);
    }
}

/// Two threads enter a critical section through Peterson's protocol; the first checks its write. Nobody is joined.
///
/// *Shared*: a flag per thread, `turn` and `x`. Inside, the first thread writes 1 to `x` and reads it back; the second
/// writes 2 and prints it.
/// *Bug*: the wait is given up after three looks, so the second thread may write between the first one's write and read.
/// *Oracle*: the first thread panics if it does not read 1. A panic of a thread that nobody joins is a failure.
pub fn peterson() {
    let peterson = Arc::new(Peterson::default());
    let shared = Arc::clone(&peterson);
    thread::spawn(move || {
        shared.enter(0);
        shared.x.store(1, Relaxed);
        assert!(shared.x.load(Relaxed) == 1, "the first thread is not alone in the critical section");
        shared.leave(0);
    });
    thread::spawn(move || {
        peterson.enter(1);
        peterson.x.store(2, Relaxed);
        let _printed = peterson.x.load(Relaxed);
        peterson.leave(1);
    });
}

/// [`peterson`] with a mutex in place of the protocol; both threads are joined.
pub fn peterson_fixed() {
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
