//! A thread of the program under test.

use crate::fast;
use crate::hooks::calls::Calls;
use crate::image::Image;
use crate::owners::Destructors;
use crate::runtime::Mode;
use crate::stack::Stack;
use crate::tls::Block;
use libc::c_void;
use raddle_core::protocol::Unexplored;
use raddle_core::{Event, LockMode, ThreadId};

/// The function a thread starts with.
pub type Start = extern "C" fn(*mut c_void) -> *mut c_void;

/// Where a thread stands.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum State {
    /// It can run and has not reached its next visible step.
    Unsettled,
    /// It stands before the visible step `pending` and can take it.
    Ready,
    /// It stands before a visible step and lets others go first until the step counter moves.
    Yielded(u64),
    /// It stands before taking a lock.
    Lock(Gate),
    /// It re-reads memory that nobody has changed.
    Spinning,
    /// It waits to be woken.
    Waiting(Wait),
    /// It has ended.
    Exited,
}

/// When a lock can be taken.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Gate {
    /// The lock's word.
    pub addr: usize,
    /// Which bits of the word have to be how.
    pub test: Test,
    /// Taken for reading, if it is a reader-writer lock.
    pub reader: bool,
    /// Taken for writing, if it is a reader-writer lock.
    pub writer: bool,
}

impl Gate {
    /// A mutex that is free when these bits of its word are zero.
    #[inline(always)]
    pub fn mutex(addr: usize, bits: u64) -> Gate {
        Gate { addr, test: Test::Zero(bits), reader: false, writer: false }
    }
}

/// A test of a lock word. The masks are facts about the lock implementations.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Test {
    /// Free when the bits of the word under the mask are zero.
    Zero(u64),
    /// A reader may enter std's futex lock: fewer readers than the maximum, nobody waiting.
    StdRead,
    /// Free when the runtime's own model of a pthread lock says so.
    Model(LockMode),
}

/// What a waiting thread waits for.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Wait {
    /// The queue it stands in: an address, or `!0 - thread` for a join.
    pub key: usize,
    /// Futex bit set.
    pub bits: u32,
    /// What kind of wait.
    pub kind: WaitKind,
    /// The virtual time at which it ends by itself.
    pub deadline: Option<u64>,
    /// Whether to ask at every decision if it may end early. Set where the wait begins.
    pub early: bool,
    /// The virtual time at which it began.
    pub since: u64,
    /// The order of arrival in the queue.
    pub ticket: u64,
}

impl Wait {
    /// A wait that is about to begin.
    pub fn new(key: usize, bits: u32, kind: WaitKind, deadline: Option<u64>) -> Wait {
        Wait { key, bits, kind, deadline, early: false, since: 0, ticket: 0 }
    }
}

/// Kinds of waits, for reports and for what may end them.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum WaitKind {
    /// A futex word.
    Futex,
    /// A pthread condition.
    Condition,
    /// A semaphore.
    Semaphore,
    /// A barrier.
    Barrier,
    /// Another thread's initialisation.
    Once,
    /// The end of another thread.
    Join(ThreadId),
    /// A sleep.
    Sleep,
}

impl WaitKind {
    /// What is not explored where such a wait with an end does not end early.
    pub fn ends_early(self) -> Unexplored {
        if self == WaitKind::Sleep { Unexplored::EarlySleeps } else { Unexplored::EarlyTimeouts }
    }
}

/// How a wait ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Woken {
    /// By another thread.
    Up,
    /// By time.
    TimedOut,
}

/// A lock that is held.
#[derive(Clone, Copy, Debug)]
pub struct HeldLock {
    /// The lock's word.
    pub addr: usize,
    /// How.
    pub mode: LockMode,
    /// Where it was taken.
    pub site: raddle_core::SiteId,
}

/// A read that may be part of a spin loop.
#[derive(Clone, Copy, Debug)]
pub struct SpinRead {
    /// Where.
    pub site: raddle_core::SiteId,
    /// What.
    pub addr: usize,
    /// How many bytes.
    pub size: u8,
    /// What was there.
    pub value: u128,
}

/// A panic that was raised.
#[derive(Clone, Debug)]
pub struct Panic {
    /// The shadow stack at that moment, outermost first.
    pub stack: Vec<usize>,
    /// Whether the test was over already.
    pub late: bool,
    /// The last place at which unwinding stopped: in the end, the handler that caught it.
    pub handler: usize,
}

impl Panic {
    /// Whether it ended its thread: it was caught where std's threads begin, not by the program.
    pub fn killed(&self, image: &mut Image) -> bool {
        // The handler is in a compiler-made function around the call that may panic. It has no debug
        // information; its caller has.
        let near = |pc: &usize| pc.abs_diff(self.handler) < HANDLER_SIZE;
        let caller = self.stack.iter().position(near).and_then(|i| self.stack.get(i + 1));
        image.is_thread_top(caller.copied().unwrap_or(self.handler + 1))
    }
}

/// The compiler's function that catches panics is smaller than this.
const HANDLER_SIZE: usize = 256;

