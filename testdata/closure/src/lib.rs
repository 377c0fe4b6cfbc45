//! Little programs for checks of closures.

use raddle::{Config, Report, Stop};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;

/// Explores a closure under so many schedules. A search that ends before that without a reason in the closure, because
/// time was up or something could not be done, proves nothing.
pub fn explore(config: Config, schedules: u64, f: impl Fn() + Sync) -> Report {
    let report = raddle::explore(config.schedules(schedules), f);
    let Report { stats, stop, .. } = &report;
    let whole = match stop {
        Stop::Budget => stats.executions == schedules,
        Stop::Failures | Stop::Exhausted => true,
        _ => false,
    };
    assert!(whole, "{stop:?} after {} of {schedules} schedules: {stats:?}", stats.executions);
    report
}

/// Two threads count to two, one step at a time or with a lost update.
pub fn count(atomic: bool) -> u32 {
    let n = AtomicU32::new(0);
    thread::scope(|s| {
        for _ in 0..2 {
            s.spawn(|| {
                if atomic {
                    n.fetch_add(1, Ordering::SeqCst);
                } else {
                    n.store(n.load(Ordering::SeqCst) + 1, Ordering::SeqCst);
                }
            });
        }
    });
    n.into_inner()
}

/// Two threads push their names so many times each; the order.
pub fn order(each: usize) -> String {
    let names = Arc::new(Mutex::new(String::new()));
    let threads = ['a', 'b'].map(|name| {
        let names = names.clone();
        thread::spawn(move || (0..each).for_each(|_| names.lock().unwrap().push(name)))
    });
    for t in threads {
        t.join().unwrap();
    }
    let order = names.lock().unwrap().clone();
    order
}
