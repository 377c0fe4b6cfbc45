//! Cyclicdemo: the counter is locked, the name of the last one to count is not.

use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, Mutex};
use std::thread;

const THREADS: usize = 4;

#[derive(Default)]
struct Demo {
    count: Mutex<usize>,
    leader: AtomicUsize,
}

/// Four threads count themselves and name themselves leader; main joins all but the first.
///
/// *Shared*: `count`, under the object's lock; `leader`, written after the lock has been released.
/// *Bug*: thread 3 is not the last to write `leader`. Rarely, thread 0, which is not joined, has not counted yet.
/// *Oracle*: main panics if `count` is not 4 or `leader` is not 3.
pub fn cyclicdemo() {
    let demo = Arc::new(Demo::default());
    let threads: Vec<_> = (0..THREADS)
        .map(|id| {
            let demo = Arc::clone(&demo);
            thread::spawn(move || {
                *demo.count.lock().unwrap() += 1;
                demo.leader.store(id, Relaxed);
            })
        })
        .collect();
    for thread in threads.into_iter().skip(1) {
        thread.join().unwrap();
    }
    assert!(*demo.count.lock().unwrap() == THREADS, "somebody has not counted");
    assert!(demo.leader.load(Relaxed) == THREADS - 1, "the leader is not the last thread");
}

/// [`cyclicdemo`] with the highest number made leader inside the critical section, and every thread joined.
pub fn cyclicdemo_fixed() {
    let demo = Arc::new(Mutex::new((0, 0)));
    let threads: Vec<_> = (0..THREADS)
        .map(|id| {
            let demo = Arc::clone(&demo);
            thread::spawn(move || {
                let (count, leader) = &mut *demo.lock().unwrap();
                *count += 1;
                *leader = id.max(*leader);
            })
        })
        .collect();
    for thread in threads {
        thread.join().unwrap();
    }
    assert!(*demo.lock().unwrap() == (THREADS, THREADS - 1), "the leader is not the last thread");
}
