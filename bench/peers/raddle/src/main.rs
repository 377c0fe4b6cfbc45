//! The programs under raddle, and what the hooks cost.

mod tool {
    pub use std::{sync, thread};
}
#[path = "../../orders.rs"]
mod orders;
#[path = "../../programs.rs"]
mod programs;

use orders::{SMALL, exhaust};
use programs::{PROGRAMS, all_cores, least, measure, processor_time};
use std::collections::BTreeMap;

/// Work for one thread: a tree, a sort and arithmetic, with about as many accesses as such code has.
fn work() -> u64 {
    let mut tree = BTreeMap::new();
    let mut x = 1u64;
    let mut list = Vec::new();
    for i in 0..20_000u64 {
        x = x.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        tree.insert(x >> 40, i);
        list.push(x);
    }
    list.sort_unstable();
    tree.values().zip(&list).fold(0, |sum, (a, b)| sum ^ a.wrapping_mul(*b))
}

const ROUNDS: u32 = 20;

/// So many executions of the strategy that the peers use, too, on one core or on all.
fn config(n: u64) -> raddle::Config {
    raddle::Config::new().strategy("random").schedules(n).jobs(if all_cores() { 0 } else { 1 })
}

fn main() {
    match std::env::args().nth(2).as_deref() {
        None | Some("cores") => programs(),
        Some("default") => by_default(),
        Some("orders") => all_orders(),
        Some("outside") => {
            work();
            let start = processor_time();
            for _ in 0..ROUNDS {
                std::hint::black_box(work());
            }
            println!("{}", (processor_time() - start) / f64::from(ROUNDS));
        }
        Some("inside") => {
            // The first execution warms up; the last is measured against all.
            let run = |n| {
                let start = processor_time();
                let report = raddle::explore(config(n).max_steps(u64::MAX), || {
                    std::hint::black_box(work());
                });
                assert_eq!(report.stats.executions, n, "{report:?}");
                processor_time() - start
            };
            let once = run(1);
            println!("{}", (run(1 + u64::from(ROUNDS)) - once) / f64::from(ROUNDS));
        }
        // So many executions of one program, to be looked at with a profiler: COUNT one INDEX [STRATEGY [JOBS]].
        Some("one") => {
            let number =
                |i| -> usize { std::env::args().nth(i).and_then(|s| s.parse().ok()).expect("a number") };
            let strategy = std::env::args().nth(4).unwrap_or_else(|| "random".to_owned());
            let jobs = std::env::args().nth(5).and_then(|s| s.parse().ok()).unwrap_or(1);
            let config = config(number(1) as u64).strategy(strategy).jobs(jobs);
            println!("{:?}", raddle::explore(config, PROGRAMS[number(3)].run));
        }
        Some(other) => panic!("unknown mode {other}"),
    }
}

/// What a check does that asks for nothing but more schedules, on one core. A program of which it has executed all orders before its
/// schedules are used up is checked again and again.
fn by_default() {
    let least = least();
    for program in PROGRAMS {
        let config = || raddle::Config::new().jobs(1);
        let check = || raddle::explore(config(), program.run);
        if check().stop == raddle::Stop::Exhausted {
            exhaust(program, least, || check().stats.executions);
            continue;
        }
        measure(program, least, |n| {
            let report = raddle::explore(config().schedules(n), program.run);
            assert!(report.failures.is_empty(), "{}: {:?}", program.name, report.failures);
            (report.stats.executions, report.stats.steps)
        });
    }
}

/// Exhaustive searches.
fn all_orders() {
    let least = least();
    for program in SMALL {
        exhaust(program, least, || {
            let report = raddle::explore(config(u64::MAX).strategy("dfs"), program.run);
            assert_eq!(report.stop, raddle::Stop::Exhausted, "{report:?}");
            report.stats.executions
        });
    }
}

fn programs() {
    let least = least();
    for program in PROGRAMS {
        measure(program, least, |n| {
            let report = raddle::explore(config(n), program.run);
            assert!(report.failures.is_empty(), "{}: {:?}", program.name, report.failures);
            (report.stats.executions, report.stats.steps)
        });
    }
}
