//! What is known of earlier attempts to run a search in several processes.

use crate::heap;
use raddle_core::protocol::Stop;

/// How searching in several processes went before.
#[derive(Clone, Copy, Default, Debug)]
pub struct Past {
    /// Until this execution one child does everything.
    pub alone_until: u64,
    /// Failures of members so far, each of which makes the next attempt come later.
    pub failed_attempts: u32,
    /// The execution that failed in one of several processes and has not been repeated.
    pub must_repeat: Option<u64>,
}

impl Past {
    /// The last of so many executions passed: why the search cannot go on, if it had failed before.
    #[inline(always)]
    pub fn passed(&self, executions: u64) -> Option<Stop> {
        if self.must_repeat == Some(executions) { Some(unlike_before(executions)) } else { None }
    }

    /// The last execution failed.
    pub fn failed(&mut self, executions: u64) {
        self.must_repeat = self.must_repeat.filter(|&n| n > executions);
    }
}

#[cold]
fn unlike_before(n: u64) -> Stop {
    let why = "in one of several processes and passed when it was repeated in order: it depends on the executions before it; \
               have the closure begin by making what it needs, or ask for one process with `jobs(1)`";
    heap::persistent(|| Stop::Error(format!("execution {n} failed {why}")))
}
