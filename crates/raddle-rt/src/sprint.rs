//! Steps in a row of which it is known beforehand who can take them.
//!
//! In most steps of a brisk execution (see [`brisk`](crate::brisk)) nobody comes, goes or waits: a thread that stood before
//! a step takes it and comes to its next one, and everybody who could go on before still can. Such a row of steps is a
//! *sprint*. Its members are listed once, and who is next is known as soon as the dice are thrown, one step ahead, so that
//! a switch need not wait for a decision. It makes the same choices with the same dice as decisions that look at
//! everybody. Members may stand before locks as long as these are free.
//!
//! During a sprint neither the steps are counted where others are nor is it noted who stands where, not even in a thread's own state; that is made up for at its
//! end ([`Runtime::end_sprint`]), which is before anything looks there or changes it.

use crate::fiber::{CameTo, Fiber, Gate, State};
use crate::patch;
use crate::runtime::{Runtime, alone, me};
use crate::sync::words::Free;
use raddle_core::strategy::Dice;
use std::ptr::null_mut;

/// Most members.
const MOST: usize = 8;
/// Most locks that members stand before.
const LOCKS: usize = 2;
/// Most steps, so that the limit of steps, which may change, is looked at from time to time.
const LONGEST: u64 = 4096;
/// A sprint of fewer steps was not worth beginning;
const SHORT: u64 = 4;
/// then so many steps are taken without.
const PAUSE: u32 = 16;

/// A row of steps.
pub struct Sprint {
    /// How many steps may still be taken; in the store, where the parent sees that something happens.
    left: *mut u64,
    /// Who takes the next step.
    next: *mut Fiber,
    /// What decides.
    dice: *mut Dice,
    /// How many members there are; 0 if there is no sprint.
    n: usize,
    /// What is free as long as they can go on, and how many of these there are.
    locks: [Free; LOCKS],
    watched: usize,
    /// Those who can go on, by number. The running thread is one of them.
    members: [*mut Fiber; MOST],
    /// How many steps there were to be taken.
    granted: u64,
    /// How many steps to take without.
    pause: u32,
}

static mut NONE_LEFT: u64 = 0;
/// Thrown for nothing where one thread alone can go on, which is no decision.
static mut DUMMY: Option<Dice> = None;

static mut SPRINT: Sprint = Sprint {
    left: &raw mut NONE_LEFT,
    next: null_mut(),
    dice: null_mut(),
    n: 0,
    locks: [Free::always(); LOCKS],
    watched: 0,
    members: [null_mut(); MOST],
    granted: 0,
    pause: 0,
};

/// The sprint in progress, if there is one.
#[inline(always)]
pub fn sprint() -> &'static mut Sprint {
    let sprint = &raw mut SPRINT;
    // SAFETY: one controlled thread, which keeps no reference.
    unsafe { &mut *sprint }
}

impl Sprint {
    /// Whether there is one.
    #[inline(always)]
    pub fn is_on(&self) -> bool {
        self.n != 0
    }

    /// Whether the running thread, which comes to a mutex or not, can take a step of it; if so, the step is counted.
    #[inline(always)]
    pub fn step(&mut self, mutex: Option<(usize, u64)>) -> bool {
        // SAFETY: they are in the store, or a static of ours.
        let left = unsafe { &mut *self.left };
        let lock = mutex.and_then(|(addr, bits)| Free::when(&Gate::mutex(addr, bits)));
        if *left == 0
            || lock.is_some_and(|lock| self.locks[0] != lock && !self.knows(lock))
            || self.watched > 0 && !(self.locks[0].is_it() && self.locks[1].is_it())
        {
            return false;
        }
        *left -= 1;
        true
    }

    /// Whether a lock is among those that are looked at, as it is from now on if there is room.
    #[inline(never)]
    fn knows(&mut self, lock: Free) -> bool {
        for known in &mut self.locks {
            if *known == Free::always() {
                *known = lock;
                self.watched += 1;
            }
            if *known == lock {
                return true;
            }
        }
        false
    }

