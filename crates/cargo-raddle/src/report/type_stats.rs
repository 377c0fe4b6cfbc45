//! What is told of the hunt of a type, as plain data: what its harness offers, what was done, and what that covered.

use serde::Serialize;
use std::path::PathBuf;

/// What a harness can call, and what it expects of it.
#[derive(Serialize, Clone, Debug)]
pub struct Offers {
    /// Public methods by `&self` that have a thunk.
    pub shared_methods: usize,
    /// Public methods by `&self` that have no thunk, with the reason.
    pub missing: Vec<(String, String)>,
    /// Methods whose results are not compared, with the reason.
    pub weak: Vec<(String, String)>,
    /// Methods that may refuse beside other calls, with their refusals.
    pub refuses: Vec<(String, Vec<String>)>,
}

/// What is expected of methods less than that they take effect at one moment.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Expectation {
    /// The results of this method are not compared; why.
    NotCompared {
        /// Its name.
        method: String,
        /// Why.
        because: String,
    },
    /// This method may refuse beside other calls.
    MayRefuse {
        /// Its name.
        method: String,
        /// With these answers.
        answers: Vec<String>,
        /// Why.
        because: String,
    },
}

/// A method of which no call returned when nothing ran beside it.
#[derive(Clone, Debug, Serialize)]
pub struct NoReturn {
    /// Its name.
    pub method: String,
    /// Calls tried.
    pub calls: u64,
    /// What the first of them did, in the smallest test.
    pub instead: String,
}

/// Totals of the hunt of a type. Only the fields that end in `_ms` depend on the machine.
#[derive(Serialize, Clone, Default, Debug)]
pub struct TypeStats {
    /// Why it ended: `budget`, `exhausted`, `findings`, `settled`, `interrupted`, `broken`.
    pub end: HuntEnd,
    /// Tests run.
    pub tests: u64,
    /// Executions of tests.
    pub executions: u64,
    /// Executions in all, linearizations and tries included.
    pub all_executions: u64,
    /// Sequential executions that the oracle ran.
    pub serial_executions: u64,
    /// Executions that the oracle could not decide.
    pub undecided: u64,
    /// Scheduling points in executions of tests.
    pub steps: u64,
    /// Runs that could not be done.
    pub lost: u64,
    /// Methods of which no call returned when nothing ran beside it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub never_returned: Vec<NoReturn>,
    /// Concurrent method pairs.
    pub pairs: Pairs,
    /// Instances of memory-access patterns, if they were followed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub patterns: Option<Patterns>,
    /// How coverage grew, at tests that lie ever further apart.
    pub curve: Vec<Sample>,
    /// Violations that did not repeat.
    pub unconfirmed: usize,
    /// Every execution had a process of its own, because the program keeps something from test to test.
    pub isolated: bool,
    /// Results depend on which thread calls, so a thread's first call was not compared while others ran beside it.
    pub per_thread: bool,
    /// Saved findings that did not repeat or belong to another build.
    pub outdated: usize,
    /// Their files.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub outdated_files: Vec<PathBuf>,
    /// Workers that died.
    pub deaths: u64,
    /// Processor time for starting workers.
    pub start_ms: f64,
    /// Processor time for making tests, of the command and its workers, to the microsecond; the next four likewise.
    pub generate_ms: f64,
    /// For running them.
    pub execute_ms: f64,
    /// For counting what they covered.
    pub cover_ms: f64,
    /// For judging.
    pub judge_ms: f64,
    /// For confirming and minimising.
    pub prove_ms: f64,
    /// For making, running and judging tests and counting what they covered until the first new finding was at hand; confirming
    /// it comes on top.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub first_finding_ms: Option<f64>,
    /// For everything.
    pub processor_ms: f64,
    /// Time that passed.
    pub elapsed_ms: u128,
    /// Seconds that passed.
    #[serde(skip)]
    pub elapsed: f64,
    /// Which violation, not seen again in a fresh process, made clear that executions need processes of their own, and what came there.
    #[serde(skip)]
    pub isolated_because: Option<(String, String)>,
    /// Why the first run that could not be done could not.
    #[serde(skip)]
    pub first_lost: Option<String>,
}

/// Why the hunt of a type ended.
#[derive(Serialize, Clone, Copy, PartialEq, Eq, Default, Debug)]
#[serde(rename_all = "kebab-case")]
pub enum HuntEnd {
    /// Time or schedules are used up.
    #[default]
    Budget,
    /// There are no more tests.
    Exhausted,
    /// There were findings enough.
    Findings,
    /// Nothing new to speak of had come for long.
    Settled,
    /// The user stopped it.
    Interrupted,
    /// Tests cannot be run.
    Broken,
}

/// How far a hunt had come at some time.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
pub struct Sample {
    /// Tests run.
    pub tests: u64,
    /// Executions of them.
    pub executions: u64,
    /// Milliseconds of the processor since the beginning, without confirming and minimising.
    pub at_ms: u64,
    /// Milliseconds that had passed, with everything in them.
    pub elapsed_ms: u64,
    /// Pairs of methods that had run at the same time.
    pub pairs: usize,
    /// Instances of memory-access patterns that had occurred, if they were followed.
    pub patterns: u64,
    /// Pairs of places that two threads had visited one right after the other, if patterns were followed.
    pub locations: usize,
    /// Findings that differ in kind, and in the place or, where there is none, in the methods.
    pub bugs: usize,
}

/// Concurrent method pairs.
#[derive(Serialize, Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Pairs {
    /// All.
    pub total: usize,
    /// Ran at the same time.
    pub covered: usize,
    /// Did not yet.
    pub open: usize,
    /// Did not, and no test could be made for them so far.
    pub never: usize,
}

/// MAP-coverage over what the methods were seen to do.
#[derive(Serialize, Clone, PartialEq, Debug)]
pub struct Patterns {
    /// All instances that the known accesses allow (T_C).
    pub total: u128,
    /// Occurred.
    pub covered: u128,
    /// Occurred outside of that: a setup took part, or two objects of one name.
    pub outside: u128,
    /// The chance that another test shows something new, as far as the last hundred tell.
    pub chance_of_new: Option<f64>,
    /// How many of the instances that the compiler's MIR allows occurred, if that is known.
    #[serde(rename = "static", skip_serializing_if = "Option::is_none")]
    pub statics: Option<Statics>,
    /// Why it is not known, if the compiler was asked.
    #[serde(skip)]
    pub unknown: Option<String>,
}

/// MAP-coverage over what the compiler's MIR allows.
#[derive(Serialize, Clone, PartialEq, Debug)]
pub struct Statics {
    /// All instances.
    pub all: Counts,
    /// By pattern, from 1 to 17.
    pub by_pattern: Vec<Counts>,
    /// Instances that occurred at places or on variables that the analysis does not have.
    pub unmet: u64,
    /// Open instances in words, most bug-prone patterns first, as many as `--open` asks for.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub open: Vec<String>,
}

/// What became of instances.
#[derive(Serialize, Clone, Copy, PartialEq, Eq, Debug)]
pub struct Counts {
    /// All.
    pub total: u128,
    /// Occurred.
    pub covered: u128,
    /// Instances that did not occur, and a common lock keeps the steps apart as long as every thread makes one call; null if that was not
    /// counted because there are too many instances.
    pub infeasible: Option<u128>,
    /// Instances that did not occur and that nothing is known to forbid.
    pub open: u128,
}
