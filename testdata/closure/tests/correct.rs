//! Checks that find nothing.

use closure::count;
use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, Condvar, Mutex, mpsc};
use std::thread;

#[raddle::test]
fn an_atomic_counter_counts() {
    assert_eq!(count(true), 2);
}

#[raddle::test(schedules = 300, strategy = "pct:3", seed = 1)]
fn a_condition_variable_wakes_its_waiter() {
    let shared = Arc::new((Mutex::new(VecDeque::new()), Condvar::new()));
    let theirs = shared.clone();
    let consumer = thread::spawn(move || {
        let mut queue = theirs.0.lock().unwrap();
        while queue.is_empty() {
            queue = theirs.1.wait(queue).unwrap();
        }
        queue.pop_front()
    });
    shared.0.lock().unwrap().push_back(7);
    shared.1.notify_one();
    assert_eq!(consumer.join().unwrap(), Some(7));
}

#[raddle::test(strategy = "dfs")]
fn a_channel_keeps_its_order_in_a_depth_first_search() {
    let (sender, receiver) = mpsc::channel();
    let t = thread::spawn(move || (0..2).for_each(|i| sender.send(i).unwrap()));
    assert_eq!(receiver.iter().collect::<Vec<_>>(), [0, 1]);
    t.join().unwrap();
}

#[raddle::test(schedules = 200)]
fn a_spin_lock_is_let_go() {
    let flag = Arc::new(AtomicBool::new(false));
    let theirs = flag.clone();
    let t = thread::spawn(move || theirs.store(true, Ordering::Release));
    while !flag.load(Ordering::Acquire) {
        std::hint::spin_loop();
    }
    t.join().unwrap();
}

#[test]
fn several_checks_in_one_test_all_count() {
    for seed in 0..3 {
        raddle::check(raddle::Config::new().seed(seed).schedules(50), || assert_eq!(count(true), 2));
    }
}

#[test]
fn exploring_leaves_failures_to_the_caller() {
    let config = raddle::Config::new().max_failures(5).schedules(1_000);
    let report = raddle::explore(config, || assert_eq!(count(false), 2, "an update was lost"));
    assert_eq!(report.failures.len(), 5, "{report:?}");
    assert!(report.failures.iter().all(|f| f.kind == raddle::Kind::Panic));
    assert_eq!(report.stop, raddle::Stop::Failures);
}

#[test]
fn a_schedule_from_a_failure_repeats_it() {
    let broken = || assert_eq!(count(false), 2);
    let found = raddle::explore(raddle::Config::new(), broken);
    let schedule = found.failure().expect("a lost update").schedule.clone();
    let text = raddle::schedule_text(&schedule);
    let again = raddle::explore(raddle::Config::new().replay(raddle::parse_schedule(&text).unwrap()), broken);
    assert_eq!(again.stats.executions, 1);
    assert_eq!(again.failure().expect("the same again").message, found.failure().unwrap().message);
}

#[test]
fn the_same_seed_finds_the_same_failure_after_the_same_schedules() {
    let once = || {
        let report = raddle::explore(raddle::Config::new().seed(3), || assert_eq!(count(false), 2));
        let failure = report.failures.into_iter().next().expect("a lost update");
        (failure.execution, failure.schedule, failure.trace, failure.symbols)
    };
    assert_eq!(once(), once());
}

#[test]
fn what_a_closure_changes_stays_in_its_child() {
    let seen = Mutex::new(0);
    raddle::check(raddle::Config::new().schedules(10), || {
        *seen.lock().unwrap() += 1;
        assert_eq!(count(true), 2);
    });
    assert_eq!(seen.into_inner().unwrap(), 0);
}

/// More steps than ten times what the check expects: it gets somewhere.
#[raddle::test(max_steps = 500, schedules = 3)]
fn a_check_takes_longer_than_it_expects_to() {
    let sum = AtomicU32::new(0);
    thread::scope(|s| {
        for _ in 0..2 {
            s.spawn(|| (0..5_000).for_each(|n| _ = sum.fetch_add(n, Ordering::SeqCst)));
        }
    });
    assert_eq!(sum.into_inner(), 4_999 * 5_000);
}
