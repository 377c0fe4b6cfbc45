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
    Inside, LISTENING, ME, active, alone, brisk, calm, controlled, in_stack, install, installed, me, rt,
    set_active, set_brisk, set_calm, unseen,
};
pub use load::{IMPOSSIBLE, access_at, faults, is_programs_fault, load, probe};
pub use record::forget_store;
pub use switch::{
    advance_briskly, after, await_gate, end, enter_from_host, exit_thread, give_way, hidden_synchronisation,
    run_on, step, wait, wake,
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

/// The state of the execution in progress; private to the process.
pub struct Runtime {
    /// Its threads, and who goes on.
    pub sched: Scheduler<Body>,
    /// The strategy's dice, if it does nothing but throw them.
    pub dice: Option<NonNull<Dice>>,
    /// Shared with the parent.
    pub store: &'static mut Store,
    /// What follows it.
    pub host: Host,
    /// What is done when nobody goes on.
    pub at_end: AtEnd,
    /// Events since the end of the schedule being replayed.
    pub overtime: u64,
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
    /// Unused thread-local storage.
    pub blocks: tls::Pool,
    /// Unused stacks.
    pub stacks: stack::Pool,
    /// Fibers of earlier executions, to be used again.
    #[expect(clippy::vec_box, reason = "they go back to the scheduler's threads")]
    pub spare: Vec<Box<Fiber>>,
    /// Variables looked up recently: address, `frees` at that moment, variable.
    recent_vars: Box<[(usize, u64, VarId); RECENT]>,
    /// Moves whenever an address may come to mean something else.
    pub frees: u64,
    /// Threads that have ended and still own a stack or a block.
    pub finished: Vec<usize>,
}

impl Runtime {
    /// A runtime without threads, before the first execution.
    pub fn new(store: &'static mut Store, host: Host, at_end: AtEnd) -> Self {
        Runtime {
            sched: Scheduler::new(Rules::prelude()),
            dice: None,
            store,
            host,
            at_end,
            overtime: 0,
            drawn: 0,
            shadow: Shadow::new(),
            shared_values: Table::new(),
            locksets: Locksets::new(),
            vars: Vars::new(),
            models: Models::default(),
            blocks: tls::Pool::new(),
            stacks: stack::Pool::default(),
            spare: Vec::new(),
            recent_vars: Box::new([(0, 0, VarId(0)); RECENT]),
            frees: 1,
            finished: Vec::new(),
        }
    }

    /// The running thread.
    #[inline(always)]
    pub fn me(&mut self) -> &mut Fiber {
        me()
    }

    /// Changes where a thread stands. In place, because most callers say to what.
    #[inline(always)]
    pub fn set_state(&mut self, i: usize, state: State) {
        self.end_sprint();
        self.sched.set_state(i, state);
    }

    /// The number of the running thread; 0 before there is one.
    #[inline(always)]
    pub fn current(&self) -> usize {
        globals::number()
    }

    /// Makes a thread the running one.
    #[inline(always)]
    pub fn set_current(&mut self, i: usize) -> &mut Fiber {
        let f = &mut self.sched.threads[i];
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
