//! A search that never looks at anything records only some of its executions. It finds the same nevertheless, and shows it.

use raddle::{Config, Report};
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

#[test]
fn what_goes_wrong_unrecorded_is_found_like_everything_else_and_comes_with_a_trace() {
    let rare = || assert_ne!(order(), RARE);
    let found = search(Config::new(), rare);
    // Whoever asks for traces has every execution recorded.
    let recorded = search(Config::new().traces(EXECUTIONS), rare);
    assert_eq!(found.stats.steps, recorded.stats.steps);
    assert_eq!(found.stats.decisions, recorded.stats.decisions);
    let places = |r: &Report| r.failures.iter().map(|f| (f.execution, f.schedule.clone())).collect::<Vec<_>>();
    assert_eq!(places(&found), places(&recorded));
    let late: Vec<_> = found.failures.iter().filter(|f| f.execution > 2_000).collect();
    assert!(late.len() > 2, "{} failures, the last in execution {:?}", found.failures.len(), places(&found).last());
    for f in late {
        assert!(f.message.contains(RARE), "{}", f.message);
        assert!(f.trace.events.len() >= 40, "only {} events in execution {}", f.trace.events.len(), f.execution);
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
