//! Runs tests in workers, several at a time, and believes a failure only when a fresh process repeats it.

use crate::error::{Error, Result};
use crate::findings::test::{Origin, Repeat, TestFinding};
use crate::interrupt;
use crate::report::event::TestStatus;
use crate::test::discover::Test;
use crate::worker::batch::{self, End, Launch, Report};
use crate::worker::in_order::in_order;
use raddle_core::outcome::Kind;
use raddle_core::protocol::{Failure, Job, Stats, Stop, Timeouts};
use raddle_core::schedule::Schedule;
use raddle_core::strategy::order;
use raddle_core::trace::{Site, Symbols, Trace};
use std::path::Path;
use std::time::Duration;

/// An order of more turns than this is not tried.
const LONGEST_ORDER: usize = 2_000;

/// What a run of tests needs besides the tests.
#[derive(Debug)]
pub struct TestRun<'a> {
    /// What every job has in common; entry and crates are each test's own.
    pub job: Job,
    /// Arguments for whole programs.
    pub args: &'a [String],
    /// What every finding has in common.
    pub origin: Origin<'a>,
    /// A directory for job files.
    pub scratch: &'a Path,
    /// How many workers at a time.
    pub jobs: usize,
    /// What a worker gets beyond its own limits before it is taken to hang.
    pub grace: Duration,
}

/// A test's result.
#[derive(Debug)]
pub struct Tested {
    /// How it came out.
    pub status: TestStatus,
    /// Why, if the tool failed or a worker was killed.
    pub message: Option<String>,
    /// Totals of its worker.
    pub stats: Stats,
    /// Why the search ended, if the worker said so.
    pub stop: Option<Stop>,
    /// The confirmed findings.
    pub findings: Vec<TestFinding>,
    /// Failures that did not repeat.
    pub unconfirmed: Vec<Unconfirmed>,
}

/// A failure that a fresh process did not repeat.
#[derive(Debug)]
pub struct Unconfirmed {
    /// What the worker had reported.
    pub failure: Failure,
    /// What came instead.
    pub instead: String,
}

/// What a replay in a fresh process gave.
#[derive(Debug)]
pub enum Replayed {
    /// It failed in the same way.
    Reproduced(Box<Failure>),
    /// Another failure.
    Different(Box<Failure>),
    /// No failure.
    Passed,
    /// The schedule could not be followed.
    Diverged(String),
    /// The worker did not get that far.
    Broken(String),
}

impl Replayed {
    /// In words, for what should have been a repetition.
    pub fn describe(&self) -> String {
        match self {
            Replayed::Reproduced(_) => "it failed in the same way".into(),
            Replayed::Different(f) => format!("it failed differently: {}: {}", f.kind.as_str(), f.message),
            Replayed::Passed => "it passed".into(),
            Replayed::Diverged(why) => format!("it diverged: {why}"),
            Replayed::Broken(why) => format!("the worker failed: {why}"),
        }
    }
}

