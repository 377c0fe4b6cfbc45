//! An execution that the strategy gives up leaves nothing behind for those after it, although they share a process.

use std::sync::atomic::{AtomicU32, Ordering::SeqCst};
use std::sync::{Arc, Mutex};
use std::thread;

/// Counts of threads inside, of values not dropped, and a lock that all executions share.
static INSIDE: AtomicU32 = AtomicU32::new(0);
static ALIVE: AtomicU32 = AtomicU32::new(0);
static LOCK: Mutex<u32> = Mutex::new(0);

struct Value;

impl Value {
    fn new() -> Self {
        ALIVE.fetch_add(1, SeqCst);
        Value
    }
}

impl Drop for Value {
    fn drop(&mut self) {
        ALIVE.fetch_sub(1, SeqCst);
    }
}

/// Three threads count up; fails if an earlier execution is still to be seen.
fn clean_start() {
    assert_eq!((INSIDE.load(SeqCst), ALIVE.load(SeqCst)), (0, 0), "somebody is still there");
    assert_eq!(*LOCK.try_lock().expect("nobody holds the lock"), 0);
    let count = Arc::new(AtomicU32::new(0));
    let threads = [(); 3].map(|()| {
        let count = count.clone();
        thread::spawn(move || {
            let _value = Value::new();
            INSIDE.fetch_add(1, SeqCst);
            *LOCK.lock().unwrap() += 1;
            count.store(count.load(SeqCst) + 1, SeqCst);
            *LOCK.lock().unwrap() -= 1;
            INSIDE.fetch_sub(1, SeqCst);
        })
    });
    for t in threads {
        t.join().unwrap();
    }
}

#[test]
fn an_execution_that_was_given_up_is_not_seen_by_later_ones() {
    for strategy in ["hars", "ars"] {
        let report = closure::explore(raddle::Config::new().strategy(strategy), 2_000, clean_start);
        assert_eq!(report.stats.failures, 0, "{strategy}: {:?}", report.failures);
        let given_up = report.stats.executions - report.stats.completed;
        assert!(given_up > 100, "{strategy} gave up {given_up} of {} executions", report.stats.executions);
    }
}
