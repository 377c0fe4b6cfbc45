//! An orphaned thread: work is left for somebody who has gone.

use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

/// A worker and its only job.
///
/// *Error*: [`submit`](Worker::submit) sees that the worker is there; the worker looks for work, finds none and goes; the job is never done.
/// *By hand*: l1 reads whether the worker is there, l2 leaves the job. m1 looks for it, m2 goes. Pairs: l1 with m2, l2 with m1: 4 targets,
/// all possible. The error is m1-l2.
#[derive(Debug, Default)]
pub struct Worker {
    gone: AtomicBool,
    job: AtomicBool,
}

impl Worker {
    /// Leaves a job, if there is somebody to do it.
    pub fn submit(&self) -> bool {
        if self.gone.load(Relaxed) {
            return false;
        }
        self.job.store(true, Relaxed);
        true
    }

    /// Looks for a job once, and goes.
    pub fn work(&self) -> bool {
        let found = self.job.load(Relaxed);
        self.gone.store(true, Relaxed);
        found
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_job_that_was_left_in_time_is_done() {
        let worker = Worker::default();
        assert!(worker.submit() && worker.work() && !worker.submit());
    }
}
