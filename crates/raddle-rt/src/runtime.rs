//! One execution: its threads, who runs, who runs next.
//!
//! All threads of an execution are fibers of one operating-system thread, so the runtime needs no locks and
//! nothing happens between two of its calls that it did not decide. A fiber runs until it comes to a visible
//! step: it notes the step as pending and calls [`dispatch`]. There every fiber is first *settled*, that is
//! run up to its own next visible step, so that a decision always sees what everybody is about to do.
//! Creating a thread, joining an ended one and starting are not visible: they commute with everything else.
//!
//! References to [`Runtime`] must not live across a switch of fibers; each function takes a fresh one.

use crate::arch;
use crate::clock::Clock;
use crate::fiber::{Fiber, Gate, HeldLock, State, Test, Wait, WaitKind, Woken};
use crate::heap;
use crate::hooks::{self, RECENT, TOUCHES};
use crate::image::Image;
use crate::lockset::Locksets;
use crate::memory;
use crate::names::{NameKey, Vars};
use crate::progress::PATIENCE;
use crate::shadow::{Shadow, Touch};
use crate::sites::Sites;
use crate::standing::{Standing, ThreadSet};
use crate::store::Store;
use crate::sync::pthread::Models;
use crate::{stack, tls};
use raddle_core::strategy::{Choice, Strategy, View};
use raddle_core::{Access, Event, LockMode, Op, SiteId, ThreadId, Transfer, VarId};

/// Yields in a row that need not let anybody else run.
const IDLE_YIELDS: u32 = 4;
/// Time-outs per thread that may fire although another thread could run.
const EARLY_TIMEOUTS: u32 = 3;
/// For how long a runnable thread may be kept waiting while a time-out fires, in virtual nanoseconds.
const LONGEST_DELAY: u64 = 60 * 1_000_000_000;
/// Events recorded after the end of a schedule being replayed.
const OVERTIME: u64 = 10_000;
/// Steps that remaining threads may still take once the test itself is over.
const EPILOGUE: u64 = 20_000;

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
    Loop {
        /// Stack pointer.
        sp: usize,
        /// Thread pointer.
        fs: usize,
    },
    /// Nowhere: the process is the execution.
    Process,
}

/// The state of the execution in progress; private to the process.
pub struct Runtime {
    /// All threads so far, by number.
    #[expect(clippy::vec_box, reason = "a switch saves the stack pointer into a fiber that must not move")]
    pub fibers: Vec<Box<Fiber>>,
    /// The running one.
    pub current: usize,
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
    /// Events and transfers recorded when the limit of steps was reached, if it was.
    pub limit_at: Option<(usize, usize)>,
    /// Raw events without a dispatch after which a thread is made to yield.
    pub patience: u64,
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
    /// Who touched what.
    pub shadow: Shadow,
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
    /// Accesses noted recently in the shadow memory, with `frees` at that moment.
    pub recent_touches: Box<[(usize, usize, Touch, u64); TOUCHES]>,
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
    /// Threads that have ended and still own a stack or a block.
    pub finished: Vec<usize>,
}

/// Set while the program runs inside an execution, that is when `ACTIVE` and not `INSIDE`; read by every hook.
pub static mut LISTENING: bool = false;
/// Set while an execution is in progress in this process.
static mut ACTIVE: bool = false;
/// Set while runtime code runs, so that what it calls in libc is not taken for the program's.
static mut INSIDE: bool = false;
static mut RUNTIME: *mut Runtime = std::ptr::null_mut();

/// The running thread, for the fast paths.
static mut ME: *mut Fiber = std::ptr::null_mut();
/// There is nobody to share memory with.
static mut ALONE: bool = true;
/// The execution is a calm one.
static mut CALM: bool = false;

/// The running thread.
#[inline(always)]
pub fn me() -> &'static mut Fiber {
    // SAFETY: set whenever `current` is; the fibers are boxed and do not move.
    unsafe { &mut *ME }
}

