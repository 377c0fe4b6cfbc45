//! Trying calls sequentially before they go into a test.
//!
//! As in ConTeGe, what fails when nothing runs beside it is of no use in a suffix: it ends its thread, and every
//! linearization shows the same. A whole sequence is tried in one execution, which tells about each of its calls.

use crate::harness::{Thunk, ThunkId};
use crate::protocol::{CallResult, Execution, Executor, ExecutorError, Run, RunReply};
use crate::test::Test;
use crate::wire;
use raddle_core::outcome::Kind;
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;

/// How many results are kept.
const MEMORY: usize = 50_000;
/// More effort than this before the test proper is too much: a call that doubles what there is needs few repetitions for
/// executions of seconds.
const LONGEST: u64 = 50_000;

/// What the first call that is no use did.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Fault {
    /// It panicked or was skipped.
    Failed,
    /// It ended the process.
    Crashed,
    /// It kept the processor to itself until it was given up.
    Hung,
    /// It did not come back.
    Blocked,
    /// It worked, but too much was done on the way: only of setups without suffixes, beyond their first call.
    Long,
}

impl Fault {
    /// How much it counts against the call, by what it costs.
    pub fn weight(self) -> u64 {
        match self {
            Fault::Failed | Fault::Long => 1,
            Fault::Crashed => 5,
            Fault::Hung => 25,
            Fault::Blocked => 0,
        }
    }
}

/// What is known of sequences, by their text.
type Known = BTreeMap<String, Option<(usize, Fault)>>;

/// A method whose calls never returned, or only values whose destructor crashes, although nothing ran beside them.
#[derive(Clone, PartialEq, Debug)]
pub struct NeverReturned {
    /// Its name.
    pub method: String,
    /// What they did instead.
    pub instead: Failing,
}

/// What calls did that did not return.
#[derive(Clone, PartialEq, Debug)]
pub struct Failing {
    /// What the first such call in [`test`](Self::test) did.
    pub fault: Fault,
    /// What it did, in words.
    pub how: String,
    /// How many were tried.
    pub calls: u64,
    /// The smallest test that makes one, as its last call.
    pub test: Test,
}

/// What calls did when nothing ran beside them, by thunk: nothing more is kept once one has returned.
type Alone = BTreeMap<ThunkId, Option<Failing>>;

/// Runs sequences and remembers what came of them. Copies share what they remember.
#[derive(Clone, Debug, Default)]
pub struct Tries {
    known: Rc<RefCell<Known>>,
    alone: Rc<RefCell<Alone>>,
    /// In a rehearsal nothing is run, and whatever is not known is taken to work: what was asked.
    rehearsal: Option<Vec<Test>>,
    /// Sequences asked about.
    pub asked: u64,
    /// Sequences run.
    pub run: u64,
}

impl Tries {
    /// The first step of the only suffix of each test, or of the setup where there is no suffix, that is no use; and
    /// why.
    pub fn first_fault(
        &mut self,
        exec: &mut dyn Executor,
        seed: u64,
        test: &Test,
    ) -> Result<Option<(usize, Fault)>, ExecutorError> {
        self.asked += 1;
        let text = wire::encode(test);
        if let Some(known) = self.known.borrow().get(&text) {
            return Ok(*known);
        }
        if let Some(asked) = &mut self.rehearsal {
            asked.push(test.clone());
            return Ok(None);
        }
        let replies = exec.run(vec![alone(test, seed)])?;
        self.run += 1;
        let fault = replies.first().and_then(|r| fault(test, r));
        self.note(test, fault, replies.first());
        self.learn(text, fault);
        Ok(fault)
    }

    /// All calls of a test returned.
    pub fn all_returned(&mut self, test: &Test) {
        self.note(test, None, None);
    }

