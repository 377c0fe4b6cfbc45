//! What survives an execution, and what a parent learns of its child.
//!
//! Everything in here lives in the shared region of the runtime's heap (see `heap`): it must be created and
//! grown inside [`persistent`](crate::heap::persistent).

use crate::fast::past::Past;
use crate::heap;
use crate::image::Image;
use crate::names::{Names, Places};
use crate::sites::Sites;
use raddle_core::protocol::{Failure, Job, Message, Stats, Stop, Uncontrolled};
use raddle_core::strategy::{Dice, Strategy};
use raddle_core::{Schedule, Site, ThreadId, Trace};

/// How the execution in a child stands, as far as the child has said.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum End {
    /// It is still running, or died without a word.
    Running,
    /// It ended well.
    Passed,
    /// The strategy gave it up.
    Abandoned,
    /// An oracle objects; the failure is in the store.
    Failed,
    /// A replay did not follow its schedule.
    Diverged(String),
    /// A child that ran many executions has no more to do.
    Batch(Stop),
    /// The executions that follow are for several processes.
    Parallel,
    /// Executions in one process depend on those before them.
    Dependent,
}

/// The store.
pub struct Store {
    /// What to do.
    pub job: Job,
    /// The search.
    pub strategy: Box<dyn Strategy>,
    /// The search of the executions that follow the other rules about time, once there was one of them (see `search`).
    pub other: Option<Box<dyn Strategy>>,
    /// Executions draw random numbers.
    pub draws: bool,
    /// Waits may end early in the execution in progress, if that depends.
    pub late: bool,
    /// Whether the search wants to hear of every event.
    pub strategy_listens: bool,
    /// A schedule to repeat instead.
    pub replay: Option<Schedule>,
    /// What is known about the program's instructions.
    pub sites: Sites,
    /// The program's image and its debug information.
    pub image: Image,
    /// Stable names of variables.
    pub names: Names,
    /// Where heap blocks come from.
    pub places: Places,
    /// Events of the execution in progress.
    pub trace: Trace,
    /// Transfers of the execution in progress.
    pub schedule: Schedule,
    /// How it stands.
    pub end: End,
    /// What an oracle found.
    pub failure: Option<Box<Failure>>,
    /// Totals.
    pub stats: Stats,
    /// Steps after which the execution in progress is looked at again; 0 once the parent finds it too late.
    pub limit: u64,
    /// Most steps of an execution that came to its end by itself.
    pub longest: u64,
    /// Steps of the last execution.
    pub last_steps: u64,
    /// Chance decided in the place of the strategy in the end of an execution.
    pub chanced: bool,
    /// Moves whenever the runtime gets control.
    pub heartbeat: u64,
    /// Something was learned in the execution in progress.
    pub learned: bool,
    /// The last execution in which something was, counted from 1.
    pub learned_in: u64,
    /// The execution in progress was begun apart from the others.
    pub apart: bool,
    /// The execution in progress is an unrecorded one and has come to code that no execution which was looked at has come to.
    pub saw_unknown_code: bool,
    /// The execution in progress is an unrecorded one.
    pub unrecorded: bool,
    /// The dice as they were when it began, if it is one.
    pub dice: Option<Dice>,
    /// A thread had to be made to yield in an execution in which accesses are counted.
    pub impatient: bool,
    /// A call of a sequential order was interrupted in the execution in progress because it seemed to wait, which is not certain.
    pub guessed: bool,
    /// No execution is to be one.
    pub never_unrecorded: bool,
    /// How searching in several processes went.
    pub parallel: Past,
    /// A test that returns without a panic and without a word passes; learned from its harness.
    pub quiet_means_passed: bool,
    /// Milliseconds since the search began, as the parent last looked.
    pub now_ms: u64,
    /// Milliseconds since the search began when progress was last reported.
    pub progress_ms: u64,
    /// How much of each thread's stack others have reached into.
    pub reached: Reached,
    /// What the program printed in the execution in progress.
    pub output: Vec<u8>,
    /// Most threads seen at once, to have as many blocks of thread-local storage ready.
    pub most_threads: usize,
    /// Why the search in closure mode stopped.
    pub stopped: Option<Stop>,
    /// Where messages go, if anywhere.
    pub message_fd: Option<i32>,
    /// Totals of the checks before this one.
    pub checked: Stats,
    /// The command's job, once a check has changed it.
    pub command: Option<Job>,
    /// Failures of the check in progress, and the traces that were asked for.
    pub kept: Vec<Message>,
    /// Which check of the program is in progress, from 0.
    pub check: u64,
    /// The command hears of failures.
    pub findings: bool,
    /// Lengths of the stacks that were not there when a child needed them.
    pub missing_stacks: Vec<usize>,
    /// Executions that changed their process in a way that going back does not undo.
    pub unclean: u32,
    /// The strategy gives executions up.
    pub gives_up: bool,
    /// Every execution in closure mode begins where the first one began; see `independence`.
    pub isolates: bool,
    /// Length of the trace, the variables and the schedule before the first fork.
    pub prelude: (usize, usize, usize),
    /// Panics of threads that nobody joins, of all executions.
    pub unjoined: Vec<Unjoined>,
    /// Executions at whose end no thread could go on.
    pub at_rest: u64,
}

