//! The scheduler of one execution: its threads and where they stand.
//!
//! The files beside this one add what is decided about them: [`pick`](crate::pick) in a search, `replay` after a schedule, `early`
//! about time, `spin` and `limits` about executions without an end.

use crate::clock::Clock;
use crate::front::{Ending, FrontEnd};
use crate::gate::{Free, Gate};
use crate::queues::{Queues, SmallSet, ThreadSet};
use crate::recurrence::Rounds;
use crate::rules::{EarlyEnds, Limits, Mark, Mode, Rules};
use crate::thread::{State, Thread, Wait, WaitKind, Woken, join_key};
use raddle_core::{Event, Op, ThreadId, Transfer};

/// The scheduler of one execution.
#[derive(Debug)]
pub struct Scheduler<B> {
    /// All threads so far, by number. They stay where they are: a front-end may keep the address of one.
    pub threads: Vec<Box<Thread<B>>>,
    /// Who stands where; kept by [`Scheduler::set_state`] together with each thread's own state.
    pub queues: Queues,
    /// How it is steered.
    pub mode: Mode,
    /// Times the scheduler was asked.
    pub steps: u64,
    /// Visible steps taken.
    pub visible: u64,
    /// Decisions taken.
    pub decisions: usize,
    /// Virtual time.
    pub clock: Clock,
    /// The thread whose end is the end of the test.
    pub root: usize,
    /// `steps` when the test itself ended.
    pub root_ended_at: Option<u64>,
    /// Threads that have not ended.
    pub alive: usize,
    /// Raw events without a decision after which a thread is made to yield.
    pub patience: u64,
    /// See [`Rules::patient`].
    pub(crate) patient: bool,
    pub(crate) recorded: bool,
    /// The test is over and its harness may continue.
    pub(crate) harness_goes_on: bool,
    /// The next decision is not a step.
    pub(crate) uncounted: bool,
    pub(crate) early_ends: EarlyEnds,
    pub(crate) limits: Limits,
    /// Where looks found the execution, as it grew longer.
    pub(crate) marks: Vec<Mark>,
    /// Where chance began to decide instead of the strategy or the schedule, if it did.
    pub(crate) chance_at: Option<Mark>,
    /// A failure is reported with so many events.
    pub(crate) reported: usize,
    /// Steps after which an execution in which chance decides is judged.
    pub(crate) judge_after: u64,
    /// What threads do long after that.
    pub(crate) rounds: Rounds,
    /// The schedule being replayed, and the position in it.
    pub(crate) transfers: Vec<Transfer>,
    pub(crate) replay_at: usize,
    /// Raw events of spinning threads since its end.
    pub(crate) futile: u64,
    /// Order of arrival in wait queues.
    pub(crate) tickets: u64,
    /// Who can run, at a decision.
    pub(crate) able: ThreadSet,
    /// What those are about to do, for strategies that look.
    pub(crate) enabled: Vec<Event>,
}

impl<B> Scheduler<B> {
    /// The scheduler of an execution without threads.
    pub fn new(rules: Rules) -> Self {
        let mut new = Scheduler {
            threads: Vec::new(),
            queues: Queues::default(),
            mode: rules.mode,
            steps: 0,
            visible: 0,
            decisions: 0,
            clock: Clock::default(),
            root: 0,
            root_ended_at: None,
            alive: 0,
            patience: 0,
            patient: false,
            recorded: true,
            harness_goes_on: false,
            uncounted: false,
            early_ends: rules.early_ends,
            limits: rules.limits,
            marks: Vec::new(),
            chance_at: None,
            reported: usize::MAX,
            judge_after: 0,
            rounds: Rounds::default(),
            transfers: Vec::new(),
            replay_at: 0,
            futile: 0,
            tickets: 0,
            able: ThreadSet::default(),
            enabled: Vec::new(),
        };
        new.steer(rules);
        new
    }

    /// From here on other rules hold: the execution proper begins, with the threads that are there.
    pub fn steer(&mut self, rules: Rules) {
        self.mode = rules.mode;
        self.patience = rules.patience;
        self.patient = rules.patient && rules.mode == Mode::Search;
        self.recorded = rules.recorded;
        self.early_ends = rules.early_ends;
        self.limits = rules.limits;
        self.transfers = rules.transfers;
        self.replay_at = rules.followed;
    }

