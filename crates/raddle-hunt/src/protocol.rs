//! What the command and the worker that runs tests say to each other, and who runs tests in general.
//!
//! The worker is the harness with the runtime. It reads one [`Request`] per line (JSON) from the file descriptor
//! [`Job::request_fd`](raddle_core::protocol::Job::request_fd) and answers each with one [`Reply`] per line on the job's message descriptor, whatever
//! becomes of the code under test. Executions follow each other in one forked child as long as they end well; after
//! a crash, a deadlock or a hang the next child goes on. It ends when the descriptor is closed.

use crate::search::Search;
use raddle_core::event::SiteId;
use raddle_core::outcome::Kind;
use raddle_core::pattern::{AccessKind, Instance};
use raddle_core::protocol::{Failure, Uncontrolled};
use raddle_core::schedule::Schedule;
use raddle_core::trace::{NameId, Symbols, Trace};
use serde::{Deserialize, Serialize};

/// Most fields of most messages say nothing, and there are many messages.
fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

/// Runs to be done together.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Request {
    /// Comes back in the reply.
    pub id: u64,
    /// In this order.
    pub runs: Vec<Run>,
    /// Answer as soon as an execution is in doubt (see [`Reply::doubt`]) and put the rest off: the command may not want it.
    #[serde(default, skip_serializing_if = "is_default")]
    pub watched: bool,
    /// No runs, but what is to become of those that were put off.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rest: Option<Rest>,
}

/// What becomes of the runs of a watched request that were put off.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Rest {
    /// They are gone on with, until the next execution that is in doubt or to the end.
    Run,
    /// They are not: the reply has what was done until then.
    Drop,
}

/// The answer to a [`Request`].
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Reply {
    /// The request's.
    pub id: u64,
    /// One per run, in order; none if an execution is in doubt, and only those begun if the rest was dropped.
    pub runs: Vec<RunReply>,
    /// An execution of a watched request that failed, or for which the worker found no sequential order, and the number of its run.
    /// It comes again in the reply to the whole.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub doubt: Option<(usize, Box<Execution>)>,
    /// Where the worker's processor time since the last reply went, for people only.
    #[serde(default)]
    pub spent: Spent,
}

/// Processor time of a worker, in microseconds.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Spent {
    /// All of the processor time.
    pub all: u64,
    /// For running sequential orders and comparing.
    pub judge: u64,
    /// For following memory-access patterns.
    pub cover: u64,
    /// For starting; not part of the rest.
    #[serde(default)]
    pub start: u64,
}

/// In which process an execution starts.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Fresh {
    /// In one that has run others.
    #[default]
    No,
    /// The run begins in a process in which nothing has run; its executions follow each other there.
    Once,
    /// Every execution of the run has such a process for itself.
    Each,
}

/// A test and how to schedule it.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Run {
    /// In the [wire format](super::wire).
    pub test: String,
    /// How its schedules are searched, over the worker's numbers.
    pub search: Search,
    /// Decides everything that is drawn.
    pub seed: u64,
    /// At most so many executions; it ends earlier when the strategy has nothing left.
    pub executions: u64,
    /// Stop at the first execution that fails (crash, deadlock, livelock, time-out).
    #[serde(default, skip_serializing_if = "is_default")]
    pub stop_at_failure: bool,
    /// After an execution that did not come back or took all memory, run this test no further, neither in this run nor in
    /// those that follow it in the request: such an execution costs as much as thousands of others, and more schedules of the
    /// same calls tend to end like it.
    #[serde(default)]
    pub stop_at_runaway: bool,
    /// Where it starts.
    #[serde(default, skip_serializing_if = "is_default")]
    pub fresh: Fresh,
    /// Repeat this schedule instead.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub replay: Option<Schedule>,
    /// Send the trace of every distinct execution.
    #[serde(default, skip_serializing_if = "is_default")]
    pub traces: bool,
    /// Follow the memory-access patterns, and send those that this worker has not seen before.
    #[serde(default, skip_serializing_if = "is_default")]
    pub patterns: bool,
    /// Look for a sequential order of the calls with the same results, at once and in the same process, and do not
    /// send executions for which there is one.
    #[serde(default, skip_serializing_if = "is_default")]
    pub explain: bool,
    /// Do not look at what calls returned: send only executions that failed or in which a call panicked.
    #[serde(default, skip_serializing_if = "is_default")]
    pub only_failures: bool,
    /// If not 0: only see whether so many calls return, and send the execution only if they do not. No other
    /// access than those of synchronisation is looked at.
    #[serde(default, skip_serializing_if = "is_default")]
    pub expects: u32,
    /// Only what calls do matters, which follow each other: no other access than those of synchronisation is looked at, and
    /// nothing is learned.
    #[serde(default, skip_serializing_if = "is_default")]
    pub calm: bool,
}

