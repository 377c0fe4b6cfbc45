//! Tests at random.

use super::builder::Builder;
use super::builder::NeverReturned;
use super::builder::values::one_of;
use super::pairs::PairCoverage;
use super::plan::{Generator, Options, Plan};
use super::rehearse::{self, Rehearsals, Rehearses};
use crate::harness::{Harness, ThunkId};
use crate::protocol::{Executor, ExecutorError, RunReply};
use rand::RngExt;

/// Tests in a row that cannot be built before it gives up.
const GIVE_UP: usize = 100;

/// ConTeGe's generator: a random prefix and random suffixes. It does not look at what was covered, but counts it,
/// to be compared with others.
#[derive(Clone, Debug)]
pub struct RandomTests {
    builder: Builder,
    coverage: PairCoverage,
    options: Options,
    attempts: u64,
    rehearsals: Rehearsals,
}

impl RandomTests {
    /// A generator for a harness.
    pub fn new(harness: &Harness, seed: u64, options: Options) -> Self {
        let builder = Builder::new(harness, seed);
        let coverage = PairCoverage::new(&builder.shop.methods);
        RandomTests { builder, coverage, options, attempts: 0, rehearsals: Rehearsals::default() }
    }

    fn plan(&mut self, exec: &mut dyn Executor) -> Result<Option<Plan>, ExecutorError> {
        self.attempts += 1;
        self.builder.begin(self.attempts);
        let calls = if self.builder.rng.random_bool(0.5) { 0 } else { self.options.prefix };
        let Some(prefix) = self.builder.prefix(exec, calls)? else { return Ok(None) };
        let methods: Vec<ThunkId> = self.builder.shop.methods.clone();
        let suffixes = self.options.suffixes.clamp(2, 4);
        let mut draft = self.builder.equip(&prefix, &vec![methods.clone(); suffixes]);
        let length = self.builder.rng.random_range(1..=self.options.random_length.max(1));
        let mut busy = 0;
        for _ in 0..suffixes {
            let calls = self.builder.suffix(exec, &mut draft, length, &mut |rng, _| one_of(rng, &methods))?;
            busy += usize::from(!calls.is_empty());
        }
        if busy < 2 {
            return Ok(None);
        }
        let finally = if self.options.checks { self.builder.checks(exec, &draft)? } else { Vec::new() };
        let runs = self.options.runs.clone();
        Ok(draft.finish(finally).map(|test| Plan { test, runs, pair: None }))
    }
}

impl Rehearses for RandomTests {
    fn parts(&mut self) -> (&mut Builder, &mut Rehearsals) {
        (&mut self.builder, &mut self.rehearsals)
    }
}

impl Generator for RandomTests {
    fn next(&mut self, exec: &mut dyn Executor) -> Result<Option<Plan>, ExecutorError> {
        if self.builder.shop.methods.is_empty() || !self.rehearsals.ready.is_empty() {
            return Ok(self.rehearsals.ready.pop_front());
        }
        for _ in 0..GIVE_UP {
            if let Some(plan) = self.plan(exec)? {
                return Ok(Some(plan));
            }
        }
        Ok(None)
    }

    fn prepare(&mut self, tests: usize, exec: &mut dyn Executor) -> Result<(), ExecutorError> {
        rehearse::prepare(self, tests, exec)
    }

    fn feedback(&mut self, _plan: &Plan, replies: &[RunReply]) {
        self.coverage.executed(replies);
    }

    fn never_returned(&self) -> Vec<NeverReturned> {
        self.builder.never_returned()
    }

    fn coverage(&self) -> &PairCoverage {
        &self.coverage
    }
}