/// A panic that ends threads that nobody joins.
#[derive(Debug)]
pub struct Unjoined {
    /// Where it happens, as the program says.
    pub place: String,
    /// Executions with it at whose end no thread could go on.
    pub at_rest: u64,
    /// The first execution with it while the test was not over, unless it has been reported.
    pub failure: Option<Box<Failure>>,
}

/// Steps after which an execution is looked at for the first time.
const FIRST_LOOK: u64 = 1_000;
/// So many times as many steps as the longest execution before may be taken before chance decides.
const COMFORT: u64 = 50;
/// At least so many.
const LEAST: u64 = 5_000;

/// See [`Store::chance_after`].
fn chance_after(longest: u64, asked: u64) -> u64 {
    match longest {
        0 => asked,
        n => (n * COMFORT).max(LEAST).min(asked.max(n * 4)),
    }
}

/// Most bytes of the program's output that are kept.
const OUTPUT: usize = 64 << 10;

impl Store {
    /// Forgets the last execution.
    pub fn begin(&mut self) {
        self.trace.events.truncate(self.prelude.0);
        self.trace.vars.truncate(self.prelude.1);
        self.schedule.transfers.truncate(self.prelude.2);
        self.schedule.early.clear();
        self.end = End::Running;
        self.failure = None;
        self.limit =
            if self.replay.is_some() { self.job.max_steps } else { FIRST_LOOK.min(self.job.max_steps) };
        self.last_steps = 0;
        self.learned = false;
        self.saw_unknown_code = false;
        self.guessed = false;
        self.output.clear();
    }

    /// Steps after which chance decides instead of the strategy: as many as were asked for, but fewer where executions are known to be
    /// short, and more where they are known to be long.
    pub fn chance_after(&self) -> u64 {
        chance_after(self.longest, self.job.max_steps)
    }

    /// So many times as many steps as make a livelock an execution may take that gets somewhere. What a person has asked for is not
    /// exceeded; a hunt rather makes other tests.
    pub fn patience_for_long(&self) -> u64 {
        let fixed = self.job.given.iter().any(|g| g == "max_steps") || self.job.request_fd.is_some();
        if fixed { 1 } else { 10 }
    }

    /// Notes a call that is not modelled, and its place if that is known.
    pub fn note_uncontrolled(&mut self, call: &str, at: Option<Site>) {
        let u = Uncontrolled { call: call.to_owned(), at };
        if !self.stats.uncontrolled.contains(&u) {
            heap::persistent(|| self.stats.uncontrolled.push(u.clone()));
        }
    }

    /// Keeps what the program prints, its end if it is long.
    pub fn printed(&mut self, bytes: &[u8]) {
        self.output.extend_from_slice(bytes);
        if self.output.len() > 2 * OUTPUT {
            let cut = self.output.len() - OUTPUT;
            self.output.drain(..cut);
        }
    }
}

/// How deep into each thread's stack another thread has ever reached, in bytes from the top. Threads above a certain
/// number share an entry.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Reached([usize; 64]);

impl Default for Reached {
    fn default() -> Self {
        Reached([0; 64])
    }
}

impl Reached {
    fn entry(thread: ThreadId) -> usize {
        (thread.0 as usize).min(63)
    }

    /// How deep.
    pub fn depth(&self, thread: ThreadId) -> usize {
        self.0[Self::entry(thread)]
    }

    /// At least so deep.
    pub fn note(&mut self, thread: ThreadId, depth: usize) {
        let known = &mut self.0[Self::entry(thread)];
        *known = depth.max(*known);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chance_takes_over_sooner_where_executions_are_short_and_later_where_they_are_long() {
        assert_eq!(chance_after(0, 100_000), 100_000, "nothing is known");
        assert_eq!(chance_after(20, 100_000), 5_000);
        assert_eq!(chance_after(400, 100_000), 20_000);
        assert_eq!(chance_after(20_000, 100_000), 100_000);
        assert_eq!(chance_after(300_000, 100_000), 1_200_000);
        assert_eq!(chance_after(20, 500), 500, "never more than was asked for because of a short one");
    }
}