    /// Turns this into the scheduler of the next execution, in the memory it has; returns the threads for later use. Every field is
    /// named, so that none can be forgotten.
    pub fn succeed(&mut self, rules: Rules) -> Vec<Box<Thread<B>>> {
        let Scheduler {
            threads,
            queues,
            mode: _,
            steps,
            visible,
            decisions,
            clock,
            root,
            root_ended_at,
            alive,
            patience: _,
            patient: _,
            recorded: _,
            harness_goes_on,
            uncounted,
            early_ends: _,
            limits: _,
            marks,
            chance_at,
            reported,
            judge_after,
            rounds,
            transfers: _,
            replay_at: _,
            futile,
            tickets,
            able,
            enabled,
        } = self;
        let before = std::mem::take(threads);
        queues.clear();
        (*steps, *visible, *decisions) = (0, 0, 0);
        *clock = Clock::default();
        (*root, *root_ended_at, *alive) = (0, None, 0);
        (*harness_goes_on, *uncounted) = (false, false);
        marks.clear();
        (*chance_at, *reported, *judge_after) = (None, usize::MAX, 0);
        rounds.clear();
        (*futile, *tickets) = (0, 0);
        able.clear();
        enabled.clear();
        self.steer(rules);
        before
    }

    /// Adds a thread, which can run; returns its number.
    pub fn spawn(&mut self, mut thread: Box<Thread<B>>) -> usize {
        let i = self.threads.len();
        thread.id = ThreadId(i as u32);
        thread.raw_limit = self.raw_limit(&thread);
        self.threads.push(thread);
        self.set_state(i, State::Unsettled);
        self.alive += 1;
        i
    }

    fn raw_limit(&self, t: &Thread<B>) -> u64 {
        // In a replay every raw event is looked at, until chance decides.
        if self.mode == Mode::Replay && self.chance_at.is_none() { 0 } else { t.raw + self.patience }
    }

    /// Lets a thread run unobserved for a while.
    #[inline(always)]
    pub fn renew_patience(&mut self, i: usize) {
        let limit = self.raw_limit(&self.threads[i]);
        self.threads[i].raw_limit = limit;
    }

    /// Changes where a thread stands. In place, because most callers say to what.
    #[inline(always)]
    pub fn set_state(&mut self, i: usize, state: State) {
        let t = &mut self.threads[i];
        t.state = state;
        self.queues.note(i, &state, t.system);
    }

    /// The test of a thread does not count any longer: it is part of the harness.
    pub fn make_system(&mut self, i: usize) {
        self.threads[i].system = true;
        self.set_state(i, self.threads[i].state);
    }

    /// The running thread stands before a visible step. Call [`Scheduler::next`] then.
    #[inline(always)]
    pub fn arrive(&mut self, me: usize, event: Event, state: State) {
        self.visible += !matches!(event.op, Op::Join(_)) as u64;
        self.threads[me].pending = event;
        self.set_state(me, state);
    }

    /// The thread that [`Scheduler::next`] chose goes on.
    #[inline(always)]
    pub fn resume(&mut self, me: usize) {
        self.resume_unqueued(me);
        self.set_state(me, State::Unsettled);
    }

    /// The thread that was chosen goes on; the front-end brings the run queues up to date later.
    #[inline(always)]
    pub fn resume_unqueued(&mut self, me: usize) {
        self.renew_patience(me);
        let t = &mut self.threads[me];
        t.urged = 0;
        t.state = State::Unsettled;
    }

    /// A wait of a thread is about to begin: to be arrived at as [`State::Waiting`].
    pub fn wait(&mut self, me: usize, mut wait: Wait) -> State {
        self.tickets += 1;
        wait.ticket = self.tickets;
        wait.since = self.clock.now();
        let t = &mut self.threads[me];
        wait.early = wait.deadline.is_some() && !t.system;
        t.woken = Woken::Up;
        State::Waiting(wait)
    }

    /// Wakes up to `n` threads that wait in the queue `key` with one of the bits, first come first served.
    pub fn wake(&mut self, key: usize, bits: u32, n: usize) -> usize {
        let mut woken = 0;
        while woken < n {
            let waiting = self.queues.waiting.iter();
            let first = waiting
                .filter_map(|i| match self.threads[i].state {
                    State::Waiting(w) if w.key == key && w.bits & bits != 0 && w.kind != WaitKind::Sleep => {
                        Some((w.ticket, i, w.kind))
                    }
                    _ => None,
                })
                .min_by_key(|&(ticket, ..)| ticket);
            let Some((_, i, kind)) = first else { break };
            let t = &mut self.threads[i];
            t.woken = Woken::Up;
            match (kind, t.relock.take()) {
                (WaitKind::Join(_), _) => self.set_state(i, State::Unsettled),
                (_, None) => self.set_state(i, State::Ready),
                (_, Some(gate)) => {
                    t.relocks = true;
                    self.set_state(i, State::Lock(gate));
                }
            }
            woken += 1;
        }
        woken
    }

    /// Has up to `n` threads that wait for one futex word wait for another instead; tells how many.
    pub fn requeue(&mut self, from: usize, to: usize, n: usize) -> usize {
        let mut moved = 0;
        for t in &mut self.threads {
            if let State::Waiting(w) = &mut t.state
                && w.key == from
                && w.kind == WaitKind::Futex
                && moved < n
            {
                w.key = to;
                moved += 1;
            }
        }
        moved
    }

