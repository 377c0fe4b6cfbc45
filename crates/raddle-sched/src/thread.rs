//! A thread, as far as the scheduler is concerned: where it stands, what it waits for, what it holds and how it spins.
//!
//! What a front-end keeps about a thread besides (a stack, a class, a name) is the *body*, which can be reached through the
//! thread as if it were part of it.

use crate::gate::Gate;
use crate::recurrence::Circle;
use raddle_core::protocol::Unexplored;
use raddle_core::{Event, LockMode, Op, SiteId, ThreadId};
use std::ops::{Deref, DerefMut};

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

/// What a waiting thread waits for.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Wait {
    /// The queue it stands in: an address, or [`join_key`] of a thread.
    pub key: usize,
    /// Whoever wakes threads with one of these bits may mean it.
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

/// The wait queue of those who join a thread.
pub fn join_key(id: ThreadId) -> usize {
    !0 - id.0 as usize
}

/// Kinds of waits, for reports and for what may end them.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum WaitKind {
    /// A futex word.
    Futex,
    /// A condition.
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
    pub site: SiteId,
}

/// A read that may be part of a spin loop.
#[derive(Clone, Copy, Debug)]
pub struct SpinRead {
    /// Where.
    pub site: SiteId,
    /// What.
    pub addr: usize,
    /// How many bytes.
    pub size: u8,
    /// What was there.
    pub value: u128,
}

/// A thread; `B` is what the front-end keeps about it.
#[derive(Debug)]
pub struct Thread<B> {
    /// Its number.
    pub id: ThreadId,
    /// Where it stands; changed through [`Scheduler::set_state`](crate::Scheduler::set_state), which keeps the run queues.
    pub state: State,
    /// The visible step it stands before.
    pub pending: Event,
    /// Raw events begun.
    pub raw: u64,
    /// When `raw` reaches this, the thread is looked at more closely: it may be spinning, or a schedule to be
    /// repeated may want something here.
    pub raw_limit: u64,
    /// It stands after the effect of its last event, not before.
    pub after: bool,
    /// Part of the test harness, not of the test: it goes on when the test is over.
    pub system: bool,
    /// How its last wait ended.
    pub woken: Woken,
    /// Locks held, oldest first.
    pub held: Vec<HeldLock>,
    /// The mutex that it is going to take again, unseen, when it is woken from its wait.
    pub relock: Option<Gate>,
    /// It stands before the mutex of [`relock`](Self::relock).
    pub relocks: bool,
    /// It waits for a lock that readers hold and keeps further readers out.
    pub queued: bool,
    /// Reads since its last visible write.
    pub spin: Vec<SpinRead>,
    /// How often in a row those reads saw nothing new.
    pub spin_count: u32,
    /// Yields since its last visible write.
    pub yields: u32,
    /// How often it was made to yield since the last decision: if it is not busy, it waits for memory that nobody is
    /// known to write.
    pub urged: u32,
    /// Whether it goes round in a circle since it last wrote anything that others could read.
    pub circle: Circle,
    /// Waits that ended although others could run.
    pub early_ends: u32,
    /// It is inside of a call that is not to be interrupted in a sequential order.
    pub calling: bool,
    /// The front-end's own.
    pub body: B,
}

impl<B> Deref for Thread<B> {
    type Target = B;

    #[inline(always)]
    fn deref(&self) -> &B {
        &self.body
    }
}

impl<B> DerefMut for Thread<B> {
    #[inline(always)]
    fn deref_mut(&mut self) -> &mut B {
        &mut self.body
    }
}

impl<B> Thread<B> {
    /// A thread that nothing is known about yet.
    pub fn new(id: u32, body: B) -> Self {
        Thread {
            id: ThreadId(id),
            state: State::Unsettled,
            pending: Event::new(id, 0, Op::Start),
            raw: 0,
            raw_limit: 0,
            after: false,
            system: false,
            woken: Woken::Up,
            held: Vec::new(),
            relock: None,
            relocks: false,
            queued: false,
            spin: Vec::new(),
            spin_count: 0,
            yields: 0,
            urged: 0,
            circle: Circle::default(),
            early_ends: 0,
            calling: false,
            body,
        }
    }

    /// Makes a thread of an earlier execution one that nothing is known about, in the memory that it had.
    pub fn renew(&mut self, id: u32, body: B) {
        let (mut held, mut spin) = (std::mem::take(&mut self.held), std::mem::take(&mut self.spin));
        held.clear();
        spin.clear();
        *self = Thread { held, spin, ..Thread::new(id, body) };
    }

    /// Where it stands, in the terms of a schedule.
    #[inline]
    pub fn position(&self) -> u64 {
        2 * self.raw + self.after as u64
    }
}
