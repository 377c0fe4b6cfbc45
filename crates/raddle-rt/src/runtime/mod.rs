//! The runtime of a process: its pools, the search it works for, and the execution in progress.
//!
//! All threads of an execution are fibers of one operating-system thread, so the runtime needs no locks and
//! nothing happens between two of its calls that it did not decide. A fiber runs until it comes to a visible
//! step, which it tells the scheduler ([`step`]); the scheduler says who goes on. As long as there is a fiber that has not come to its
//! next visible step, that is who: so a decision always sees what everybody is about to do.
//! Creating a thread, joining an ended one and starting are not visible: they commute with everything else.
//!
//! References to [`Runtime`] must not live across a switch of fibers; each function takes a fresh one.

mod company;
mod front;
mod globals;
mod load;
mod locks;
mod record;
mod switch;
mod variables;

pub use globals::{
    ExecutionKind, Inside, LISTENING, ME, active, alone, calls_only, controlled, in_stack, install,
    installed, is_repeated, me, rt, set_active, set_kind, set_me, unrecorded, unseen,
};
pub use load::{IMPOSSIBLE, access_at, faults, is_programs_fault, load, probe};
pub use record::forget_store;
pub use switch::{
    after, await_gate, dispatch, end, enter_from_host, exit_thread, give_way, hidden_synchronisation, pass,
    step, transfer, wait, wake,
};

use crate::arch::Context;
use crate::fiber::{Body, Fiber};
use crate::lockset::Locksets;
use crate::names::Vars;
use crate::recent::RECENT;
use crate::shadow::Shadow;
use crate::store::Store;
use crate::sync::models::Models;
use crate::table::Table;
use crate::{stack, tls};
use raddle_core::strategy::Dice;
use raddle_core::{Access, Event, Op, SiteId, ThreadId, VarId};
use raddle_sched::{Ending, Gate, Rules, Scheduler, State};
use std::ptr::NonNull;

/// Where control goes when an execution is over.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Host {
    /// Back to the loop that started it, whose context is saved here.
    Loop(Context),
    /// Nowhere: the process is the execution.
    Process,
}

impl Host {
    /// A loop that has not started an execution.
    pub const NO_LOOP_YET: Host = Host::Loop(Context { sp: 0, fs: 0 });
}

/// What is done about the end of an execution: returns what to go on with, if anything is.
pub type AtEnd = fn(Ending) -> Context;

/// What lives as long as the process: memory for threads, used again by one execution after the other.
pub struct Process {
    /// Unused thread-local storage.
    pub blocks: tls::Pool,
    /// Unused stacks.
    pub stacks: stack::Pool,
    /// Fibers of earlier executions, to be used again.
    #[expect(clippy::vec_box, reason = "they go back to the scheduler's threads")]
    pub spare: Vec<Box<Fiber>>,
    /// Moves whenever an address may come to mean something else.
    pub frees: u64,
    /// Variables looked up recently: address, `frees` at that moment, variable.
    recent_vars: Box<[(usize, u64, VarId); RECENT]>,
}

impl Process {
    fn new() -> Self {
        Process {
            blocks: tls::Pool::new(),
            stacks: stack::Pool::default(),
            spare: Vec::new(),
            frees: 1,
            recent_vars: Box::new([(0, 0, VarId(0)); RECENT]),
        }
    }

    /// Takes back what the threads of an execution were made of.
    #[expect(clippy::vec_box, reason = "as in `spare`")]
    fn take_back(&mut self, threads: Vec<Box<Fiber>>) {
        for mut f in threads {
            if let Some(s) = f.stack.take() {
                self.stacks.give(s);
            }
            if let Some(b) = f.block.take() {
                self.blocks.give(b);
            }
            self.spare.push(f);
        }
        // Last out, first in again: the same blocks and stacks for the same threads.
        self.spare.reverse();
    }
}