/// A thread of the program under test.
#[derive(Debug)]
pub struct Fiber {
    /// Saved stack pointer while another fiber runs.
    pub sp: usize,
    /// Its thread pointer.
    pub fs: usize,
    /// What the fast path knows of it.
    pub fast: fast::Thread,
    /// Its number.
    pub id: ThreadId,
    /// Where it stands; changed through [`Runtime::set_state`](crate::runtime::Runtime::set_state), which tells the
    /// scheduler.
    pub state: State,
    /// The visible step it stands before.
    pub pending: Event,
    /// Raw events begun.
    pub raw: u64,
    /// It stands after the effect of its last event, not before.
    pub after: bool,
    /// The site of its last visible event that has taken effect.
    pub anchor: raddle_core::SiteId,
    /// When `raw` reaches this, the thread is looked at more closely: it may be spinning, or a schedule to be
    /// repeated may want something here.
    pub raw_limit: u64,
    /// The instrumented functions in progress.
    pub calls: Calls,
    /// Its stack; `None` for the thread that was there before us.
    pub stack: Option<Stack>,
    /// Lowest and highest address of its stack.
    pub stack_range: (usize, usize),
    /// The part of it that no other thread has ever reached into: what it does there is its own business.
    pub private: (usize, usize),
    /// Its thread-local storage; `None` for the thread that was there before us.
    pub block: Option<Block>,
    /// What it runs.
    pub start: Option<(Start, usize)>,
    /// What it returned.
    pub result: usize,
    /// Somebody joined it.
    pub joined: bool,
    /// Nobody will join it.
    pub detached: bool,
    /// Part of the test harness, not of the test.
    pub system: bool,
    /// Its name.
    pub name: Option<String>,
    /// Destructors to run at its end, in order of registration.
    pub dtors: Vec<(unsafe extern "C" fn(*mut c_void), usize)>,
    /// How its last wait ended.
    pub woken: Woken,
    /// Locks held, oldest first.
    pub held: Vec<HeldLock>,
    /// The same as an interned set.
    pub lockset: u32,
    /// The mutex that it is going to take again, unseen, when it is woken from its wait.
    pub relock: Option<Gate>,
    /// It stands before that mutex.
    pub relocks: bool,
    /// It waits for a lock that readers hold and keeps further readers out.
    pub queued: bool,
    /// The lock word whose availability was just tested by the first half of an acquisition.
    pub acquiring: usize,
    /// Reads since its last visible write.
    pub spin: Vec<SpinRead>,
    /// Yields since its last visible write.
    pub yields: u32,
    /// How often it was made to yield since the last decision: if it is not busy, it waits for memory that nobody is
    /// known to write.
    pub urged: u32,
    /// How often in a row those reads saw nothing new.
    pub spin_count: u32,
    /// Whether it goes round in a circle since it last wrote anything that others could read.
    pub circle: crate::rounds::Circle,
    /// Fork-join clock: how much of each other thread happened before for certain.
    pub clock: Vec<u32>,
    /// Waits that ended although others could run.
    pub early_ends: u32,
    /// Panics raised in it.
    pub panics: Vec<Panic>,
    /// It is inside of a call that a hunt's harness has announced.
    pub calling: bool,
    /// What it does as the last owner of shared values.
    pub owners: Destructors,
    /// A plain store whose value is to be filled in: trace index, address, size.
    pub store: Option<(usize, usize, u8)>,
}

impl Fiber {
    /// Where the instrumented functions in progress are, innermost first, leaving out the innermost `skip`.
    pub fn chain(&self, skip: usize) -> impl Iterator<Item = usize> + Clone {
        let calls = self.calls.slots();
        let calls = &calls[..calls.len().saturating_sub(skip)];
        let mut inner = 0;
        calls.iter().rev().filter_map(move |&slot| {
            // A function that was inlined after instrumentation shares the slot of its caller.
            let new = slot != inner;
            inner = slot;
            // SAFETY: the slot lies in a frame of this thread's stack that is still in use.
            new.then(|| unsafe { (slot as *const usize).read_volatile() })
        })
    }

    /// The instrumented function whose frame an address of its stack lies in: where the function is, and its
    /// stack pointer.
    pub fn frame_around(&self, addr: usize) -> Option<(usize, usize)> {
        let slot = *self.calls.slots().iter().filter(|&&slot| slot < addr).max()?;
        // SAFETY: as in `chain`.
        let pc = unsafe { (slot as *const usize).read_volatile() };
        Some((pc, slot + 8))
    }

    /// Lets it run unobserved for a while; in a replay every raw event is looked at.
    #[inline]
    pub fn renew_patience(&mut self, mode: Mode, patience: u64) {
        let looked_at = mode == Mode::Replay || self.owners.are_running();
        self.raw_limit = if looked_at { 0 } else { self.raw + patience };
    }

    /// Where it stands, in the terms of a schedule.
    #[inline]
    pub fn position(&self) -> u64 {
        2 * self.raw + self.after as u64
    }
}
