//! Who runs next according to a recorded schedule.
//!
//! A schedule is a list of [`Transfer`]s, each at a count of the running thread's raw events, so that it means the same whatever
//! has become a scheduling point since. Between two transfers the running thread goes on; when the schedule ends, the failure is ahead of it.

use crate::front::{Decision, Ending, FrontEnd};
use crate::scheduler::Scheduler;
use crate::thread::{State, Thread, Wait};
use raddle_core::Transfer;

impl<B> Scheduler<B> {
    /// The next transfer of the schedule.
    fn due_next(&self) -> Option<Transfer> {
        self.transfers.get(self.replay_at).copied()
    }

    /// Whether the schedule being replayed transfers control where the running thread is.
    pub fn due(&self, me: usize) -> bool {
        self.due_next().is_some_and(|t| t.at == self.threads[me].position())
    }

    /// Whether no transfer of the schedule is left.
    pub fn schedule_is_used_up(&self) -> bool {
        self.replay_at >= self.transfers.len()
    }

    /// A thread that only lets others go first.
    fn aside(&self) -> Option<usize> {
        let aside = |t: &Thread<B>| matches!(t.state, State::Spinning | State::Yielded(_)) && !t.system;
        self.threads.iter().position(|t| aside(t))
    }

    /// Who runs after the end of the schedule: the failure is ahead of the running thread, unless the threads
    /// only keep each other busy.
    fn free_run<F: FrontEnd<Body = B>>(&mut self, me: usize, front: &mut F) -> usize {
        if !matches!(self.threads[me].state, State::Spinning | State::Yielded(_)) {
            return me;
        }
        if let Some(i) = self.collect(me, front) {
            return i;
        }
        let next = self.able.iter().find(|&i| i > me).or(self.able.nth(0)).unwrap_or(me);
        self.expire(next);
        next
    }

    /// Ends a thread's wait if its time is to run out.
    fn end_wait<F: FrontEnd<Body = B>>(&mut self, i: usize, timeout: bool, front: &mut F) {
        if let (State::Waiting(w), true) = (self.threads[i].state, timeout) {
            self.note_end(i, w, front);
            self.expire(i);
        }
    }

    /// Who runs next according to the schedule.
    pub(crate) fn follow<F: FrontEnd<Body = B>>(&mut self, me: usize, front: &mut F) -> Decision {
        if self.chance_at.is_some() {
            return self.pick(me, front);
        }
        let here = self.threads[me].position();
        let next = self.due_next();
        match next {
            Some(t) if t.at == here && t.to == Transfer::BY_CHANCE => {
                self.replay_at += 1;
                self.chance_at = Some(self.mark(me, front));
                self.pick(me, front)
            }
            Some(t) if t.at == here => {
                self.replay_at += 1;
                let i = t.to.0 as usize;
                if i >= self.threads.len() {
                    return Err(Ending::Diverged("the schedule names a thread that does not exist"));
                }
                self.end_wait(i, t.timeout, front);
                if !self.runnable(i, front) {
                    return Err(Ending::Diverged("the schedule continues a thread that cannot go on"));
                }
                Ok(i)
            }
            None if self.runnable(me, front) => Ok(self.free_run(me, front)),
            _ if self.runnable(me, front) => Ok(me),
            _ => {
                if let State::Waiting(Wait { deadline: Some(_), .. }) = self.threads[me].state {
                    self.end_wait(me, true, front);
                    return Ok(me);
                }
                if next.is_some() {
                    return Err(Ending::Diverged("a thread cannot go on where the schedule lets it run"));
                }
                // The schedule ends where the failure was: a deadlock has no further transfer.
                self.aside().ok_or_else(|| self.end_of_replay(front))
            }
        }
    }

    /// The schedule is used up and nobody can go on.
    fn end_of_replay<F: FrontEnd<Body = B>>(&self, front: &F) -> Ending {
        if self.root_ended_at.is_some() {
            return Ending::Over;
        }
        if (0..self.threads.len()).any(|i| !self.threads[i].system && self.could_go_on(i, front)) {
            return Ending::Diverged("the schedule ends before the execution does");
        }
        Ending::Deadlock
    }
}
