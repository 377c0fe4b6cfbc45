//! One execution: its threads, who runs, who runs next.
//!
//! All threads of an execution are fibers of one operating-system thread, so the runtime needs no locks and
//! nothing happens between two of its calls that it did not decide. A fiber runs until it comes to a visible
//! step: it notes the step as pending and calls [`dispatch`](switch::dispatch). There every fiber is first *settled*, that is
//! run up to its own next visible step, so that a decision always sees what everybody is about to do.
//! Creating a thread, joining an ended one and starting are not visible: they commute with everything else.
//!
//! References to [`Runtime`] must not live across a switch of fibers; each function takes a fresh one.

mod early;
mod globals;
mod load;
mod pick;
mod switch;

pub use early::EarlyEnds;
pub use globals::{
    Inside, LISTENING, ME, active, alone, calls_only, controlled, in_stack, install, installed, me, rt,
    set_active, set_calls_only, set_me, set_unrecorded, unrecorded, unseen,
};
pub use load::{IMPOSSIBLE, access_at, faults, is_programs_fault, load, probe};
pub use switch::{
    after, await_gate, dispatch, enter_from_host, exit_thread, give_way, hidden_synchronisation, join_key,
    pass, step, transfer, wait, wake,
};

use crate::arch::Context;
use crate::clock::Clock;
use crate::fiber::{Fiber, Gate, HeldLock, State, Test};
use crate::heap;
use crate::hooks::{self, RECENT};
use crate::lockset::Locksets;
use crate::memory;
use crate::names::{NameKey, Vars};
use crate::progress::{Mark, PATIENCE};
use crate::rounds::Rounds;
use crate::shadow::Shadow;
use crate::standing::{Standing, ThreadSet};
use crate::store::Store;
use crate::sync::pthread::Models;
use crate::sync::words;
use crate::table::Table;
use crate::{stack, tls};
use raddle_core::strategy::Dice;
use raddle_core::{Access, Event, LockMode, Op, SiteId, ThreadId, VarId};
use std::ptr::NonNull;

/// Events recorded after the end of a schedule being replayed.
const OVERTIME: u64 = 10_000;

/// How the execution goes on or ends.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Mode {
    /// The strategy decides.
    Search,
    /// A recorded schedule decides.
    Replay,
    /// One thread, before the first fork: nothing to decide.
    Prelude,
}

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

/// The state of the execution in progress; private to the process.
pub struct Runtime {
    /// All threads so far, by number.
    #[expect(clippy::vec_box, reason = "a switch saves the stack pointer into a fiber that must not move")]
    pub fibers: Vec<Box<Fiber>>,
    /// The strategy's dice, if it does nothing but throw them.
    pub dice: Option<NonNull<Dice>>,
    /// Shared with the parent.
    pub store: &'static mut Store,
    /// The thread whose end is the end of the test.
    pub root: usize,
    /// How it is steered.
    pub mode: Mode,
    /// What follows it.
    pub host: Host,
    /// Times the scheduler was asked.
    pub steps: u64,
    /// Visible steps taken.
    pub visible: u64,
    /// Decisions taken.
    pub decisions: usize,
    /// Where looks found the execution, as it grew longer.
    pub marks: Vec<Mark>,
    /// Where chance began to decide instead of the strategy or the schedule, if it did.
    pub chance_at: Option<Mark>,
    /// A failure is reported with so many events.
    pub reported: usize,
    /// Steps after which an execution in which chance decides is judged.
    pub judge_after: u64,
    /// What threads do long after that.
    pub rounds: Rounds,
    /// Raw events without a dispatch after which a thread is made to yield.
    pub patience: u64,
    /// A call is not to be interrupted unless it waits: the strategy runs sequential orders.
    pub patient: bool,
    /// `steps` when the test itself ended.
    pub root_ended_at: Option<u64>,
    /// The test is over and its harness may continue.
    pub harness_goes_on: bool,
    /// Events since the end of the schedule being replayed.
    pub overtime: u64,
    /// Raw events of spinning threads since then.
    pub futile: u64,
    /// The next dispatch is not a step.
    pub uncounted: bool,
    /// Position in the schedule being replayed.
    pub replay_at: usize,
    /// Virtual time.
    pub clock: Clock,
    /// Which waits may still end although threads could run.
    pub early_ends: EarlyEnds,
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
    #[expect(clippy::vec_box, reason = "they go back to `fibers`")]
    pub spare: Vec<Box<Fiber>>,
    /// Variables looked up recently: address, `frees` at that moment, variable.
    pub recent_vars: Box<[(usize, u64, VarId); RECENT]>,
    /// Moves whenever an address may come to mean something else.
    pub frees: u64,
    /// Order of arrival in wait queues.
    pub tickets: u64,
    /// Where each thread stands; changed by `set_state` together with the thread's own state.
    pub standing: Standing,
    /// Who can run, at a decision.
    able: ThreadSet,
    /// What those are about to do, for strategies that look.
    enabled: Vec<Event>,
    /// Threads that have not ended.
    pub alive: usize,
    /// Threads that have ended and still own a stack or a block.
    pub finished: Vec<usize>,
}

