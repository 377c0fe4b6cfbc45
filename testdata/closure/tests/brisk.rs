//! A search that never looks at anything records only some of its executions. It finds the same nevertheless, and shows it.

use raddle::{Config, Report};
use std::cell::Cell;
use std::sync::atomic::{AtomicU32, Ordering::SeqCst};
use std::sync::{Arc, Mutex};
use std::thread;

const EXECUTIONS: u64 = 6_000;

/// Two threads push their names; the order.
fn order() -> String {
    let names = Arc::new(Mutex::new(String::new()));
    let threads = ['a', 'b'].map(|name| {
        let names = names.clone();
        thread::spawn(move || (0..5).for_each(|_| names.lock().unwrap().push(name)))
    });
    for t in threads {
        t.join().unwrap();
    }
    let order = names.lock().unwrap().clone();
    order
}

/// About one in a thousand executions ends in this.
const RARE: &str = "ababababab";

fn search(config: Config, f: impl Fn() + Sync) -> Report {
    raddle::explore(config.strategy("random").schedules(EXECUTIONS).max_failures(EXECUTIONS), f)
}

/// The two searches did the same, execution by execution.
fn assert_same(found: &Report, recorded: &Report) {
    assert_eq!(found.stats.steps, recorded.stats.steps);
    assert_eq!(found.stats.decisions, recorded.stats.decisions);
    let places =
        |r: &Report| r.failures.iter().map(|f| (f.execution, f.schedule.clone())).collect::<Vec<_>>();
    assert_eq!(places(found), places(recorded));
}

#[test]
fn what_goes_wrong_unrecorded_is_found_like_everything_else_and_comes_with_a_trace() {
    let rare = || assert_ne!(order(), RARE);
    let found = search(Config::new(), rare);
    // Whoever asks for traces has every execution recorded.
    let recorded = search(Config::new().traces(EXECUTIONS), rare);
    assert_same(&found, &recorded);
    let late: Vec<_> = found.failures.iter().filter(|f| f.execution > 2_000).collect();
    let last = found.failures.last().map(|f| f.execution);
    assert!(late.len() > 2, "{} failures, the last in execution {last:?}", found.failures.len());
    for f in late {
        assert!(f.message.contains(RARE), "{}", f.message);
        assert!(
            f.trace.events.len() >= 40,
            "only {} events in execution {}",
            f.trace.events.len(),
            f.execution
        );
    }
}

#[test]
fn what_never_ends_is_found_by_an_execution_that_is_looked_at() {
    let endless = || {
        if order() == RARE {
            let word = Arc::new(AtomicU32::new(0));
            let other = word.clone();
            let t = thread::spawn(move || while other.load(SeqCst) != 1 {});
            while !t.is_finished() {
                word.store(2, SeqCst);
            }
        }
    };
    let found = search(Config::new().max_steps(300), endless);
    assert!(!found.failures.is_empty());
    for f in found.failures {
        assert_eq!(f.kind, raddle::Kind::Livelock, "{}", f.message);
    }
}

thread_local! {
    static MINE: Cell<u32> = const { Cell::new(0) };
}

#[inline(never)]
fn remember(by: u32) {
    MINE.set(MINE.get() + by);
}

#[test]
fn a_thread_has_its_own_thread_locals_wherever_it_uses_them() {
    let sums = || {
        let shared = Arc::new((AtomicU32::new(0), Mutex::new(0)));
        let threads = [1, 10, 100].map(|by| {
            let shared = shared.clone();
            thread::spawn(move || {
                for i in 0..6 {
                    shared.0.fetch_add(1, SeqCst);
                    if i % 2 == 0 {
                        remember(by);
                    }
                    *shared.1.lock().unwrap() += 1;
                    shared.0.fetch_add(1, SeqCst);
                }
                MINE.set(MINE.get() + 1000 * by);
                shared.0.store(by, SeqCst);
                MINE.get()
            })
        });
        let sums = threads.map(|t| t.join().unwrap());
        assert_eq!(sums, [1003, 10030, 100300]);
    };
    let found = search(Config::new(), sums);
    let recorded = search(Config::new().traces(EXECUTIONS), sums);
    assert_eq!(found.failures.len(), 0, "{:?}", found.failures.first());
    assert_same(&found, &recorded);
}

#[test]
fn a_crash_after_a_step_is_found() {
    let crash = || {
        if order() == RARE {
            let word = Arc::new(AtomicU32::new(0));
            let other = word.clone();
            let t = thread::spawn(move || other.fetch_add(1, SeqCst));
            if word.fetch_add(1, SeqCst) == 1 {
                // SAFETY: none; this is the crash.
                unsafe { std::ptr::null_mut::<u32>().write_volatile(1) };
            }
            t.join().unwrap();
        }
    };
    let found = search(Config::new(), crash);
    assert!(found.failures.iter().any(|f| f.execution > 2_000));
    for f in found.failures {
        assert_eq!(f.kind, raddle::Kind::Crash, "{}", f.message);
    }
}