/// What came of a [`Run`].
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct RunReply {
    /// Executions begun.
    pub executions: u64,
    /// Scheduling points passed in all of them, the beginnings of calls left out.
    #[serde(default, skip_serializing_if = "is_default")]
    pub steps: u64,
    /// Decisions with at least two possibilities, in all of them.
    #[serde(default, skip_serializing_if = "is_default")]
    pub decisions: u64,
    /// What a trial run cost (where `expects` is set): instrumented accesses, and one for each 16 bytes of the heap at its largest;
    /// [`LONGEST_TRIAL`] or more if the execution was given up for that.
    #[serde(default, skip_serializing_if = "is_default")]
    pub effort: u64,
    /// Whether the strategy had nothing left to try.
    #[serde(default, skip_serializing_if = "is_default")]
    pub exhausted: bool,
    /// Executions that were given up, or in which a call was interrupted because it seemed to wait, which was not certain: what they
    /// stand for may not have been run.
    #[serde(default, skip_serializing_if = "is_default")]
    pub unsure: u64,
    /// The executions that differ in their results, in the real-time order of their calls, or in how they
    /// failed, each with the first schedule that showed it. For a replay, the one execution.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub distinct: Vec<Execution>,
    /// With `explain`: executions that would be in `distinct` had no sequential order been found for them.
    #[serde(default, skip_serializing_if = "is_default")]
    pub explained: u64,
    /// With `explain`: sequential orders run.
    #[serde(default, skip_serializing_if = "is_default")]
    pub serial: u64,
    /// With `expects`: all calls returned.
    #[serde(default, skip_serializing_if = "is_default")]
    pub clean: bool,
    /// How often two methods ran at the same time (CovCon's Algorithm 1), by thunk numbers, the smaller first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub pairs: Vec<(u32, u32, u64)>,
    /// Pattern instances not seen before by this worker, over its own numbers.
    #[serde(default, skip_serializing_if = "Vec::is_empty", with = "raddle_core::pattern::flat")]
    pub patterns: Vec<Instance>,
    /// With `patterns`: what methods did to shared variables in suffixes, as far as this worker has not sent it before.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub accesses: Vec<MethodAccess>,
    /// With `patterns`: how often a shared variable had a value in suffixes with a number of bits that this worker had not seen it
    /// have.
    #[serde(default, skip_serializing_if = "is_default")]
    pub values: u32,
    /// What numbers in `patterns` and `traces` mean that were not sent before: sites and names from these indices on.
    #[serde(default, skip_serializing_if = "is_default")]
    pub symbols_from: (u32, u32),
    /// See `symbols_from`.
    #[serde(default, skip_serializing_if = "is_default")]
    pub symbols: Symbols,
    /// A replay that did not follow its schedule, or a run that could not be done; why.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub diverged: Option<String>,
    /// Calls that the runtime does not control, as far as they were not reported before.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub uncontrolled: Vec<Uncontrolled>,
}

