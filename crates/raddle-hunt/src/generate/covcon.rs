//! Tests for pairs of methods that have not run at the same time.

use super::builder::NeverReturned;
use super::builder::Tries;
use super::builder::{Builder, Draft, Sequence};
use super::pairs::PairCoverage;
use super::plan::{Generator, Options, Plan};
use super::rehearse::{self, Rehearsals, Rehearses};
use crate::harness::{Harness, ThunkId};
use crate::protocol::{Executor, ExecutorError, RunReply};
use raddle_core::coverage::method_pairs::{MethodPair, Rule, Selector};
use std::collections::BTreeMap;
use std::rc::Rc;

/// CovCon's generator (Section IV). A pair of methods is chosen by its tried and covered counts
/// ([`Selector`]); two tests are made for it, one with the constructor alone as prefix and one with up to five calls
/// more. Suffix 1 calls the two in turn starting with the first, suffix 2 starting with the second; further
/// suffixes go on like this. When a call does not work, the turn passes on to the other method, as in the code.
///
/// All pairs tried for the same time share their two prefixes (code). Suffixes have two calls at first and five
/// later: for the first five *tests* of a pair with [`Rule::LowestScore`] (paper), for its first five *selections*
/// with [`Rule::BestQuarter`] (code).
///
/// Departures: a pair is not counted again for each of the executions of one test (see [`PairCoverage::executed`]);
/// a test in which the two methods do not end up in different suffixes is thrown away.
#[derive(Clone, Debug)]
pub struct CovCon {
    builder: Builder,
    coverage: PairCoverage,
    selector: Selector,
    /// Constructor only, and with calls, by how often a pair has been tried.
    prefixes: Rc<BTreeMap<u64, [Option<Rc<Sequence>>; 2]>>,
    /// Tests made, by pair.
    made: BTreeMap<MethodPair, u64>,
    options: Options,
    selections: u64,
    rehearsals: Rehearsals,
}

impl CovCon {
    /// A generator for a harness.
    pub fn new(harness: &Harness, seed: u64, options: Options) -> Self {
        let builder = Builder::new(harness, seed);
        CovCon {
            coverage: PairCoverage::new(&builder.shop.methods),
            builder,
            selector: Selector::new(options.rule, seed),
            prefixes: Rc::default(),
            made: BTreeMap::new(),
            options,
            selections: 0,
            rehearsals: Rehearsals::default(),
        }
    }

    fn select(&mut self, exec: &mut dyn Executor) -> Result<(), ExecutorError> {
        let Some(pair) = self.selector.next(&mut self.coverage.counts) else { return Ok(()) };
        self.selections += 1;
        self.builder.begin(self.selections);
        let tried = self.coverage.counts.counts(pair).map_or(1, |c| c.tried);
        for which in 0..2 {
            let prefix = match self.prefixes.get(&tried) {
                Some(both) => both[which].clone(),
                None => {
                    let both =
                        [self.builder.prefix(exec, 0)?, self.builder.prefix(exec, self.options.prefix)?];
                    let both = both.map(|prefix| prefix.map(Rc::new));
                    Rc::make_mut(&mut self.prefixes).entry(tried).or_insert(both)[which].clone()
                }
            };
            let Some(prefix) = prefix else { continue };
            let made = self.made.get(&pair).copied().unwrap_or(0);
            let so_far = match self.options.rule {
                Rule::LowestScore => made,
                Rule::BestQuarter => tried - 1,
            };
            let (short, long) = self.options.lengths;
            let length = if so_far < self.options.short { short } else { long };
            if let Some(draft) = self.draft(exec, pair, &prefix, length)? {
                *self.made.entry(pair).or_default() += 1;
                self.coverage.built(pair);
                let finally =
                    if self.options.checks { self.builder.checks(exec, &draft)? } else { Vec::new() };
                let runs = self.options.runs.clone();
                let plan = |test| Plan { test, runs, pair: Some(pair) };
                self.rehearsals.ready.extend(draft.finish(finally).map(plan));
            }
        }
        Ok(())
    }

    fn draft(
        &mut self,
        exec: &mut dyn Executor,
        pair: MethodPair,
        prefix: &Sequence,
        length: usize,
    ) -> Result<Option<Draft>, ExecutorError> {
        let (a, b) = pair.methods();
        let both = [ThunkId(a.0), ThunkId(b.0)];
        let suffixes = self.options.suffixes.clamp(2, 4);
        let mut draft = self.builder.equip(prefix, &vec![both.to_vec(); suffixes]);
        let mut calls: Vec<Vec<ThunkId>> = Vec::new();
        for suffix in 0..suffixes {
            let mut turn = suffix;
            let mut pick = |_: &mut _, _| {
                turn += 1;
                both[(turn - 1) % 2]
            };
            calls.push(self.builder.suffix(exec, &mut draft, length, &mut pick)?);
        }
        let apart = (0..suffixes).any(|i| {
            calls[i].contains(&both[0]) && (0..suffixes).any(|j| j != i && calls[j].contains(&both[1]))
        });
        Ok(apart.then_some(draft))
    }
}

impl CovCon {
    /// What sequential runs have shown.
    pub(super) fn tries(&self) -> &Tries {
        &self.builder.tries
    }
}

impl Rehearses for CovCon {
    fn parts(&mut self) -> (&mut Builder, &mut Rehearsals) {
        (&mut self.builder, &mut self.rehearsals)
    }
}

impl Generator for CovCon {
    fn next(&mut self, exec: &mut dyn Executor) -> Result<Option<Plan>, ExecutorError> {
        // Every pair gets its chance, and some of them another one, before it gives up.
        for _ in 0..2 * self.coverage.counts.len() + 10 {
            if let Some(plan) = self.rehearsals.ready.pop_front() {
                return Ok(Some(plan));
            }
            self.select(exec)?;
        }
        Ok(self.rehearsals.ready.pop_front())
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
