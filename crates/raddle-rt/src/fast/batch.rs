//! Steps in a row of which it is known beforehand who can take them.
//!
//! In most steps of an unrecorded execution (see [`unrecorded`](crate::fast::unrecorded)) nobody comes, goes or waits: a thread that stood before
//! a step takes it and comes to its next one, and everybody who could go on before still can. Such a row of steps is a
//! *batch*. Its members are listed once, and who is next is known as soon as the dice are thrown, one step ahead, so that
//! a switch need not wait for a decision. It makes the same choices with the same dice as decisions that look at
//! everybody.
//!
//! Members may stand before mutexes, too. These were free when the batch began, or when somebody came to them; nobody else runs
//! meanwhile, and a member that comes to a step with a lock in hand ends the batch. So they are free whenever somebody is chosen.
//!
//! A batch brings neither the step counters nor the threads' states nor the run queues up to date. [`Runtime::flush`] does so when the
//! batch ends, which is before anything looks there or changes them.

use crate::controlled::Controlled;
use crate::fast::patch;
use crate::fiber::Fiber;
use crate::runtime::{Runtime, alone, me, rt};
use raddle_core::strategy::Dice;
use raddle_sched::{Free, Gate, State};
use std::ptr::null_mut;

/// Most members.
const MOST: usize = 8;
/// After so many steps the parent sees that something happens.
const BEAT: u64 = 64;
/// Most steps, so that the limit of steps, which may change, is looked at from time to time.
const LONGEST: u64 = 4096;
/// A batch of fewer steps was not worth beginning.
const SHORT: u64 = 4;
/// Steps that are taken outside a batch after one that was not worth beginning.
const PAUSE: u32 = 16;

/// A row of steps.
pub struct StepBatch {
    /// How many steps may be taken until the next beat.
    left: u64,
    /// Who takes the next step, and the stack pointer to go on with, unless that is the running thread's.
    next: *mut Fiber,
    next_sp: usize,
    /// What decides.
    dice: *mut Dice,
    /// How many members there are; 0 if there is no batch.
    n: usize,
    /// Those who can go on, by number. The running thread is one of them.
    members: [*mut Fiber; MOST],
    /// How many steps may be taken in all, and how many of them may be taken after the next beat.
    granted: u64,
    later: u64,
    /// How many steps to take without.
    pause: u32,
}

/// Thrown for nothing where one thread alone can go on, which is no decision.
static DUMMY: Controlled<Option<Dice>> = Controlled::new(None);

static BATCH: Controlled<StepBatch> = Controlled::new(StepBatch {
    left: 0,
    next: null_mut(),
    next_sp: 0,
    dice: null_mut(),
    n: 0,
    members: [null_mut(); MOST],
    granted: 0,
    later: 0,
    pause: 0,
});

/// The batch in progress, if there is one.
#[inline(always)]
pub fn batch() -> &'static mut StepBatch {
    // SAFETY: INV-ONE-THREAD, INV-NO-REF-ACROSS-SWITCH, INV-SHORT-REFS.
    unsafe { &mut *BATCH.as_ptr() }
}

impl StepBatch {
    /// Whether there is one.
    #[inline(always)]
    pub fn is_on(&self) -> bool {
        self.n != 0
    }

    /// Whether another step of it can be taken; if so, it is counted.
    #[inline(always)]
    pub fn step(&mut self) -> bool {
        if self.left == 0 && !self.heartbeat() {
            return false;
        }
        self.left -= 1;
        true
    }

    #[inline(never)]
    fn heartbeat(&mut self) -> bool {
        if self.later == 0 {
            return false;
        }
        rt().store.heartbeat += 1;
        self.left = self.later.min(BEAT);
        self.later -= self.left;
        true
    }

    /// Returns who takes this step, who takes the one after it (for which the dice are thrown), and where the latter's stack pointer is to lie.
    #[inline(always)]
    pub fn next(&mut self) -> (*mut Fiber, *mut Fiber, *mut usize) {
        let next = self.next;
        // SAFETY: they are the strategy's, which stays where it is during an execution and is not used meanwhile, or ours.
        let dice = unsafe { &mut *self.dice };
        dice.throw();
        self.draw_next(dice);
        (next, self.next, &raw mut self.next_sp)
    }

