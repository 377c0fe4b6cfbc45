//! An executor that simulates: tests of simulated types, run step by step under the strategies of this crate.

mod decode;
mod follow;
pub mod objects;

use super::protocol::{CallRecord, CallResult, Execution, Executor, ExecutorError, Fresh, Run, RunReply};
use super::{Step, Test, Value};
pub use decode::decode;
use follow::Follower;
use objects::{Frame, Object, Poll, Type};
use raddle_core::coverage::method_pairs::Running;
use raddle_core::event::{Access, Event, MethodId, Op, ThreadId, VarId};
use raddle_core::outcome::{Kind, Outcome};
use raddle_core::protocol::Failure;
use raddle_core::schedule::{Schedule, Transfer};
use raddle_core::strategy::{Choice, Finished, Strategy, View};
use raddle_core::trace::{NameId, Trace};
use std::collections::BTreeMap;

/// Runs tests of a simulated type.
#[derive(Debug)]
pub struct Simulator {
    pub ty: Type,
    /// Executions since the process began.
    age: u64,
    /// Executions in all.
    pub executed: u64,
    /// Runs in all.
    pub runs: u64,
    /// Requests in all.
    pub requests: u64,
    follower: Follower,
}

/// How far a thread is.
#[derive(Clone, Debug, Default)]
struct Thread {
    steps: Vec<Step>,
    /// How many of the steps only repeat the one before.
    repeats: Vec<u32>,
    /// Objects by slot number.
    slots: Vec<Option<usize>>,
    made_from: usize,
    at: usize,
    call: Option<Frame>,
    raw: u64,
    over: bool,
    dropped: bool,
}

#[derive(Debug, Default)]
struct World {
    objects: Vec<Object>,
    calls: Vec<CallRecord>,
    clock: u32,
    events: Vec<Event>,
    transfers: Vec<Transfer>,
    running: u32,
}

impl Simulator {
    pub fn new(ty: Type) -> Self {
        Simulator { ty, age: 0, executed: 0, runs: 0, requests: 0, follower: Follower::default() }
    }

    fn one(&mut self, run: &Run) -> RunReply {
        self.runs += 1;
        let test = decode(&run.test);
        let mut strategy = run.search.strategy(run.seed).unwrap();
        let mut reply = RunReply::default();
        let mut pairs: BTreeMap<(u32, u32), u64> = BTreeMap::new();
        if run.fresh == Fresh::Once {
            self.age = 0;
        }
        while reply.executions < run.executions {
            if run.replay.is_none() && !strategy.begin() {
                reply.exhausted = true;
                break;
            }
            if run.fresh == Fresh::Each {
                self.age = 0;
            }
            let replay = run.replay.as_ref().map(|s| s.transfers.clone());
            let mut world = World::default();
            let (failure, diverged) = self.execute(&test, strategy.as_mut(), replay, &mut world);
            self.age += 1;
            self.executed += 1;
            let outcome = failure.map_or(Outcome::Passed, Outcome::Failed);
            let trace = Trace::from_events(world.events.iter().copied());
            strategy.end(&Finished { trace: &trace, outcome: &outcome, learned: false });
            if run.patterns {
                self.follower.follow(&trace, &mut reply);
            }
            let mut running = Running::default();
            for event in &world.events {
                running.step(event, |p| {
                    let (a, b) = p.methods();
                    *pairs.entry((a.0, b.0)).or_default() += 1;
                });
            }
            let schedule = Schedule { transfers: world.transfers, ..Schedule::default() };
            let failure = failure.map(|kind| Box::new(failed(kind, &schedule)));
            let execution = Execution {
                index: reply.executions,
                calls: world.calls,
                left_bytes: 0,
                held_bytes: 0,
                explained: false,
                failure,
                schedule,
                trace: run.traces.then_some(trace),
            };
            reply.executions += 1;
            reply.diverged = diverged;
            let same = |e: &Execution| e.calls == execution.calls && e.failed() == execution.failed();
            if !reply.distinct.iter().any(same) {
                reply.distinct.push(execution);
            }
            if run.replay.is_some() || (run.stop_at_failure && outcome != Outcome::Passed) {
                break;
            }
        }
        reply.pairs = pairs.into_iter().map(|((a, b), n)| (a, b, n)).collect();
        reply
    }