/// An execution with `expects` is given up when its heap grows after so much was done.
pub const LONGEST_TRIAL: u64 = 1_000_000;

/// The number of a call that is none of the harness's thunks: dropping what a thread made.
pub const NO_THUNK: u32 = u32::MAX;

/// A method reads or writes a shared variable at a site.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
pub struct MethodAccess {
    /// The method, by thunk number, or [`NO_THUNK`].
    pub thunk: u32,
    /// What it does. A read-modify-write is both.
    pub kind: AccessKind,
    /// Where.
    pub site: SiteId,
    /// To what.
    pub name: NameId,
}

/// One execution of a test.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct Execution {
    /// Which of the run, from 0.
    pub index: u64,
    /// The calls that began, in the order in which they did.
    pub calls: Vec<CallRecord>,
    /// Bytes that the execution allocated and did not free.
    pub left_bytes: u64,
    /// Bytes that this and earlier executions in the same process allocated and nobody has freed.
    #[serde(default)]
    pub held_bytes: u64,
    /// The worker has found a sequential order with these results, which left less memory behind.
    #[serde(default)]
    pub explained: bool,
    /// What an oracle of the runtime says: deadlock, crash, livelock, time-out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failure: Option<Box<Failure>>,
    /// How to repeat it.
    pub schedule: Schedule,
    /// What happened, if asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trace: Option<Trace>,
}

/// A call of an execution.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct CallRecord {
    /// 0 for the setup and the checks at the end, `i + 1` for suffix `i`.
    pub thread: u32,
    /// Which step of that thread; the checks count on from the setup. One more than the last step of a suffix means
    /// the dropping of what it made; for thread 0, the dropping of everything.
    pub step: u32,
    /// When it began, counted in beginnings and ends of calls.
    pub start: u32,
    /// When it ended, if it did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub end: Option<u32>,
    /// What it returned.
    pub result: CallResult,
}

/// What a call returned.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CallResult {
    /// Printed with `Debug`.
    Value(String),
    /// Something that cannot be printed.
    Opaque,
    /// It panicked.
    Panic {
        /// `file:line:column`.
        at: String,
        /// What it said.
        message: String,
    },
    /// Not called: a slot was empty, or the thread had panicked.
    Skipped,
    /// It never returned.
    Unfinished,
}

/// Runs tests.
pub trait Executor {
    /// Runs them in order; one reply per run.
    fn run(&mut self, runs: Vec<Run>) -> Result<Vec<RunReply>, ExecutorError>;
}

/// Tests cannot be run any more.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum ExecutorError {
    /// The time is up, or the user has had enough.
    Over,
    /// The worker cannot be started or does not answer; why.
    Broken(String),
}

impl Request {
    /// Runs that are all done before there is a reply.
    pub fn new(id: u64, runs: Vec<Run>) -> Self {
        Request { id, runs, watched: false, rest: None }
    }
}

impl Run {
    /// A test under `executions` schedules of a search.
    pub fn new(test: String, search: impl Into<Search>, seed: u64, executions: u64) -> Self {
        Run {
            test,
            search: search.into(),
            seed,
            executions,
            stop_at_failure: true,
            stop_at_runaway: false,
            fresh: Fresh::No,
            replay: None,
            traces: false,
            patterns: false,
            explain: false,
            only_failures: false,
            expects: 0,
            calm: false,
        }
    }
}

impl Execution {
    /// How the runtime says it failed.
    pub fn failed(&self) -> Option<Kind> {
        self.failure.as_ref().map(|f| f.kind)
    }

    /// Whether it came to its end and no call panicked: then only what calls returned, or left behind, can be wrong.
    pub fn is_quiet(&self) -> bool {
        self.failure.is_none() && !self.panicked()
    }

    /// Whether a call panicked.
    pub fn panicked(&self) -> bool {
        self.calls.iter().any(|c| matches!(c.result, CallResult::Panic { .. }))
    }
}
