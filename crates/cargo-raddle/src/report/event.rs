//! Results for scripts: one JSON object per line on standard output, described in docs/json.md.

use crate::exit::Exit;
use crate::test::discover::Test;
use crate::test::supervise::{Tested, Unconfirmed, Verdict};
use raddle_core::outcome::Kind;
use raddle_core::protocol::{Job, Stats, Stop};
use raddle_core::trace::Site;
use serde::Serialize;
use std::path::Path;

/// A line of output.
#[derive(Serialize, Debug)]
#[serde(tag = "event", rename_all = "kebab-case")]
pub enum Event<'a> {
    /// The search begins.
    Start {
        /// The version of raddle.
        version: &'a str,
        /// The compiler.
        rustc: &'a str,
        /// The seed.
        seed: u64,
        /// The strategy.
        strategy: &'a str,
        /// Schedules per test.
        schedules: u64,
        /// Milliseconds per test; 0 for no limit.
        budget_ms: u64,
        /// How many tests will be run.
        tests: usize,
    },
    /// Something was left out or is odd.
    Warning {
        /// What.
        message: &'a str,
    },
    /// An executable with the hooks, built by `cargo raddle build`.
    Built {
        /// `package/kind/name`.
        target: String,
        /// The file.
        executable: &'a Path,
    },
    /// A test that would be run (`--list`).
    Listed {
        /// The path of the test, or the program's name where there is none.
        test: &'a str,
        /// `package/kind/name`.
        program: String,
    },
    /// A test came to its end.
    Test {
        /// The path of the test, or the program's name where there is none.
        target: &'a str,
        /// The same.
        test: &'a str,
        /// `package/kind/name`.
        program: String,
        /// `ok`, `failed`, `no-threads`, `no-steps`, `uncontrolled`, `too-long`, `unconfirmed`, `error`.
        status: &'static str,
        /// Why, if the status is `error`.
        #[serde(skip_serializing_if = "Option::is_none")]
        message: Option<&'a str>,
        /// Why the search ended.
        stop: Option<&'a Stop>,
        /// Totals.
        stats: &'a Stats,
    },
    /// A confirmed finding.
    Finding {
        /// The path of the test, or the program's name where there is none.
        target: &'a str,
        /// The same.
        test: &'a str,
        /// `package/kind/name`.
        program: String,
        /// What kind.
        kind: Kind,
        /// In words.
        message: &'a str,
        /// Where.
        at: Option<&'a Site>,
        /// In which execution, from 0.
        execution: u64,
        /// Steps in the trace.
        steps: usize,
        /// The waits in it that ended although a thread could run, in words.
        #[serde(skip_serializing_if = "Vec::is_empty")]
        early: Vec<String>,
        /// The finding file, unless it could not be written.
        file: Option<&'a Path>,
    },
    /// A failure that did not repeat.
    Unconfirmed {
        /// The path of the test, or the program's name where there is none.
        target: &'a str,
        /// The same.
        test: &'a str,
        /// `package/kind/name`.
        program: String,
        /// What kind.
        kind: Kind,
        /// In words.
        message: &'a str,
        /// What came instead.
        instead: &'a str,
    },
    /// The result of `cargo raddle replay`.
    Replay {
        /// The finding file.
        file: &'a Path,
        /// The path of the test, the program's name where there is none, or the path of the type that was hunted.
        target: &'a str,
        /// The same; of a hunt, what tells the finding from others.
        test: &'a str,
        /// `package/kind/name`; of a hunt, the crate.
        program: String,
        /// `reproduced`, `different`, `passed`, `diverged`, `broken`: of the first replay that did not reproduce
        /// it, if there is one.
        verdict: &'static str,
        /// How often it was to be repeated.
        times: u64,
        /// How often it failed in the same way.
        reproduced: u64,
        /// In words.
        message: String,
        /// The kind of failure, if there was one.
        kind: Option<Kind>,
        /// Whether the trace is the recorded one.
        same_trace: Option<bool>,
    },
    /// What was asked could not be done.
    Error {
        /// Why.
        message: String,
        /// The compiler's diagnostics, if it was the build.
        #[serde(skip_serializing_if = "Option::is_none")]
        details: Option<&'a str>,
    },
    /// The last line.
    Summary(&'a Summary),
}