/// Whether there is nobody to share memory with.
#[inline(always)]
pub fn alone() -> bool {
    // SAFETY: one controlled thread.
    unsafe { ALONE }
}

/// Whether the execution is a calm one: calls follow each other, and only the results of calls matter. A thread
/// inside of a call goes on as long as it can, without asking; plain accesses are not looked at, nothing is learned, and
/// the trace has calls only.
#[inline(always)]
pub fn calm() -> bool {
    // SAFETY: one controlled thread.
    unsafe { CALM }
}

/// Makes the next execution a calm one, or not.
pub fn set_calm(on: bool) {
    // SAFETY: one controlled thread.
    unsafe { CALM = on };
}

/// Whether an address lies in a stack.
#[inline(always)]
pub fn in_stack((low, high): (usize, usize), addr: usize) -> bool {
    addr.wrapping_sub(low) < high - low
}

/// The runtime of this process.
#[inline(always)]
pub fn rt() -> &'static mut Runtime {
    // SAFETY: set by `install` before LISTENING, which guards every path here; one thread only; no
    // reference is kept across a switch.
    unsafe { &mut *RUNTIME }
}

/// Makes a runtime the one of this process.
pub fn install(runtime: Runtime) {
    // SAFETY: single-threaded use, see the module's story.
    unsafe { RUNTIME = Box::into_raw(Box::new(runtime)) };
}

/// Whether there is a runtime.
pub fn installed() -> bool {
    // SAFETY: as above.
    unsafe { !RUNTIME.is_null() }
}

/// Whether interception is on.
pub fn active() -> bool {
    // SAFETY: as above.
    unsafe { ACTIVE }
}

/// Whether the program, not the runtime, is running inside an execution.
#[inline(always)]
pub fn controlled() -> bool {
    // SAFETY: plain reads by the only thread that writes them.
    unsafe { LISTENING }
}

/// Switches interception on or off.
pub fn set_active(on: bool) {
    // SAFETY: as above.
    unsafe {
        ACTIVE = on;
        LISTENING = on && !INSIDE;
    }
}

/// Marks the code between here and the end of the scope as the runtime's own.
pub struct Inside(bool);

impl Inside {
    /// Enters.
    #[inline(always)]
    pub fn enter() -> Self {
        // SAFETY: as above.
        unsafe {
            let before = INSIDE;
            INSIDE = true;
            LISTENING = false;
            Inside(before)
        }
    }

    /// Leaves for good: a fiber starts to run the program.
    pub fn clear() {
        // SAFETY: as above.
        unsafe {
            INSIDE = false;
            LISTENING = ACTIVE;
        }
    }
}

impl Drop for Inside {
    #[inline(always)]
    fn drop(&mut self) {
        // SAFETY: as above.
        unsafe {
            INSIDE = self.0;
            LISTENING = ACTIVE && !self.0;
        }
    }
}

impl Runtime {
    /// A runtime without threads.
    pub fn new(store: &'static mut Store, host: Host, mode: Mode) -> Self {
        Runtime {
            fibers: Vec::new(),
            current: 0,
            store,
            root: 0,
            mode,
            host,
            steps: 0,
            visible: 0,
            decisions: 0,
            limit_at: None,
            patience: PATIENCE,
            root_ended_at: None,
            harness_goes_on: false,
            overtime: 0,
            futile: 0,
            uncounted: false,
            replay_at: 0,
            clock: Clock::new(),
            shadow: Shadow::new(),
            locksets: Locksets::new(),
            vars: Vars::new(),
            models: Models::default(),
            blocks: tls::Pool::new(),
            stacks: stack::Pool::default(),
            spare: Vec::new(),
            recent_vars: Box::new([(0, 0, VarId(0)); RECENT]),
            recent_touches: Box::new([(0, 0, Touch::default(), 0); TOUCHES]),
            frees: 1,
            tickets: 0,
            standing: Standing::default(),
            able: ThreadSet::default(),
            enabled: Vec::new(),
            finished: Vec::new(),
        }
    }

