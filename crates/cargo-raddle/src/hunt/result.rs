//! What a hunt is told, and what comes of it.

use super::lab::Limits;
use super::statics::StaticCoverage;
use crate::error;
use crate::findings::hunt::HuntFinding;
use crate::report::type_stats::Sample;
use crate::worker::session::Totals;
use raddle_core::outcome::Kind;
use raddle_core::trace::Symbols;
use raddle_hunt::generate::{GeneratorKind, NeverReturned, PairCoverage, PatternCoverage};
use raddle_hunt::oracle::OracleCost;
use std::path::PathBuf;
use std::time::Duration;

/// How to search.
#[derive(Clone, Debug)]
pub struct SearchSettings {
    /// The limits of workers.
    pub limits: Limits,
    /// How tests are made.
    pub generator: GeneratorKind,
    /// How schedules are searched.
    pub strategy: String,
    /// Schedules per test.
    pub per_test: u64,
    /// Concurrent threads per test.
    pub threads: usize,
    /// Most executions.
    pub schedules: Option<u64>,
    /// Most time.
    pub budget: Option<Duration>,
    /// Time after which it ends if it has settled.
    pub until_settled: Option<Duration>,
    /// Findings after which it ends.
    pub max_findings: u64,
    /// Whether memory-access patterns are followed whatever the generator.
    pub patterns: bool,
}

/// How far a hunt has come, for people.
#[derive(Clone, Debug, Default)]
pub struct Progress {
    /// Tests run.
    pub tests: u64,
    /// Executions of them.
    pub executions: u64,
    /// Pairs of methods that ran at the same time.
    pub covered: usize,
    /// All pairs.
    pub pairs: usize,
    /// Findings.
    pub findings: usize,
}

/// Whether two thirds of the tests brought no finding, and hardly any coverage: at most one in two hundred of the instances of
/// patterns, or of the pairs of methods where patterns were not followed.
pub fn has_settled(curve: &[Sample]) -> bool {
    let Some(last) = curve.last() else { return false };
    let Some(then) = curve.iter().rev().find(|s| s.tests <= last.tests / 3) else { return false };
    let few = |then: u64, now: u64| now - then <= now / 200;
    let coverage = match last.patterns {
        0 => few(then.pairs as u64, last.pairs as u64),
        now => few(then.patterns, now),
    };
    then.bugs == last.bugs && coverage
}

/// Where the processor time went, in the command and in its workers together.
#[derive(Clone, Debug, Default)]
pub struct Stages {
    /// Starting the first worker, which is ready before there is a test, and the others as far as they do that themselves.
    pub start: Duration,
    /// Making tests, calls that are tried sequentially included.
    pub generate: Duration,
    /// Running them.
    pub execute: Duration,
    /// Counting what they covered.
    pub cover: Duration,
    /// Judging: linearizations and comparisons.
    pub judge: Duration,
    /// Confirming and minimising.
    pub prove: Duration,
}

impl Stages {
    /// Making, running and judging tests and counting what they cover: all that a search consists of.
    pub fn search(&self) -> Duration {
        self.generate + self.execute + self.cover + self.judge
    }
}

/// Why a hunt ended.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum End {
    /// Time or schedules are used up.
    Budget,
    /// The generator has no more tests.
    Exhausted,
    /// There were findings enough.
    Findings,
    /// Nothing new to speak of had come for long.
    Settled,
    /// The user stopped it.
    Interrupted,
    /// Tests cannot be run; why.
    Broken(String),
}

/// A violation that did not repeat.
#[derive(Clone, Debug)]
pub struct Unconfirmed {
    /// What kind.
    pub kind: Kind,
    /// In words.
    pub message: String,
    /// What came instead.
    pub instead: String,
}

/// What came of a hunt.
#[derive(Debug)]
pub struct Hunted {
    /// What was found, with the files or why there is none; the saved ones that were repeated come first.
    pub findings: Vec<(HuntFinding, error::Result<PathBuf>)>,
    /// Processor time of the search until the first of them that is new was at hand, to be confirmed.
    pub first: Option<Duration>,
    /// How many of them were saved by an earlier hunt.
    pub saved: usize,
    /// Files of saved findings that did not repeat, or belong to another build.
    pub outdated: Vec<PathBuf>,
    /// What did not repeat.
    pub unconfirmed: Vec<Unconfirmed>,
    /// What earlier tests left behind changed a later one, so that from then on every execution had a process of its own.
    pub isolated: bool,
    /// Results depend on which thread calls.
    pub per_thread: bool,
    /// What was seen, and not seen again in a fresh process, when that became clear.
    pub isolated_because: Option<Unconfirmed>,
    /// Methods and constructors that never returned when nothing ran beside them, though they were called.
    pub never_returned: Vec<NeverReturned>,
    /// Which methods ran at the same time.
    pub coverage: PairCoverage,
    /// Which memory-access patterns occurred, if they were followed.
    pub patterns: Option<PatternCoverage>,
    /// How many of the instances of patterns that the compiler's MIR allows occurred; or why that is not known.
    pub statics: Option<Result<StaticCoverage, String>>,
    /// How coverage grew.
    pub curve: Vec<Sample>,
    /// What the numbers in them mean.
    pub symbols: Symbols,
    /// Tests and executions.
    pub progress: Progress,
    /// Scheduling points passed in executions of tests.
    pub steps: u64,
    /// Runs that could not be done, and why the first could not.
    pub lost: (u64, Option<String>),
    /// What the workers of the search did, the oracle's linearizations included.
    pub totals: Totals,
    /// What the oracle did.
    pub oracle: OracleCost,
    /// Where the processor time went.
    pub stages: Stages,
    /// All processor time, of the command and its workers.
    pub processor: Duration,
    /// Wall-clock time of the whole hunt.
    pub elapsed: Duration,
    /// Why it ended.
    pub end: End,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hunt_has_settled_when_two_thirds_of_its_tests_brought_next_to_nothing() {
        let sample = |tests, patterns, bugs| Sample {
            tests,
            executions: 0,
            at_ms: 0,
            elapsed_ms: 0,
            pairs: tests as usize,
            patterns,
            locations: 0,
            bugs,
        };
        let settled = |then: (u64, usize), now: (u64, usize)| {
            has_settled(&[sample(1, 5, 0), sample(40, then.0, then.1), sample(120, now.0, now.1)])
        };
        assert!(settled((1000, 2), (1005, 2)));
        assert!(!settled((1000, 2), (1006, 2)), "too much coverage");
        assert!(!settled((1000, 2), (1000, 3)), "a finding");
        assert!(!has_settled(&[sample(90, 5, 0), sample(100, 5, 0)]), "too few tests to compare");
        assert!(!has_settled(&[]));
        assert!(!settled((0, 2), (0, 2)), "pairs of methods");
    }
}