impl TestRun<'_> {
    /// Runs all tests; `done` hears of each in the order of `tests`, whatever order they end in.
    pub fn run(
        &self,
        tests: &[Test],
        progress: &(dyn Fn(usize, &Stats) + Sync),
        done: impl FnMut(&Test, Tested),
    ) -> Result<()> {
        let search = |index, test: &Test| self.search(test, index, &|stats| progress(index, stats));
        in_order(tests, self.jobs, search, done);
        if interrupt::interrupted() { Err(Error::Interrupted) } else { Ok(()) }
    }

    /// Searches one test and confirms what it finds.
    fn search(&self, test: &Test, index: usize, progress: &dyn Fn(&Stats)) -> Tested {
        match self.try_search(test, &format!("test-{index}"), progress) {
            Ok(tested) => tested,
            Err(error) => Tested {
                status: TestStatus::Error,
                message: Some(error.to_string()),
                stats: Stats::default(),
                stop: None,
                findings: vec![],
                unconfirmed: vec![],
            },
        }
    }

    fn try_search(&self, test: &Test, tag: &str, progress: &dyn Fn(&Stats)) -> Result<Tested> {
        let job = self.job_for(test);
        let report = self.work(test, &job, tag, progress)?;
        let mut tested = Tested {
            status: TestStatus::Ok,
            message: None,
            stats: report.stats,
            stop: None,
            findings: vec![],
            unconfirmed: vec![],
        };
        let mut seen: Vec<Failure> = vec![];
        for failure in report.failures {
            if seen.iter().any(|other| same(other, &failure)) {
                continue;
            }
            seen.push(failure.clone());
            let failure = self.without_early_ends(test, &job, failure, tag)?;
            let job = Job { replay: Some(failure.schedule.clone()), check: failure.check, ..job.clone() };
            let replayed = self.replay(test, &job, Repeat::Schedule, &failure, tag);
            // What was seen is told even if it cannot be repeated.
            match replayed.unwrap_or_else(|error| Replayed::Broken(error.to_string())) {
                // The replay's account does not depend on what the search had learned before: whoever repeats
                // the finding gets the same.
                Replayed::Reproduced(again) => {
                    let again = Failure { execution: failure.execution, ..*again };
                    tested.findings.push(self.finding(test, Repeat::Schedule, again))
                }
                other => tested.unconfirmed.push(Unconfirmed { failure, instead: other.describe() }),
            }
        }
        let mut trouble = None;
        match report.end {
            End::Done(stop) => {
                if let (Stop::NoThreads(status), true) = (&stop, seen.is_empty())
                    && *status != 0
                {
                    let failure = native_failure(*status, &tested.stats, &report.printed);
                    self.suspect(test, &job, Repeat::Native, failure, tag, &mut tested)?;
                }
                if let Stop::Error(why) | Stop::Diverged(why) = &stop {
                    trouble = Some((TestStatus::Error, why.clone()));
                }
                tested.stop = Some(stop);
            }
            End::Died { how, by_signal: false } => {
                let why = format!("the worker ended with {how} and without a report {}", report.printed);
                trouble = Some((TestStatus::Error, why.trim_end().to_owned()));
            }
            End::Died { how, by_signal: true } => {
                let failure = death(&how, &report.printed, tested.stats.executions);
                self.suspect(test, &job, Repeat::Search, failure, tag, &mut tested)?;
            }
            End::Killed { why } => trouble = Some((TestStatus::Killed, why)),
            End::Garbled { why } => {
                trouble = Some((TestStatus::Error, format!("the worker was killed: {why}")))
            }
        }
        (tested.status, tested.message) = outcome(&tested, trouble);
        Ok(tested)
    }

    /// The failure as it comes in an execution in which no wait ends early, if its steps in the same order, as far as the threads come to
    /// them, lead there; otherwise the failure itself.
    fn without_early_ends(&self, test: &Test, job: &Job, failure: Failure, tag: &str) -> Result<Failure> {
        let turns = order::turns(&failure.trace, &failure.symbols.sites);
        if failure.schedule.early.is_empty() || turns.is_empty() || turns.len() > LONGEST_ORDER {
            return Ok(failure);
        }
        let turns: Vec<String> = turns.iter().map(ToString::to_string).collect();
        let given = ["strategy", "timeouts", "max_failures"].map(str::to_owned);
        let job = Job {
            strategy: format!("order:{}", turns.join(" ")),
            timeouts: Timeouts::Never,
            max_failures: 1,
            given: job.given.iter().cloned().chain(given).collect(),
            ..job.clone()
        };
        let report = self.work(test, &job, tag, &|_| {})?;
        let again = report.failures.into_iter().find(|f| same(f, &failure));
        Ok(again.map_or_else(|| failure.clone(), |f| Failure { execution: failure.execution, ..f }))
    }

    /// Repeats a failure that has no schedule, and notes what came of that.
    fn suspect(
        &self,
        test: &Test,
        job: &Job,
        repeat: Repeat,
        failure: Failure,
        tag: &str,
        tested: &mut Tested,
    ) -> Result<()> {
        match self.replay(test, job, repeat, &failure, tag)? {
            Replayed::Reproduced(_) => tested.findings.push(self.finding(test, repeat, failure)),
            other => tested.unconfirmed.push(Unconfirmed { failure, instead: other.describe() }),
        }
        Ok(())
    }

    /// Repeats a failure in a fresh process.
    pub fn replay(
        &self,
        test: &Test,
        job: &Job,
        repeat: Repeat,
        expected: &Failure,
        tag: &str,
    ) -> Result<Replayed> {
        let report = self.work(test, job, tag, &|_| {})?;
        Ok(judge(report, repeat, expected))
    }

    /// The job of a test.
    pub fn job_for(&self, test: &Test) -> Job {
        Job { entry: test.target.entry, crates: test.target.crates.clone(), ..self.job.clone() }
    }

    fn work(&self, test: &Test, job: &Job, tag: &str, progress: &dyn Fn(&Stats)) -> Result<Report> {
        let launch = Launch {
            target: &test.target,
            test: test.name.as_deref(),
            args: self.args,
            ignored: test.ignored,
            job,
            runtime: self.origin.runtime,
            scratch: self.scratch,
            grace: self.grace,
            tag,
        };
        batch::run(&launch, progress)
    }

    fn finding(&self, test: &Test, repeat: Repeat, failure: Failure) -> TestFinding {
        TestFinding {
            test: test.name.clone(),
            ignored: test.ignored,
            args: if test.name.is_none() { self.args.to_vec() } else { vec![] },
            ..TestFinding::new(&self.origin, &test.target, &self.job_for(test), repeat, failure)
        }
    }
}

/// Whether two reports are of the same failure: the same kind, and the same words or the same place. A place
/// in the standard library says nothing: all panics begin there.
fn same(a: &Failure, b: &Failure) -> bool {
    let in_std = |failure: &Failure| failure.at.as_ref().is_none_or(|at| at.file.starts_with("/rustc/"));
    a.kind == b.kind && (a.message == b.message || (!in_std(a) && a.at == b.at))
}