    #[inline(always)]
    fn draw_next(&mut self, dice: &Dice) {
        self.next = self.members[dice.peek(self.n) & (MOST - 1)];
    }

    /// There is none.
    fn forget(&mut self) {
        (self.n, self.left, self.later) = (0, 0, 0);
    }
}

impl Runtime {
    /// Begins a batch, if everybody who has not ended and does not wait to be woken can go on as long as locks are free, nobody
    /// counts accesses, and it seems worth while.
    #[inline(always)]
    pub fn begin_batch(&mut self) {
        let s = batch();
        if s.pause > 0 {
            s.pause -= 1;
        } else if !s.is_on() && patch::is_on() && !alone() {
            self.try_batch(s);
        }
    }

    #[inline(never)]
    fn try_batch(&mut self, s: &mut StepBatch) {
        let me = self.current();
        let (Some(dice), Some(members)) = (self.execution.dice, self.execution.sched.queues.runners(me))
        else {
            return;
        };
        let steps = self.store.limit.saturating_sub(self.execution.sched.steps).min(LONGEST);
        if members.count() > MOST || steps == 0 {
            return;
        }
        s.pause = PAUSE;
        for (k, i) in members.iter().enumerate() {
            let free = match self.execution.sched.threads[i].state {
                State::Lock(gate) => Free::when(&gate).is_some() && self.open(gate),
                _ => true,
            };
            let f = &mut *self.execution.sched.threads[i];
            if i != me && !(free && f.held.is_empty()) {
                return;
            }
            s.members[k] = f;
        }
        s.pause = 0;
        s.n = members.count();
        s.dice = if s.n > 1 { dice.as_ptr() } else { dummy() };
        (s.granted, s.later) = (steps, steps);
        // SAFETY: as in `next`; a member is a fiber of this execution, boxed.
        unsafe {
            s.draw_next(&*s.dice);
            s.next_sp = (*s.next).body.sp;
        }
    }

    /// A new execution begins, with nobody in a batch and one worth trying.
    pub fn forget_batch(&mut self) {
        batch().forget();
        batch().pause = 0;
    }

    /// Ends the batch, if there is one, and makes up for what was not noted in it.
    #[inline(always)]
    pub fn flush(&mut self) {
        if batch().is_on() {
            self.end();
        }
    }

    #[inline(never)]
    fn end(&mut self) {
        let s = batch();
        let taken = s.granted - s.later - s.left;
        self.execution.sched.steps += taken;
        self.execution.sched.visible += taken;
        self.execution.sched.decisions += if s.n > 1 { taken as usize } else { 0 };
        self.store.heartbeat += 1;
        s.pause = if taken < SHORT { PAUSE } else { 0 };
        let me: *mut Fiber = me();
        for &member in &s.members[..s.n] {
            // SAFETY: a member is a fiber of this execution, boxed.
            let f = unsafe { &mut *member };
            let i = f.id.0 as usize;
            if member == me {
                f.state = State::Unsettled;
                self.execution.sched.queues.goes_on(i);
            } else if let Some(site) = f.fast.site {
                // It came here in this batch, or in an earlier one and has been standing here ever since.
                match site.mutex(f.fast.acquires) {
                    Some(gate) => self.stand_before(f, gate),
                    None => {
                        f.state = State::Ready;
                        self.execution.sched.queues.becomes_ready(i);
                    }
                }
            }
        }
        s.forget();
    }

    fn stand_before(&mut self, f: &mut Fiber, gate: Gate) {
        f.state = State::Lock(gate);
        if let Some(free) = Free::when(&gate) {
            self.execution.sched.queues.comes_to(free, f.id.0 as usize);
        }
    }
}

/// Dice that nobody looks at.
fn dummy() -> *mut Dice {
    // SAFETY: INV-ONE-THREAD, INV-SHORT-REFS: the strategy's own dice are not these.
    unsafe { (*DUMMY.as_ptr()).get_or_insert_with(|| Dice::new(0)) }
}
