//! Running tests with an eye on what comes.

use super::cpu_time::Reading;
use super::search::Hunt;
use crate::error::Result;
use crate::worker::session::{Watched, Workers};
use raddle_hunt::generate::Plan;
use raddle_hunt::protocol::Rest;
use raddle_hunt::{ExecutorError, Run, RunReply};
use std::collections::BTreeSet;
use std::time::{Duration, Instant};

/// Time for hearing what tests covered when a finding has ended the hunt, whatever its budget.
const LAST_WORDS: Duration = Duration::from_secs(5);

/// The executions that have been dealt with: numbers of their runs, and their own.
pub(super) type DealtWith = BTreeSet<(usize, u64)>;

impl Hunt<'_> {
    /// Runs tests. An execution that the worker cannot explain is dealt with at once, while the rest waits; if nothing more is
    /// wanted of these tests then, the rest is left out. Replies are fewer than runs in this case.
    pub(super) fn watch(&mut self, plans: &[Plan], runs: Vec<Run>) -> Result<(Vec<RunReply>, DealtWith)> {
        let isolated = self.done.isolated;
        let mut dealt_with = DealtWith::new();
        let mut came = self.executing(|search| search.watch(runs));
        loop {
            let (run, execution) = match came? {
                Watched::Doubt(run, execution) => (run, execution),
                Watched::Done(replies) => return Ok((replies, dealt_with)),
            };
            dealt_with.insert((run, execution.index));
            if let Some(plan) = plan_of(plans, run) {
                self.take(plan, [&*execution])?;
            }
            if self.enough() {
                self.search.set_deadline(Some(Instant::now() + LAST_WORDS));
            }
            let done = self.enough() || self.done.isolated != isolated;
            let rest = if done { Rest::Drop } else { Rest::Run };
            came = self.executing(|search| search.go_on(rest));
        }
    }

    fn executing<T>(
        &mut self,
        what: impl FnOnce(&mut Workers) -> std::result::Result<T, ExecutorError>,
    ) -> Result<T> {
        let clock = Reading::now(&self.search.totals);
        let came = what(&mut self.search);
        clock.charge(&self.search.totals, &mut self.done.stages, |s| &mut s.execute);
        Ok(came?)
    }
}

/// The test that a run is of.
fn plan_of(plans: &[Plan], run: usize) -> Option<&Plan> {
    let mut before = 0;
    plans.iter().find(|plan| {
        before += plan.runs.len();
        run < before
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use raddle_hunt::{Search, Test};

    #[test]
    fn runs_belong_to_tests_in_their_order() {
        let plan = |runs: usize| Plan {
            test: Test::default(),
            runs: vec![Search::random().most(1); runs],
            pair: None,
        };
        let plans = [plan(2), plan(1), plan(3)];
        let which = |run| plan_of(&plans, run).map(|p| p.runs.len());
        assert_eq!([0, 1, 2, 3, 5, 6].map(which), [Some(2), Some(2), Some(1), Some(3), Some(3), None]);
    }
}