fn judge(mut report: Report, repeat: Repeat, expected: &Failure) -> Replayed {
    if let Some(failure) = report.failures.drain(..).next() {
        let failure = Box::new(failure);
        return if same(&failure, expected) {
            Replayed::Reproduced(failure)
        } else {
            Replayed::Different(failure)
        };
    }
    let again = |failure: Failure| {
        let failure = Box::new(failure);
        if same(&failure, expected) { Replayed::Reproduced(failure) } else { Replayed::Different(failure) }
    };
    match report.end {
        End::Done(Stop::NoThreads(0) | Stop::ReplayPassed) => Replayed::Passed,
        End::Done(Stop::NoThreads(status)) => again(native_failure(status, &report.stats, &report.printed)),
        End::Done(Stop::Diverged(why)) => Replayed::Diverged(why),
        End::Done(Stop::Error(why)) => Replayed::Broken(why),
        End::Done(_) => Replayed::Passed,
        End::Died { how, by_signal: true } if repeat == Repeat::Search => {
            again(death(&how, &report.printed, report.stats.executions))
        }
        End::Died { how, .. } => Replayed::Broken(format!("{how} {}", report.printed).trim_end().to_owned()),
        End::Killed { why } | End::Garbled { why } => Replayed::Broken(why),
    }
}

/// How a test came out, and why if the tool failed or had to kill its worker (`trouble`).
fn outcome(tested: &Tested, trouble: Option<(TestStatus, String)>) -> (TestStatus, Option<String>) {
    if !tested.findings.is_empty() {
        return (TestStatus::Failed, None);
    }
    if let Some((status, why)) = trouble {
        return (status, Some(why));
    }
    if !tested.unconfirmed.is_empty() {
        return (TestStatus::Unconfirmed, None);
    }
    if tested.stats.failures > 0 {
        return (TestStatus::Error, Some("the worker saw a failure and did not describe it".into()));
    }
    if matches!(tested.stop, Some(Stop::NoThreads(_))) {
        return (TestStatus::NoThreads, None);
    }
    if !tested.stats.uncontrolled.is_empty() {
        return (TestStatus::Uncontrolled, None);
    }
    if tested.stats.too_long > 0 {
        return (TestStatus::TooLong, None);
    }
    if tested.stats.decisions + tested.stats.points == 0 {
        return (TestStatus::NoSteps, None);
    }
    (TestStatus::Ok, None)
}

/// A test that fails with one thread only fails under every schedule: it is a finding without a schedule.
fn native_failure(status: i32, stats: &Stats, printed: &str) -> Failure {
    let when =
        if stats.executions == 0 { "before it creates a thread" } else { "outside the closures it checks" };
    let message = format!("the test fails {when} (exit status {status})");
    let panic = last_panic(printed);
    let (message, at) = match panic {
        Some((at, text)) => (format!("{text}\n{message}"), Some(at)),
        None => (message, None),
    };
    Failure { at, ..bare(Kind::Panic, message, printed.to_owned(), 0) }
}

/// Where the last panic happened that a program printed, and what it says.
fn last_panic(printed: &str) -> Option<(Site, &str)> {
    const MARK: &str = " panicked at ";
    const ENDS: [&str; 4] =
        ["\nnote: run with `RUST_BACKTRACE", "\nstack backtrace:", "\nFAILED", "\nfailures:"];
    let (place, rest) = printed[printed.rfind(MARK)? + MARK.len()..].split_once('\n')?;
    let mut parts = place.trim_end_matches(':').rsplitn(3, ':');
    let (column, line) = (parts.next()?.parse().ok()?, parts.next()?.parse().ok()?);
    let at = Site { file: parts.next()?.to_owned(), line, column, ..Site::default() };
    let end = ENDS.iter().filter_map(|mark| rest.find(mark)).min().unwrap_or(rest.len());
    Some((at, rest[..end].trim()))
}

fn death(how: &str, log: &str, execution: u64) -> Failure {
    bare(Kind::Crash, format!("the worker process itself died: {how}"), log.to_owned(), execution)
}

fn bare(kind: Kind, message: String, output: String, execution: u64) -> Failure {
    Failure {
        kind,
        message,
        thread: None,
        at: None,
        backtrace: vec![],
        threads: vec![],
        execution,
        check: 0,
        schedule: Schedule::default(),
        trace: Trace::default(),
        symbols: Symbols::default(),
        output,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn failure(message: &str, file: &str) -> Failure {
        let at = Site { file: file.into(), line: 1, ..Site::default() };
        let at = (!file.is_empty()).then_some(at);
        Failure { at, ..bare(Kind::Panic, message.into(), String::new(), 0) }
    }

    #[test]
    fn a_failure_is_known_by_its_words_or_by_its_place_in_the_users_code() {
        assert!(same(&failure("a", ""), &failure("a", "")));
        assert!(same(&failure("a", "x.rs"), &failure("b", "x.rs")));
        assert!(!same(&failure("a", "x.rs"), &failure("b", "y.rs")));
        assert!(!same(&failure("a", ""), &failure("b", "")));
        assert!(!same(&failure("a", "/rustc/1/p.rs"), &failure("b", "/rustc/1/p.rs")));
        let crash = bare(Kind::Crash, "a".into(), String::new(), 0);
        assert!(!same(&failure("a", ""), &crash));
    }
}