/// What lives as long as an execution.
pub struct Execution {
    /// Its threads, and who goes on.
    pub sched: Scheduler<Body>,
    /// The strategy's dice, if it does nothing but throw them.
    pub dice: Option<NonNull<Dice>>,
    /// Events since the end of the schedule being replayed.
    overtime: u64,
    /// Random words drawn.
    pub drawn: u64,
    /// Who touched what.
    pub shadow: Shadow,
    /// Values that begin with a reference count which was taken down: 1 for those that are alive.
    pub shared_values: Table,
    /// Lock sets.
    pub locksets: Locksets,
    /// Variables.
    pub vars: Vars,
    /// Models of pthread objects.
    pub models: Models,
    /// Threads that have ended and still own a stack or a block.
    pub finished: Vec<usize>,
}

impl Execution {
    fn new(rules: Rules) -> Self {
        Execution {
            sched: Scheduler::new(rules),
            dice: None,
            overtime: 0,
            drawn: 0,
            shadow: Shadow::new(),
            shared_values: Table::new(),
            locksets: Locksets::new(),
            vars: Vars::new(),
            models: Models::default(),
            finished: Vec::new(),
        }
    }

    /// Makes it the next one, in the memory of the last. Every field is named, so that none can be forgotten.
    fn succeed(&mut self, rules: Rules, next_dice: Option<NonNull<Dice>>, process: &mut Process) {
        let Execution {
            sched,
            dice,
            overtime,
            drawn,
            shadow,
            shared_values,
            locksets,
            vars,
            models,
            finished,
        } = self;
        process.take_back(sched.succeed(rules));
        process.frees += 1;
        (*dice, *overtime, *drawn) = (next_dice, 0, 0);
        shadow.clear();
        shared_values.clear();
        locksets.clear();
        vars.clear();
        models.clear();
        finished.clear();
    }
}

/// The runtime of the process.
pub struct Runtime {
    /// What lives as long as the process.
    pub process: Process,
    /// What lives as long as the search, shared with the parent.
    pub store: &'static mut Store,
    /// What lives as long as the execution.
    pub execution: Execution,
    /// What follows it.
    pub host: Host,
    /// What is done when nobody goes on.
    pub at_end: AtEnd,
}

impl Runtime {
    /// A runtime without threads, before the first execution.
    pub fn new(store: &'static mut Store, host: Host, at_end: AtEnd) -> Self {
        let (process, execution) = (Process::new(), Execution::new(Rules::prelude()));
        Runtime { process, store, execution, host, at_end }
    }

    /// Begins another execution, without threads, in the place of the one before.
    pub fn begin(&mut self, rules: Rules) {
        let dice = self.store.strategy.dice().map(NonNull::from);
        self.execution.succeed(rules, dice, &mut self.process);
    }

    /// The running thread.
    #[inline(always)]
    pub fn me(&mut self) -> &mut Fiber {
        me()
    }

    /// Changes where a thread stands. In place, because most callers say to what.
    #[inline(always)]
    pub fn set_state(&mut self, i: usize, state: State) {
        self.flush();
        self.execution.sched.set_state(i, state);
    }

    /// The number of the running thread; 0 before there is one.
    #[inline(always)]
    pub fn current(&self) -> usize {
        globals::number()
    }

    /// Makes a thread the running one.
    #[inline(always)]
    pub fn set_current(&mut self, i: usize) -> &mut Fiber {
        let f = &mut self.execution.sched.threads[i];
        globals::set_me(f);
        f
    }

    /// Is a lock free?
    pub fn open(&mut self, gate: Gate) -> bool {
        let (sched, front) = self.split();
        sched.open(gate, &front)
    }

    /// Whether a thread could go on, at once or when time has passed.
    pub fn could_go_on(&mut self, i: usize) -> bool {
        let (sched, front) = self.split();
        sched.could_go_on(i, &front)
    }

    /// Begins a raw event of the running thread.
    #[inline(always)]
    pub fn tick(&mut self) {
        me().raw += 1;
    }

    /// An event of the running thread.
    #[inline(always)]
    pub fn event(&self, site: SiteId, op: Op) -> Event {
        Event { thread: ThreadId(self.current() as u32), site, op }
    }
}

/// An access without values.
pub fn access(var: VarId, size: u8) -> Access {
    Access::plain(var, size)
}
