//! Who can run, and who runs next: asked of the strategy, or read from a schedule.

use super::{Host, Mode, Runtime, load};
use crate::fiber::{Fiber, Gate, State, Test, Wait, Woken};
use crate::heap;
use crate::image::Image;
use crate::sites::Sites;
use crate::standing::Few;
use crate::sync::words;
use raddle_core::strategy::{Choice, Strategy, View};
use raddle_core::{Event, LockMode, Op, SiteId, ThreadId, Transfer};

/// Steps that remaining threads may still take once the test itself is over.
const EPILOGUE: u64 = 20_000;

impl Runtime {
    /// Is a lock free?
    #[inline]
    pub fn open(&self, gate: Gate) -> bool {
        if gate.reader && self.writer_waits(gate.addr) {
            return false;
        }
        match gate.test {
            Test::StdRead => words::admits_reader(gate.addr),
            Test::Model(mode) => self.models.free(gate.addr, mode),
            Test::Zero(bits) => words::is_clear(gate.addr, bits),
        }
    }

    /// Whether a writer would wait for readers only, so that its waiting makes a difference to other readers.
    fn can_queue(&self, gate: Gate) -> bool {
        let held = |m| self.fibers.iter().any(|f| f.held.iter().any(|h| h.addr == gate.addr && h.mode == m));
        gate.writer && held(LockMode::Shared) && !held(LockMode::Exclusive)
    }

    /// Whether a writer waits in the queue of a lock.
    fn writer_waits(&self, addr: usize) -> bool {
        self.fibers.iter().any(|f| f.queued && matches!(f.state, State::Lock(g) if g.addr == addr))
    }

    /// Whether something that a spinning thread read has changed.
    pub(super) fn moved(&self, f: &Fiber) -> bool {
        f.spin.iter().any(|r| load(r.addr, r.size) != r.value)
    }

    /// Fills `able`; returns a thread that has to be settled first, if there is one.
    #[inline(always)]
    fn collect(&mut self) -> Option<usize> {
        self.end_sprint();
        let settle = self.standing.unsettled.nth(0);
        if settle.is_some() {
            return settle;
        }
        self.able.copy_from(&self.standing.ready);
        self.able.add_few(self.standing.passing());
        if self.standing.unclear.is_empty() { None } else { self.look() }
    }