    /// Who takes the step; throws the dice for the next.
    #[inline(always)]
    pub fn next(&mut self) -> *mut Fiber {
        let next = self.next;
        // SAFETY: they are the strategy's, which stays where it is during an execution and is not used meanwhile, or ours.
        let dice = unsafe { &mut *self.dice };
        dice.throw(self.n);
        self.aim(dice);
        next
    }

    #[inline(always)]
    fn aim(&mut self, dice: &Dice) {
        self.next = self.members[dice.peek(self.n) & (MOST - 1)];
    }
}

impl Runtime {
    /// Begins a sprint, if everybody who has not ended and does not wait to be woken can go on as long as locks are free, nobody
    /// counts accesses, and it seems worth while.
    #[inline(always)]
    pub fn begin_sprint(&mut self) {
        let s = sprint();
        if s.pause > 0 {
            s.pause -= 1;
        } else if !s.is_on() && patch::is_on() && !alone() {
            self.try_sprint(s);
        }
    }

    #[inline(never)]
    fn try_sprint(&mut self, s: &mut Sprint) {
        let me = self.current();
        let (Some(dice), Some(members)) = (self.dice, self.standing.runners(me)) else { return };
        let steps = self.store.job.max_steps.saturating_sub(self.steps).min(LONGEST);
        if members.len() > MOST || steps == 0 {
            return;
        }
        (s.locks, s.watched) = ([Free::always(); LOCKS], 0);
        s.pause = PAUSE;
        for (k, i) in members.iter().enumerate() {
            let f = &mut *self.fibers[i];
            if i != me
                && let State::Lock(gate) = f.state
                && !Free::when(&gate).is_some_and(|lock| s.knows(lock))
            {
                return;
            }
            s.members[k] = f;
        }
        s.pause = 0;
        s.n = members.len();
        s.dice = if s.n > 1 { dice.as_ptr() } else { dummy() };
        s.granted = steps;
        s.left = &raw mut self.store.sprint_left;
        self.store.sprint_left = steps;
        // SAFETY: as in `next`.
        s.aim(unsafe { &*s.dice });
    }

    /// A new execution begins, with nobody in a sprint and one worth trying.
    pub fn forget_sprint(&mut self) {
        (sprint().n, sprint().pause) = (0, 0);
        self.store.sprint_left = 0;
    }

    /// Ends the sprint, if there is one, and makes up for what was not noted in it.
    #[inline(always)]
    pub fn end_sprint(&mut self) {
        if sprint().is_on() {
            self.land();
        }
    }

    #[inline(never)]
    fn land(&mut self) {
        let s = sprint();
        let taken = s.granted - self.store.sprint_left;
        self.store.sprint_left = 0;
        self.steps += taken;
        self.visible += taken;
        self.decisions += if s.n > 1 { taken as usize } else { 0 };
        self.store.heartbeat += taken;
        s.pause = if taken < SHORT { PAUSE } else { 0 };
        let me: *mut Fiber = me();
        for &member in &s.members[..s.n] {
            // SAFETY: a member is a fiber of this execution, boxed.
            let f = unsafe { &mut *member };
            let i = f.id.0 as usize;
            match std::mem::replace(&mut f.came_to, CameTo::Nothing) {
                _ if member == me => {
                    f.state = State::Unsettled;
                    self.standing.goes_on(i);
                }
                CameTo::Nothing => {}
                CameTo::Step => {
                    f.state = State::Ready;
                    self.standing.becomes_ready(i);
                }
                CameTo::Mutex(addr, bits) => {
                    let gate = Gate::mutex(addr, bits);
                    f.state = State::Lock(gate);
                    if let Some(free) = Free::when(&gate) {
                        self.standing.comes_to(free, i);
                    }
                }
            }
        }
        s.n = 0;
    }
}

/// Dice that nobody looks at.
fn dummy() -> *mut Dice {
    let dummy = &raw mut DUMMY;
    // SAFETY: one controlled thread.
    unsafe { (*dummy).get_or_insert_with(|| Dice::new(0)) }
}
