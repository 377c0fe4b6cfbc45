//! Counts what a command says into its totals.

use super::event::{Event, Start, TestStatus, TypeStatus};
use super::summary::{Counted, Summary};
use crate::exit::Exit;

impl Summary {
    /// Counts what happened.
    pub fn count(&mut self, event: &Event<'_>) {
        match event {
            Event::Start(Start::Tests { ignored, filtered_out, .. }) => {
                self.left_out(*ignored, *filtered_out)
            }
            Event::Finding(_) => self.findings += 1,
            Event::Unconfirmed(_) => self.unconfirmed += 1,
            Event::Test(test) => {
                self.executions += test.stats.executions;
                self.count_test(test.status, test.stats.steps);
            }
            Event::Type(ended) => {
                let stats = ended.stats.as_deref();
                self.executions += stats.map_or(0, |s| s.executions);
                self.count_type(ended.status, stats.map_or(0, |s| s.tests));
            }
            Event::Replay(replay) => {
                let again = replay.verdict.is_reproduced();
                self.findings += usize::from(again);
                self.count_test(if again { TestStatus::Failed } else { TestStatus::Unconfirmed }, 0);
            }
            Event::Listed(_) | Event::List(_) | Event::Built { .. } => self.exit_code = Exit::Clean,
            Event::Warning { .. } | Event::Start(_) | Event::Harness(_) | Event::Error { .. } => {}
            Event::Summary(_) => {}
        }
    }

    fn left_out(&mut self, ignored: usize, filtered_out: usize) {
        if let Counted::Tests(tests) = &mut self.counted {
            (tests.ignored, tests.filtered_out) = (ignored, filtered_out);
        }
    }

    fn count_test(&mut self, status: TestStatus, steps: u64) {
        let Counted::Tests(tests) = &mut self.counted else { return };
        tests.tests += 1;
        tests.steps += steps;
        match status {
            TestStatus::Ok => tests.passed += 1,
            TestStatus::Failed => tests.failed += 1,
            TestStatus::NoThreads => tests.no_threads += 1,
            TestStatus::NoSteps
            | TestStatus::Uncontrolled
            | TestStatus::TooLong
            | TestStatus::Unconfirmed
            | TestStatus::Killed => self.untested += 1,
            TestStatus::Error => self.errors += 1,
        }
        self.exit_code = self.exit();
    }

    fn count_type(&mut self, status: TypeStatus, made: u64) {
        let Counted::Types(types) = &mut self.counted else { return };
        types.types += 1;
        types.tests += made;
        match status {
            TypeStatus::Ok => types.clean += 1,
            TypeStatus::Found => types.found += 1,
            TypeStatus::Untested => self.untested += 1,
            TypeStatus::Skipped => types.skipped += 1,
            TypeStatus::Error => self.errors += 1,
        }
        self.exit_code = self.exit();
    }
}