    /// Notes which calls of a test returned, and what the one did that did not.
    fn note(&mut self, test: &Test, fault: Option<(usize, Fault)>, reply: Option<&RunReply>) {
        let last = test.suffixes.first().unwrap_or(&test.setup);
        let before = if test.suffixes.is_empty() { &[][..] } else { &test.setup[..] };
        let (returned, failed) = match fault {
            Some((step, fault)) if fault != Fault::Long => (step, last.get(step).map(|s| (step, s, fault))),
            _ => (last.len(), None),
        };
        let mut alone = self.alone.borrow_mut();
        for step in before.iter().chain(last.iter().take(returned)) {
            alone.insert(step.thunk, None);
        }
        let Some((step, call, fault)) = failed else { return };
        let Some(how) = reply.and_then(|r| in_words(test, step as u32, r)) else { return };
        let mut test = test.clone();
        test.suffixes.first_mut().unwrap_or(&mut test.setup).truncate(step + 1);
        let new = Failing { fault, how, calls: 0, test };
        if let Some(known) = alone.entry(call.thunk).or_insert_with(|| Some(new.clone())) {
            let calls = known.calls + 1;
            if size(&new.test) < size(&known.test) {
                *known = new;
            }
            known.calls = calls;
        }
    }

    /// Remembers from now on together with others what calls did when nothing ran beside them.
    pub fn remember_with(&mut self, others: &Tries) {
        self.alone = others.alone.clone();
    }

    /// What never returned, of these.
    pub fn never_returned<'t>(&self, thunks: impl Iterator<Item = &'t Thunk>) -> Vec<NeverReturned> {
        let alone = self.alone.borrow();
        let never = |t: &Thunk| {
            let instead = alone.get(&t.id).cloned().flatten()?;
            Some(NeverReturned { method: t.name.clone(), instead })
        };
        thunks.filter_map(never).collect()
    }

    /// From now on nothing is run.
    pub fn rehearse(&mut self) {
        self.rehearsal = Some(Vec::new());
    }

    /// The rehearsal is over.
    pub fn perform(&mut self) {
        self.rehearsal = None;
    }

    /// What was asked in the rehearsal since this was called last.
    pub fn rehearsed(&mut self) -> Vec<Test> {
        self.rehearsal.as_mut().map(std::mem::take).unwrap_or_default()
    }

    /// Remembers what came of a sequence.
    pub fn learn(&mut self, text: String, fault: Option<(usize, Fault)>) {
        let mut known = self.known.borrow_mut();
        if known.len() >= MEMORY {
            known.clear();
        }
        known.insert(text, fault);
    }
}

/// One execution of all calls of a test, none beside another.
pub fn alone(test: &Test, seed: u64) -> Run {
    let calls = test.setup.len() + test.suffixes.iter().map(Vec::len).sum::<usize>() + test.finally.len();
    Run { expects: calls as u32, ..Run::new(wire::encode(test), "serial", seed, 1) }
}

/// What the first call that is no use did, in an execution of [`alone`].
pub fn fault(test: &Test, reply: &RunReply) -> Option<(usize, Fault)> {
    if test.suffixes.is_empty() && is_long(test, reply) {
        return Some((test.setup.len() - 1, Fault::Long));
    }
    if reply.clean {
        return None;
    }
    let Some(execution) = reply.distinct.first() else { return Some((0, Fault::Failed)) };
    let (thread, steps) = match test.suffixes.first() {
        Some(suffix) => (1, suffix.len()),
        None => (0, test.setup.len()),
    };
    (0..steps)
        .find_map(|i| step_fault(execution, thread, i as u32).map(|f| (i, f)))
        .or_else(|| execution.failure.as_ref().map(|_| (0, end_fault(test, execution))))
}

/// What the end did of an execution in which all calls returned: if there was one call, values of that cannot be dropped.
fn end_fault(test: &Test, execution: &Execution) -> Fault {
    let one = test.suffixes.is_empty() && test.setup.len() == 1;
    match execution.failed() {
        Some(Kind::Crash | Kind::UseAfterFree) if one => Fault::Crashed,
        _ => Fault::Failed,
    }
}

/// What a call did that did not return, in an execution of [`alone`]; `None` if it was not made.
fn in_words(test: &Test, step: u32, reply: &RunReply) -> Option<String> {
    let execution = reply.distinct.first()?;
    let thread = u32::from(!test.suffixes.is_empty());
    let mut calls = execution.calls.iter().filter(|c| (c.thread, c.step) == (thread, step));
    calls.find_map(|c| match &c.result {
        CallResult::Panic { at, message } => Some(format!("panics at {at}: {message}")),
        CallResult::Unfinished => {
            execution.failure.as_ref().map(|f| format!("{}: {}", f.kind.as_str(), f.message))
        }
        _ if end_fault(test, execution) == Fault::Crashed => {
            let failure = execution.failure.as_ref()?;
            Some(format!("{} when the value is dropped: {}", failure.kind.as_str(), failure.message))
        }
        _ => None,
    })
}

