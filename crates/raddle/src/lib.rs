//! Checks a closure under many controlled thread schedules.
//!
//! ```no_run
//! use std::sync::atomic::{AtomicU32, Ordering};
//!
//! raddle::check(raddle::Config::new().schedules(10_000), || {
//!     let n = AtomicU32::new(0);
//!     std::thread::scope(|s| {
//!         for _ in 0..2 {
//!             s.spawn(|| n.store(n.load(Ordering::SeqCst) + 1, Ordering::SeqCst));
//!         }
//!     });
//!     assert_eq!(n.into_inner(), 2);
//! });
//! ```
//!
//! The closure uses ordinary threads, locks and atomics; nothing in it knows of raddle. It needs a program
//! that was built with raddle's hooks: `cargo raddle test` builds and runs such programs. In any other program
//! [`check`] and [`explore`] refuse to work, so that a test never passes untested.
//!
//! # What the closure sees
//! The executions run in forked children of the test process, many executions per child as long as they pass.
//! Each child has its own copy of everything the closure captures and of all statics:
//! - nothing that the closure writes comes back to the code after `check`;
//! - captured state that one execution changes is found changed by the next one in the same child, so a closure should begin
//!   by making what it needs; where statics of the program have changed, or a failure does not come again in a child that has
//!   run nothing before, the search begins again, and every execution begins where the first one began, which takes longer;
//! - descriptors are shared with the parent, so a file or pipe carries data out.
//!
//! Long searches of the strategy `random` go on in several children at a time (see [`Config::jobs`]). Once an execution has failed,
//! the next begins in a new child. Only the calling thread exists in a child.
//!
//! # What the command decides
//! Under `cargo raddle test`, options given on the command line win over [`Config`], the command's time
//! budget covers all checks of a test together, and the failures of [`check`] are confirmed by a replay in a fresh
//! process and kept in finding files for `cargo raddle replay`.
#![deny(unsafe_code)]

/// What a hunt gives to a type that is generic. Printed tests name it.
#[path = "../../raddle-api/support/src/canary.rs"]
mod canary;
mod config;
#[allow(unsafe_code)]
mod ffi;
mod report;
mod schedule;

pub use canary::Canary;
pub use config::Config;
pub use raddle_macros::test;
pub use raddle_model::Schedule;
pub use raddle_model::outcome::Kind;
pub use raddle_model::protocol::{Failure, Stats, Stop, Timeouts};
pub use report::Report;
pub use schedule::{BadSchedule, parse_schedule, schedule_text};

use ffi::{Asked, Closure};
use raddle_model::protocol::{Job, Message};
use std::panic::Location;
use std::sync::{Mutex, PoisonError};

/// One check at a time: the runtime serves a single thread.
static TURN: Mutex<()> = Mutex::new(());

/// Runs `f` under many schedules and panics with a report if one of them breaks it, or if nothing was tested.
///
/// # Panics
/// When an execution fails, when the search could not be done, or when no execution had a scheduling point.
#[track_caller]
pub fn check(config: Config, f: impl Fn() + Sync) {
    let crates = crates_of(std::any::type_name_of_val(&f));
    verify(&config, crates, &f);
}

/// What [`check`] does, compiled once and not in every crate that calls it.
#[track_caller]
fn verify(config: &Config, crates: Vec<String>, f: &Closure<'_>) {
    let at = Location::caller();
    let report = run(config, crates, f, Asked::Check);
    if let Some(problem) = report.problem() {
        panic!("{}", report::explain(&problem, &report, config, at));
    }
}

/// Runs `f` under many schedules and says what happened. Failures are the caller's to judge: the command does
/// not report them as findings.
///
/// # Panics
/// When the program was built without raddle's hooks, or when called inside an execution.
#[track_caller]
pub fn explore(config: Config, f: impl Fn() + Sync) -> Report {
    run(&config, crates_of(std::any::type_name_of_val(&f)), &f, Asked::Explore)
}

#[track_caller]
fn run(config: &Config, crates: Vec<String>, f: &Closure<'_>, asked: Asked) -> Report {
    if ffi::inside() {
        panic!("raddle: a closure under check must not call raddle::check or raddle::explore");
    }
    let _turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
    let job = Job { crates, ..config.job() };
    let Some(answer) = ffi::check(&job, f, asked) else {
        panic!(
            "raddle: this program was built without raddle's hooks, so its threads cannot be controlled and nothing \
             was checked; run it with `cargo raddle test`"
        );
    };
    let mut report = Report::new();
    for message in answer {
        match message {
            Ok(Message::Failure(failure)) => report.failures.push(*failure),
            Ok(Message::Trace { trace, symbols, .. }) => report.traces.push((trace, symbols)),
            Ok(Message::Done { stats, reason }) => {
                report.stats = stats;
                report.stop = reason;
            }
            Ok(Message::Progress(_)) => {}
            Err(error) => report.stop = Stop::Error(format!("the runtime is of another version: {error}")),
        }
    }
    report
}

/// The crates whose frames count as the user's own: the one that wrote the closure, whose name begins the name of
/// the closure's type, the package that is being tested, and the one that the executable was made of (a function
/// pointer does not say where it comes from). Under `cargo raddle` the command knows better.
fn crates_of(closure: &str) -> Vec<String> {
    let path = closure.trim_start_matches(|c: char| !c.is_alphanumeric() && c != '_');
    let own = path.split_once("::").map_or("", |(krate, _)| krate).to_owned();
    let package = std::env::var("CARGO_PKG_NAME").unwrap_or_default();
    let executable = std::env::current_exe().ok();
    let stem = executable.as_deref().and_then(|e| e.file_stem()).and_then(|s| s.to_str()).unwrap_or_default();
    let mut crates = vec![own];
    for name in [package.as_str(), without_hash(stem)] {
        crates.push(name.replace('-', "_"));
    }
    crates.retain(|name| !name.is_empty());
    crates.dedup();
    crates
}

/// A file name of cargo's without the hash at its end.
fn without_hash(stem: &str) -> &str {
    match stem.rsplit_once('-') {
        Some((name, hash)) if hash.len() == 16 && hash.bytes().all(|b| b.is_ascii_hexdigit()) => name,
        _ => stem,
    }
}

#[cfg(test)]
mod tests {
    use super::{Config, check, crates_of, explore, without_hash};

    #[test]
    fn the_crate_that_wrote_a_closure_is_under_test() {
        assert_eq!(crates_of(std::any::type_name_of_val(&|| {}))[0], "raddle");
    }

    #[test]
    fn a_function_pointer_is_taken_for_one_of_the_executable() {
        let pointer: fn() = || {};
        assert_eq!(crates_of(std::any::type_name_of_val(&pointer)), ["raddle"]);
        assert_eq!(without_hash("some-test-0123456789abcdef"), "some-test");
        assert_eq!(without_hash("peer-raddle"), "peer-raddle");
    }

    #[test]
    fn without_the_runtime_a_check_fails_and_says_what_to_do() {
        for checked in [
            std::panic::catch_unwind(|| check(Config::new(), || {})).err(),
            std::panic::catch_unwind(|| drop(explore(Config::new(), || {}))).err(),
        ] {
            let message = checked.expect("it must not pass");
            let message = message.downcast_ref::<&str>().expect("a message");
            assert!(message.contains("run it with `cargo raddle test`"), "{message}");
        }
    }
}
