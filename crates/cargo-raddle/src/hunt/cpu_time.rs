//! How long things keep a processor busy, in this process and in its workers.

use super::result::Stages;
use crate::worker::session::Totals;
use rustix::time::{ClockId, clock_gettime};
use std::time::Duration;

/// Processor time so far, split by who used it and for what.
#[derive(Clone, Copy, Debug, Default)]
pub struct Reading {
    own: Duration,
    worker: Duration,
    judge: Duration,
    cover: Duration,
}

impl Reading {
    /// The clocks now: of the calling thread, and of the workers as far as they have told.
    pub fn now(totals: &Totals) -> Self {
        let own = clock_gettime(ClockId::ThreadCPUTime);
        let micros = Duration::from_micros;
        Reading {
            own: Duration::new(own.tv_sec as u64, own.tv_nsec as u32),
            worker: micros(totals.spent.all),
            judge: micros(totals.spent.judge),
            cover: micros(totals.spent.cover),
        }
    }

    /// Adds what was spent since this reading to a stage; judging and following patterns are stages of their own,
    /// wherever they happened.
    pub fn charge(
        &self,
        totals: &Totals,
        stages: &mut Stages,
        to: impl FnOnce(&mut Stages) -> &mut Duration,
    ) {
        let now = Reading::now(totals);
        let (judge, cover) = (now.judge - self.judge, now.cover - self.cover);
        stages.judge += judge;
        stages.cover += cover;
        *to(stages) += (now.own - self.own) + (now.worker - self.worker).saturating_sub(judge + cover);
    }

    /// What was spent since this reading.
    pub fn spent(&self, totals: &Totals) -> Duration {
        let now = Reading::now(totals);
        (now.own - self.own) + (now.worker - self.worker)
    }
}
