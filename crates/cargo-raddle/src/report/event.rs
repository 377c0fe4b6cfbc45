//! What happens in a command, as plain data.
//!
//! Serialised, an event is a line of JSON (docs/json.md). Fields that are not serialised are for reporters that say more.

use super::columns::Labels;
use super::summary::Summary;
use super::type_stats::{Expectation, Offers, TypeStats};
use raddle_core::outcome::Kind;
use raddle_core::protocol::{Failure, Stats, Stop};
use raddle_core::trace::Site;
use serde::Serialize;
use std::path::{Path, PathBuf};

/// Something that happened.
#[derive(Serialize, Debug)]
#[serde(tag = "event", rename_all = "kebab-case")]
pub enum Event<'a> {
    /// The search begins.
    Start(Start<'a>),
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
    /// A test that would be run (`cargo raddle test --list`).
    Listed(TestId<'a>),
    /// What could be hunted (`cargo raddle hunt --list`).
    List(Listing),
    /// The harness of a type.
    Harness(Harness<'a>),
    /// A confirmed finding.
    Finding(Finding<'a>),
    /// A failure or violation that did not repeat.
    Unconfirmed(Unconfirmed<'a>),
    /// A test came to its end; its findings have been said.
    Test(TestEnded<'a>),
    /// A type came to its end; its findings have been said.
    Type(TypeEnded<'a>),
    /// A finding was repeated, or not.
    Replay(Box<Replay<'a>>),
    /// Something could not be done.
    Error {
        /// Why.
        message: String,
        /// The compiler's diagnostics, if it was the build.
        #[serde(skip_serializing_if = "Option::is_none")]
        details: Option<&'a str>,
        /// Why, with what nobody has seen yet.
        #[serde(skip)]
        in_full: String,
    },
    /// The totals, at the end.
    Summary(&'a Summary),
}

/// What is going to be searched.
#[derive(Serialize, Debug)]
#[serde(untagged)]
pub enum Start<'a> {
    /// Tests.
    Tests {
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
        /// Tests not run because they are ignored.
        #[serde(skip)]
        ignored: usize,
        /// Tests not run because of the filter.
        #[serde(skip)]
        filtered_out: usize,
    },
    /// Types.
    Types {
        /// The version of raddle.
        version: &'a str,
        /// The seed.
        seed: u64,
        /// The generator.
        generator: &'a str,
        /// The strategy.
        strategy: &'a str,
        /// Executions per type at most.
        schedules: Option<u64>,
        /// Milliseconds per type; 0 for no limit.
        budget_ms: u64,
        /// How many types will be hunted.
        types: usize,
    },
}

/// Which test.
#[derive(Serialize, Clone, Debug)]
pub struct TestId<'a> {
    /// The path of the test, or the program's name where there is none.
    pub target: &'a str,
    /// Equal to `target`.
    pub test: &'a str,
    /// `package/kind/name`.
    pub program: String,
    /// The program for people, who read its tests below it.
    #[serde(skip)]
    pub title: String,
}

/// What could be hunted.
#[derive(Serialize, Debug)]
pub struct Listing {
    /// As data.
    #[serde(flatten)]
    pub types: serde_json::Value,
    /// As text.
    #[serde(skip)]
    pub text: String,
}

/// The harness of a type.
#[derive(Serialize, Debug)]
pub struct Harness<'a> {
    /// The path of the type.
    pub target: &'a str,
    /// What describes it.
    pub descriptor: &'a Path,
    /// The executable.
    pub executable: &'a Path,
    /// Whether the compiler's MIR was read for it.
    pub analysed: bool,
    /// Why not, if that was tried.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub why_not: Option<&'a str>,
    /// How long it took to look up the places of its calls, or to find that they had been.
    pub placing_ms: f64,
}

/// A finding.
#[derive(Serialize, Clone, Debug)]
pub struct Finding<'a> {
    /// The test or type that it is a finding of.
    #[serde(flatten)]
    pub of: FindingOf<'a>,
    /// What kind.
    pub kind: Kind,
    /// In words.
    pub message: &'a str,
    /// Where.
    pub at: Option<&'a Site>,
    /// Steps in the trace.
    pub steps: usize,
    /// The finding file, unless it could not be written.
    pub file: Option<&'a Path>,
    /// Why not.
    #[serde(skip)]
    pub unsaved: Option<String>,
    /// What went wrong, with schedule and trace.
    #[serde(skip)]
    pub failure: &'a Failure,
    /// Where file names of the compiler may start.
    #[serde(skip)]
    pub source_roots: &'a [PathBuf],
}

/// Whose finding it is.
#[derive(Serialize, Clone, Debug)]
#[serde(untagged)]
pub enum FindingOf<'a> {
    /// A test's.
    Test {
        /// Which test.
        #[serde(flatten)]
        id: TestId<'a>,
        /// In which execution, from 0.
        execution: u64,
        /// The waits in it that ended although a thread could run, in words.
        #[serde(skip_serializing_if = "Vec::is_empty")]
        early: Vec<String>,
    },
    /// A type's.
    Type {
        /// The path of the type.
        target: &'a str,
        /// What tells it from other findings.
        cause: &'a str,
        /// Calls in the test, setup included.
        calls: usize,
        /// The test as Rust source.
        source: &'a str,
        /// Whether an earlier hunt had found it already.
        saved: bool,
        /// Why no sequential order of the calls explains it.
        #[serde(skip)]
        why: &'a [String],
        /// What the beginnings and ends of calls in the trace are.
        #[serde(skip)]
        labels: Labels,
    },
}

impl<'a> Finding<'a> {
    /// A failure of somebody, kept in this file or not, for this reason.
    pub fn new(
        of: FindingOf<'a>,
        failure: &'a Failure,
        file: std::result::Result<&'a Path, String>,
        source_roots: &'a [PathBuf],
    ) -> Self {
        let (file, unsaved) = match file {
            Ok(file) => (Some(file), None),
            Err(why) => (None, Some(why)),
        };
        Finding {
            of,
            kind: failure.kind,
            message: &failure.message,
            at: failure.at.as_ref(),
            steps: failure.trace.events.len(),
            file,
            unsaved,
            failure,
            source_roots,
        }
    }
}

/// A failure or violation that did not repeat.
#[derive(Serialize, Debug)]
pub struct Unconfirmed<'a> {
    /// The test or type that it was seen in.
    #[serde(flatten)]
    pub of: UnconfirmedOf<'a>,
    /// What kind.
    pub kind: Kind,
    /// In words.
    pub message: &'a str,
    /// What came instead.
    pub instead: &'a str,
}

/// Whose failure did not repeat.
#[derive(Serialize, Debug)]
#[serde(untagged)]
pub enum UnconfirmedOf<'a> {
    /// A test's.
    Test(TestId<'a>),
    /// A type's.
    Type {
        /// The path of the type.
        target: &'a str,
    },
}

/// A test came to its end.
#[derive(Serialize, Debug)]
pub struct TestEnded<'a> {
    /// Which.
    #[serde(flatten)]
    pub id: TestId<'a>,
    /// How.
    pub status: TestStatus,
    /// Why, if the tool failed or a worker was killed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub message: Option<&'a str>,
    /// Why the search ended.
    pub stop: Option<&'a Stop>,
    /// Totals.
    pub stats: &'a Stats,
}

/// How a test came out; docs/exit-codes.md says what each means.
#[derive(Serialize, Clone, Copy, PartialEq, Eq, Debug)]
#[serde(rename_all = "kebab-case")]
pub enum TestStatus {
    /// Tested, and nothing found.
    Ok,
    /// At least one finding.
    Failed,
    /// It creates no threads.
    NoThreads,
    /// Its threads never meet.
    NoSteps,
    /// It makes calls that raddle cannot control.
    Uncontrolled,
    /// Executions that come to no end.
    TooLong,
    /// It failed, and the failure did not repeat.
    Unconfirmed,
    /// Its worker had to be killed.
    Killed,
    /// The tool failed.
    Error,
}

/// A type came to its end.
#[derive(Serialize, Debug)]
pub struct TypeEnded<'a> {
    /// Its path.
    pub target: &'a str,
    /// The version of its crate, if a harness was made.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub version: Option<&'a str>,
    /// How.
    pub status: TypeStatus,
    /// Why, unless it was tested.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
    /// What the harness offers, if there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub offers: Option<Box<Offers>>,
    /// What was done, if it came to that.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stats: Option<Box<TypeStats>>,
    /// What the compiler said, if the harness did not build.
    #[serde(skip)]
    pub details: Option<&'a str>,
    /// What is expected of methods less than of others.
    #[serde(skip)]
    pub expectations: Vec<Expectation>,
    /// Instances of memory-access patterns that have not occurred, in words, if asked for.
    #[serde(skip)]
    pub open: Option<String>,
    /// For each pair of methods, how often it ran at the same time, if asked for.
    #[serde(skip)]
    pub matrix: Option<String>,
}

