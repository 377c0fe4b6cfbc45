//! A front-end of a few lines: threads are lists of operations on an array, and a loop runs them.

use crate::front::{Decision, Ending, FrontEnd, Note};
use crate::gate::{Free, Gate, Memory};
use crate::rules::{EarlyEnds, Limits, Mode, PATIENCE, Rules};
use crate::scheduler::Scheduler;
use crate::spin::Overdue;
use crate::thread::{HeldLock, State, Thread, Wait, WaitKind, Woken, join_key};
use raddle_core::strategy::{Choice, Dice};
use raddle_core::{Access, Event, LockMode, NameId, Op, Schedule, SiteId, ThreadId, Trace, Transfer, VarId};

/// What a toy thread does next.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Do {
    /// Adds to a word, at a scheduling point.
    Add(usize, u32),
    /// Takes the mutex at a word.
    Lock(usize),
    /// Gives it back.
    Unlock(usize),
    /// Reads a word until it is this.
    Until(usize, u32),
    /// Reads a word, and goes to an operation unless it is this.
    Unless(usize, u32, usize),
    /// Waits in a queue.
    Wait(usize),
    /// Waits in a queue, or until so much time has passed.
    WaitFor(usize, u64),
    /// Wakes all who wait in a queue.
    Wake(usize),
    /// Begins another thread: one of the scripts.
    Spawn(usize),
    /// Waits for the end of a thread.
    Join(usize),
    /// Does nothing visible until a word, which nobody sees it read, is no longer 0.
    Compute(usize),
}

/// What the front-end keeps about a thread.
#[derive(Debug)]
pub struct Body {
    script: usize,
    at: usize,
}

/// A program and the search that it is run by.
#[derive(Default)]
pub struct Toy {
    /// Each byte has an address.
    pub memory: [u32; 16],
    /// What threads do.
    pub scripts: Vec<Vec<Do>>,
    /// What decides; the first thread if nothing does.
    pub dice: Option<Dice>,
    /// The dice are only thrown where somebody has looked, and no step is decided without.
    pub looks: bool,
    /// What came of the execution.
    pub trace: Trace,
    pub schedule: Schedule,
    pub notes: Vec<Note>,
    pub limit: u64,
    /// How each wait ended, by thread.
    pub woken: Vec<(usize, Woken)>,
}

impl Memory for Toy {
    fn word(&self, at: usize) -> u32 {
        self.memory[at / 4]
    }

    fn load(&self, at: usize, _: u8) -> u128 {
        self.word(at).into()
    }

    fn admits(&self, _: usize, _: LockMode) -> bool {
        false
    }
}

impl FrontEnd for Toy {
    type Body = Body;

    fn digest(&self, thread: &Thread<Body>) -> u64 {
        thread.at as u64
    }

    fn dice(&mut self) -> Option<&mut Dice> {
        self.dice.as_mut().filter(|_| !self.looks)
    }

    fn choose_blindly(&mut self, enabled: usize) -> Option<usize> {
        self.dice().map(|dice| dice.below(enabled))
    }

    fn choose(&mut self, enabled: &[Event], _: ThreadId, _: usize) -> Choice {
        Choice::Run(self.dice.as_mut().map_or(0, |dice| dice.below(enabled.len())))
    }

    fn every_step(&self) -> bool {
        false
    }

    fn stuck(&mut self, _: &[Event]) {}

    fn trace(&mut self) -> &mut Trace {
        &mut self.trace
    }

    fn schedule(&mut self) -> &mut Schedule {
        &mut self.schedule
    }

    fn limit(&mut self) -> &mut u64 {
        &mut self.limit
    }

    fn beat(&mut self) {}

    fn is_late(&self) -> bool {
        false
    }

    fn note(&mut self, note: Note) {
        self.notes.push(note);
    }
}

/// The rules of a search, or of the replay of a schedule.
pub fn rules(replay: Option<&[Transfer]>, early_ends: EarlyEnds) -> Rules {
    Rules {
        mode: if replay.is_some() { Mode::Replay } else { Mode::Search },
        transfers: replay.unwrap_or_default().to_vec(),
        followed: 0,
        recorded: true,
        patient: false,
        patience: PATIENCE,
        early_ends,
        limits: Limits { most: 1_000, chance_after: 1_000, for_long: 1, others_ended: false },
    }
}

impl Toy {
    /// A program; its first script is the test.
    pub fn new(scripts: &[&[Do]]) -> Toy {
        let scripts: Vec<Vec<Do>> = scripts.iter().map(|s| s.to_vec()).collect();
        let vars = (0..16).map(NameId).collect();
        Toy { scripts, trace: Trace { events: Vec::new(), vars }, limit: 100, ..Toy::default() }
    }

    /// Runs it; tells how that ended. A test that has nothing left to do ends at rest.
    pub fn run(&mut self, rules: Rules) -> Ending {
        let mut s = Scheduler::new(rules);
        s.spawn(Box::new(Thread::new(0, Body { script: 0, at: 0 })));
        let mut me = 0;
        loop {
            match self.run_to_step(&mut s, me) {
                Ok(next) => {
                    if next != me {
                        s.record_transfer(me, next, self);
                    }
                    me = next;
                }
                Err(ending) => return ending,
            }
        }
    }

