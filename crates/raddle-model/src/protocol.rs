//! What the command and its workers say to each other.
//!
//! A worker is the instrumented program itself. The command starts it with the path of a [`Job`] (JSON) in
//! the environment variable [`JOB_VAR`]; the worker answers with one [`Message`] per line (JSON) on the
//! file descriptor that the job names, and ends with [`Message::Done`]. A worker that ends without that
//! line died; whatever it had said before stands.

use crate::event::ThreadId;
use crate::json::{Deserialize, Serialize};
use crate::outcome::Kind;
use crate::schedule::Schedule;
use crate::trace::{Site, Symbols, Trace};

/// The environment variable that is set where the worker is confined.
pub const CONFINED_VAR: &str = "RADDLE_CONFINED";
/// The environment variable that holds the path of the job file.
pub const JOB_VAR: &str = "RADDLE_JOB";

/// The strategy for those who do not ask for one.
pub const DEFAULT_STRATEGY: &str = "auto";

/// How the program under test begins.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Entry {
    /// An executable made by `rustc --test`, started with arguments that select exactly one test.
    Libtest,
    /// Any other executable.
    Main,
}

/// How the message of a failure begins that used up all memory.
pub const RUNAWAY: &str = "runaway memory";

/// The address space that the runtime has for a program's heap, in megabytes.
pub const MOST_MEMORY_MB: u64 = 256 << 10;

/// Everything a worker has to know.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Job {
    /// How the program begins.
    pub entry: Entry,
    /// The file descriptor for messages.
    pub message_fd: i32,
    /// Decides everything that is drawn.
    pub seed: u64,
    /// The strategy by name: `random`, `pct`, `round-robin`, `dfs`, with parameters after a colon (`pct:3`, `dfs:2`).
    pub strategy: String,
    /// At most so many executions.
    pub schedules: u64,
    /// At most so many milliseconds; 0 for no limit.
    pub budget_ms: u64,
    /// Stop after so many failures.
    pub max_failures: u64,
    /// Every access is a scheduling point, not only those known to matter.
    pub every_access: bool,
    /// Steps of an execution that the strategy decides; ten times as many that lead nowhere new are a livelock.
    pub max_steps: u64,
    /// An execution that allocates more than this is a crash; more than [`MOST_MEMORY_MB`] is no more than that.
    pub memory_mb: u64,
    /// A thread that computes for so long without a visible step is ended; a time-out if it would never end.
    pub hang_ms: u64,
    /// The crates whose frames count as the user's own, by crate name (underscores).
    pub crates: Vec<String>,
    /// Exit statuses besides 0 with which a program that is run as a whole may end. With 0 among them any thread may end it, as is
    /// usual in C.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub ok_exit: Vec<i32>,
    /// When waits may end although a thread could run.
    #[serde(default)]
    pub timeouts: Timeouts,
    /// Repeat this schedule once instead of searching.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub replay: Option<Schedule>,
    /// Send the trace of each of the first so many executions as [`Message::Trace`].
    #[serde(default)]
    pub traces: u64,
    /// How many processes may run executions of one check at a time; 0 for one per processor core.
    #[serde(default)]
    pub jobs: u64,
    /// The check of the program, counted from 0, that `replay` belongs to; 0 where there is at most one.
    #[serde(default)]
    pub check: u64,
    /// The settings that a person has chosen, by the names of these fields: a check inside the program may have
    /// its own values for the others.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub given: Vec<String>,
    /// Where a harness reads the tests it is to run; see `raddle_hunt::protocol`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub request_fd: Option<i32>,
    /// A file with what debug information says about the calls of this very executable; see `raddle_debuginfo`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub places: Option<String>,
}

/// When a wait with a time-out, or a sleep, may end although a thread could run. Real threads can be held up for that long, but
/// a test that fails only then may not be what its author wants to hear of first.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Timeouts {
    /// Never: time passes only when nobody can run.
    Never,
    /// In some of the later executions, and twice in each at most.
    #[default]
    Late,
    /// In every execution, up to three times per thread.
    Any,
}

impl Timeouts {
    /// All, by the names used on the command line.
    pub const NAMES: [(&'static str, Timeouts); 3] =
        [("never", Timeouts::Never), ("late", Timeouts::Late), ("any", Timeouts::Any)];
}

/// Something that a test made use of and of which not everything that may come of it was tried.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Unexplored {
    /// Waits with a time-out that end although a thread could run.
    EarlyTimeouts,
    /// Sleeps that end although a thread could run.
    EarlySleeps,
    /// Waits on a condition variable, or parked, that end for no reason.
    SpuriousWakeups,
    /// Other random numbers than those drawn.
    RandomData,
    /// Other readings of the clock.
    Clock,
}

impl Unexplored {
    /// In words.
    pub fn as_str(self) -> &'static str {
        match self {
            Unexplored::EarlyTimeouts => "early time-outs",
            Unexplored::EarlySleeps => "early ends of sleeps",
            Unexplored::SpuriousWakeups => "spurious wake-ups",
            Unexplored::RandomData => "random data",
            Unexplored::Clock => "the clock",
        }
    }
}

