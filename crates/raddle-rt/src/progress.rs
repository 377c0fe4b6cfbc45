//! Whether threads get anywhere: spinning, and executions without an end.
//!
//! A thread that does nothing visible for long is made to yield; one that reads the same unchanged memory again and
//! again stands aside until somebody writes it. In a sequential order that is not enough: a call that reads the same word for each of its
//! elements would be interrupted, and the order in which it is not would be missing. There a call stands aside only if it
//! comes back to where it was, with nothing changed. An execution that has taken more steps than asked for goes on under
//! fair turns, and is a livelock only if that leads nowhere either.

use crate::fiber::State;
use crate::owners;
use crate::rounds::Circle;
use crate::runtime::{Mode, Runtime, alone, load, me, rt, step, unrecorded};
use raddle_core::{Event, Op, SiteId, Trace, Transfer};

/// Raw events without a dispatch after which a thread is made to yield: it may be spinning on memory that
/// is not known to be shared yet.
pub const PATIENCE: u64 = 2_000;
/// The same where calls are not to be interrupted: one that does much must not be taken for one that waits.
pub const LONG_PATIENCE: u64 = 200_000;
/// The same where accesses are not counted.
pub const ENDLESS_PATIENCE: u64 = u64::MAX / 2;
/// Futile rounds of the same reads after which a thread counts as spinning.
const SPIN_ROUNDS: u32 = 3;
/// How many times as many steps as asked for an execution may take in the end, if everybody gets a turn in the rest of
/// them: a test that is merely long comes to its end.
pub const FAIR_LIMIT: u64 = 10;

/// Reads of the same unchanged memory, while nothing is written, after which a thread that was made to yield counts
/// as spinning.
const FUTILE: u32 = 200;
/// Raw events of a spinning thread, after the end of the schedule being repeated, that make a livelock.
const FUTILE_EVENTS: u64 = 1_000_000;
/// After so many of them others have a turn.
const FUTILE_ROUND: u64 = 10_000;
/// So many steps a spinning thread that is made to yield counts as in a search: the reads in between were none.
const FUTILE_STEPS: u64 = 100;

/// Called by hooks that are not visible steps: makes a thread that has done nothing visible for long yield.
#[inline(always)]
pub fn patience(site: SiteId) {
    let f = me();
    if f.raw >= f.raw_limit {
        impatient(site);
    }
}

#[cold]
fn impatient(site: SiteId) {
    let r = rt();
    let spinning = me().spin_count >= FUTILE;
    if r.mode == Mode::Replay && r.chance_at.is_none() {
        if r.due() {
            let e = r.event(site, Op::Yield);
            step(e, State::Ready);
        } else if spinning && r.replay_at >= r.store.replay.as_ref().map_or(0, |s| s.transfers.len()) {
            r.futile += 1;
            if r.futile > FUTILE_EVENTS {
                crate::failure::out_of_steps();
            }
            // Whoever it waits for may not have had a turn yet: the schedule may have been cut short.
            if r.futile % FUTILE_ROUND == 1 {
                let e = r.event(site, Op::Yield);
                step(e, State::Spinning);
            }
        }
    } else if !alone() && !owners::is_patient() {
        r.flush();
        r.store.impatient = true;
        let (steps, urged) = (r.steps, me().urged);
        let e = r.event(site, Op::Yield);
        if spinning && urged > 0 && waits() {
            r.steps += FUTILE_STEPS;
            me().spin_count = 0;
            step(e, State::Spinning);
        } else if uninterrupted() {
            step(e, State::Ready);
        } else {
            // It may just as well be busy with its own affairs, so this does not count as a step.
            r.uncounted = true;
            step(e, State::Yielded(steps));
        }
        // From now on it is seen whether it reads the same again and again.
        me().urged = urged + 1;
    }
}

/// A thread that was made to yield has read or written memory that nobody else is known to touch.
#[cold]
pub fn urged(site: SiteId, addr: usize, size: u8, write: bool) {
    if write {
        progressed();
    } else {
        saw(site, addr, size, load(addr, size));
    }
}

/// Notes a visible read that took effect; tells whether the thread has begun to spin.
pub fn saw(site: SiteId, addr: usize, size: u8, value: u128) {
    let f = rt().me();
    match f.spin.iter().find(|r| r.site == site && r.addr == addr) {
        Some(r) if r.value == value => f.spin_count += 1,
        Some(_) => {
            f.spin.clear();
            f.spin_count = 0;
            f.circle = Circle::default();
        }
        None if f.spin.len() < 16 => f.spin.push(crate::fiber::SpinRead { site, addr, size, value }),
        None => {
            f.spin.clear();
            f.spin_count = 0;
        }
    }
}

/// Notes a visible write: the thread gets somewhere.
pub fn progressed() {
    progressed_unrecorded();
    me().circle = Circle::default();
}