    /// The running thread has ended. Call [`Scheduler::next`] then, if anybody is alive.
    pub fn exit(&mut self, me: usize) {
        self.threads[me].raw += 1;
        self.set_state(me, State::Exited);
        self.alive -= 1;
        self.wake(join_key(ThreadId(me as u32)), !0, usize::MAX);
        if me == self.root {
            self.root_ended_at = Some(self.steps);
        }
    }

    /// Is a lock free?
    #[inline]
    pub fn open<F: FrontEnd<Body = B>>(&self, gate: Gate, front: &F) -> bool {
        !(gate.reader && self.writer_waits(gate.addr)) && gate.is_free(front)
    }

    /// Whether a writer would wait for readers only, so that its waiting makes a difference to other readers.
    pub(crate) fn can_queue(&self, gate: Gate) -> bool {
        use raddle_core::LockMode;
        let held = |m| self.threads.iter().any(|t| t.held.iter().any(|h| h.addr == gate.addr && h.mode == m));
        gate.writer && held(LockMode::Shared) && !held(LockMode::Exclusive)
    }

    /// Whether a writer waits in the queue of a lock.
    fn writer_waits(&self, addr: usize) -> bool {
        self.threads.iter().any(|t| t.queued && matches!(t.state, State::Lock(g) if g.addr == addr))
    }

    /// The running thread, which was let pass a gate, stands before it still: a writer that was let run although readers are inside
    /// joins the queue. From now on it keeps new readers out, as the locks of std and parking_lot do. Call [`Scheduler::next`] then.
    pub fn queue_up(&mut self, me: usize, gate: Gate) {
        // Before and after are different places in a schedule.
        self.threads[me].raw += 1;
        self.threads[me].queued = true;
        self.set_state(me, State::Lock(gate));
    }

    /// Notes that a thread goes on after the running one, unless nothing is recorded or this happens as a schedule says.
    #[inline(always)]
    pub fn record_transfer<F: FrontEnd<Body = B>>(&mut self, me: usize, next: usize, front: &mut F) {
        if self.recorded && self.mode != Mode::Replay {
            let t = &self.threads[next];
            let timeout = t.woken == Woken::TimedOut && t.state == State::Ready;
            let at = self.threads[me].position();
            front.schedule().transfers.push(Transfer { at, to: ThreadId(next as u32), timeout });
        }
    }

    /// A step of the running thread, before a lock if one is given, in a search that dice alone decide: who takes the next step, if everybody stands
    /// still for certain. If so the step is counted, and the thread stands before it unless it goes on itself; if not, nothing has
    /// happened.
    #[inline(always)]
    pub fn try_next<F: FrontEnd<Body = B>>(
        &mut self,
        me: usize,
        gate: Option<(Gate, Free)>,
        front: &mut F,
    ) -> Option<usize> {
        let can = gate.is_none_or(|(_, free)| free.is_it(front));
        let able = self.queues.able_with(me, can, front)?;
        if self.steps >= *front.limit() {
            return None;
        }
        let next = self.throw(able, front)?;
        self.visible += 1;
        self.steps += 1;
        front.beat();
        if next != me {
            let t = &mut self.threads[me];
            match gate {
                None => {
                    t.state = State::Ready;
                    self.queues.becomes_ready(me);
                }
                Some((gate, free)) => {
                    t.state = State::Lock(gate);
                    self.queues.comes_to(free, me);
                }
            }
        }
        Some(next)
    }

    /// One of those who are able, by the dice.
    #[inline(always)]
    fn throw<F: FrontEnd<Body = B>>(&mut self, able: SmallSet, front: &mut F) -> Option<usize> {
        let n = able.count();
        if n == 1 {
            return able.nth(0);
        }
        let k = front.dice()?.below(n);
        self.decisions += 1;
        able.nth(k)
    }

    /// Whether the running thread, which is inside of a call of a sequential order, can take its step without asking; if so, the step is
    /// counted. Calls that follow each other get as far as chance would let them.
    pub fn skip<F: FrontEnd<Body = B>>(&mut self, me: usize, front: &mut F) -> Result<bool, Ending> {
        if !self.threads[me].calling {
            return Ok(false);
        }
        self.steps += 1;
        self.visible += 1;
        front.beat();
        if self.steps > self.limits.fair() {
            return Err(self.out_of_steps());
        }
        self.renew_patience(me);
        Ok(true)
    }

    /// Whether a failure is reported with all its events; otherwise, with how many.
    pub fn reported(&self) -> usize {
        self.reported
    }

    /// Whether chance decides, instead of the strategy or the schedule.
    pub fn is_left_to_chance(&self) -> bool {
        self.chance_at.is_some()
    }
}