/// What a worker says.
// The contents stand under a key of their own: a tag among the fields would make serde buffer them, and its
// buffer has no room for the 128-bit values of a trace.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(tag = "message", content = "body", rename_all = "kebab-case")]
pub enum Message {
    /// Sent a few times a second.
    Progress(Stats),
    /// An execution failed.
    Failure(Box<Failure>),
    /// An execution's trace, on request.
    Trace {
        /// Which execution, from 0.
        execution: u64,
        /// Its events.
        trace: Trace,
        /// What the numbers mean.
        symbols: Symbols,
    },
    /// The worker is finished; the last message.
    Done {
        /// Totals.
        stats: Stats,
        /// Why it stopped.
        reason: Stop,
    },
}

/// Why a worker stopped.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Stop {
    /// The number of schedules or the time was used up.
    Budget,
    /// The strategy has nothing left to try.
    Exhausted,
    /// The number of failures was reached.
    Failures,
    /// The program ended without creating a thread; the number is its exit status.
    NoThreads(i32),
    /// A replayed execution passed.
    ReplayPassed,
    /// A replayed execution did not follow its schedule; why.
    Diverged(String),
    /// Something could not be done; why.
    Error(String),
}

/// Totals of a worker.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct Stats {
    /// Executions begun.
    pub executions: u64,
    /// Executions that ran to their end.
    pub completed: u64,
    /// Steps (visible events) taken.
    pub steps: u64,
    /// Decisions with at least two possibilities.
    pub decisions: u64,
    /// Most threads alive in one execution, the test's own included.
    pub threads: u64,
    /// Sites known to be scheduling points.
    pub points: u64,
    /// Intercepted calls that could not be modelled, by name, with the place that made them.
    pub uncontrolled: Vec<Uncontrolled>,
    /// Executions that were given up because they had come to no end after many times the steps allowed, or, if no other
    /// came to its end, within the budget, though they still got somewhere; or to no visible step for too long.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub too_long: u64,
    /// Where threads that nobody joins panicked. Such a panic is a failure only if it depends on the schedule.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unjoined: Vec<String>,
    /// What the test made use of and was not tried in all ways, in ascending order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unexplored: Vec<Unexplored>,
    /// Failures seen.
    pub failures: u64,
    /// Milliseconds, for people only.
    pub elapsed_ms: u64,
    /// What the strategy of a check says about itself; see `raddle_core::strategy::Strategy::notes`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<f64>,
}

#[cfg(feature = "json")]
fn is_zero(n: &u64) -> bool {
    *n == 0
}

/// A call that blocks or varies in a way the runtime does not control.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Uncontrolled {
    /// The function.
    pub call: String,
    /// Who called it, if known.
    pub at: Option<Site>,
}

/// A thread of a failed execution.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct ThreadInfo {
    /// Its number.
    pub id: ThreadId,
    /// Its name, if it has one.
    pub name: Option<String>,
    /// Where it stood at the end, innermost first.
    pub stack: Vec<Site>,
    /// What it was doing at the end.
    pub state: ThreadState,
    /// The locks it held.
    pub holds: Vec<Held>,
}

/// What a thread was doing when its execution ended.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ThreadState {
    /// It could go on.
    Runnable,
    /// It re-read memory that nobody changed.
    Spinning,
    /// It waited.
    Blocked {
        /// For what, in words: `Mutex Account.balance`, `join of thread 2`, `Condvar`.
        on: String,
        /// Who could have ended the wait, if known.
        by: Vec<ThreadId>,
    },
    /// It panicked.
    Panicked,
    /// It had ended.
    Ended,
}

/// A lock held.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Held {
    /// Which.
    pub lock: String,
    /// Where it was taken.
    pub at: Option<Site>,
}

/// A failed execution, with all that is needed to understand and repeat it.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Failure {
    /// What kind.
    pub kind: Kind,
    /// In words, one line or a few.
    pub message: String,
    /// Who failed, if it was one thread.
    pub thread: Option<ThreadId>,
    /// Where, if it was one place.
    pub at: Option<Site>,
    /// The failing thread's stack, innermost first.
    pub backtrace: Vec<Site>,
    /// All threads.
    pub threads: Vec<ThreadInfo>,
    /// Which execution, from 0.
    pub execution: u64,
    /// Which check of the program, from 0; 0 where there is at most one.
    #[serde(default)]
    pub check: u64,
    /// How to repeat it.
    pub schedule: Schedule,
    /// What happened.
    pub trace: Trace,
    /// What the numbers in the trace mean.
    pub symbols: Symbols,
    /// What the program printed in this execution, its end if it was long.
    pub output: String,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::{Access, Event, Op, VarId};
    use crate::trace::NameId;

    #[test]
    fn a_message_with_a_sixteen_byte_value_survives_the_way_through_json() {
        let access = Access { written: crate::Content::of(u128::MAX), ..Access::plain(VarId(0), 16) };
        let trace = Trace { events: vec![Event::new(0, 0, Op::Write(access))], vars: vec![NameId(0)] };
        let message = Message::Trace { execution: 3, trace, symbols: Symbols::default() };
        let line = serde_json::to_string(&message).unwrap();
        assert!(line.starts_with(r#"{"message":"trace","body":{"#), "{line}");
        assert_eq!(serde_json::from_str::<Message>(&line).unwrap(), message);
    }
}