/// How a type came out.
#[derive(Serialize, Clone, Copy, PartialEq, Eq, Debug)]
#[serde(rename_all = "kebab-case")]
pub enum TypeStatus {
    /// Tested, and nothing found.
    Ok,
    /// At least one finding.
    Found,
    /// Not tested, or not wholly.
    Untested,
    /// It cannot be hunted, and the user did not ask for it by name.
    Skipped,
    /// The tool failed.
    Error,
}

/// A finding was repeated, or not.
#[derive(Serialize, Debug)]
pub struct Replay<'a> {
    /// The finding file.
    pub file: &'a Path,
    /// The path of the test, the program's name where there is none, or the path of the type that was hunted.
    pub target: &'a str,
    /// Equal to `target`; of a hunt, what tells the finding from others.
    pub test: &'a str,
    /// `package/kind/name`; of a hunt, the crate.
    pub program: String,
    /// Of the first replay that did not reproduce it, if there is one.
    pub verdict: ReplayVerdict,
    /// How often it was to be repeated.
    pub times: u64,
    /// How often it failed in the same way.
    pub reproduced: u64,
    /// In words.
    pub message: String,
    /// The kind of failure, if there was one.
    pub kind: Option<Kind>,
    /// Whether the trace is the recorded one.
    pub same_trace: Option<bool>,
    /// What is to be shown: what came, or what had been recorded if nothing failed.
    #[serde(skip)]
    pub shown: Finding<'a>,
}

/// How a replay came out.
#[derive(Serialize, Clone, Copy, PartialEq, Eq, Debug)]
#[serde(rename_all = "kebab-case")]
pub enum ReplayVerdict {
    /// It failed in the same way.
    Reproduced,
    /// It failed in another way.
    Different,
    /// It did not fail.
    Passed,
    /// Its schedule could not be followed.
    Diverged,
    /// It did not get that far.
    Broken,
}

impl ReplayVerdict {
    /// Whether it failed in the same way.
    pub fn is_reproduced(self) -> bool {
        self == ReplayVerdict::Reproduced
    }
}
