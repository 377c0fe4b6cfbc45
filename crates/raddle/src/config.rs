//! How a closure is checked.

use raddle_model::Schedule;
use raddle_model::protocol::{DEFAULT_STRATEGY, Entry, Job, Timeouts};
use std::time::Duration;

/// How a closure is checked.
///
/// The defaults: 1,000 schedules of the strategy `auto` with seed 0, no limit in time, at most 100,000 steps
/// and 2,048 MB per execution, ten seconds without a visible step, one failure.
#[derive(Clone, PartialEq, Debug)]
pub struct Config {
    job: Job,
}

impl Default for Config {
    fn default() -> Self {
        Config {
            job: Job {
                entry: Entry::Main,
                message_fd: -1,
                seed: 0,
                strategy: DEFAULT_STRATEGY.to_owned(),
                schedules: 1_000,
                budget_ms: 0,
                max_failures: 1,
                every_access: false,
                max_steps: 100_000,
                memory_mb: 2_048,
                hang_ms: 10_000,
                crates: Vec::new(),
                ok_exit: vec![],
                timeouts: Timeouts::default(),
                replay: None,
                traces: 0,
                jobs: 0,
                check: 0,
                given: Vec::new(),
                request_fd: None,
                places: None,
            },
        }
    }
}

impl Config {
    /// The defaults.
    pub fn new() -> Self {
        Self::default()
    }

    /// Decides everything that is drawn.
    pub fn seed(mut self, seed: u64) -> Self {
        self.job.seed = seed;
        self
    }

    /// At most so many executions.
    pub fn schedules(mut self, n: u64) -> Self {
        self.job.schedules = n;
        self
    }

    /// At most so much time; zero for no limit.
    pub fn budget(mut self, time: Duration) -> Self {
        self.job.budget_ms = ms(time);
        self
    }

    /// The strategy by name, such as `auto`, `random`, `pct:3` or `hars`; `cargo raddle test --help` lists them.
    pub fn strategy(mut self, name: impl Into<String>) -> Self {
        self.job.strategy = name.into();
        self
    }

    /// Every memory access is a scheduling point, not only those known to matter.
    pub fn every_access(mut self, on: bool) -> Self {
        self.job.every_access = on;
        self
    }

    /// An execution that takes more steps than this is a livelock.
    pub fn max_steps(mut self, n: u64) -> Self {
        self.job.max_steps = n;
        self
    }

    /// An execution that uses more memory than this is a crash.
    pub fn memory_mb(mut self, mb: u64) -> Self {
        self.job.memory_mb = mb;
        self
    }

    /// An execution that does not come back from code outside raddle's control for so long is a time-out.
    pub fn hang(mut self, time: Duration) -> Self {
        self.job.hang_ms = ms(time);
        self
    }

    /// When waits with a time-out, and sleeps, may end although a thread could run.
    pub fn timeouts(mut self, when: Timeouts) -> Self {
        self.job.timeouts = when;
        self
    }

    /// Stop after so many failures.
    pub fn max_failures(mut self, n: u64) -> Self {
        self.job.max_failures = n;
        self
    }

    /// Keep the traces of the first so many executions in the [`Report`](crate::Report).
    pub fn traces(mut self, n: u64) -> Self {
        self.job.traces = n;
        self
    }

    /// At most so many processes run executions of this closure at a time; zero, the default, means one per processor core, and
    /// under `cargo raddle test` what its `--jobs` leaves for this test. Only long searches of the strategies `auto`
    /// and `random` use more than one, which they do once eight thousand executions in a row have shown no new scheduling point, and
    /// `auto` only where there is too much for it to remember. The report is the same with one process and with many.
    pub fn jobs(mut self, n: u64) -> Self {
        self.job.jobs = n;
        self
    }

    /// Repeat this schedule once instead of searching.
    pub fn replay(mut self, schedule: Schedule) -> Self {
        self.job.replay = Some(schedule);
        self
    }

    pub(crate) fn job(&self) -> Job {
        self.job.clone()
    }

    pub(crate) fn seed_used(&self) -> u64 {
        self.job.seed
    }
}

fn ms(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}
