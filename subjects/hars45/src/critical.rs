//! Critical: a turn variable that both threads set at will guards nothing.

use std::sync::atomic::{AtomicI32, Ordering::Relaxed};
use std::sync::{Arc, Condvar, Mutex};
use std::thread;

/// Two threads pass a turn to each other; nobody is joined.
///
/// *Shared*: `turn`. Thread 0 writes 0, reads it, writes 1. Thread 1 writes 1, spins until it reads 1, writes 0.
/// *Bug*: thread 1 writes between thread 0's write and read.
/// *Oracle*: thread 0 panics if it does not read 0. A panic of a thread that nobody joins is a failure.
///
/// The spin ends in every fair schedule: thread 0's last write is 1, and if it panics it has read the 1 that thread 1
/// waits for. It yields between two looks so that a scheduler may prefer the other thread.
pub fn critical() {
    let turn = Arc::new(AtomicI32::new(0));
    let shared = Arc::clone(&turn);
    thread::spawn(move || {
        shared.store(0, Relaxed);
        assert!(shared.load(Relaxed) == 0, "it is not thread 0's turn any more");
        shared.store(1, Relaxed);
    });
    thread::spawn(move || {
        turn.store(1, Relaxed);
        while turn.load(Relaxed) != 1 {
            thread::yield_now();
        }
        turn.store(0, Relaxed);
    });
}

/// [`critical`] with a turn that only its holder changes, waited for on a condition; both threads are joined.
pub fn critical_fixed() {
    let turn = Arc::new((Mutex::new(0), Condvar::new()));
    let threads = [0, 1].map(|me| {
        let turn = Arc::clone(&turn);
        thread::spawn(move || {
            let (turn, changed) = &*turn;
            let mut turn = turn.lock().unwrap();
            while *turn != me {
                turn = changed.wait(turn).unwrap();
            }
            assert!(*turn == me, "it is not thread {me}'s turn any more");
            *turn = 1 - me;
            changed.notify_all();
        })
    });
    for thread in threads {
        thread.join().unwrap();
    }
}