    /// The running thread.
    #[inline(always)]
    pub fn me(&mut self) -> &mut Fiber {
        me()
    }

    /// Changes where a thread stands.
    #[inline]
    pub fn set_state(&mut self, i: usize, state: State) {
        let f = &mut self.fibers[i];
        f.state = state;
        self.standing.note(i, &state, f.system);
    }

    /// Makes a thread the running one.
    pub fn set_current(&mut self, i: usize) {
        self.current = i;
        // SAFETY: one controlled thread.
        unsafe { ME = &raw mut *self.fibers[i] };
    }

    /// Brings the flags of the fast paths up to date.
    pub fn note_company(&mut self) {
        let was = alone();
        // SAFETY: one controlled thread.
        unsafe { ALONE = self.mode == Mode::Prelude || self.fibers.len() == 1 };
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
        let me = self.current;
        let mut fibers = self.fibers.iter().enumerate();
        if self.mode == Mode::Search && fibers.all(|(i, f)| i == me || f.state == State::Exited) {
            // SAFETY: one controlled thread.
            unsafe { ALONE = true };
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
            || calm() && !matches!(event.op, Op::Enter(_) | Op::Leave(_))
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
            introduce(&mut store.strategy, &store.sites, &mut store.image, event.site);
            heap::persistent(|| store.strategy.happened(event));
        }
    }

    /// An event of the running thread.
    #[inline(always)]
    pub fn event(&self, site: SiteId, op: Op) -> Event {
        Event { thread: ThreadId(self.current as u32), site, op }
    }

