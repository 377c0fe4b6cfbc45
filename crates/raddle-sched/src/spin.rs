//! Whether a thread gets anywhere: spinning.
//!
//! A thread that does nothing visible for long is made to yield; one that reads the same unchanged memory again and
//! again stands aside until somebody writes it. In a sequential order that is not enough: a call that reads the same word for each of its
//! elements would be interrupted, and the order in which it is not would be missing. There a call stands aside only if it
//! comes back to where it was, with nothing changed (see [`recurrence`](crate::recurrence)).

use crate::front::{Ending, FrontEnd, Note};
use crate::recurrence::Circle;
use crate::rules::Mode;
use crate::scheduler::Scheduler;
use crate::thread::{SpinRead, State, Thread};
use raddle_core::SiteId;

/// Futile rounds of the same reads after which a thread counts as spinning.
const SPIN_ROUNDS: u32 = 3;
/// Most reads that a spin loop is made of.
const LOOP: usize = 16;
/// Yields in a row that need not let anybody else run.
const IDLE_YIELDS: u32 = 4;

/// Reads of the same unchanged memory, while nothing is written, after which a thread that was made to yield counts
/// as spinning.
const FUTILE: u32 = 200;
/// Raw events of a spinning thread, after the end of the schedule being repeated, that make a livelock.
const FUTILE_EVENTS: u64 = 1_000_000;
/// After so many of them others have a turn.
const FUTILE_ROUND: u64 = 10_000;
/// So many steps a spinning thread that is made to yield counts as in a search: the reads in between were none.
const FUTILE_STEPS: u64 = 100;

/// What a thread does that has done nothing visible for long.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Overdue {
    /// It goes on.
    GoesOn,
    /// It stands before a yield, in this state.
    Yields(State),
    /// It is made to yield, in this state. When it goes on, it is to be told so: see [`Thread::urged`].
    IsUrged(State),
}

impl<B> Thread<B> {
    /// Notes a visible read that took effect.
    pub fn saw(&mut self, site: SiteId, addr: usize, size: u8, value: u128) {
        match self.spin.iter().find(|r| r.site == site && r.addr == addr) {
            Some(r) if r.value == value => self.spin_count += 1,
            Some(_) => {
                self.forget_reads();
                self.circle = Circle::default();
            }
            None if self.spin.len() < LOOP => self.spin.push(SpinRead { site, addr, size, value }),
            None => self.forget_reads(),
        }
    }

    fn forget_reads(&mut self) {
        self.spin.clear();
        self.spin_count = 0;
    }

    /// Notes a visible write: the thread gets somewhere.
    #[inline(always)]
    pub fn progressed(&mut self) {
        self.progressed_unrecorded();
        self.circle = Circle::default();
    }

    /// Notes a visible write in an execution that is not recorded, where nobody asks for circles.
    #[inline(always)]
    pub fn progressed_unrecorded(&mut self) {
        self.yields = 0;
        self.forget_reads();
    }
}

impl<B> Scheduler<B> {
    /// The running thread, which nobody is to leave alone, has done nothing visible for long.
    #[cold]
    pub fn overdue<F: FrontEnd<Body = B>>(&mut self, me: usize, front: &mut F) -> Result<Overdue, Ending> {
        let spinning = self.threads[me].spin_count >= FUTILE;
        if self.is_following() {
            return self.overdue_in_replay(me, spinning);
        }
        front.note(Note::Overdue);
        if spinning && self.threads[me].urged > 0 && self.waits(me, front) {
            self.steps += FUTILE_STEPS;
            self.threads[me].spin_count = 0;
            return Ok(Overdue::IsUrged(State::Spinning));
        }
        if self.uninterrupted(me) {
            return Ok(Overdue::IsUrged(State::Ready));
        }
        // It may just as well be busy with its own affairs, so this does not count as a step.
        self.uncounted = true;
        Ok(Overdue::IsUrged(State::Yielded(self.steps)))
    }

    /// Whether a schedule decides, and not chance.
    pub fn is_following(&self) -> bool {
        self.mode == Mode::Replay && self.chance_at.is_none()
    }

    fn overdue_in_replay(&mut self, me: usize, spinning: bool) -> Result<Overdue, Ending> {
        if self.due(me) {
            return Ok(Overdue::Yields(State::Ready));
        }
        if spinning && self.schedule_is_used_up() {
            self.futile += 1;
            if self.futile > FUTILE_EVENTS {
                return Err(self.out_of_steps());
            }
            // Whoever it waits for may not have had a turn yet: the schedule may have been cut short.
            if self.futile % FUTILE_ROUND == 1 {
                return Ok(Overdue::Yields(State::Spinning));
            }
        }
        Ok(Overdue::GoesOn)
    }

    /// The state in which the running thread should wait for a visible read: spinning threads stand aside.
    #[inline(always)]
    pub fn before_read<F: FrontEnd<Body = B>>(&mut self, me: usize, front: &mut F) -> State {
        let t = &mut self.threads[me];
        if t.spin_count == 0 || t.spin_count < SPIN_ROUNDS * t.spin.len() as u32 {
            return State::Ready;
        }
        t.spin_count = 0;
        if self.waits(me, front) { State::Spinning } else { State::Ready }
    }

    /// The state in which the running thread yields. That is a hint: the first few times in a row it may be ignored, like everything
    /// that an operating system may do; a thread that goes on yielding lets others go first.
    pub fn before_yield(&mut self, me: usize) -> State {
        self.threads[me].yields += 1;
        let may_stay = self.threads[me].yields <= IDLE_YIELDS || self.uninterrupted(me);
        if may_stay { State::Ready } else { State::Yielded(self.steps + 1) }
    }

    /// Whether the running thread makes a call of a sequential order. That others come in between is then the strategy's decision, unless it
    /// is certain that the call waits.
    fn uninterrupted(&self, me: usize) -> bool {
        self.patient && self.threads[me].calling
    }

    /// Whether a thread that reads the same again and again waits for somebody.
    #[cold]
    fn waits<F: FrontEnd<Body = B>>(&mut self, me: usize, front: &mut F) -> bool {
        if !self.uninterrupted(me) {
            return true;
        }
        let state = front.digest(&self.threads[me]);
        self.threads[me].circle.look(state).unwrap_or_else(|| {
            front.note(Note::Guessed);
            true
        })
    }
}
