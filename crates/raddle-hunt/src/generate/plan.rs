//! What generators make, and what they are told.

use super::builder::NeverReturned;
use super::known::Known;
use super::pairs::PairCoverage;
use super::patterns::PatternCoverage;
use crate::protocol::{Executor, ExecutorError, RunReply};
use crate::search::{BoundedSearch, Search};
use crate::test::Test;
use raddle_core::coverage::method_pairs::{MethodPair, Rule};
use serde::{Deserialize, Serialize};

/// A test and how to run it.
#[derive(Clone, PartialEq, Debug)]
pub struct Plan {
    /// The test.
    pub test: Test,
    /// Under which schedules.
    pub runs: Vec<BoundedSearch>,
    /// The pair of methods that it is meant to run at the same time, by thunk numbers.
    pub pair: Option<MethodPair>,
}

/// Makes tests.
pub trait Generator: std::fmt::Debug {
    /// The next test; `None` when it has none left to make.
    fn next(&mut self, exec: &mut dyn Executor) -> Result<Option<Plan>, ExecutorError>;

    /// What came of a plan: one reply per entry of [`Plan::runs`], or fewer if it was given up.
    fn feedback(&mut self, plan: &Plan, replies: &[RunReply]);

    /// Before a test is asked for, of which so many are wanted: the chance to try what they will need all at once.
    fn prepare(&mut self, _tests: usize, _exec: &mut dyn Executor) -> Result<(), ExecutorError> {
        Ok(())
    }

    /// The pairs of methods so far.
    fn coverage(&self) -> &PairCoverage;

    /// The memory-access patterns so far, if it follows them.
    fn patterns(&self) -> Option<&PatternCoverage> {
        None
    }

    /// Methods and constructors that never returned when nothing ran beside them, though they were called.
    fn never_returned(&self) -> Vec<NeverReturned>;

    /// What a static analysis says about the methods, before the first test. Most generators have no use for it.
    fn inform(&mut self, _known: &Known) {}
}

/// What generators can be told.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(default, rename_all = "kebab-case")]
pub struct Options {
    /// Concurrent suffixes of a test: 2 to 4.
    pub suffixes: usize,
    /// Under which schedules every test is run.
    pub runs: Vec<BoundedSearch>,
    /// How `covcon` chooses the next pair: as the paper says, or as the authors' code does.
    pub rule: Rule,
    /// Calls per suffix of `covcon` at first, and later.
    pub lengths: (usize, usize),
    /// How many tests (paper) or selections (authors' code) of a pair have the first of `lengths`.
    pub short: u64,
    /// Most calls per suffix of `random`.
    pub random_length: usize,
    /// Most calls between the constructor and the suffixes.
    pub prefix: usize,
    /// Whether tests end with checks of what must hold when all is quiet.
    pub checks: bool,
}

impl Default for Options {
    fn default() -> Self {
        Options {
            suffixes: 2,
            runs: vec![Search::random().most(20)],
            rule: Rule::LowestScore,
            lengths: (2, 5),
            short: 5,
            random_length: 5,
            prefix: 5,
            checks: true,
        }
    }
}
