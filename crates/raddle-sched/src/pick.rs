//! Who can run, and who runs next in a search.
//!
//! The run queues say at once who can go on for certain. Those about whom it depends (on a lock of several readers, on time, on memory that
//! a spinning thread has read) are looked at one by one. If nobody can go on, those who only gave way do; then time passes; then
//! those who spin have a look; and if that is of no use, either, nobody ever will.

use crate::front::{Decision, Ending, FrontEnd};
use crate::recurrence::mix;
use crate::rules::Mode;
use crate::scheduler::Scheduler;
use crate::thread::{State, Thread, Woken};
use raddle_core::strategy::Choice;
use raddle_core::{Event, Op, ThreadId};

/// Steps that remaining threads may still take once the test itself is over.
const EPILOGUE: u64 = 20_000;

impl<B> Scheduler<B> {
    /// Who goes on after the running thread has come to a step, or to its end.
    #[inline(always)]
    pub fn next<F: FrontEnd<Body = B>>(&mut self, me: usize, front: &mut F) -> Decision {
        if !std::mem::take(&mut self.uncounted) {
            self.steps += 1;
            front.beat();
            if self.steps > *front.limit() {
                self.overrun(me, front)?;
            }
        }
        if self.mode == Mode::Replay { self.follow(me, front) } else { self.pick(me, front) }
    }

    /// The test is over, and what it left behind is at rest: who goes on if the harness may.
    pub fn let_harness_go_on<F: FrontEnd<Body = B>>(&mut self, me: usize, front: &mut F) -> Decision {
        self.harness_goes_on = true;
        self.pick(me, front)
    }

    /// Whether the harness has been let go on.
    pub fn harness_goes_on(&self) -> bool {
        self.harness_goes_on
    }

    /// Whether something that a spinning thread read has changed.
    pub(crate) fn moved<F: FrontEnd<Body = B>>(&self, t: &Thread<B>, front: &F) -> bool {
        t.spin.iter().any(|r| front.load(r.addr, r.size) != r.value)
    }

    /// Fills `able`; returns a thread that has to be settled first, if there is one.
    #[inline(always)]
    pub(crate) fn collect<F: FrontEnd<Body = B>>(&mut self, me: usize, front: &mut F) -> Option<usize> {
        let settle = self.queues.unsettled.nth(0);
        if settle.is_some() {
            return settle;
        }
        self.able.copy_from(&self.queues.ready);
        self.able.add_few(self.queues.passing(front));
        if self.queues.unclear.is_empty() { None } else { self.look(me, front) }
    }

    /// Adds those to `able` who turn out to be able to run.
    fn look<F: FrontEnd<Body = B>>(&mut self, me: usize, front: &mut F) -> Option<usize> {
        // The harness waits until the test is over and what it left behind has come to rest.
        let hold_system = match self.root_ended_at {
            Some(at) => !self.harness_goes_on && self.steps < at + EPILOGUE,
            None => true,
        };
        let mut able = std::mem::take(&mut self.able);
        let (mut settle, mut held_back) = (None, None);
        for i in self.queues.unclear.iter() {
            let t = &*self.threads[i];
            let can = match t.state {
                State::Exited => false,
                State::Unsettled if t.system && hold_system => false,
                State::Unsettled => {
                    settle = Some(i);
                    break;
                }
                State::Ready => !(t.system && hold_system),
                State::Yielded(at) => self.steps > at,
                State::Lock(gate) => self.open(gate, front) || !t.queued && self.can_queue(gate),
                State::Spinning => self.moved(t, front),
                State::Waiting(w) if self.may_end(t, w) => true,
                State::Waiting(w) => {
                    held_back = held_back.or(w.early.then_some(w.kind));
                    false
                }
            };
            if can {
                able.insert(i);
            }
        }
        if let (Some(kind), None, Mode::Search) = (held_back, settle, self.mode)
            && !able.is_empty()
        {
            self.leave_out(me, kind, front);
        }
        self.able = able;
        settle
    }

    /// When nobody is enabled: those who gave way, then time, then the spinning, then the harness.
    fn second_chance(&mut self) -> bool {
        let (threads, able) = (&self.threads, &mut self.able);
        for (i, t) in threads.iter().enumerate() {
            if matches!(t.state, State::Yielded(_)) {
                able.insert(i);
            }
        }
        if !self.able.is_empty() || self.pass_time() {
            return true;
        }
        let (threads, able) = (&self.threads, &mut self.able);
        for (i, t) in threads.iter().enumerate() {
            if t.state == State::Spinning || matches!(t.state, State::Lock(_)) && t.relocks {
                able.insert(i);
            }
        }
        !self.able.is_empty()
    }