    /// Takes the step that the running thread stands before and runs it to its next one; who goes on.
    fn run_to_step(&mut self, s: &mut Scheduler<Body>, me: usize) -> Decision {
        if s.threads[me].state != State::Unsettled {
            if let Some(gate) = self.gate(s, me).filter(|gate| !s.open(*gate, self)) {
                s.queue_up(me, gate);
                return s.next(me, self);
            }
            self.take_step(s, me);
            s.resume(me);
        }
        loop {
            s.threads[me].raw += 1;
            let Some(next) = self.next_of(s, me) else {
                s.exit(me);
                return if s.alive == 0 { Err(Ending::AtRest) } else { s.next(me, self) };
            };
            let word = |at: usize| VarId(at as u32 / 4);
            let event = |op| Event { thread: ThreadId(me as u32), site: SiteId(1), op };
            let (op, state) = match next {
                Do::Add(at, _) => (Op::Rmw(Access::plain(word(at), 4)), State::Ready),
                Do::Unlock(at) => {
                    self.memory[at / 4] = 0;
                    s.threads[me].held.retain(|h| h.addr != at);
                    s.threads[me].at += 1;
                    continue;
                }
                Do::Lock(at) => {
                    let op = Op::Acquire { lock: word(at), mode: LockMode::Exclusive };
                    (op, State::Lock(Gate::mutex(at, u32::MAX.into())))
                }
                Do::Until(at, _) | Do::Unless(at, ..) => {
                    (Op::Read(Access::plain(word(at), 4)), s.before_read(me, self))
                }
                Do::Wait(key) | Do::WaitFor(key, _) => {
                    let deadline =
                        if let Do::WaitFor(_, ns) = next { Some(s.clock.now() + ns) } else { None };
                    let wait = Wait::new(key, !0, WaitKind::Condition, deadline);
                    (Op::Wait { on: VarId(0), timed_out: false }, s.wait(me, wait))
                }
                Do::Wake(key) => {
                    s.wake(key, !0, usize::MAX);
                    s.threads[me].at += 1;
                    continue;
                }
                Do::Spawn(script) => {
                    s.threads[me].at += 1;
                    s.spawn(Box::new(Thread::new(0, Body { script, at: 0 })));
                    continue;
                }
                Do::Join(other) if s.threads[other].state == State::Exited => {
                    s.threads[me].at += 1;
                    continue;
                }
                Do::Join(other) => {
                    let id = ThreadId(other as u32);
                    (Op::Join(id), s.wait(me, Wait::new(join_key(id), !0, WaitKind::Join(id), None)))
                }
                Do::Compute(at) if self.memory[at / 4] != 0 => {
                    s.threads[me].at += 1;
                    continue;
                }
                Do::Compute(_) if s.threads[me].raw < s.threads[me].raw_limit => continue,
                Do::Compute(_) => match s.overdue(me, self)? {
                    Overdue::GoesOn => continue,
                    Overdue::Yields(state) | Overdue::IsUrged(state) => (Op::Yield, state),
                },
            };
            let gate =
                if let State::Lock(gate) = state { Free::when(&gate).map(|free| (gate, free)) } else { None };
            let by_dice = s.mode == Mode::Search && self.dice.is_some() && !self.looks;
            if by_dice && (gate.is_some() || state == State::Ready) {
                s.threads[me].pending = event(op);
                match s.try_next(me, gate, self) {
                    Some(next) if next == me => {
                        self.take_step(s, me);
                        s.renew_patience(me);
                        continue;
                    }
                    Some(next) => return Ok(next),
                    None => {}
                }
            }
            s.arrive(me, event(op), state);
            return s.next(me, self);
        }
    }

    fn next_of(&self, s: &Scheduler<Body>, me: usize) -> Option<Do> {
        let t = &s.threads[me];
        self.scripts[t.script].get(t.at).copied()
    }

    fn gate(&self, s: &Scheduler<Body>, me: usize) -> Option<Gate> {
        if let State::Lock(gate) = s.threads[me].state { Some(gate) } else { None }
    }

    fn take_step(&mut self, s: &mut Scheduler<Body>, me: usize) {
        let Some(step) = self.next_of(s, me) else { return };
        let t = &mut s.threads[me];
        let mut next = t.at + 1;
        match step {
            Do::Add(at, n) => {
                self.memory[at / 4] += n;
                t.progressed();
            }
            Do::Lock(at) => {
                self.memory[at / 4] = 1;
                t.held.push(HeldLock { addr: at, mode: LockMode::Exclusive, site: SiteId(1) });
                t.progressed();
            }
            Do::Until(at, value) | Do::Unless(at, value, _) => {
                let there = self.memory[at / 4];
                t.saw(SiteId(t.at as u32), at, 4, there.into());
                match step {
                    Do::Until(..) if there != value => next = t.at,
                    Do::Unless(_, _, to) if there != value => next = to,
                    _ => {}
                }
            }
            Do::Wait(_) | Do::WaitFor(..) => self.woken.push((me, t.woken)),
            Do::Compute(_) => next = t.at,
            Do::Unlock(_) | Do::Wake(_) | Do::Spawn(_) | Do::Join(_) => {}
        }
        t.at = next;
        self.trace.events.push(t.pending);
    }
}
