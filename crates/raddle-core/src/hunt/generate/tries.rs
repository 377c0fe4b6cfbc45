//! Trying calls sequentially before they go into a test.
//!
//! As in ConTeGe, what fails when nothing runs beside it is of no use in a suffix: it ends its thread, and every
//! linearization shows the same. A whole sequence is tried in one execution, which tells about each of its calls.

use crate::hunt::protocol::{CallResult, Execution, Executor, ExecutorError, Run, RunReply};
use crate::hunt::test::Test;
use crate::hunt::wire;
use std::collections::BTreeMap;

/// How many results are kept.
const MEMORY: usize = 50_000;

/// What the first call that is no use did.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Fault {
    /// It panicked, crashed, or was skipped.
    Failed,
    /// It did not come back.
    Blocked,
}

/// Runs sequences and remembers what came of them.
#[derive(Clone, Debug, Default)]
pub struct Tries {
    known: BTreeMap<String, Option<(usize, Fault)>>,
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
        if let Some(known) = self.known.get(&text) {
            return Ok(*known);
        }
        let replies = exec.run(vec![Run::new(text.clone(), "serial", seed, 1)])?;
        self.run += 1;
        let fault = replies.first().and_then(|r| fault(test, r));
        if self.known.len() >= MEMORY {
            self.known.clear();
        }
        self.known.insert(text, fault);
        Ok(fault)
    }
}

fn fault(test: &Test, reply: &RunReply) -> Option<(usize, Fault)> {
    let Some(execution) = reply.distinct.first() else { return Some((0, Fault::Failed)) };
    let (thread, steps) = match test.suffixes.first() {
        Some(suffix) => (1, suffix.len()),
        None => (0, test.setup.len()),
    };
    (0..steps)
        .find_map(|i| step_fault(execution, thread, i as u32).map(|f| (i, f)))
        .or_else(|| execution.failure.as_ref().map(|_| (0, Fault::Failed)))
}

fn step_fault(execution: &Execution, thread: u32, step: u32) -> Option<Fault> {
    let calls = || execution.calls.iter().filter(|c| (c.thread, c.step) == (thread, step));
    if calls().next().is_none() {
        return Some(Fault::Failed);
    }
    calls().find_map(|c| match &c.result {
        CallResult::Value(_) | CallResult::Opaque if c.end.is_some() => None,
        CallResult::Panic { .. } | CallResult::Skipped => Some(Fault::Failed),
        _ if execution.failed() == Some(crate::Kind::Crash) => Some(Fault::Failed),
        _ => Some(Fault::Blocked),
    })
}