    /// The time at which the first wait ends by itself.
    pub(crate) fn next_deadline(&self) -> Option<u64> {
        let deadlines = self.threads.iter().filter_map(|t| match t.state {
            State::Waiting(w) => w.deadline,
            _ => None,
        });
        deadlines.min()
    }

    /// Lets time pass until the next deadline. Whose time has come can go on; as long as none of them does, another thread may still
    /// wake it, in a search as in a replay. Those of the harness are not asked.
    fn pass_time(&mut self) -> bool {
        let Some(at) = self.next_deadline() else { return false };
        self.clock.advance_to(at);
        for i in 0..self.threads.len() {
            if let State::Waiting(w) = self.threads[i].state
                && !w.early
                && w.deadline.is_some_and(|d| d <= at)
            {
                self.expire(i);
            }
        }
        true
    }

    /// Ends a wait because its time has come; does nothing unless the thread is in a wait.
    pub(crate) fn expire(&mut self, i: usize) {
        let t = &mut self.threads[i];
        if let State::Waiting(w) = t.state {
            if let Some(d) = w.deadline {
                self.clock.advance_to(d);
            }
            t.woken = Woken::TimedOut;
            t.pending = timed_out(t.pending);
            self.set_state(i, State::Ready);
        }
    }

    /// Chooses who runs next.
    pub(crate) fn pick<F: FrontEnd<Body = B>>(&mut self, me: usize, front: &mut F) -> Decision {
        loop {
            if let Some(i) = self.collect(me, front) {
                return Ok(i);
            }
            if self.able.is_empty() && !self.second_chance() {
                return Err(self.stuck(front));
            }
            let k = match self.able.len() {
                0 => continue,
                1 if self.mode != Mode::Search || !front.every_step() => 0,
                n => match self.decide(me, n, front) {
                    Choice::Run(k) => k,
                    Choice::Abandon => return Err(Ending::Abandoned),
                },
            };
            let Some(i) = self.able.nth(k) else { return Err(Ending::NoSuchThread) };
            if let State::Waiting(w) = self.threads[i].state {
                self.note_end(i, w, front);
                self.expire(i);
            }
            return Ok(i);
        }
    }

    /// Asks the strategy for one of the `n` that are able.
    #[inline]
    fn decide<F: FrontEnd<Body = B>>(&mut self, me: usize, n: usize, front: &mut F) -> Choice {
        // Chance would interrupt the calls of a sequential order.
        if self.chance_at.is_some() && !self.patient {
            self.decisions += usize::from(n > 1);
            return Choice::Run(mix(self.steps) as usize % n);
        }
        let choice = front.choose_blindly(n).map_or_else(|| self.show(me, front), Choice::Run);
        // A strategy that is asked about every step has nothing to decide where one thread can go on.
        self.decisions += usize::from(n > 1);
        choice
    }

    /// Shows the strategy what everybody is about to do.
    fn show<F: FrontEnd<Body = B>>(&mut self, me: usize, front: &mut F) -> Choice {
        self.enabled.clear();
        for i in self.able.iter() {
            let t = &self.threads[i];
            self.enabled.push(match t.state {
                State::Waiting(_) => timed_out(t.pending),
                _ => t.pending,
            });
        }
        front.choose(&self.enabled, ThreadId(me as u32), self.decisions)
    }

    /// Nobody can go on, now or later.
    fn stuck<F: FrontEnd<Body = B>>(&mut self, front: &mut F) -> Ending {
        if self.mode == Mode::Search {
            let waiting = self.threads.iter().filter(|t| t.state != State::Exited && !t.system);
            let pending: Vec<Event> = waiting.map(|t| t.pending).collect();
            front.stuck(&pending);
        }
        // When the test is over, what still waits was abandoned by it.
        if self.root_ended_at.is_none() { Ending::Deadlock } else { Ending::AtRest }
    }

    /// Whether a thread could go on by itself, for replays.
    pub(crate) fn runnable<F: FrontEnd<Body = B>>(&self, i: usize, front: &F) -> bool {
        match self.threads[i].state {
            State::Waiting(_) | State::Exited => false,
            State::Lock(gate) => self.open(gate, front) || !self.threads[i].queued && self.can_queue(gate),
            _ => true,
        }
    }

    /// Whether a thread could go on, at once or when time has passed. As long as one could, a search calls nothing stuck, and
    /// a replay must not either: its schedule may have been cut short.
    pub fn could_go_on<F: FrontEnd<Body = B>>(&self, i: usize, front: &F) -> bool {
        let t = &self.threads[i];
        match t.state {
            State::Waiting(w) => w.deadline.is_some(),
            State::Lock(_) => t.relocks || self.runnable(i, front),
            _ => self.runnable(i, front),
        }
    }
}

fn timed_out(e: Event) -> Event {
    match e.op {
        Op::Wait { on, .. } => Event { op: Op::Wait { on, timed_out: true }, ..e },
        _ => e,
    }
}
