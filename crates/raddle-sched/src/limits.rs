//! How long an execution may take, and what is said of one that takes longer.
//!
//! An execution that has taken more steps than it was to be left alone for goes on under fair turns: chance decides instead of the
//! strategy. Whoever is never let run by a strategy, or has much to do, gets to an end that way; whoever keeps others from theirs
//! does not. It is a livelock only if the record has nothing new in its last part, and the threads' own states have not either.

use crate::front::{Ending, FrontEnd, Note};
use crate::rules::{FAIR_LIMIT, Mark, Mode};
use crate::scheduler::Scheduler;
use raddle_core::{Event, Op, Trace, Transfer};

/// Events of a livelock that are reported after the place where chance decides in a replay: a little of the circle.
const AFTER: usize = 500;

/// The last event of an execution with a variable or value that is new in it.
fn last_news(trace: &Trace) -> usize {
    let key = |(i, e): (usize, &Event)| {
        let (var, value) = match e.op {
            Op::Read(a) => (a.var, None),
            Op::Write(a) | Op::Rmw(a) => (a.var, a.written.get()),
            _ => return None,
        };
        Some((trace.vars[var.0 as usize], value, i))
    };
    let mut keys: Vec<_> = trace.events.iter().enumerate().filter_map(key).collect();
    keys.sort_unstable();
    keys.dedup_by_key(|&mut (var, value, _)| (var, value));
    keys.into_iter().map(|(_, _, i)| i).max().unwrap_or(0)
}

impl<B> Scheduler<B> {
    /// Where the running thread is.
    pub(crate) fn mark<F: FrontEnd<Body = B>>(&self, me: usize, front: &mut F) -> Mark {
        let (events, transfers) = (front.trace().events.len(), front.schedule().transfers.len());
        Mark { events, transfers, position: self.threads[me].position() }
    }

    /// The execution takes more steps than it may.
    pub(crate) fn out_of_steps(&self) -> Ending {
        if self.root_ended_at.is_some() { Ending::Over } else { Ending::Livelock }
    }

    /// More steps than the execution was to be left alone for.
    #[cold]
    pub(crate) fn overrun<F: FrontEnd<Body = B>>(&mut self, me: usize, front: &mut F) -> Result<(), Ending> {
        if !self.recorded {
            if self.steps > self.limits.most {
                return Err(Ending::TooLong);
            }
            *front.limit() = self.limits.most;
            return Ok(());
        }
        if self.mode == Mode::Search {
            let late = *front.limit() == 0;
            if !late && self.steps <= self.limits.chance_after {
                let mark = self.mark(me, front);
                self.marks.push(mark);
                *front.limit() = (self.steps * 2).min(self.limits.chance_after);
                return Ok(());
            }
            if self.chance_at.is_none() {
                self.chance_at = Some(self.mark(me, front));
                front.note(Note::Chance);
            }
            if !self.judge(me, late, front)? {
                return Ok(());
            }
            self.cut(front);
        } else if let Some(mark) = self.chance_at {
            self.reported = mark.events + AFTER;
        }
        Err(self.out_of_steps())
    }

    /// Whether the execution is a livelock, unless it ends otherwise.
    fn judge<F: FrontEnd<Body = B>>(&mut self, me: usize, late: bool, front: &mut F) -> Result<bool, Ending> {
        let over = late || front.is_late() && self.steps > self.limits.most;
        self.judge_after = self.judge_after.max(self.limits.fair());
        if !over && self.steps <= self.judge_after {
            return Ok(false);
        }
        if over && self.limits.others_ended {
            return Err(Ending::Abandoned);
        }
        let long = over || self.rounds.is_empty() && self.gets_somewhere(front);
        if !long {
            match self.rounds.look(front.digest(&self.threads[me])) {
                None => return Ok(false),
                Some(false) => return Ok(true),
                Some(true) => {}
            }
        }
        if over || self.steps >= self.limits.most.saturating_mul(FAIR_LIMIT * self.limits.for_long) {
            return Err(Ending::TooLong);
        }
        // It is merely long.
        self.judge_after = self.steps * 2;
        self.rounds.clear();
        Ok(false)
    }

    /// Whether the last part of the execution still came to new variables or values: then it is long, not caught in a circle.
    fn gets_somewhere<F: FrontEnd<Body = B>>(&self, front: &mut F) -> bool {
        let trace = front.trace();
        let from = self.chance_at.map_or(0, |m| m.events);
        last_news(trace) >= from + (trace.events.len() - from) / 10 * 9
    }

    /// Leaves of the record of a livelock what leads into the circle. In a replay chance decides from there on, as it did here in the end.
    fn cut<F: FrontEnd<Body = B>>(&mut self, front: &mut F) {
        let news = last_news(front.trace());
        let Some(chance_at) = self.chance_at else { return };
        let mark = self.marks.iter().copied().find(|m| m.events > news).unwrap_or(chance_at);
        self.reported = mark.events + AFTER;
        // The strategy is told of what it decided.
        front.trace().events.truncate(chance_at.events);
        let transfers = &mut front.schedule().transfers;
        transfers.truncate(mark.transfers);
        transfers.push(Transfer { at: mark.position, to: Transfer::BY_CHANCE, timeout: false });
    }
}
