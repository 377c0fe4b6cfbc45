//! Pingpong: a shared player is taken away and put back, and somebody calls it in between.

use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, Mutex};
use std::thread;

const THREADS: usize = 4;
const NULL: usize = 0;
const PLAYER: usize = 1;
/// Stands for the 50 ms during which the original spins.
const YIELDS: usize = 3;

/// Four threads play with one shared player; nobody is joined.
///
/// *Shared*: the reference to the player. A thread reads it and calls the player, reads it again into a copy, writes
/// null, is busy for a while and writes the copy back.
/// *Bug*: another thread reads the null and calls it; or takes a copy of the null and puts that back for good.
/// *Oracle*: null dereference, in a thread that nobody joins.
///
/// The original is busy until 50 ms have passed, which defeats simple random search in the paper; here it yields three
/// times.
pub fn pingpong() {
    let player = Arc::new(AtomicUsize::new(PLAYER));
    for _ in 0..THREADS {
        let player = Arc::clone(&player);
        thread::spawn(move || {
            assert!(player.load(Relaxed) != NULL, "NullPointerException: there is no player to call");
            let copy = player.load(Relaxed);
            player.store(NULL, Relaxed);
            for _ in 0..YIELDS {
                thread::yield_now();
            }
            player.store(copy, Relaxed);
        });
    }
}

/// [`pingpong`] with the player's absence inside a critical section; the threads are joined.
pub fn pingpong_fixed() {
    let player = Arc::new(Mutex::new(PLAYER));
    let threads = [(); THREADS].map(|()| {
        let player = Arc::clone(&player);
        thread::spawn(move || {
            let mut player = player.lock().unwrap();
            assert!(*player != NULL, "NullPointerException: there is no player to call");
            let copy = *player;
            *player = NULL;
            for _ in 0..YIELDS {
                thread::yield_now();
            }
            *player = copy;
        })
    });
    for thread in threads {
        thread.join().unwrap();
    }
}
