//! A search records only some of its executions if it never looks at anything, or no longer. It finds the same nevertheless, and
//! shows it.

use closure::{explore, order};
use raddle::{Config, Report};
use std::cell::Cell;
use std::sync::atomic::{AtomicU8, AtomicU16, AtomicU32, AtomicU64, Ordering::SeqCst, fence};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

const EXECUTIONS: u64 = 6_000;

/// About one in a thousand executions ends in this.
const RARE: &str = "ababababab";

fn search(config: Config, f: impl Fn() + Sync) -> Report {
    explore(config.strategy("random").max_failures(EXECUTIONS), EXECUTIONS, f)
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
    let rare = || assert_ne!(order(5), RARE);
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
fn what_goes_wrong_unrecorded_is_found_by_the_default_strategy_too() {
    // More orders than it remembers, so that it leaves most executions to chance in the end.
    const EXECUTIONS: u64 = 9_000;
    let rare = || {
        order(30);
        assert_ne!(order(5), RARE);
    };
    let search = |traces| explore(Config::new().max_failures(EXECUTIONS).traces(traces), EXECUTIONS, rare);
    let found = search(0);
    assert_same(&found, &search(EXECUTIONS));
    let late: Vec<_> = found.failures.iter().filter(|f| f.execution > 4_000).collect();
    assert!(late.len() > 2, "{} failures", found.failures.len());
    for f in late {
        assert!(f.trace.events.len() >= 150, "{} events in execution {}", f.trace.events.len(), f.execution);
    }
}

#[test]
fn what_never_ends_is_found_by_an_execution_that_is_looked_at() {
    let endless = || {
        if order(5) == RARE {
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

#[test]
fn what_does_not_come_back_is_found() {
    let hang = || {
        if order(5) == RARE && order(5).starts_with("aab") {
            loop {
                std::hint::spin_loop();
            }
        }
    };
    let first = |seed| {
        let config = Config::new().seed(seed).strategy("random").hang(Duration::from_secs(2));
        let found = explore(config, 100_000, hang);
        assert_eq!(found.failures.len(), 1, "{:?}", found.stats);
        assert_eq!(found.failures[0].kind, raddle::Kind::Timeout, "{}", found.failures[0].message);
        found.failures[0].execution
    };
    // Most executions are not recorded only if it comes late.
    assert!((0..5).any(|seed| first(seed) > 1_000));
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
fn a_thread_has_its_own_thread_locals_after_functions_that_made_steps() {
    #[inline(never)]
    fn bump(word: &AtomicU32) -> u32 {
        word.fetch_add(1, SeqCst)
    }
    #[inline(never)]
    fn bump_in_a_lock(word: &Mutex<u32>) {
        *word.lock().unwrap() += 1;
    }
    let sums = || {
        let shared = Arc::new((AtomicU32::new(0), Mutex::new(0)));
        let threads = [1, 10, 100].map(|by| {
            let shared = shared.clone();
            thread::spawn(move || {
                for i in 0..8 {
                    bump(&shared.0);
                    bump_in_a_lock(&shared.1);
                    // Mostly another step follows.
                    match i % 4 {
                        1 => MINE.set(MINE.get() + by),
                        2 => remember(by),
                        _ => {}
                    }
                }
                MINE.get()
            })
        });
        assert_eq!(threads.map(|t| t.join().unwrap()), [4, 40, 400]);
    };
    let found = search(Config::new(), sums);
    assert_eq!(found.failures.len(), 0, "{:?}", found.failures.first());
    assert_same(&found, &search(Config::new().traces(EXECUTIONS), sums));
}

#[test]
fn a_crash_after_a_step_is_found() {
    let crash = || {
        if order(5) == RARE {
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

#[test]
fn operations_whose_hooks_are_taken_out_are_done_all_the_same() {
    #[inline(never)]
    fn own_affairs(seed: u8) -> u64 {
        let (a, b) = (AtomicU8::new(seed), AtomicU16::new(seed.into()));
        let (c, d) = (AtomicU32::new(seed.into()), AtomicU64::new(seed.into()));
        let own = std::hint::black_box((&a, &b, &c, &d));
        own.0.fetch_xor(0x55, SeqCst);
        own.0.fetch_nand(0x0f, SeqCst);
        own.1.fetch_add(300, SeqCst);
        own.1.fetch_sub(1, SeqCst);
        own.2.fetch_or(0x100, SeqCst);
        own.2.fetch_and(0x1ff, SeqCst);
        let was = own.3.swap(7, SeqCst);
        let failed = own.3.compare_exchange(8, 9, SeqCst, SeqCst);
        let done = own.3.compare_exchange(7, 10, SeqCst, SeqCst);
        assert_eq!((was, failed, done), (seed.into(), Err(7), Ok(7)));
        fence(SeqCst);
        let mut table = [[seed; 200]; 2];
        table[1].fill(3);
        let copy = std::hint::black_box(table);
        let sum: u64 = copy.iter().flatten().map(|&b| u64::from(b)).sum();
        sum + u64::from(a.load(SeqCst))
            + u64::from(b.load(SeqCst))
            + u64::from(c.load(SeqCst))
            + d.load(SeqCst)
    }
    let expected = |seed: u8| {
        let s = u64::from(seed);
        let (a, c) = (!((seed ^ 0x55) & 0x0f), s | 0x100);
        200 * s + 600 + u64::from(a) + (s + 299) + c + 10
    };
    let work = || {
        let total = Arc::new(AtomicU64::new(0));
        let threads = [1, 2, 3].map(|seed| {
            let total = total.clone();
            thread::spawn(move || {
                for _ in 0..3 {
                    total.fetch_add(own_affairs(seed), SeqCst);
                }
            })
        });
        threads.into_iter().for_each(|t| t.join().unwrap());
        assert_eq!(total.load(SeqCst), 3 * (expected(1) + expected(2) + expected(3)));
    };
    let found = search(Config::new(), work);
    assert_eq!(found.failures.len(), 0, "{:?}", found.failures.first());
    assert_same(&found, &search(Config::new().traces(EXECUTIONS), work));
}

#[test]
fn a_thread_that_is_long_busy_with_its_own_affairs_is_made_to_yield_in_every_execution() {
    let busy = || {
        let word = Arc::new(AtomicU32::new(0));
        let threads = [1, 2].map(|by| {
            let word = word.clone();
            thread::spawn(move || {
                word.fetch_add(by, SeqCst);
                let mut table = [0; 64];
                for i in 0..5_000 {
                    table[std::hint::black_box(i) % 64] += by;
                }
                word.fetch_add(table[7], SeqCst);
            })
        });
        threads.into_iter().for_each(|t| t.join().unwrap());
    };
    let few = |config: Config| explore(config.strategy("random"), 2_000, busy);
    assert_same(&few(Config::new()), &few(Config::new().traces(2_000)));
}

#[test]
fn a_conflict_that_shows_late_is_learned_although_hooks_were_taken_out() {
    // The same instruction touches memory of its own thread nearly always.
    #[inline(never)]
    fn add(to: &AtomicU32) {
        let seen = to.load(SeqCst);
        to.store(seen + 1, SeqCst);
    }
    let late = || {
        let shared = order(5) == RARE;
        let word = Arc::new(AtomicU32::new(0));
        let threads = [0, 1].map(|_| {
            let word = word.clone();
            thread::spawn(move || {
                let own = AtomicU32::new(0);
                add(if shared { &word } else { &own });
            })
        });
        threads.into_iter().for_each(|t| t.join().unwrap());
        assert!(!shared || word.load(SeqCst) == 2, "an addition was lost");
    };
    let found = explore(Config::new().strategy("random"), 400_000, late);
    assert_eq!(found.failures.len(), 1, "{:?}", found.stats);
    assert!(found.failures[0].message.contains("lost"), "{}", found.failures[0].message);
}

#[test]
fn code_that_is_come_to_rarely_is_looked_at_the_first_time() {
    #[inline(never)]
    fn lose(to: &AtomicU32) {
        to.store(to.load(SeqCst) + 1, SeqCst);
    }
    // True in one of eight thousand executions.
    let rare = || order(5) == RARE && order(5).starts_with("aab");
    let late = || {
        if rare() {
            let word = AtomicU32::new(0);
            thread::scope(|s| [0, 1].map(|_| s.spawn(|| lose(&word)).thread().id()));
        }
    };
    let search = |seed, schedules, traces| {
        explore(Config::new().strategy("random").seed(seed).jobs(1).traces(traces), schedules, late).stats
    };
    let mut late = 0;
    for seed in 0..3 {
        let (begun, unrecorded, recorded) =
            (search(seed, 2_000, 0), search(seed, 12_000, 0), search(seed, 12_000, 12_000));
        late += u32::from(begun.points < recorded.points);
        assert_eq!(unrecorded, raddle::Stats { elapsed_ms: unrecorded.elapsed_ms, ..recorded });
    }
    assert!(late > 0, "the rare code has scheduling points of its own, and is seldom among the first executions");
}
