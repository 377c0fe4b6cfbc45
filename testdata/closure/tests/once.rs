//! Closures that find things initialised by the executions before them: their failures are repeated in a process where nothing is.

use closure::{count, explore, order};
use raddle::{Config, Kind, Report};
use std::collections::HashMap;
use std::sync::atomic::{AtomicU32, Ordering::SeqCst};
use std::sync::{LazyLock, Once, OnceLock};
use std::thread;

/// Threads that first look at something initialised once, then lose an update; seldom, so that others pass before.
fn fails_seldom(look: impl Fn() + Sync) {
    thread::scope(|s| [(); 2].map(|()| s.spawn(&look).thread().id()));
    if order(3) == "ababab" {
        assert_eq!(count(false), 2, "an update was lost");
    }
}

static TABLE: LazyLock<HashMap<u32, u32>> = LazyLock::new(|| (0..50).map(|n| (n, n * n)).collect());

#[raddle::test(seed = 5)]
fn a_lazy_lock() {
    fails_seldom(|| assert_eq!(TABLE[&7], 49));
}

#[raddle::test(seed = 5)]
fn a_once_lock_in_a_function() {
    fn table() -> &'static [u32] {
        static TABLE: OnceLock<Vec<u32>> = OnceLock::new();
        TABLE.get_or_init(|| (0..50).map(|n| n * n).collect())
    }
    fails_seldom(|| assert_eq!(table()[7], 49));
}

#[raddle::test(seed = 5, strategy = "random")]
fn a_once() {
    static ONCE: Once = Once::new();
    static VALUE: AtomicU32 = AtomicU32::new(0);
    fails_seldom(|| {
        ONCE.call_once(|| VALUE.store(7, SeqCst));
        assert_eq!(VALUE.load(SeqCst), 7);
    });
}

#[raddle::test(seed = 5)]
fn random_keys() {
    fails_seldom(|| assert_eq!(HashMap::from([(1, 2)])[&1], 2));
}

#[raddle::test(seed = 5, strategy = "random")]
fn a_count_of_executions() {
    static EXECUTIONS: AtomicU32 = AtomicU32::new(0);
    let earlier = EXECUTIONS.fetch_add(1, SeqCst);
    fails_seldom(|| (0..=earlier).for_each(|_| drop(EXECUTIONS.load(SeqCst))));
}

/// What is captured is no static, but fails in other executions than it would alone.
#[test]
fn what_is_captured() {
    let cache = OnceLock::new();
    raddle::check(Config::new().seed(5), || fails_seldom(|| assert_eq!(cache.get_or_init(|| vec![1; 50])[7], 1)));
}

fn found(report: &Report) -> impl PartialEq + std::fmt::Debug {
    let failures: Vec<_> = report.failures.iter().map(|f| (f.execution, f.kind, f.schedule.clone())).collect();
    let s = &report.stats;
    (failures, s.executions, s.steps, s.decisions, s.points, report.stop.clone())
}

/// One execution in a thousand comes to it.
#[test]
fn what_is_initialised_late_is_the_same_for_one_process_and_for_many() {
    static LATE: OnceLock<Vec<u32>> = OnceLock::new();
    let search = |jobs| {
        let config = Config::new().strategy("random").jobs(jobs).max_failures(u64::MAX);
        explore(config, 20_000, || {
            if order(5) == "ababababab" {
                let seen = LATE.get_or_init(|| (0..9).collect())[3];
                assert!(seen == 3 && order(1) != "ba");
            }
        })
    };
    let alone = search(1);
    assert!(alone.failures.len() > 3, "{:?}", alone.stats);
    assert!(alone.failures.iter().all(|f| f.kind == Kind::Panic));
    assert_eq!(found(&search(2)), found(&alone));
}

/// The order in which threads come to an initialisation is looked for in every execution, not only in the first.
#[test]
fn every_execution_initialises() {
    static FIRST: OnceLock<u32> = OnceLock::new();
    let report = raddle::explore(Config::new().schedules(200), || {
        thread::scope(|s| [1, 2].map(|me| s.spawn(move || FIRST.get_or_init(|| me)).thread().id()));
        assert_eq!(FIRST.get(), Some(&1), "the second was first");
    });
    assert!(report.failure().is_some_and(|f| f.message.contains("the second was first")), "{report:?}");
}
