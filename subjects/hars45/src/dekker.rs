//! Dekker: Dekker's mutual exclusion with waiting that gives up.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, Mutex};
use std::thread;

/// How often a spin loop may find its condition true before it gives up is two more than this.
const PATIENCE: u32 = 1;

struct Dekker {
    flag: [AtomicBool; 2],
    turn: AtomicUsize,
    x: AtomicUsize,
}

impl Dekker {
    fn enter(&self, me: usize) {
        let other = 1 - me;
        self.flag[me].store(true, Relaxed);
        let mut turns = 0;
        while self.flag[other].load(Relaxed) {
            if turns > PATIENCE {
                break;
            }
            turns += 1;
            if self.turn.load(Relaxed) != me {
                self.flag[me].store(false, Relaxed);
                let mut inner_turns = 0;
                while self.turn.load(Relaxed) != me {
                    if inner_turns > PATIENCE {
                        break;
                    }
                    inner_turns += 1;
                }
                self.flag[me].store(true, Relaxed);
            }
        }
    }

    fn leave(&self, me: usize) {
        self.turn.store(1 - me, Relaxed);
        self.flag[me].store(false, Relaxed);
    }
}

/// Two threads enter a critical section through Dekker's protocol and check their own write; nobody is joined.
///
/// *Shared*: a flag per thread, `turn` (the first thread's at the beginning) and `x`. Inside, a thread writes its number
/// to `x` and reads it back.
/// *Bug*: each of the two nested waits is given up after three looks, so a thread may enter while the other is inside
/// and write between its write and read. About one trace in a hundred.
/// *Oracle*: a thread panics if it does not read its own number. A panic of a thread that nobody joins is a failure.
pub fn dekker() {
    let dekker =
        Arc::new(Dekker { flag: Default::default(), turn: AtomicUsize::new(0), x: AtomicUsize::new(0) });
    for me in [0, 1] {
        let dekker = Arc::clone(&dekker);
        thread::spawn(move || {
            dekker.enter(me);
            dekker.x.store(me + 1, Relaxed);
            assert!(dekker.x.load(Relaxed) == me + 1, "thread {me} is not alone in the critical section");
            dekker.leave(me);
        });
    }
}

/// [`dekker`] with a mutex in place of the protocol; both threads are joined.
pub fn dekker_fixed() {
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