/// Totals of a run.
#[derive(Serialize, Clone, Debug)]
pub struct Summary {
    /// How the command ends.
    pub exit_code: Exit,
    /// Tests run.
    pub tests: usize,
    /// Of these, tested and nothing found.
    pub passed: usize,
    /// With at least one finding.
    pub failed: usize,
    /// Without threads, and so without anything to test.
    pub no_threads: usize,
    /// Run, and not or not wholly tested.
    pub untested: usize,
    /// In which the tool failed.
    pub errors: usize,
    /// Not run because they are ignored.
    pub ignored: usize,
    /// Not run because of the filter.
    pub filtered_out: usize,
    /// Findings.
    pub findings: usize,
    /// Failures that did not repeat.
    pub unconfirmed: usize,
    /// Executions in all tests.
    pub executions: u64,
    /// Steps in all tests.
    pub steps: u64,
}

impl Summary {
    /// Nothing yet; if it stays so, nothing was tested.
    pub fn new() -> Self {
        Summary {
            exit_code: Exit::Untested,
            tests: 0,
            passed: 0,
            failed: 0,
            no_threads: 0,
            untested: 0,
            errors: 0,
            ignored: 0,
            filtered_out: 0,
            findings: 0,
            unconfirmed: 0,
            executions: 0,
            steps: 0,
        }
    }

    /// Counts a test.
    pub fn add(&mut self, tested: &Tested) {
        self.tests += 1;
        self.findings += tested.findings.len();
        self.unconfirmed += tested.unconfirmed.len();
        self.executions += tested.stats.executions;
        self.steps += tested.stats.steps;
        match tested.verdict {
            Verdict::Passed => self.passed += 1,
            Verdict::Failed => self.failed += 1,
            Verdict::NoThreads => self.no_threads += 1,
            Verdict::NoSteps
            | Verdict::Uncontrolled
            | Verdict::TooLong
            | Verdict::Unconfirmed
            | Verdict::Killed(_) => self.untested += 1,
            Verdict::Error(_) => self.errors += 1,
        }
        self.exit_code = self.exit();
    }

    /// A finding counts more than a failure of the tool, and that more than what was not tested.
    fn exit(&self) -> Exit {
        if self.findings > 0 {
            Exit::Found
        } else if self.errors > 0 {
            Exit::Failed
        } else if self.untested > 0 || self.unconfirmed > 0 || self.passed == 0 {
            Exit::Untested
        } else {
            Exit::Clean
        }
    }
}

/// A verdict's name.
pub fn status(verdict: &Verdict) -> &'static str {
    match verdict {
        Verdict::Passed => "ok",
        Verdict::Failed => "failed",
        Verdict::NoThreads => "no-threads",
        Verdict::NoSteps => "no-steps",
        Verdict::Uncontrolled => "uncontrolled",
        Verdict::TooLong => "too-long",
        Verdict::Unconfirmed => "unconfirmed",
        Verdict::Killed(_) => "killed",
        Verdict::Error(_) => "error",
    }
}

impl<'a> Event<'a> {
    /// The beginning of a search.
    pub fn start(job: &'a Job, rustc: &'a str, tests: usize) -> Self {
        Event::Start {
            version: env!("CARGO_PKG_VERSION"),
            rustc,
            seed: job.seed,
            strategy: &job.strategy,
            schedules: job.schedules,
            budget_ms: job.budget_ms,
            tests,
        }
    }

    /// The end of a test.
    pub fn test(test: &'a Test, tested: &'a Tested) -> Self {
        Event::Test {
            target: test.label(),
            test: test.label(),
            program: test.target.id(),
            status: status(&tested.verdict),
            message: match &tested.verdict {
                Verdict::Error(why) | Verdict::Killed(why) => Some(why),
                _ => None,
            },
            stop: tested.stop.as_ref(),
            stats: &tested.stats,
        }
    }

    /// A test that would be run.
    pub fn listed(test: &'a Test) -> Self {
        Event::Listed { test: test.label(), program: test.target.id() }
    }

    /// A failure that did not repeat.
    pub fn unconfirmed(test: &'a Test, unconfirmed: &'a Unconfirmed) -> Self {
        Event::Unconfirmed {
            target: test.label(),
            test: test.label(),
            program: test.target.id(),
            kind: unconfirmed.failure.kind,
            message: &unconfirmed.failure.message,
            instead: &unconfirmed.instead,
        }
    }

    /// Prints the line. A reader that has gone away is not our concern.
    pub fn print(&self) {
        use std::io::Write;
        let line = serde_json::to_string(self).expect("an event is plain data");
        let _ = writeln!(std::io::stdout().lock(), "{line}");
    }
}