    /// The variable at an address; a new one where memory was freed and allocated again.
    #[inline(always)]
    pub fn var(&mut self, addr: usize) -> VarId {
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
            None => match self.fibers.iter().find(|f| (f.stack_range.0..f.stack_range.1).contains(&addr)) {
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
        let me = self.current;
        self.fibers[me].held.push(HeldLock { addr, mode, site });
        if calm() {
            return;
        }
        let var = self.var(addr);
        self.note_lockset(me);
        let e = self.event(site, Op::Acquire { lock: var, mode });
        self.record(e);
    }

    /// The running thread gives a lock back. It may have been taken by another thread (a guard sent away).
    pub fn released(&mut self, addr: usize, mode: LockMode, site: SiteId) {
        let holder = std::iter::once(self.current)
            .chain(0..self.fibers.len())
            .find(|&i| self.fibers[i].held.iter().any(|h| h.addr == addr));
        if let Some(i) = holder {
            let held = &mut self.fibers[i].held;
            let last = held.iter().rposition(|h| h.addr == addr).expect("just found");
            held.remove(last);
            if !calm() {
                self.note_lockset(i);
            }
        }
        if calm() {
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
        let gate = Gate { addr: first.addr, test: Test::Zero32(!0), reader: false, writer: false };
        more.is_none().then_some(gate)
    }

    /// Is a lock free?
    pub fn open(&self, gate: Gate) -> bool {
        if gate.reader && self.writer_waits(gate.addr) {
            return false;
        }
        // SAFETY: the address is that of the lock word whose hook brought the thread here; the thread still
        // holds a reference to the lock.
        unsafe {
            match gate.test {
                Test::Zero8(mask) => (gate.addr as *const u8).read_volatile() & mask == 0,
                Test::Zero32(mask) => (gate.addr as *const u32).read_volatile() & mask == 0,
                Test::Zero64(mask) => (gate.addr as *const u64).read_volatile() & mask == 0,
                Test::StdRead => {
                    const MASK: u32 = (1 << 30) - 1;
                    const MAX_READERS: u32 = MASK - 1;
                    let s = (gate.addr as *const u32).read_volatile();
                    s & MASK < MAX_READERS && s & !MASK == 0
                }
                Test::Model(mode) => self.models.free(gate.addr, mode),
            }
        }
    }

    /// Whether a writer would wait for readers only, so that its waiting makes a difference to other readers.
    fn can_queue(&self, gate: Gate) -> bool {
        let held = |m| self.fibers.iter().any(|f| f.held.iter().any(|h| h.addr == gate.addr && h.mode == m));
        gate.writer && held(LockMode::Shared) && !held(LockMode::Exclusive)
    }

    /// Whether a writer waits in the queue of a lock.
    fn writer_waits(&self, addr: usize) -> bool {
        self.fibers.iter().any(|f| f.queued && matches!(f.state, State::Lock(g) if g.addr == addr))
    }

    /// Whether something that a spinning thread read has changed.
    fn moved(&self, f: &Fiber) -> bool {
        f.spin.iter().any(|r| load(r.addr, r.size) != r.value)
    }

    /// Fills `able`; returns a thread that has to be settled first, if there is one.
    #[inline(always)]
    fn collect(&mut self) -> Option<usize> {
        let settle = self.standing.unsettled.nth(0);
        if settle.is_some() {
            return settle;
        }
        self.able.copy_from(&self.standing.ready);
        if self.standing.unclear.is_empty() { None } else { self.look() }
    }

    /// Adds those to `able` who turn out to be able to run.
    fn look(&mut self) -> Option<usize> {
        // The harness waits until the test is over and what it left behind has come to rest.
        let hold_system = match self.root_ended_at {
            Some(at) => !self.harness_goes_on && self.steps < at + EPILOGUE,
            None => true,
        };
        let mut able = std::mem::take(&mut self.able);
        let mut settle = None;
        for i in self.standing.unclear.iter() {
            let f = &self.fibers[i];
            let can = match f.state {
                State::Exited => false,
                State::Unsettled if f.system && hold_system => false,
                State::Unsettled => {
                    settle = Some(i);
                    break;
                }
                State::Ready => !(f.system && hold_system),
                State::Yielded(at) => self.steps > at,
                State::Lock(gate) => self.open(gate) || !f.queued && self.can_queue(gate),
                State::Spinning => self.moved(f),
                State::Waiting(w) => {
                    w.early && f.early_timeouts < EARLY_TIMEOUTS && self.may_pass(w.deadline)
                }
            };
            if can {
                able.insert(i);
            }
        }
        self.able = able;
        settle
    }

    /// When nobody is enabled: those who gave way, then time, then the spinning, then the harness.
    fn second_chance(&mut self) -> bool {
        let (fibers, able) = (&self.fibers, &mut self.able);
        for (i, f) in fibers.iter().enumerate() {
            if matches!(f.state, State::Yielded(_)) {
                able.insert(i);
            }
        }
        if !self.able.is_empty() || self.pass_time() {
            return true;
        }
        let (fibers, able) = (&self.fibers, &mut self.able);
        for (i, f) in fibers.iter().enumerate() {
            if f.state == State::Spinning || matches!(f.state, State::Lock(_)) && f.relocks {
                able.insert(i);
            }
        }
        !self.able.is_empty()
    }

    /// The time at which the first wait ends by itself.
    fn next_deadline(&self) -> Option<u64> {
        let deadlines = self.fibers.iter().filter_map(|f| match f.state {
            State::Waiting(w) => w.deadline,
            _ => None,
        });
        deadlines.min()
    }

    /// Whether time may pass until then although threads could run: nothing else is due before, and it is not
    /// longer than a thread can be believed to be held up by its operating system.
    fn may_pass(&self, deadline: Option<u64>) -> bool {
        deadline <= self.next_deadline() && deadline.is_some_and(|d| d <= self.clock.now() + LONGEST_DELAY)
    }

    /// Lets time pass until the next deadline; wakes whom it concerns.
    fn pass_time(&mut self) -> bool {
        let Some(at) = self.next_deadline() else { return false };
        self.clock.advance_to(at);
        for i in 0..self.fibers.len() {
            if let State::Waiting(w) = self.fibers[i].state
                && w.deadline.is_some_and(|d| d <= at)
            {
                self.expire(i);
            }
        }
        true
    }

    /// A wait ends because its time has come.
    fn expire(&mut self, i: usize) {
        let f = &mut self.fibers[i];
        if let State::Waiting(w) = f.state {
            if let Some(d) = w.deadline {
                self.clock.advance_to(d);
            }
            f.woken = Woken::TimedOut;
            f.pending = timed_out(f.pending);
            self.set_state(i, State::Ready);
        }
    }

    /// Chooses who runs next.
    fn pick(&mut self) -> usize {
        loop {
            if let Some(i) = self.collect() {
                return i;
            }
            if self.able.is_empty() && !self.second_chance() {
                self.stuck();
                continue;
            }
            let k = match self.able.len() {
                0 => continue,
                1 if self.mode != Mode::Search || !self.store.strategy.every_step() => 0,
                n => match self.decide(n) {
                    Choice::Run(k) => k,
                    Choice::Abandon => crate::control::abandon(),
                },
            };
            let Some(i) = self.able.nth(k) else {
                crate::fatal("a strategy chose a thread that is not there")
            };
            if matches!(self.fibers[i].state, State::Waiting(_)) {
                self.fibers[i].early_timeouts += 1;
                self.expire(i);
            }
            return i;
        }
    }

    /// Asks the strategy for one of the `n` that are able.
    #[inline]
    fn decide(&mut self, n: usize) -> Choice {
        if self.limit_at.is_some() {
            self.decisions += 1;
            return Choice::Run(crate::table::mix(self.steps) as usize % n);
        }
        let strategy = &mut self.store.strategy;
        let blind = heap::persistent(|| strategy.choose_blindly(n));
        let choice = blind.map_or_else(|| self.show(), Choice::Run);
        self.decisions += 1;
        choice
    }

    /// Shows the strategy what everybody is about to do.
    fn show(&mut self) -> Choice {
        self.enabled.clear();
        for i in self.able.iter() {
            let f = &self.fibers[i];
            self.enabled.push(match f.state {
                State::Waiting(_) => timed_out(f.pending),
                _ => f.pending,
            });
        }
        for event in &self.enabled {
            let store = &mut *self.store;
            introduce(&mut store.strategy, &store.sites, &mut store.image, event.site);
        }
        let view = View {
            enabled: &self.enabled,
            last: ThreadId(self.current as u32),
            events: &self.store.trace.events,
            vars: &self.store.trace.vars,
            decision: self.decisions,
        };
        let strategy = &mut self.store.strategy;
        heap::persistent(|| strategy.choose(&view))
    }

    /// Nobody can go on, now or later.
    fn stuck(&mut self) {
        if self.mode == Mode::Search {
            let waiting = self.fibers.iter().filter(|f| f.state != State::Exited && !f.system);
            let pending: Vec<Event> = waiting.map(|f| f.pending).collect();
            let strategy = &mut self.store.strategy;
            heap::persistent(|| strategy.stuck(&pending));
        }
        if self.root_ended_at.is_none() {
            crate::failure::deadlock();
        }
        // The test is over; what still waits was abandoned by it.
        match self.host {
            Host::Loop { .. } => crate::control::finish(),
            Host::Process => {
                // Once the harness has been seen to pass a test that neither panicked nor printed, there is
                // no need to let it do so again.
                let quiet = self.fibers[self.root].panics.is_empty() && self.store.output.is_empty();
                if self.harness_goes_on || quiet && self.store.quiet_means_passed {
                    crate::control::finish();
                }
                self.harness_goes_on = true;
            }
        }
    }

    /// Whether a thread could go on by itself, for replays.
    fn runnable(&self, i: usize) -> bool {
        match self.fibers[i].state {
            State::Waiting(_) | State::Exited => false,
            State::Lock(gate) => self.open(gate) || !self.fibers[i].queued && self.can_queue(gate),
            _ => true,
        }
    }

    /// Who runs after the end of the schedule: the failure is ahead of the running thread, unless the threads
    /// only keep each other busy.
    fn free_run(&mut self) -> usize {
        let me = self.current;
        if !matches!(self.fibers[me].state, State::Spinning | State::Yielded(_)) {
            return me;
        }
        if let Some(i) = self.collect() {
            return i;
        }
        self.able.iter().find(|&i| i > me).or(self.able.nth(0)).unwrap_or(me)
    }

    /// Whether the schedule being replayed transfers control here.
    pub fn due(&self) -> bool {
        let here = self.fibers[self.current].position();
        self.store.replay.as_ref().and_then(|s| s.transfers.get(self.replay_at)).is_some_and(|t| t.at == here)
    }

    /// Who runs next according to the schedule.
    fn follow(&mut self) -> usize {
        let me = self.current;
        let here = self.fibers[me].position();
        let next = self.store.replay.as_ref().and_then(|s| s.transfers.get(self.replay_at)).copied();
        match next {
            Some(t) if t.at == here => {
                self.replay_at += 1;
                let i = t.to.0 as usize;
                if i >= self.fibers.len() {
                    crate::failure::diverged("the schedule names a thread that does not exist");
                }
                if t.timeout {
                    self.expire(i);
                }
                if !self.runnable(i) {
                    crate::failure::diverged("the schedule continues a thread that cannot go on");
                }
                i
            }
            None if self.runnable(me) => self.free_run(),
            _ if self.runnable(me) => me,
            _ => {
                if let State::Waiting(Wait { deadline: Some(_), .. }) = self.fibers[me].state {
                    self.expire(me);
                    return me;
                }
                // The schedule of a livelock ends at the limit of steps, about which a replay may be wrong by a few.
                if next.is_none() && self.steps >= self.store.job.max_steps / 10 * 9 {
                    let others = (0..self.fibers.len()).find(|&i| self.runnable(i));
                    if let Some(i) = others {
                        return i;
                    }
                }
                // The schedule ends where the failure was: a deadlock has no further transfer.
                if next.is_none() {
                    crate::failure::end_of_replay();
                }
                crate::failure::diverged("a thread cannot go on where the schedule lets it run")
            }
        }
    }
}

/// Tells a strategy that wants to know where a site is.
#[inline(always)]
fn introduce(strategy: &mut Box<dyn Strategy>, sites: &Sites, image: &mut Image, site: SiteId) {
    if strategy.wants_place(site) {
        heap::persistent(|| strategy.place(site, &image.frames(&sites.get(site).chain)));
    }
}

/// Sees to it that the right thread runs; returns when it is the caller's turn.
pub fn dispatch() {
    let r = rt();
    let me = r.current;
    if !std::mem::take(&mut r.uncounted) {
        r.steps += 1;
        r.store.heartbeat += 1;
        if r.steps > r.store.job.max_steps {
            r.overrun();
        }
    }
    crate::hooks::plain::settle_store();
    let next = if r.mode == Mode::Replay { r.follow() } else { r.pick() };
    if next != me {
        transfer(next);
    }
    let r = rt();
    me_again(r);
}

/// The running thread goes on.
#[inline(always)]
fn me_again(r: &mut Runtime) {
    let f = me();
    f.renew_patience(r.mode, r.patience);
    f.urged = 0;
    f.state = State::Unsettled;
    r.standing.note(r.current, &State::Unsettled, f.system);
}

/// Switches to another thread and notes it in the schedule.
fn transfer(next: usize) {
    let r = rt();
    let me = r.current;
    let timeout = r.fibers[next].woken == Woken::TimedOut && r.fibers[next].state == State::Ready;
    let at = r.fibers[me].position();
    if r.mode != Mode::Replay {
        r.store.schedule.transfers.push(Transfer { at, to: ThreadId(next as u32), timeout });
    }
    r.set_current(next);
    let (to, fs) = (r.fibers[next].sp, r.fibers[next].fs);
    let save: *mut usize = &raw mut r.fibers[me].sp;
    // SAFETY: `to` was saved by the switch away from `next`, or prepared for its start; it is used once
    // because `current` is now `next`. The fiber boxes do not move.
    unsafe { arch::switch(save, to, fs) };
}

/// Leaves the fiber world for the loop that started the execution.
pub fn leave_to_host() -> ! {
    let r = rt();
    let Host::Loop { sp, fs } = r.host else { crate::fatal("there is no loop to return to") };
    let mut dead = 0;
    // SAFETY: the context was saved by `enter_from_host` on a stack that is still alive; the fiber that
    // leaves is never continued.
    unsafe { arch::switch(&mut dead, sp, fs) };
    crate::fatal("an ended execution went on")
}

/// Runs thread 0 of a new execution until the execution is over.
pub fn enter_from_host() {
    let r = rt();
    r.set_current(0);
    let (to, fs) = (r.fibers[0].sp, r.fibers[0].fs);
    r.host = Host::Loop { sp: 0, fs: arch::fs_base() };
    let Host::Loop { sp, .. } = &mut r.host else { unreachable!() };
    let save: *mut usize = sp;
    // SAFETY: thread 0 was prepared and has not run; the saved context is continued by `leave_to_host`.
    unsafe { arch::switch(save, to, fs) };
}

/// A visible step of the running thread: returns when the thread may take it.
#[inline(always)]
pub fn step(event: Event, state: State) {
    let r = rt();
    r.visible += !matches!(event.op, Op::Join(_)) as u64;
    if calm() && goes_on(r, &event, &state) {
        return;
    }
    let f = me();
    f.pending = event;
    f.state = state;
    r.standing.note(r.current, &state, f.system);
    dispatch();
    if let State::Lock(gate) = state {
        pass(gate);
    }
}

/// Whether a thread in a calm execution need not ask; if so, its step is counted.
fn goes_on(r: &mut Runtime, event: &Event, state: &State) -> bool {
    let can = match state {
        State::Ready => !matches!(event.op, Op::Enter(_) | Op::Yield | Op::Sleep | Op::Wait { .. }),
        State::Lock(gate) => r.open(*gate),
        _ => false,
    };
    let f = me();
    if !can || !f.calling {
        return false;
    }
    r.steps += 1;
    r.store.heartbeat += 1;
    if r.steps > r.store.job.max_steps {
        crate::failure::out_of_steps();
    }
    f.renew_patience(r.mode, r.patience);
    true
}

/// The running thread has got to a gate.
fn pass(gate: Gate) {
    // A writer that was let run although readers are inside joins the queue: from now on it keeps new
    // readers out, as the locks of std and parking_lot do.
    while !rt().open(gate) {
        let r = rt();
        me().queued = true;
        r.set_state(r.current, State::Lock(gate));
        dispatch();
    }
    me().queued = false;
}

/// Makes the running thread wait; returns how the wait ended.
pub fn wait(event: Event, mut wait: Wait) -> Woken {
    let r = rt();
    r.tickets += 1;
    wait.ticket = r.tickets;
    let f = r.me();
    f.woken = Woken::Up;
    step(event, State::Waiting(wait));
    rt().me().woken
}

/// Wakes up to `n` threads that wait in the queue `key` with one of the bits, first come first served.
pub fn wake(key: usize, bits: u32, n: usize) -> usize {
    let r = rt();
    let mut woken = 0;
    while woken < n {
        let first = r
            .fibers
            .iter()
            .enumerate()
            .filter_map(|(i, f)| match f.state {
                State::Waiting(w) if w.key == key && w.bits & bits != 0 && w.kind != WaitKind::Sleep => {
                    Some((w.ticket, i, w.kind))
                }
                _ => None,
            })
            .min_by_key(|&(ticket, ..)| ticket);
        let Some((_, i, kind)) = first else { break };
        let f = &mut r.fibers[i];
        f.woken = Woken::Up;
        let state = match (kind, f.relock.take()) {
            (WaitKind::Join(_), _) => State::Unsettled,
            (_, None) => State::Ready,
            (_, Some(gate)) => {
                f.relocks = true;
                State::Lock(gate)
            }
        };
        r.set_state(i, state);
        woken += 1;
    }
    woken
}

/// The running thread has ended; never returns.
pub fn exit_thread(result: usize) -> ! {
    let r = rt();
    let me = r.current;
    let f = r.me();
    f.result = result;
    f.raw += 1;
    let (id, pending) = (f.id, f.pending.site);
    r.set_state(me, State::Exited);
    r.record(Event { thread: id, site: pending, op: Op::Exit });
    wake(join_key(id), !0, usize::MAX);
    if me == r.root {
        r.root_ended_at = Some(r.steps);
    }
    if matches!(r.host, Host::Loop { .. }) && r.fibers.iter().all(|f| f.state == State::Exited) {
        crate::control::finish();
    }
    r.finished.push(me);
    dispatch();
    crate::fatal("an ended thread went on")
}

/// The wait queue of those who join a thread.
pub fn join_key(id: ThreadId) -> usize {
    !0 - id.0 as usize
}

/// The running thread yields. That is a hint: the first few times in a row it may be ignored, like everything
/// that an operating system may do; a thread that goes on yielding lets others go first.
pub fn give_way(event: Event) {
    let r = rt();
    let at = r.steps + 1;
    let f = r.me();
    f.yields += 1;
    let state = if f.yields <= IDLE_YIELDS { State::Ready } else { State::Yielded(at) };
    step(event, state);
}

/// Called after a visible event has taken effect. Where a hidden synchronisation is known to follow (in the
/// precompiled part of std), others may run in between.
#[inline]
pub fn after(site: SiteId) {
    let r = rt();
    if alone() {
        return;
    }
    let f = me();
    f.anchor = site;
    if calm() {
        return;
    }
    if r.mode == Mode::Replay || r.store.sites.get(site).hides {
        may_stop_after(site);
    }
}

fn may_stop_after(site: SiteId) {
    let r = rt();
    me().after = true;
    if r.mode != Mode::Replay || r.due() {
        let e = r.event(site, Op::Pause);
        step(e, State::Ready);
    }
    me().after = false;
}

/// The running thread synchronises in precompiled code: the visible event before is where others get their
/// chance from now on.
pub fn hidden_synchronisation() {
    let r = rt();
    let site = r.me().anchor;
    r.store.learned |= r.store.sites.hides(site);
}

fn timed_out(e: Event) -> Event {
    match e.op {
        Op::Wait { on, .. } => Event { op: Op::Wait { on, timed_out: true }, ..e },
        _ => e,
    }
}

/// The address of the program's memory that the runtime is looking at.
static mut LOADING: usize = 0;

/// Stands for an address that no memory can have, of which the kernel tells nothing more.
pub const IMPOSSIBLE: usize = usize::MAX;

/// Whether a fault at this address, in runtime code, is the program's doing.
pub fn is_programs_fault(addr: usize) -> bool {
    const HIGHEST: usize = 1 << 47;
    // SAFETY: one controlled thread.
    let loading = unsafe { LOADING };
    active() && (addr.wrapping_sub(loading) < 16 || (addr == IMPOSSIBLE && loading >= HIGHEST))
}

/// Reads up to 16 bytes of the program's memory.
pub fn load(addr: usize, size: u8) -> u128 {
    // Should the program's pointer be wrong, the fault is the program's (see `signals`).
    // SAFETY: one controlled thread.
    unsafe { LOADING = addr };
    // SAFETY: the program is about to access, or just accessed, exactly these bytes.
    unsafe {
        match size {
            1 => (addr as *const u8).read().into(),
            2 => (addr as *const u16).read_unaligned().into(),
            4 => (addr as *const u32).read_unaligned().into(),
            8 => (addr as *const u64).read_unaligned().into(),
            16.. => (addr as *const u128).read_unaligned(),
            _ => {
                let mut bytes = [0u8; 16];
                std::ptr::copy_nonoverlapping(addr as *const u8, bytes.as_mut_ptr(), size as usize);
                u128::from_le_bytes(bytes)
            }
        }
    }
}

/// An access without values.
pub fn access(var: VarId, size: u8) -> Access {
    Access::plain(var, size)
}
