//! What the scheduler asks of whoever drives it, and what it answers.

use crate::gate::Memory;
use crate::thread::Thread;
use raddle_core::protocol::Unexplored;
use raddle_core::strategy::{Choice, Dice};
use raddle_core::{Event, Schedule, ThreadId, Trace};

/// What the scheduler asks of whoever drives it: the program's memory, the search, and the record of the execution.
///
/// A front-end lends itself to each call that may have to ask; nothing here may call the scheduler back.
pub trait FrontEnd: Memory {
    /// What it keeps about a thread.
    type Body;

    /// A digest of what the running thread has that no other thread can see: its registers and its stack. Two states with the
    /// same digest go on alike as long as they read the same.
    fn digest(&self, thread: &Thread<Self::Body>) -> u64;

    /// The dice of a search that does nothing but throw them.
    fn dice(&mut self) -> Option<&mut Dice>;

    /// Chooses among `enabled` threads, if the search need not look at them.
    fn choose_blindly(&mut self, enabled: usize) -> Option<usize>;

    /// Chooses among the threads whose pending events these are; `last` took the last step, and `decision` decisions came before.
    fn choose(&mut self, enabled: &[Event], last: ThreadId, decision: usize) -> Choice;

    /// Whether the search is asked where only one thread can go on, too.
    fn every_step(&self) -> bool;

    /// The search is told that nobody can go on, and what everybody waits to do.
    fn stuck(&mut self, pending: &[Event]);

    /// What has happened in the execution so far.
    fn trace(&mut self) -> &mut Trace;

    /// The schedule of the execution so far, which the scheduler writes.
    fn schedule(&mut self) -> &mut Schedule;

    /// Steps after which the execution is looked at more closely. The scheduler changes it; others may set it to 0 while the
    /// execution runs, and it is given up at its next step.
    fn limit(&mut self) -> &mut u64;

    /// A step is about to be taken: a sign of life.
    fn beat(&mut self);

    /// The time for the search is used up.
    fn is_late(&self) -> bool;

    /// Something that concerns more than this execution.
    fn note(&mut self, note: Note);
}

/// What an execution tells about the search that it is part of.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Note {
    /// From here on chance decides instead of the strategy.
    Chance,
    /// A call of a sequential order was interrupted because it seemed to wait, which is not certain.
    Guessed,
    /// A thread that does nothing visible had to be made to yield.
    Overdue,
    /// A way in which the execution could go on is not tried. Said by this thread.
    LeftOut(ThreadId, Unexplored),
}

/// Who goes on.
pub type Decision = Result<usize, Ending>;

/// Why nobody does. The scheduler only says so; what is made of it is the front-end's affair.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Ending {
    /// Threads of the test wait for ever.
    Deadlock,
    /// Threads only keep each other busy, for ever.
    Livelock,
    /// The test is over, and what it left behind waits. A harness that is to go on can be let go on:
    /// [`Scheduler::let_harness_go_on`](crate::Scheduler::let_harness_go_on).
    AtRest,
    /// The test is over, and what it left behind does not come to rest.
    Over,
    /// The search gives the execution up.
    Abandoned,
    /// The execution takes too many steps to be judged.
    TooLong,
    /// The execution does not follow its schedule, for this reason.
    Diverged(&'static str),
    /// The search chose a thread that is not there.
    NoSuchThread,
}
