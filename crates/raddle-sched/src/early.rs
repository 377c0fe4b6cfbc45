//! Waits that time ends although threads could run.
//!
//! A real thread can be held up by its operating system, so every time-out and every sleep may end before another thread has
//! taken its next step. But the longer the wait, the less likely that is, and few programs are written for it. So a wait that has
//! nearly ended may always end early, because what others waited for took about as long; any other one only in the
//! executions that [`EarlyEnds`](crate::EarlyEnds) says. Only the wait that would be the next to end may end early.

use crate::front::{FrontEnd, Note};
use crate::rules::Mode;
use crate::scheduler::Scheduler;
use crate::thread::{State, Thread, Wait, WaitKind};
use raddle_core::{Early, ThreadId};

/// Waits of one thread that may end early in an execution.
const MOST: u32 = 3;
/// A wait of which at most one part in so many is left has nearly ended.
const NEARLY: u64 = 10;

impl<B> Scheduler<B> {
    /// Whether a thread's wait may end now although others could run.
    pub(crate) fn may_end(&self, t: &Thread<B>, wait: Wait) -> bool {
        let Some(deadline) = wait.deadline.filter(|_| wait.early) else { return false };
        let left = deadline.saturating_sub(self.clock.now());
        let nearly = left <= deadline.saturating_sub(wait.since) / NEARLY;
        let rules = self.early_ends;
        let plausible = nearly || rules.left > 0 && left <= rules.longest;
        let early =
            rules.allowed && plausible && t.early_ends < MOST && Some(deadline) <= self.next_deadline();
        left == 0 || early
    }

    /// A thread's wait is about to end: if that is early, notes it, and who could have run instead.
    pub(crate) fn note_end<F: FrontEnd<Body = B>>(&mut self, i: usize, wait: Wait, front: &mut F) {
        if wait.deadline.is_some_and(|d| d <= self.clock.now()) {
            return;
        }
        let could = |j: &usize| *j != i && !self.threads[*j].system && self.could_run(*j, front);
        let Some(able) = (0..self.threads.len()).find(could) else { return };
        self.threads[i].early_ends += 1;
        self.early_ends.left = self.early_ends.left.saturating_sub(1);
        let early = Early {
            thread: ThreadId(i as u32),
            able: ThreadId(able as u32),
            sleep: wait.kind == WaitKind::Sleep,
            ns: wait.deadline.unwrap_or_default().saturating_sub(wait.since),
        };
        front.schedule().early.push(early);
    }

    fn could_run<F: FrontEnd<Body = B>>(&self, i: usize, front: &F) -> bool {
        match self.threads[i].state {
            State::Spinning => self.moved(&self.threads[i], front),
            _ => self.runnable(i, front),
        }
    }

    /// A wait with a deadline is not ended early although it could be.
    pub(crate) fn leave_out<F: FrontEnd<Body = B>>(&self, me: usize, kind: WaitKind, front: &mut F) {
        if self.mode != Mode::Replay {
            front.note(Note::LeftOut(ThreadId(me as u32), kind.ends_early()));
        }
    }
}
