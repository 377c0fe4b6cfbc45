//! Long searches that never look go on in several processes. They find the same as in one.

use closure::{explore, order};
use raddle::{Config, Kind, Report, Stop};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering::SeqCst};
use std::thread;
use std::time::Duration;

/// Enough for several processes to have most of it to do.
const EXECUTIONS: u64 = 40_000;

/// True in one of some thousand executions.
fn rarely() -> bool {
    order(5) == "ababababab" && order(5).starts_with("ab")
}

fn search(strategy: &str, jobs: u64, f: impl Fn() + Sync) -> Report {
    explore(Config::new().strategy(strategy).max_failures(EXECUTIONS).jobs(jobs), EXECUTIONS, f)
}

/// What does not depend on the time that it took and on addresses, which differ from one search of a process to the next.
fn found(report: &Report) -> impl PartialEq + std::fmt::Debug {
    let failures: Vec<_> = report
        .failures
        .iter()
        .map(|f| (f.execution, f.kind, f.message.clone(), f.schedule.clone(), f.trace.events.len()))
        .collect();
    let s = &report.stats;
    let totals = (s.executions, s.completed, s.steps, s.decisions, s.threads, s.points, s.failures);
    (totals, report.stop.clone(), failures)
}

/// Compares searches in one process with such in several; tells the kinds of the failures that were found late.
fn compare(f: impl Fn() + Sync) -> Vec<Kind> {
    compare_by("random", f)
}

fn compare_by(strategy: &str, f: impl Fn() + Sync) -> Vec<Kind> {
    let alone = search(strategy, 1, &f);
    for jobs in [2, 3] {
        assert_eq!(found(&search(strategy, jobs, &f)), found(&alone));
    }
    alone.failures.iter().filter(|f| f.execution > 15_000).map(|f| f.kind).collect()
}

#[test]
fn what_passes_passes() {
    let late = compare(|| {
        order(5);
    });
    assert_eq!(late, []);
}

#[test]
fn what_panics_panics_in_the_same_executions() {
    let late = compare(|| assert!(!rarely()));
    assert!(late.len() > 2 && late.iter().all(|&k| k == Kind::Panic), "{late:?}");
}

#[test]
fn what_panics_under_the_default_strategy_panics_in_the_same_executions() {
    // More orders than it remembers, so that it leaves most executions to chance in the end.
    let late = compare_by("auto", || {
        order(30);
        assert!(!rarely());
    });
    assert!(late.len() > 2 && late.iter().all(|&k| k == Kind::Panic), "{late:?}");
}

#[test]
fn what_the_default_strategy_learns_late_is_learned_in_order() {
    let late = compare_by("auto", || {
        order(30);
        lose_rarely();
    });
    assert!(!late.is_empty());
}

#[test]
fn what_kills_a_process_is_found() {
    let late = compare(|| {
        if rarely() {
            // SAFETY: none; this is the crash.
            unsafe { std::ptr::null_mut::<u32>().write_volatile(1) };
        }
    });
    assert!(late.len() > 2 && late.iter().all(|&k| k == Kind::Crash), "{late:?}");
}

#[test]
fn what_does_not_come_back_is_found() {
    let hang = || {
        if order(5) == "ababababab" && order(5) == "babababaab" {
            loop {
                std::hint::spin_loop();
            }
        }
    };
    let first = |seed: u64, jobs: u64| {
        let config = Config::new().strategy("random").seed(seed).jobs(jobs).hang(Duration::from_secs(2));
        let report = explore(config, 10_000_000, hang);
        (report.failures[0].execution, report.failures[0].kind)
    };
    // Several processes have most of it to do only if it comes late.
    let late = (0..).map(|seed| (seed, first(seed, 1))).find(|(_, (execution, _))| *execution > 15_000);
    let (seed, (execution, kind)) = late.unwrap();
    assert_eq!(kind, Kind::Timeout);
    assert_eq!(first(seed, 2), (execution, kind));
}

/// A second word is contended only once the first has been through an unlikely order.
fn lose_rarely() {
    if order(5) == "ababababab" {
        let word = Arc::new(AtomicU32::new(0));
        let other = word.clone();
        let t = thread::spawn(move || other.store(other.load(SeqCst) + 1, SeqCst));
        word.store(word.load(SeqCst) + 1, SeqCst);
        t.join().unwrap();
        assert_eq!(word.load(SeqCst), 2, "lost");
    }
}

#[test]
fn what_is_learned_late_is_learned_in_order() {
    assert!(!compare(lose_rarely).is_empty());
}

#[test]
fn time_is_up_for_all() {
    let config = Config::new().strategy("random").schedules(u64::MAX).jobs(2);
    let report = raddle::explore(config.budget(Duration::from_millis(400)), || {
        order(5);
    });
    assert_eq!((report.stop, report.stats.executions), (Stop::Budget, report.stats.completed));
}