    fn execute(
        &self,
        test: &Test,
        strategy: &mut dyn Strategy,
        replay: Option<Vec<Transfer>>,
        world: &mut World,
    ) -> (Option<Kind>, Option<String>) {
        let setup = || test.setup.iter().flat_map(|s| (0..s.repeat).map(move |i| (repeated(s, i), i)));
        let mut before = 0;
        let mut repeats = |(_, i): (Step, u32)| {
            before += u32::from(i > 0);
            before
        };
        let repeats = setup().map(&mut repeats).collect();
        let mut threads =
            vec![Thread { steps: setup().map(|(s, _)| s).collect(), repeats, ..Thread::default() }];
        while self.enabled(&threads, 0, world).is_some() {
            self.step(&mut threads, 0, world);
        }
        if threads[0].call.is_some() {
            return (Some(Kind::Deadlock), None);
        }
        let slots = threads[0].slots.clone();
        for steps in &test.suffixes {
            threads.push(Thread {
                steps: steps.clone(),
                slots: slots.clone(),
                made_from: slots.len(),
                ..Thread::default()
            });
        }
        let mut replay = replay.map(|t| t.into_iter().collect::<std::collections::VecDeque<_>>());
        loop {
            let able = (1..threads.len()).filter_map(|t| self.enabled(&threads, t, world));
            let enabled: Vec<Event> = able.collect();
            let i = match (enabled.len(), &mut replay) {
                (0, _) => break,
                (_, Some(transfers)) => {
                    let here = 2 * threads.get(world.running as usize).map_or(0, |t| t.raw);
                    let due = transfers.front().is_some_and(|t| t.at == here);
                    let to = if due { transfers.pop_front().unwrap().to.0 } else { world.running };
                    match enabled.iter().position(|e| e.thread.0 == to) {
                        Some(i) => i,
                        None => return (None, Some(format!("thread {to} cannot go on"))),
                    }
                }
                (1, None) => 0,
                (_, None) => {
                    let view = View {
                        enabled: &enabled,
                        last: ThreadId(world.running),
                        events: &world.events,
                        vars: &[NameId(0)],
                        decision: world.events.len(),
                    };
                    match strategy.choose(&view) {
                        Choice::Run(i) => i,
                        Choice::Abandon => return (None, None),
                    }
                }
            };
            let t = enabled[i].thread;
            if t.0 != world.running {
                let at = 2 * threads[world.running as usize].raw;
                world.transfers.push(Transfer { at, to: t, timeout: false });
                world.running = t.0;
            }
            for event in self.step(&mut threads, t.0 as usize, world) {
                strategy.happened(&event);
                world.events.push(event);
            }
        }
        if threads[1..].iter().any(|t| t.call.is_some()) {
            return (Some(Kind::Deadlock), None);
        }
        threads[0].steps.extend(test.finally.iter().cloned());
        while self.enabled(&threads, 0, world).is_some() {
            self.step(&mut threads, 0, world);
        }
        (threads[0].call.is_some().then_some(Kind::Deadlock), None)
    }

    /// What the thread does next, if it can.
    fn enabled(&self, threads: &[Thread], t: usize, world: &World) -> Option<Event> {
        let thread = &threads[t];
        let event = |op| Some(Event::new(t as u32, 0, op));
        match (&thread.call, self.next(thread)) {
            (Some(frame), Some(step)) => {
                let mut object = world.objects[self.object(thread, step)].clone();
                let body = self.ty.bodies[step.thunk.0 as usize];
                match body(&mut object, &mut frame.clone()) {
                    Poll::Block => None,
                    Poll::Wait => event(Op::Wait { on: VarId(0), timed_out: true }),
                    _ => Some(touch(t, step, frame.pc)),
                }
            }
            (None, Some(step)) => event(Op::Enter(MethodId(step.thunk.0))),
            (_, None) if t > 0 && !thread.dropped && thread.slots.len() > thread.made_from => {
                event(Op::Enter(MethodId(u32::MAX)))
            }
            _ => None,
        }
    }

