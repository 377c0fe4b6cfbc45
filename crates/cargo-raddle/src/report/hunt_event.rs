//! What a hunt says to scripts; described in docs/json.md.

use crate::exit::Exit;
use crate::findings::hunt::Kept;
use crate::hunt::result::{End, Hunted, Sample, Settings, Unconfirmed};
use crate::hunt::statics::StaticCoverage;
use crate::hunt::subject::Subject;
use raddle_core::coverage::map::Tally;
use raddle_core::outcome::Kind;
use raddle_core::trace::Site;
use raddle_hunt::Thunk;
use raddle_hunt::generate::{Failing, NeverReturned, PairCoverage};
use serde::Serialize;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// A line of output.
#[derive(Serialize, Debug)]
#[serde(tag = "event", rename_all = "kebab-case")]
pub enum Event<'a> {
    /// The hunt begins.
    Start {
        /// The version of raddle.
        version: &'a str,
        /// The seed.
        seed: u64,
        /// The generator.
        generator: &'a str,
        /// The strategy.
        strategy: &'a str,
        /// Executions per type at most.
        schedules: Option<u64>,
        /// Milliseconds per type; 0 for no limit.
        budget_ms: u64,
        /// How many types will be hunted.
        types: usize,
    },
    /// Something was left out or is odd.
    Warning {
        /// What.
        message: &'a str,
    },
    /// What could be hunted, with `--list`.
    List(&'a serde_json::Value),
    /// The harness of a type.
    Harness {
        /// The path of the type.
        target: &'a str,
        /// What describes it.
        descriptor: &'a Path,
        /// The executable.
        executable: &'a Path,
        /// Whether the compiler's MIR was read for it.
        analysed: bool,
        /// Why not, if that was tried.
        #[serde(skip_serializing_if = "Option::is_none")]
        why_not: Option<&'a str>,
        /// How long it took to look up the places of its calls, or to find that they had been.
        placing_ms: f64,
    },
    /// A confirmed finding.
    Finding {
        /// The path of the type.
        target: &'a str,
        /// What kind.
        kind: Kind,
        /// In words.
        message: &'a str,
        /// Where.
        at: Option<&'a Site>,
        /// What tells it from other findings.
        cause: &'a str,
        /// Calls in the test, setup included.
        calls: usize,
        /// Steps in the trace.
        steps: usize,
        /// The test as Rust source.
        source: &'a str,
        /// Whether an earlier hunt had found it already.
        saved: bool,
        /// The finding file, unless it could not be written.
        file: Option<&'a Path>,
    },
    /// A violation that did not repeat.
    Unconfirmed {
        /// The path of the type.
        target: &'a str,
        /// What kind.
        kind: Kind,
        /// In words.
        message: &'a str,
        /// What came instead.
        instead: &'a str,
    },
    /// A type came to its end.
    Type {
        /// Its path.
        target: &'a str,
        /// The version of its crate, if a harness was made.
        #[serde(skip_serializing_if = "Option::is_none")]
        version: Option<&'a str>,
        /// `ok`, `found`, `untested`, `skipped`, `error`.
        status: &'static str,
        /// Why, if the status is `untested` or `error`.
        #[serde(skip_serializing_if = "Option::is_none")]
        message: Option<String>,
        /// What the harness offers, if there is one.
        #[serde(skip_serializing_if = "Option::is_none")]
        offers: Option<Box<Offers>>,
        /// What was done, if it came to that.
        #[serde(skip_serializing_if = "Option::is_none")]
        stats: Option<Box<Stats>>,
    },
    /// What was asked could not be done.
    Error {
        /// Why.
        message: String,
        /// The compiler's diagnostics, if it was the build.
        #[serde(skip_serializing_if = "Option::is_none")]
        details: Option<&'a str>,
    },
    /// The last line.
    Summary(&'a Summary),
}

/// What a harness can call, and what it expects of it.
#[derive(Serialize, Clone, Debug)]
pub struct Offers {
    /// Public methods by `&self` that have a thunk.
    pub shared_methods: usize,
    /// Those that have none, with the reason.
    pub missing: Vec<(String, String)>,
    /// Methods whose results are not compared, with the reason.
    pub weak: Vec<(String, String)>,
    /// Methods that may refuse beside other calls, with their refusals.
    pub refuses: Vec<(String, Vec<String>)>,
}

impl Offers {
    /// Of a harness.
    pub fn of(subject: &Subject) -> Self {
        let missing = subject.dropped.iter().filter(|d| d.counts);
        let thunks = || subject.harness.thunks.iter();
        let because = |t: &Thunk| t.because.clone().unwrap_or_default();
        Offers {
            shared_methods: subject.shared_methods,
            missing: missing.map(|d| (d.name.clone(), d.why.clone())).collect(),
            weak: thunks().filter(|t| t.weak).map(|t| (t.name.clone(), because(t))).collect(),
            refuses: thunks()
                .filter(|t| !t.refuses.is_empty())
                .map(|t| (t.name.clone(), t.refuses.clone()))
                .collect(),
        }
    }
}

/// A method of which no call returned when nothing ran beside it.
#[derive(Clone, Debug, Serialize)]
pub struct NoReturn {
    /// Its name.
    pub method: String,
    /// Calls tried.
    pub calls: u64,
    /// What the first of them did, in the smallest test.
    pub instead: String,
}

impl NoReturn {
    fn of(never: &NeverReturned) -> Self {
        let Failing { how, calls, .. } = never.instead.clone();
        NoReturn { method: never.method.clone(), calls, instead: how }
    }
}

/// Totals of the hunt of a type. Only the fields that end in `_ms` depend on the machine.
#[derive(Serialize, Clone, Debug)]
pub struct Stats {
    /// Why it ended.
    pub end: &'static str,
    /// Tests run.
    pub tests: u64,
    /// Executions of tests.
    pub executions: u64,
    /// Executions in all, linearizations and tries included.
    pub all_executions: u64,
    /// Sequential executions that the oracle ran.
    pub serial_executions: u64,
    /// Executions that the oracle could not decide.
    pub undecided: u64,
    /// Scheduling points in executions of tests.
    pub steps: u64,
    /// Runs that could not be done.
    pub lost: u64,
    /// Methods of which no call returned when nothing ran beside it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub never_returned: Vec<NoReturn>,
    /// Concurrent method pairs.
    pub pairs: Pairs,
    /// Instances of memory-access patterns, if they were followed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub patterns: Option<Patterns>,
    /// How coverage grew, at tests that lie ever further apart.
    pub curve: Vec<Sample>,
    /// Violations that did not repeat.
    pub unconfirmed: usize,
    /// Every execution had a process of its own, because the program keeps something from test to test.
    pub isolated: bool,
    /// Results depend on which thread calls, so a thread's first call was not compared while others ran beside it.
    pub per_thread: bool,
    /// Saved findings that did not repeat or belong to another build.
    pub outdated: usize,
    /// Their files.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub outdated_files: Vec<PathBuf>,
    /// Workers that died.
    pub deaths: u64,
    /// Processor time for starting workers.
    pub start_ms: f64,
    /// Processor time for making tests, of the command and its workers, to the microsecond; the next four likewise.
    pub generate_ms: f64,
    /// For running them.
    pub execute_ms: f64,
    /// For counting what they covered.
    pub cover_ms: f64,
    /// For judging.
    pub judge_ms: f64,
    /// For confirming and minimising.
    pub prove_ms: f64,
    /// For making, running and judging tests and counting what they covered until the first new finding was at hand; confirming
    /// it comes on top.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub first_finding_ms: Option<f64>,
    /// For everything.
    pub processor_ms: f64,
    /// Time that passed.
    pub elapsed_ms: u128,
}

/// Concurrent method pairs.
#[derive(Serialize, Clone, Copy, PartialEq, Eq, Debug)]
pub struct Pairs {
    /// All.
    pub total: usize,
    /// Ran at the same time.
    pub covered: usize,
    /// Did not yet.
    pub open: usize,
    /// Did not, and no test could be made for them so far.
    pub never: usize,
}

/// MAP-coverage over what the methods were seen to do.
#[derive(Serialize, Clone, PartialEq, Debug)]
pub struct Patterns {
    /// All instances that the known accesses allow (T_C).
    pub total: u128,
    /// Occurred.
    pub covered: u128,
    /// Occurred outside of that: a setup took part, or two objects of one name.
    pub outside: u128,
    /// The chance that another test shows something new, as far as the last hundred tell.
    pub chance_of_new: Option<f64>,
    /// The same over what the compiler's MIR allows, if that is known.
    #[serde(rename = "static", skip_serializing_if = "Option::is_none")]
    pub statics: Option<Statics>,
}

/// MAP-coverage over what the compiler's MIR allows.
#[derive(Serialize, Clone, PartialEq, Debug)]
pub struct Statics {
    /// All instances.
    pub all: Counts,
    /// By pattern, from 1 to 17.
    pub by_pattern: Vec<Counts>,
    /// Instances that occurred at places or on variables that the analysis does not have.
    pub unmet: u64,
    /// Open instances in words, most bug-prone patterns first, as many as `--open` asks for.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub open: Vec<String>,
}

/// What became of instances.
#[derive(Serialize, Clone, Copy, PartialEq, Eq, Debug)]
pub struct Counts {
    /// All.
    pub total: u128,
    /// Occurred.
    pub covered: u128,
    /// Did not, and a common lock keeps the steps apart as long as every thread makes one call; null if that was not
    /// counted because there are too many instances.
    pub infeasible: Option<u128>,
    /// The others.
    pub open: u128,
}

/// Totals of the command.
#[derive(Serialize, Clone, Debug)]
pub struct Summary {
    /// How the command ends.
    pub exit_code: Exit,
    /// Types hunted; the sum of the next four.
    pub types: usize,
    /// Without findings.
    pub clean: usize,
    /// With findings.
    pub found: usize,
    /// Not tested, or not wholly.
    pub untested: usize,
    /// Left out because nothing makes one, where the user named no type.
    pub skipped: usize,
    /// In which the tool failed.
    pub errors: usize,
    /// Findings.
    pub findings: usize,
    /// Violations that did not repeat.
    pub unconfirmed: usize,
    /// Tests run.
    pub tests: u64,
    /// Executions of tests.
    pub executions: u64,
}

impl Pairs {
    /// What has been covered so far.
    pub fn of(coverage: &PairCoverage) -> Self {
        let report = coverage.report();
        Pairs {
            total: coverage.counts.len(),
            covered: report.covered.len(),
            open: report.open.len(),
            never: report.never_possible.len(),
        }
    }
}

impl Patterns {
    /// What has occurred so far, with so many open instances.
    pub fn of(hunted: &Hunted, open: usize) -> Option<Self> {
        let patterns = hunted.patterns.as_ref()?;
        let report = patterns.report();
        let statics = hunted.statics.as_ref().and_then(|s| s.as_ref().ok());
        Some(Patterns {
            total: report.all.total,
            covered: report.all.covered,
            outside: report.outside,
            chance_of_new: patterns.chance_of_new(),
            statics: statics.map(|s| Statics::of(s, open)),
        })
    }
}

impl Statics {
    fn of(coverage: &StaticCoverage, open: usize) -> Self {
        let counts = |tally: &Tally| Counts {
            total: tally.total,
            covered: tally.covered,
            infeasible: coverage.pruned.then_some(tally.infeasible),
            open: tally.open(),
        };
        Statics {
            all: counts(&coverage.report.all),
            by_pattern: coverage.report.per_pattern.iter().map(counts).collect(),
            unmet: coverage.unmet,
            open: coverage.open(open),
        }
    }
}

impl Stats {
    /// Of a hunt that took place.
    pub fn of(hunted: &Hunted, open: usize) -> Self {
        Stats {
            end: match hunted.end {
                End::Budget => "budget",
                End::Exhausted => "exhausted",
                End::Findings => "findings",
                End::Settled => "settled",
                End::Interrupted => "interrupted",
                End::Broken(_) => "broken",
            },
            tests: hunted.progress.tests,
            executions: hunted.progress.executions,
            all_executions: hunted.totals.executions,
            serial_executions: hunted.oracle.serial,
            undecided: hunted.oracle.undecided,
            steps: hunted.steps,
            lost: hunted.lost.0,
            never_returned: hunted.never_returned.iter().map(NoReturn::of).collect(),
            pairs: Pairs::of(&hunted.coverage),
            patterns: Patterns::of(hunted, open),
            curve: hunted.curve.clone(),
            unconfirmed: hunted.unconfirmed.len(),
            isolated: hunted.isolated,
            per_thread: hunted.per_thread,
            outdated: hunted.outdated.len(),
            outdated_files: hunted.outdated.clone(),
            deaths: hunted.totals.deaths,
            start_ms: ms(hunted.stages.start),
            generate_ms: ms(hunted.stages.generate),
            execute_ms: ms(hunted.stages.execute),
            cover_ms: ms(hunted.stages.cover),
            judge_ms: ms(hunted.stages.judge),
            prove_ms: ms(hunted.stages.prove),
            first_finding_ms: hunted.first.map(ms),
            processor_ms: ms(hunted.processor),
            elapsed_ms: hunted.elapsed.as_millis(),
        }
    }
}

/// Milliseconds, to the microsecond.
fn ms(time: Duration) -> f64 {
    time.as_micros() as f64 / 1000.0
}

impl Summary {
    /// Nothing yet; if it stays so, nothing was tested.
    pub fn new() -> Self {
        Summary {
            exit_code: Exit::Untested,
            types: 0,
            clean: 0,
            found: 0,
            untested: 0,
            skipped: 0,
            errors: 0,
            findings: 0,
            unconfirmed: 0,
            tests: 0,
            executions: 0,
        }
    }

    /// A finding counts more than a failure of the tool, and that more than what was not tested.
    pub fn exit(&self) -> Exit {
        if self.findings > 0 {
            Exit::Found
        } else if self.errors > 0 {
            Exit::Failed
        } else if self.untested > 0 || self.unconfirmed > 0 || self.clean == 0 {
            Exit::Untested
        } else {
            Exit::Clean
        }
    }
}

impl<'a> Event<'a> {
    /// The beginning.
    pub fn start(settings: &'a Settings, types: usize) -> Self {
        Event::Start {
            version: env!("CARGO_PKG_VERSION"),
            seed: settings.seed,
            generator: settings.generator.name(),
            strategy: &settings.strategy,
            schedules: settings.schedules,
            budget_ms: settings.budget.map_or(0, |b| u64::try_from(b.as_millis()).unwrap_or(u64::MAX)),
            types,
        }
    }

    /// The harness of a type.
    pub fn harness(subject: &'a Subject) -> Self {
        Event::Harness {
            target: &subject.harness.target,
            descriptor: &subject.descriptor,
            executable: &subject.executable,
            analysed: matches!(subject.accesses, Some(Ok(_))),
            why_not: subject.accesses.as_ref().and_then(|a| a.as_ref().err().map(String::as_str)),
            placing_ms: ms(subject.placing),
        }
    }

    /// A finding.
    pub fn finding(subject: &'a Subject, found: &'a Kept, saved: bool, file: Option<&'a Path>) -> Self {
        let test = &found.test;
        Event::Finding {
            target: &subject.harness.target,
            kind: found.failure.kind,
            message: &found.failure.message,
            at: found.failure.at.as_ref(),
            cause: &found.cause,
            calls: test.setup.len() + test.suffixes.iter().map(Vec::len).sum::<usize>() + test.finally.len(),
            steps: found.failure.trace.events.len(),
            source: &found.source,
            saved,
            file,
        }
    }

    /// A violation that did not repeat.
    pub fn unconfirmed(subject: &'a Subject, unconfirmed: &'a Unconfirmed) -> Self {
        Event::Unconfirmed {
            target: &subject.harness.target,
            kind: unconfirmed.kind,
            message: &unconfirmed.message,
            instead: &unconfirmed.instead,
        }
    }

    /// Prints the line. A reader that has gone away is not our concern.
    pub fn print(&self) {
        use std::io::Write;
        let line = serde_json::to_string(self).expect("an event is plain data");
        let _ = writeln!(std::io::stdout().lock(), "{line}");
    }
}
