//! The totals of a command.

use crate::exit::Exit;
use serde::Serialize;

/// Totals of a command.
#[derive(Serialize, Clone, Debug)]
pub struct Summary {
    /// How the command ends.
    pub exit_code: Exit,
    /// What only tests, or only types, have.
    #[serde(flatten)]
    pub counted: Counted,
    /// Tests or types not tested, or not wholly.
    pub untested: usize,
    /// In which the tool failed.
    pub errors: usize,
    /// Findings.
    pub findings: usize,
    /// Failures and violations that did not repeat.
    pub unconfirmed: usize,
    /// Executions of all tests.
    pub executions: u64,
}

/// What was counted.
#[derive(Serialize, Clone, Debug)]
#[serde(untagged)]
pub enum Counted {
    /// Tests that somebody wrote.
    Tests(TestCounts),
    /// Types for which tests were made.
    Types(TypeCounts),
}

/// Totals of tests.
#[derive(Serialize, Clone, Default, Debug)]
pub struct TestCounts {
    /// Tests run.
    pub tests: usize,
    /// Of these, tested and nothing found.
    pub passed: usize,
    /// With at least one finding.
    pub failed: usize,
    /// Without threads, and so without anything to test.
    pub no_threads: usize,
    /// Not run because they are ignored.
    pub ignored: usize,
    /// Not run because of the filter.
    pub filtered_out: usize,
    /// Steps in all tests.
    pub steps: u64,
}

/// Totals of types.
#[derive(Serialize, Clone, Default, Debug)]
pub struct TypeCounts {
    /// Types hunted.
    pub types: usize,
    /// Without findings.
    pub clean: usize,
    /// With findings.
    pub found: usize,
    /// Left out because nothing makes one, where the user named no type.
    pub skipped: usize,
    /// Tests run.
    pub tests: u64,
}

impl Summary {
    /// Of tests, none yet; if it stays so, nothing was tested.
    pub fn of_tests() -> Self {
        Summary::of(Counted::Tests(TestCounts::default()))
    }

    /// Of types, none yet; if it stays so, nothing was tested.
    pub fn of_types() -> Self {
        Summary::of(Counted::Types(TypeCounts::default()))
    }

    fn of(counted: Counted) -> Self {
        let exit_code = Exit::Untested;
        Summary { exit_code, counted, untested: 0, errors: 0, findings: 0, unconfirmed: 0, executions: 0 }
    }

    /// How many tests or types there were.
    pub fn units(&self) -> usize {
        match &self.counted {
            Counted::Tests(tests) => tests.tests,
            Counted::Types(types) => types.types,
        }
    }

    /// A finding counts more than a failure of the tool, and that more than what was not tested.
    pub fn exit(&self) -> Exit {
        let good = match &self.counted {
            Counted::Tests(tests) => tests.passed,
            Counted::Types(types) => types.clean,
        };
        if self.findings > 0 {
            Exit::Found
        } else if self.errors > 0 {
            Exit::Failed
        } else if self.untested > 0 || self.unconfirmed > 0 || good == 0 {
            Exit::Untested
        } else {
            Exit::Clean
        }
    }
}
