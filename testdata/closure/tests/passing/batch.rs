//! Steps in a row of which it is known beforehand who can take them are the steps that every other execution takes.

use closure::explore;
use raddle::{Config, Report};
use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering::SeqCst};
use std::sync::{Arc, Condvar, Mutex, RwLock};
use std::thread;

/// What `f` returns is looked at in every execution: some answers count as failures, so that their schedules are compared.
fn assert_the_same_as_recorded(f: impl Fn() -> u32 + Sync) {
    // The default strategy begins to leave executions to chance once there are more decisions than it remembers.
    for (strategy, executions) in [("random", 3_000), ("auto", 9_000)] {
        assert_the_same_by(strategy, executions, &f);
    }
}

fn assert_the_same_by(strategy: &str, executions: u64, f: impl Fn() -> u32 + Sync) {
    let search = |config: Config| -> Report {
        let config = config.strategy(strategy).max_failures(executions).max_steps(2_000);
        explore(config, executions, || assert_ne!(f() % 157, 7))
    };
    let (found, recorded) = (search(Config::new()), search(Config::new().traces(executions)));
    assert_eq!(found.stats.steps, recorded.stats.steps, "{strategy}");
    assert_eq!(found.stats.decisions, recorded.stats.decisions, "{strategy}");
    let failures = |r: &Report| -> Vec<_> {
        r.failures.iter().map(|f| (f.execution, f.message.clone(), f.schedule.clone())).collect()
    };
    assert_eq!(failures(&found), failures(&recorded), "{strategy}");
    assert!(found.failures.len() > 3, "{strategy}: only {} failures to compare", found.failures.len());
}

/// Mixes what threads see into one number.
fn mix(into: &AtomicU32, what: u32) {
    into.store(into.load(SeqCst).wrapping_mul(31).wrapping_add(what), SeqCst);
}

/// Threads that do `f(number, round)` so many times each.
fn threads(rounds: &[u32], f: impl Fn(u32, u32) + Send + Sync + 'static) {
    let f = Arc::new(f);
    let all: Vec<_> = (0..)
        .zip(rounds.to_vec())
        .map(|(me, rounds)| {
            let f = f.clone();
            thread::spawn(move || (0..rounds).for_each(|i| f(me, i)))
        })
        .collect();
    all.into_iter().for_each(|t| t.join().unwrap());
}

#[test]
fn accesses_by_threads_that_end_at_different_times() {
    assert_the_same_as_recorded(|| {
        let word = Arc::new(AtomicU32::new(0));
        let shared = word.clone();
        threads(&[1, 4, 9, 20], move |me, i| mix(&shared, me + 10 * i));
        word.load(SeqCst)
    });
}

#[test]
fn many_locks_with_accesses_inside_and_between() {
    assert_the_same_as_recorded(|| {
        let word = Arc::new(AtomicU32::new(0));
        let locks = Arc::new([(); 4].map(|()| Mutex::new(0u32)));
        let (shared, all) = (word.clone(), locks.clone());
        threads(&[6, 6, 6], move |me, i| {
            let mut held = all[((me + i) % 4) as usize].lock().unwrap();
            *held += 1;
            mix(&shared, *held);
            drop(held);
            *all[0].lock().unwrap() += me;
            mix(&shared, me);
        });
        word.load(SeqCst)
    });
}

#[test]
fn conditions_that_are_waited_for() {
    assert_the_same_as_recorded(|| {
        let order = Arc::new(AtomicU32::new(0));
        let queue = Arc::new((Mutex::new(VecDeque::new()), Condvar::new(), Condvar::new()));
        let (shared, q) = (order.clone(), queue.clone());
        threads(&[5, 5, 5, 5], move |me, i| {
            let mut items = q.0.lock().unwrap();
            if me < 2 {
                while items.len() == 2 {
                    items = q.1.wait(items).unwrap();
                }
                items.push_back(me + 2 * i);
                q.2.notify_one();
            } else {
                while items.is_empty() {
                    items = q.2.wait(items).unwrap();
                }
                let item = items.pop_front().unwrap();
                q.1.notify_one();
                drop(items);
                mix(&shared, item);
            }
        });
        order.load(SeqCst)
    });
}

#[test]
fn failed_exchanges_spinning_and_readers() {
    assert_the_same_as_recorded(|| {
        let word = Arc::new(AtomicU32::new(0));
        let (flag, table) = (Arc::new(AtomicBool::new(false)), Arc::new(RwLock::new(0u32)));
        let shared = word.clone();
        threads(&[4, 4, 4], move |me, i| {
            while flag.compare_exchange(false, true, SeqCst, SeqCst).is_err() {
                thread::yield_now();
            }
            mix(&shared, me);
            flag.store(false, SeqCst);
            if me == 0 {
                *table.write().unwrap() += i;
            } else {
                let seen = *table.read().unwrap();
                mix(&shared, seen);
            }
        });
        word.load(SeqCst)
    });
}

#[test]
fn threads_that_create_others_meanwhile() {
    assert_the_same_as_recorded(|| {
        let word = Arc::new(AtomicU32::new(0));
        let shared = word.clone();
        threads(&[3, 3], move |me, i| {
            mix(&shared, i);
            let other = shared.clone();
            let t = thread::spawn(move || mix(&other, me + 100));
            mix(&shared, me + 50);
            t.join().unwrap();
        });
        word.load(SeqCst)
    });
}