    /// Adds those to `able` who turn out to be able to run.
    fn look(&mut self) -> Option<usize> {
        // The harness waits until the test is over and what it left behind has come to rest.
        let hold_system = match self.root_ended_at {
            Some(at) => !self.harness_goes_on && self.steps < at + EPILOGUE,
            None => true,
        };
        let mut able = std::mem::take(&mut self.able);
        let (mut settle, mut held_back) = (None, None);
        for i in self.standing.unclear.iter() {
            let f = &*self.fibers[i];
            let can = match f.state {
                State::Exited => false,
                State::Unsettled if f.system && hold_system => false,
                State::Unsettled => {
                    settle = Some(i);
                    break;
                }
                State::Ready => !(f.system && hold_system),
                State::Yielded(at) => self.steps > at,
                State::Lock(gate) => self.open(gate) || !f.queued && self.can_queue(gate),
                State::Spinning => self.moved(f),
                State::Waiting(w) if self.may_end(f, w) => true,
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
            self.leave_out(kind.ends_early());
        }
        self.able = able;
        settle
    }

    /// When nobody is enabled: those who gave way, then time, then the spinning, then the harness.
    fn second_chance(&mut self) -> bool {
        let (fibers, able) = (&self.fibers, &mut self.able);
        for (i, f) in fibers.iter().enumerate() {
            if matches!(f.state, State::Yielded(_)) {
                able.insert(i);
            }
        }
        if !self.able.is_empty() || self.pass_time() {
            return true;
        }
        let (fibers, able) = (&self.fibers, &mut self.able);
        for (i, f) in fibers.iter().enumerate() {
            if f.state == State::Spinning || matches!(f.state, State::Lock(_)) && f.relocks {
                able.insert(i);
            }
        }
        !self.able.is_empty()
    }

    /// The time at which the first wait ends by itself.
    pub(super) fn next_deadline(&self) -> Option<u64> {
        let deadlines = self.fibers.iter().filter_map(|f| match f.state {
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
        for i in 0..self.fibers.len() {
            if let State::Waiting(w) = self.fibers[i].state
                && !w.early
                && w.deadline.is_some_and(|d| d <= at)
            {
                self.expire(i);
            }
        }
        true
    }

    /// A wait ends because its time has come.
    fn expire(&mut self, i: usize) {
        let f = &mut self.fibers[i];
        if let State::Waiting(w) = f.state {
            if let Some(d) = w.deadline {
                self.clock.advance_to(d);
            }
            f.woken = Woken::TimedOut;
            f.pending = timed_out(f.pending);
            self.set_state(i, State::Ready);
        }
    }

    /// Chooses who runs next.
    pub(super) fn pick(&mut self) -> usize {
        loop {
            if let Some(i) = self.collect() {
                return i;
            }
            if self.able.is_empty() && !self.second_chance() {
                self.stuck();
                continue;
            }
            let k = match self.able.len() {
                0 => continue,
                1 if self.mode != Mode::Search || !self.store.strategy.every_step() => 0,
                n => match self.decide(n) {
                    Choice::Run(k) => k,
                    Choice::Abandon => crate::control::abandon(),
                },
            };
            let Some(i) = self.able.nth(k) else {
                crate::fatal("a strategy chose a thread that is not there")
            };
            if let State::Waiting(w) = self.fibers[i].state {
                self.note_end(i, w);
                self.expire(i);
            }
            return i;
        }
    }

    /// Chooses one of those who are able, if the strategy need not look at them.
    #[inline(always)]
    pub(super) fn choose(&mut self, able: Few) -> Option<usize> {
        let n = able.len();
        let k = match self.dice {
            Some(_) if n == 1 => 0,
            Some(mut dice) => {
                self.decisions += 1;
                // SAFETY: they are the strategy's, which stays where it is during an execution and is not used meanwhile.
                unsafe { dice.as_mut() }.below(n)
            }
            None => self.choose_unseen(n)?,
        };
        able.nth(k)
    }

    fn choose_unseen(&mut self, n: usize) -> Option<usize> {
        let strategy = &mut self.store.strategy;
        if n == 1 {
            return (!strategy.every_step()).then_some(0);
        }
        let k = heap::persistent(|| strategy.choose_blindly(n))?;
        self.decisions += 1;
        Some(k)
    }

    /// Asks the strategy for one of the `n` that are able.
    #[inline]
    fn decide(&mut self, n: usize) -> Choice {
        self.end_sprint();
        // Chance would interrupt the calls of a sequential order.
        if self.chance_at.is_some() && !self.patient {
            self.decisions += usize::from(n > 1);
            return Choice::Run(crate::table::mix(self.steps) as usize % n);
        }
        let strategy = &mut self.store.strategy;
        let blind = heap::persistent(|| strategy.choose_blindly(n));
        let choice = blind.map_or_else(|| self.show(), Choice::Run);
        // A strategy that is asked about every step has nothing to decide where one thread can go on.
        self.decisions += usize::from(n > 1);
        choice
    }

    /// Shows the strategy what everybody is about to do.
    fn show(&mut self) -> Choice {
        self.enabled.clear();
        for i in self.able.iter() {
            let f = &self.fibers[i];
            self.enabled.push(match f.state {
                State::Waiting(_) => timed_out(f.pending),
                _ => f.pending,
            });
        }
        for event in &self.enabled {
            let store = &mut *self.store;
            introduce(&mut store.strategy, &store.sites, &mut store.image, event.site);
        }
        let view = View {
            enabled: &self.enabled,
            last: ThreadId(self.current() as u32),
            events: &self.store.trace.events,
            vars: &self.store.trace.vars,
            decision: self.decisions,
        };
        let strategy = &mut self.store.strategy;
        heap::persistent(|| strategy.choose(&view))
    }

    /// Nobody can go on, now or later.
    fn stuck(&mut self) {
        if self.mode == Mode::Search {
            let waiting = self.fibers.iter().filter(|f| f.state != State::Exited && !f.system);
            let pending: Vec<Event> = waiting.map(|f| f.pending).collect();
            let strategy = &mut self.store.strategy;
            heap::persistent(|| strategy.stuck(&pending));
        }
        if self.root_ended_at.is_none() {
            crate::failure::deadlock();
        }
        // The test is over; what still waits was abandoned by it.
        match self.host {
            Host::Loop(_) => crate::control::finish(),
            Host::Process => {
                // Once the harness has been seen to pass a test that neither panicked nor printed, there is
                // no need to let it do so again.
                let quiet = self.fibers[self.root].panics.is_empty() && self.store.output.is_empty();
                if self.harness_goes_on || quiet && self.store.quiet_means_passed {
                    crate::control::finish();
                }
                self.harness_goes_on = true;
            }
        }
    }

    /// Whether a thread could go on by itself, for replays.
    pub(super) fn runnable(&self, i: usize) -> bool {
        match self.fibers[i].state {
            State::Waiting(_) | State::Exited => false,
            State::Lock(gate) => self.open(gate) || !self.fibers[i].queued && self.can_queue(gate),
            _ => true,
        }
    }

    /// Whether a thread could go on, at once or when time has passed. As long as one could, a search calls nothing stuck, and
    /// a replay must not either: its schedule may have been cut short.
    pub fn could_go_on(&self, i: usize) -> bool {
        let f = &self.fibers[i];
        match f.state {
            State::Waiting(w) => w.deadline.is_some(),
            State::Lock(_) => f.relocks || self.runnable(i),
            _ => self.runnable(i),
        }
    }

    /// A thread that only lets others go first.
    fn aside(&self) -> Option<usize> {
        let aside = |f: &Fiber| matches!(f.state, State::Spinning | State::Yielded(_)) && !f.system;
        self.fibers.iter().position(|f| aside(f))
    }

    /// Who runs after the end of the schedule: the failure is ahead of the running thread, unless the threads
    /// only keep each other busy.
    fn free_run(&mut self) -> usize {
        let me = self.current();
        if !matches!(self.fibers[me].state, State::Spinning | State::Yielded(_)) {
            return me;
        }
        if let Some(i) = self.collect() {
            return i;
        }
        let next = self.able.iter().find(|&i| i > me).or(self.able.nth(0)).unwrap_or(me);
        // Does nothing to those who do not wait: they are able because they can go on.
        self.expire(next);
        next
    }

    /// Whether the schedule being replayed transfers control here.
    pub fn due(&self) -> bool {
        let here = self.fibers[self.current()].position();
        self.store.replay.as_ref().and_then(|s| s.transfers.get(self.replay_at)).is_some_and(|t| t.at == here)
    }

    /// Ends a thread's wait if its time is to run out.
    fn end_in_replay(&mut self, i: usize, timeout: bool) {
        if let (State::Waiting(w), true) = (self.fibers[i].state, timeout) {
            self.note_end(i, w);
            self.expire(i);
        }
    }

    /// Who runs next according to the schedule.
    pub(super) fn follow(&mut self) -> usize {
        if self.chance_at.is_some() {
            return self.pick();
        }
        let me = self.current();
        let here = self.fibers[me].position();
        let next = self.store.replay.as_ref().and_then(|s| s.transfers.get(self.replay_at)).copied();
        match next {
            Some(t) if t.at == here && t.to == Transfer::BY_CHANCE => {
                self.replay_at += 1;
                self.chance_at = Some(self.mark());
                self.pick()
            }
            Some(t) if t.at == here => {
                self.replay_at += 1;
                let i = t.to.0 as usize;
                if i >= self.fibers.len() {
                    crate::failure::diverged("the schedule names a thread that does not exist");
                }
                self.end_in_replay(i, t.timeout);
                if !self.runnable(i) {
                    crate::failure::diverged("the schedule continues a thread that cannot go on");
                }
                i
            }
            None if self.runnable(me) => self.free_run(),
            _ if self.runnable(me) => me,
            _ => {
                if let State::Waiting(Wait { deadline: Some(_), .. }) = self.fibers[me].state {
                    self.end_in_replay(me, true);
                    return me;
                }
                if next.is_none() {
                    if let Some(i) = self.aside() {
                        return i;
                    }
                    // The schedule ends where the failure was: a deadlock has no further transfer.
                    crate::failure::end_of_replay();
                }
                crate::failure::diverged("a thread cannot go on where the schedule lets it run")
            }
        }
    }
}

/// Tells a strategy that wants to know where a site is.
#[inline(always)]
pub(super) fn introduce(strategy: &mut Box<dyn Strategy>, sites: &Sites, image: &mut Image, site: SiteId) {
    if strategy.wants_place(site) {
        heap::persistent(|| strategy.place(site, &image.frames(&sites.get(site).chain)));
    }
}

fn timed_out(e: Event) -> Event {
    match e.op {
        Op::Wait { on, .. } => Event { op: Op::Wait { on, timed_out: true }, ..e },
        _ => e,
    }
}