    fn next<'t>(&self, thread: &'t Thread) -> Option<&'t Step> {
        thread.steps.get(thread.at).filter(|_| !thread.over)
    }

    fn object(&self, thread: &Thread, step: &Step) -> usize {
        let slot = |v: &Value| if let Value::Slot(s) = v { thread.slots[*s as usize] } else { None };
        step.args.first().and_then(slot).unwrap_or(0)
    }

    fn step(&self, threads: &mut [Thread], t: usize, world: &mut World) -> Vec<Event> {
        let thread = &mut threads[t];
        thread.raw += 1;
        let Some(step) = self.next(thread).cloned() else {
            thread.dropped = true;
            world.call(t, thread.at);
            world.ended(t, thread.at, CallResult::Opaque);
            let method = MethodId(u32::MAX);
            return [Op::Enter(method), Op::Leave(method)].map(|op| Event::new(t as u32, 0, op)).to_vec();
        };
        let method = MethodId(step.thunk.0);
        let event = |op| Event::new(t as u32, 0, op);
        let thunk = &self.ty.harness.thunks[step.thunk.0 as usize];
        if thread.call.is_none() {
            let empty = |v: &Value| matches!(v, Value::Slot(s) if thread.slots[*s as usize].is_none());
            if step.args.iter().any(empty) {
                thread.at += 1;
                thread.slots.extend(thunk.output.slots.iter().map(|_| None));
                return Vec::new();
            }
            world.call(t, thread.number());
            let args = step.args.clone();
            thread.call = Some(Frame { args, age: self.age, thread: t, ..Frame::default() });
            if world.objects.is_empty() {
                world.objects.push(Object::default());
            }
            return vec![event(Op::Enter(method))];
        }
        let constructs = thunk.role == crate::Role::Constructor;
        if constructs && thread.call.as_ref().unwrap().pc == 0 && !thread.slots.is_empty() {
            world.objects.push(Object::default());
        }
        let index = if constructs { world.objects.len() - 1 } else { self.object(thread, &step) };
        let frame = thread.call.as_mut().unwrap();
        let touched = touch(t, &step, frame.pc);
        let result = match self.ty.bodies[step.thunk.0 as usize](&mut world.objects[index], frame) {
            Poll::Go | Poll::Wait => return vec![touched],
            Poll::Block => unreachable!("it was enabled"),
            Poll::Done(_) if !thunk.output.printed => CallResult::Opaque,
            Poll::Done(text) => CallResult::Value(text),
            Poll::Panic(at) => {
                thread.over = true;
                CallResult::Panic { at: at.to_owned(), message: "simulated".to_owned() }
            }
        };
        for (param, v) in thunk.params.iter().zip(&step.args) {
            if let (crate::Domain::Slot { pass: crate::Pass::Move, .. }, Value::Slot(s)) = (param, v) {
                thread.slots[*s as usize] = None;
            }
        }
        thread.slots.extend(thunk.output.slots.iter().map(|_| Some(index)));
        thread.call = None;
        world.ended(t, thread.number(), result);
        thread.at += 1;
        vec![touched, event(Op::Leave(method))]
    }
}

/// A step of a body: it changes the only variable there is, at a site of its own.
fn touch(thread: usize, step: &Step, pc: u32) -> Event {
    const MOST_STEPS: u32 = 16;
    let site = 1 + step.thunk.0 * MOST_STEPS + pc.min(MOST_STEPS - 1);
    Event::new(thread as u32, site, Op::Rmw(Access::plain(VarId(0), 8)))
}

impl Thread {
    /// The current step as records number it.
    fn number(&self) -> usize {
        self.at - self.repeats.get(self.at).or(self.repeats.last()).map_or(0, |r| *r as usize)
    }
}

impl World {
    fn call(&mut self, t: usize, step: usize) {
        let start = self.clock;
        self.clock += 1;
        let (thread, step) = (t as u32, step as u32);
        self.calls.push(CallRecord { thread, step, start, end: None, result: CallResult::Unfinished });
    }

    fn ended(&mut self, t: usize, step: usize, result: CallResult) {
        let is = |c: &&mut CallRecord| c.thread == t as u32 && c.step == step as u32;
        let call = self.calls.iter_mut().rfind(is).unwrap();
        call.end = Some(self.clock);
        call.result = result;
        self.clock += 1;
    }
}

/// The `i`-th repetition of a step.
fn repeated(step: &Step, i: u32) -> Step {
    let later = |v: &Value| match v {
        Value::Int(n) => Value::Int(n + i128::from(i)),
        other => other.clone(),
    };
    Step::new(step.thunk, step.args.iter().map(later).collect())
}

pub fn failed(kind: Kind, schedule: &Schedule) -> Failure {
    Failure {
        kind,
        message: "simulated".to_owned(),
        thread: None,
        at: None,
        backtrace: Vec::new(),
        threads: Vec::new(),
        execution: 0,
        check: 0,
        schedule: schedule.clone(),
        trace: Trace::default(),
        symbols: Default::default(),
        output: String::new(),
    }
}

impl Executor for Simulator {
    fn run(&mut self, runs: Vec<Run>) -> Result<Vec<RunReply>, ExecutorError> {
        self.requests += 1;
        Ok(runs.iter().map(|r| self.one(r)).collect())
    }
}
