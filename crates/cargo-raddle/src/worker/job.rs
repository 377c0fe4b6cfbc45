//! The job that a worker is given. What the user asked for is in the types of the commands; here it becomes what goes over
//! the wire.

use raddle_core::protocol::{Entry, Job};
use raddle_core::strategy;

/// A job that searches for nothing yet, without limits: commands say the rest.
pub fn blank(entry: Entry, message_fd: i32) -> Job {
    Job {
        entry,
        message_fd,
        seed: 0,
        strategy: strategy::DEFAULT.to_owned(),
        schedules: 0,
        budget_ms: 0,
        max_failures: 1,
        every_access: false,
        max_steps: 0,
        memory_mb: 0,
        hang_ms: 0,
        crates: vec![],
        ok_exit: vec![],
        timeouts: Default::default(),
        replay: None,
        traces: 0,
        jobs: 1,
        check: 0,
        given: vec![],
        request_fd: None,
        places: None,
    }
}