/// The same in an unrecorded execution, where nobody asks for circles.
#[inline(always)]
pub fn progressed_unrecorded() {
    let f = me();
    f.yields = 0;
    f.spin.clear();
    f.spin_count = 0;
}

/// The state in which the running thread should wait for a visible read: spinning threads stand aside.
#[inline(always)]
pub fn before_read() -> State {
    let f = rt().me();
    if f.spin_count > 0 && f.spin_count >= SPIN_ROUNDS * f.spin.len() as u32 {
        f.spin_count = 0;
        if waits() { State::Spinning } else { State::Ready }
    } else {
        State::Ready
    }
}

/// Whether the running thread makes a call of a sequential order. That others come in between is then the strategy's decision, unless it
/// is certain that the call waits.
pub fn uninterrupted() -> bool {
    rt().patient && me().calling
}

/// Whether a thread that reads the same again and again waits for somebody.
#[cold]
fn waits() -> bool {
    if !uninterrupted() {
        return true;
    }
    me().circle.look().unwrap_or_else(|| {
        rt().store.guessed = true;
        true
    })
}

/// Events of a livelock that are reported after the place where chance decides in a replay: a little of the circle.
const AFTER: usize = 500;

/// A place in an execution.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Mark {
    /// Events before it.
    events: usize,
    /// Transfers before it.
    transfers: usize,
    /// Where the running thread stands, as a schedule says it.
    position: u64,
}

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

impl Runtime {
    /// This place.
    pub fn mark(&self) -> Mark {
        let (events, transfers) = (self.store.trace.events.len(), self.store.schedule.transfers.len());
        Mark { events, transfers, position: self.fibers[self.current()].position() }
    }

    /// More steps than the execution was to be left alone for. In a search, chance decides in the end: whoever is never let run by
    /// a strategy, or has much to do, gets to an end; whoever keeps others from theirs does not, and goes round in circles.
    #[cold]
    pub fn overrun(&mut self) {
        if unrecorded() {
            if self.steps > self.store.job.max_steps {
                crate::fast::too_long();
            }
            self.store.limit = self.store.job.max_steps;
            return;
        }
        if self.mode == Mode::Search {
            let late = self.store.limit == 0;
            let chance_after = self.store.chance_after();
            if !late && self.steps <= chance_after {
                self.marks.push(self.mark());
                self.store.limit = (self.steps * 2).min(chance_after);
                return;
            }
            if self.chance_at.is_none() {
                self.chance_at = Some(self.mark());
                self.store.chanced = true;
            }
            if self.judge(late) {
                self.cut();
            } else {
                return;
            }
        } else if let Some(mark) = self.chance_at {
            self.reported = mark.events + AFTER;
        }
        crate::failure::out_of_steps();
    }

    /// Whether the execution is a livelock; does not return if it is given up.
    fn judge(&mut self, late: bool) -> bool {
        let most = self.store.job.max_steps;
        let spent = self.store.job.budget_ms != 0 && self.store.now_ms >= self.store.job.budget_ms;
        let over = late || spent && self.steps > most;
        self.judge_after = self.judge_after.max(most.saturating_mul(FAIR_LIMIT));
        if !over && self.steps <= self.judge_after {
            return false;
        }
        if over && self.store.stats.completed > 0 {
            // Others came to their end: this one began too late.
            crate::control::abandon();
        }
        let long = over || self.rounds.is_empty() && self.gets_somewhere();
        if !long {
            match self.rounds.look() {
                None => return false,
                Some(false) => return true,
                Some(true) => {}
            }
        }
        if over || self.steps >= most.saturating_mul(FAIR_LIMIT * self.store.patience_for_long()) {
            crate::control::too_long();
        }
        // It is merely long.
        self.judge_after = self.steps * 2;
        self.rounds.clear();
        false
    }

    /// Whether the last part of the execution still came to new variables or values: then it is long, not caught in a circle.
    fn gets_somewhere(&self) -> bool {
        let from = self.chance_at.map_or(0, |m| m.events);
        last_news(&self.store.trace) >= from + (self.store.trace.events.len() - from) / 10 * 9
    }

    /// Leaves of the record of a livelock what leads into the circle. In a replay chance decides from there on, as it did here in the end.
    fn cut(&mut self) {
        let news = last_news(&self.store.trace);
        let Some(chance_at) = self.chance_at else { return };
        let mark = self.marks.iter().copied().find(|m| m.events > news).unwrap_or(chance_at);
        self.reported = mark.events + AFTER;
        // The strategy is told of what it decided.
        self.store.trace.events.truncate(chance_at.events);
        let transfers = &mut self.store.schedule.transfers;
        transfers.truncate(mark.transfers);
        transfers.push(Transfer { at: mark.position, to: Transfer::BY_CHANCE, timeout: false });
    }
}
