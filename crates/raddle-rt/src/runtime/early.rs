//! Waits that time ends although threads could run.
//!
//! A real thread can be held up by its operating system, so every time-out and every sleep may end before another thread has
//! taken its next step. But the longer the wait, the less likely that is, and few programs are written for it. So a wait that has
//! nearly ended may always end early, because what others waited for took about as long; any other one only in the
//! executions that [`Timeouts`] says. Only the wait that would be the next to end may end early.

use super::{Host, Mode, Runtime};
use crate::fiber::{Fiber, State, Wait, WaitKind};
use crate::store::Store;
use raddle_core::protocol::{Entry, Timeouts, Unexplored};
use raddle_core::{Early, Schedule, ThreadId};

/// Waits of one thread that may end early in an execution.
const MOST: u32 = 3;
/// For how long a thread may be kept from running, in virtual nanoseconds,
const LONGEST: u64 = 60 * SECOND;
/// and for how long in an execution of a search that is not told otherwise.
const PLAUSIBLE: u64 = SECOND;
const SECOND: u64 = 1_000_000_000;
/// Waits that may end early in such an execution.
const FEW: u32 = 2;

/// A wait of which at most one part in so many is left has nearly ended.
const NEARLY: u64 = 10;

/// Which waits may end early in the rest of an execution.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct EarlyEnds {
    /// Any at all.
    allowed: bool,
    /// So many of those that have not nearly ended;
    left: u32,
    /// of them, those that are no longer than this.
    longest: u64,
}

impl EarlyEnds {
    /// No wait ends early.
    pub const NONE: EarlyEnds = EarlyEnds { allowed: false, left: 0, longest: 0 };
    const ALL: EarlyEnds = EarlyEnds { allowed: true, left: u32::MAX, longest: LONGEST };

    /// The rules for the execution that is about to begin. A sequential order has to explain what happened in any other; and
    /// in a replay the schedule decides.
    pub fn of(store: &Store) -> EarlyEnds {
        if store.replay.is_some() || store.strategy.is_patient() {
            return EarlyEnds::ALL;
        }
        match store.job.timeouts {
            Timeouts::Never => EarlyEnds::NONE,
            Timeouts::Late => {
                EarlyEnds { allowed: true, left: if store.late { FEW } else { 0 }, longest: PLAUSIBLE }
            }
            Timeouts::Any => EarlyEnds::ALL,
        }
    }
}

impl Runtime {
    /// Whether a thread's wait may end now although others could run.
    pub(super) fn may_end(&self, f: &Fiber, wait: Wait) -> bool {
        let Some(deadline) = wait.deadline.filter(|_| wait.early) else { return false };
        let left = deadline.saturating_sub(self.clock.now());
        let nearly = left <= deadline.saturating_sub(wait.since) / NEARLY;
        let rules = self.early_ends;
        let plausible = nearly || rules.left > 0 && left <= rules.longest;
        let early =
            rules.allowed && plausible && f.early_ends < MOST && Some(deadline) <= self.next_deadline();
        left == 0 || early
    }

    /// A thread's wait is about to end: if that is early, notes it, and who could have run instead.
    pub(super) fn note_end(&mut self, i: usize, wait: Wait) {
        if wait.deadline.is_some_and(|d| d <= self.clock.now()) {
            return;
        }
        let could = |j: &usize| *j != i && !self.fibers[*j].system && self.could_run(*j);
        let Some(able) = (0..self.fibers.len()).find(could) else { return };
        self.fibers[i].early_ends += 1;
        self.early_ends.left = self.early_ends.left.saturating_sub(1);
        let early = Early {
            thread: ThreadId(i as u32),
            able: ThreadId(able as u32),
            sleep: wait.kind == WaitKind::Sleep,
            ns: wait.deadline.unwrap_or_default().saturating_sub(wait.since),
        };
        self.store.schedule.early.push(early);
    }

    fn could_run(&self, i: usize) -> bool {
        match self.fibers[i].state {
            State::Spinning => self.moved(&self.fibers[i]),
            _ => self.runnable(i),
        }
    }

    /// The test makes use of something that the search does not try in all ways.
    pub fn leave_out(&mut self, what: Unexplored) {
        // Thread 0 of a process is the harness's, that of a closure is not.
        let in_harness =
            self.current() == 0 && self.host == Host::Process && self.store.job.entry == Entry::Libtest;
        if self.mode != Mode::Replay && !in_harness {
            self.store.leave_out(what);
        }
    }
}

impl Store {
    /// How to repeat the execution in progress.
    pub fn how_to_repeat(&self) -> Schedule {
        let schedule = self.replay.as_ref().unwrap_or(&self.schedule);
        Schedule { early: self.schedule.early.clone(), ..schedule.clone() }
    }
}