impl Runtime {
    /// A runtime without threads.
    pub fn new(store: &'static mut Store, host: Host, mode: Mode) -> Self {
        Runtime {
            fibers: Vec::new(),
            dice: None,
            store,
            root: 0,
            mode,
            host,
            steps: 0,
            visible: 0,
            decisions: 0,
            marks: Vec::new(),
            chance_at: None,
            reported: usize::MAX,
            judge_after: 0,
            patience: PATIENCE,
            patient: false,
            root_ended_at: None,
            harness_goes_on: false,
            rounds: Rounds::default(),
            overtime: 0,
            futile: 0,
            uncounted: false,
            replay_at: 0,
            clock: Clock::new(),
            early_ends: EarlyEnds::NONE,
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
            tickets: 0,
            standing: Standing::default(),
            able: ThreadSet::default(),
            enabled: Vec::new(),
            alive: 0,
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
        self.flush();
        let f = &mut self.fibers[i];
        f.state = state;
        self.standing.note(i, &state, f.system);
    }

    /// The number of the running thread; 0 before there is one.
    #[inline(always)]
    pub fn current(&self) -> usize {
        globals::number()
    }

    /// Makes a thread the running one.
    #[inline(always)]
    pub fn set_current(&mut self, i: usize) -> &mut Fiber {
        let f = &mut self.fibers[i];
        globals::set_me(f);
        f
    }

    /// Brings the flags of the fast paths up to date.
    pub fn note_company(&mut self) {
        let was = alone();
        globals::set_alone(self.mode == Mode::Prelude || self.fibers.len() == 1);
        if was && !alone() {
            // These threads are older than the execution, and what is known may be younger.
            (0..self.fibers.len()).for_each(|i| self.shield(i));
        }
    }

    /// Tells a thread which part of its stack nobody else looks at.
    pub fn shield(&mut self, i: usize) {
        let f = &mut self.fibers[i];
        let (low, high) = f.stack_range;
        let shown = if self.store.job.every_access { high - low } else { self.store.reached.depth(f.id) };
        f.private = (low, high - shown.min(high - low));
    }

    /// The running thread is about to access memory that is not on the heap; if it is in another thread's stack, that
    /// much of the stack is worth watching, from the next execution on from the first access.
    pub fn reach(&mut self, addr: usize) {
        let (low, high) = self.store.image.range;
        if (low..high).contains(&addr) || in_stack(me().stack_range, addr) {
            return;
        }
        let Some(i) = self.fibers.iter().position(|f| in_stack(f.private, addr)) else { return };
        let depth = self.fibers[i].stack_range.1 - addr;
        self.store.reached.note(self.fibers[i].id, depth);
        self.store.learned = true;
        self.shield(i);
    }

    /// Once all others have ended, what the running thread does comes after all that they did. A replay is looked at
    /// to its end.
    pub fn note_end_of_company(&mut self) {
        if self.mode == Mode::Search && self.alive == 1 {
            globals::set_alone(true);
        }
    }

    /// Begins a raw event of the running thread.
    #[inline(always)]
    pub fn tick(&mut self) {
        me().raw += 1;
    }

    /// Appends to the trace. A replay that goes on long after its schedule has ended is recorded no longer: what
    /// led there is in the trace, and the rest may be endless.
    #[inline(always)]
    pub fn record(&mut self, event: Event) {
        if self.mode == Mode::Replay && self.in_overtime()
            || unseen() && (unrecorded() || !matches!(event.op, Op::Enter(_) | Op::Leave(_)))
        {
            return;
        }
        self.store.trace.events.push(event);
        if self.store.strategy_listens {
            self.tell();
        }
    }

    fn in_overtime(&mut self) -> bool {
        let over = self.replay_at >= self.store.replay.as_ref().map_or(0, |s| s.transfers.len());
        self.overtime += over as u64;
        self.overtime > OVERTIME
    }

    /// Tells the strategy what was recorded last.
    fn tell(&mut self) {
        let store = &mut *self.store;
        if self.mode == Mode::Search
            && let Some(event) = store.trace.events.last()
        {
            pick::introduce(&mut store.strategy, &store.sites, &mut store.image, event.site);
            heap::persistent(|| store.strategy.happened(event));
        }
    }

    /// An event of the running thread.
    #[inline(always)]
    pub fn event(&self, site: SiteId, op: Op) -> Event {
        Event { thread: ThreadId(self.current() as u32), site, op }
    }

    /// The variable at an address; a new one where memory was freed and allocated again.
    #[inline(always)]
    pub fn var(&mut self, addr: usize) -> VarId {
        if unrecorded() {
            return VarId(0);
        }
        let slot = (addr >> 2) & (hooks::slots() - 1) & (RECENT - 1);
        if self.recent_vars[slot].0 == addr && self.recent_vars[slot].1 == self.frees {
            return self.recent_vars[slot].2;
        }
        let var = self.look_up_var(addr);
        self.recent_vars[slot] = (addr, self.frees, var);
        var
    }

    #[inline(never)]
    fn look_up_var(&mut self, addr: usize) -> VarId {
        let block = if memory::owns(addr) { crate::interpose::malloc::heap().find(addr) } else { None };
        let serial = block.map_or(0, |(_, b)| b.serial);
        if let Some(v) = self.vars.get(addr, serial) {
            return v;
        }
        let (low, high) = self.store.image.range;
        let name = match block {
            Some((start, b)) => NameKey::Heap(b.place, b.size, addr - start),
            None if (low..high).contains(&addr) => NameKey::Static(addr - low),
            None => match self.fibers.iter().find(|f| in_stack(f.stack_range, addr)) {
                Some(f) => match f.frame_around(addr) {
                    Some((pc, sp)) => {
                        let store = &mut *self.store;
                        let local = store.names.local(pc, addr - sp, || store.image.local_name(pc, sp, addr));
                        local.unwrap_or(NameKey::Stack(f.id.0, f.stack_range.1 - addr))
                    }
                    None => NameKey::Stack(f.id.0, f.stack_range.1 - addr),
                },
                None => NameKey::Other(addr),
            },
        };
        let store = &mut *self.store;
        store.trace.vars.push(store.names.intern(name));
        self.vars.add(addr, serial)
    }

    /// The running thread has taken a lock.
    pub fn acquired(&mut self, addr: usize, mode: LockMode, site: SiteId) {
        let me = self.current();
        self.fibers[me].held.push(HeldLock { addr, mode, site });
        if unseen() {
            return;
        }
        let var = self.var(addr);
        self.note_lockset(me);
        let e = self.event(site, Op::Acquire { lock: var, mode });
        self.record(e);
    }

    /// The running thread gives a lock back. It may have been taken by another thread (a guard sent away).
    pub fn released(&mut self, addr: usize, mode: LockMode, site: SiteId) {
        let holder = std::iter::once(self.current())
            .chain(0..self.fibers.len())
            .find(|&i| self.fibers[i].held.iter().any(|h| h.addr == addr));
        if let Some(i) = holder {
            let held = &mut self.fibers[i].held;
            let last = held.iter().rposition(|h| h.addr == addr).expect("just found");
            held.remove(last);
            if !unseen() {
                self.note_lockset(i);
            }
        }
        if unseen() {
            return;
        }
        let var = self.var(addr);
        let e = self.event(site, Op::Release { lock: var, mode });
        self.record(e);
    }

    fn note_lockset(&mut self, i: usize) {
        let f = &mut self.fibers[i];
        f.lockset = self.locksets.intern(f.held.iter().map(|l| (l.addr, l.mode)));
    }

    /// The gate of the mutex that the running thread, which is about to wait on a condition, has just given back in
    /// precompiled code and will take again there: of the locks it seems to hold, the one that is free.
    pub fn given_back(&self) -> Option<Gate> {
        let mut free = me().held.iter().filter(|h| {
            // SAFETY: the thread has a reference to a lock that it holds or has just given back.
            h.addr % 4 == 0 && unsafe { (h.addr as *const u32).read_volatile() } == 0
        });
        let (first, more) = (free.next()?, free.next());
        let gate =
            Gate { addr: first.addr, test: Test::Zero(words::STD_MUTEX), reader: false, writer: false };
        more.is_none().then_some(gate)
    }
}

/// An access without values.
pub fn access(var: VarId, size: u8) -> Access {
    Access::plain(var, size)
}