/// How many calls a test makes.
fn size(test: &Test) -> usize {
    let steps = test.setup.iter().chain(test.suffixes.iter().flatten());
    steps.map(|s| s.repeat as usize).sum()
}

/// Whether a setup of more than one call makes the execution a long one. What a constructor does has to be done.
fn is_long(test: &Test, reply: &RunReply) -> bool {
    test.setup.len() > 1 && reply.effort > LONGEST
}

/// Whether every call of the test returned, in an execution of [`alone`] that was not too long.
pub fn all_work(test: &Test, reply: &RunReply) -> bool {
    if is_long(test, reply) {
        return false;
    }
    reply.clean || {
        let Some(execution) = reply.distinct.first() else { return false };
        let steps = |thread: u32, n: usize| (0..n as u32).map(move |i| (thread, i));
        let suffixes = test.suffixes.iter().zip(1..).flat_map(|(s, t)| steps(t, s.len()));
        let mut all = steps(0, test.setup.len() + test.finally.len()).chain(suffixes);
        execution.failure.is_none() && all.all(|(t, i)| step_fault(execution, t, i).is_none())
    }
}

fn step_fault(execution: &Execution, thread: u32, step: u32) -> Option<Fault> {
    let calls = || execution.calls.iter().filter(|c| (c.thread, c.step) == (thread, step));
    if calls().next().is_none() {
        return Some(Fault::Failed);
    }
    calls().find_map(|c| match &c.result {
        CallResult::Value(_) | CallResult::Opaque if c.end.is_some() => None,
        CallResult::Panic { .. } | CallResult::Skipped => Some(Fault::Failed),
        _ => Some(match execution.failed() {
            Some(Kind::Crash | Kind::UseAfterFree) => Fault::Crashed,
            Some(Kind::Timeout) => Fault::Hung,
            _ => Fault::Blocked,
        }),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::protocol::{CallRecord, LONGEST_TRIAL};
    use crate::test::Step;
    use crate::testing::failed;
    use raddle_core::Schedule;

    #[test]
    fn a_value_that_crashes_when_it_is_dropped_counts_against_what_makes_it() {
        let test = Test { setup: vec![Step::new(ThunkId(0), vec![])], ..Test::default() };
        let call = |step, end, result| CallRecord { thread: 0, step, start: step * 2, end, result };
        let calls = vec![call(0, Some(1), CallResult::Opaque), call(1, None, CallResult::Unfinished)];
        let failure = Some(Box::new(failed(Kind::Crash, &Schedule::default())));
        let reply = RunReply {
            distinct: vec![Execution { calls, failure, ..Execution::default() }],
            ..RunReply::default()
        };
        let crashed = Some((0, Fault::Crashed));
        assert_eq!(fault(&test, &reply), crashed);
        let mut tries = Tries::default();
        tries.note(&test, crashed, Some(&reply));
        let alone = tries.alone.borrow();
        assert!(alone[&ThunkId(0)].as_ref().unwrap().how.starts_with("crash when the value is dropped: "));
    }

    #[test]
    fn a_setup_that_does_too_much_loses_its_last_call_but_not_its_first() {
        let test = |calls: u32| Test {
            setup: (0..calls).map(|i| Step::new(ThunkId(i), vec![])).collect(),
            ..Test::default()
        };
        let took = |effort| RunReply { clean: true, effort, ..RunReply::default() };
        let (short, long) = (took(LONGEST), took(LONGEST + 1));
        assert_eq!((fault(&test(3), &short), all_work(&test(3), &short)), (None, true));
        assert_eq!((fault(&test(3), &long), all_work(&test(3), &long)), (Some((2, Fault::Long)), false));
        assert_eq!((fault(&test(1), &long), all_work(&test(1), &long)), (None, true));
        let given_up = RunReply { effort: LONGEST_TRIAL, ..RunReply::default() };
        assert_eq!(fault(&test(3), &given_up), Some((2, Fault::Long)));
        assert_eq!(fault(&test(1), &given_up), Some((0, Fault::Failed)));
        let whole = Test { suffixes: vec![test(1).setup], ..test(3) };
        assert_eq!(fault(&whole, &long), None);
    }
}
