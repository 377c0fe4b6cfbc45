//! What a hunt says of a type, put together from what came of it.

use super::result::{End, Hunted, SearchSettings, Unconfirmed};
use super::statics::StaticCoverage;
use super::subject::Subject;
use crate::findings::hunt::HuntFinding;
use crate::report::columns::Labels;
use crate::report::event;
use crate::report::event::{Event, Finding, FindingOf, Harness, Start, UnconfirmedOf};
use crate::report::type_stats::{
    Counts, Expectation, HuntEnd, NoReturn, Offers, Pairs, Patterns, Statics, TypeStats,
};
use raddle_core::coverage::map::Tally;
use raddle_core::pattern::{AccessKind, Step, Who};
use raddle_core::trace::Trace;
use raddle_core::{NameId, Op, SiteId};
use raddle_hunt::generate::{Failing, NeverReturned, PairCoverage};
use raddle_hunt::oracle::CallRef;
use raddle_hunt::render::call_text;
use raddle_hunt::{self as hunt, CallRecord, CallResult, Role, Test, Thunk};
use std::fmt::Write;
use std::path::Path;
use std::time::Duration;

/// The beginning.
pub fn start(settings: &SearchSettings, types: usize) -> Event<'_> {
    Event::Start(Start::Types {
        version: env!("CARGO_PKG_VERSION"),
        seed: settings.limits.seed,
        generator: settings.generator.name(),
        strategy: &settings.strategy,
        schedules: settings.schedules,
        budget_ms: settings.budget.map_or(0, |b| u64::try_from(b.as_millis()).unwrap_or(u64::MAX)),
        types,
    })
}

/// The harness of a type.
pub fn harness(subject: &Subject) -> Event<'_> {
    Event::Harness(Harness {
        target: &subject.harness.target,
        descriptor: &subject.descriptor,
        executable: &subject.executable,
        analysed: matches!(subject.accesses, Some(Ok(_))),
        why_not: subject.accesses.as_ref().and_then(|a| a.as_ref().err().map(String::as_str)),
        placing_ms: ms(subject.placing),
    })
}

/// A finding of a type, kept in this file or not, for this reason.
pub fn finding<'a>(
    subject: &'a Subject,
    found: &'a HuntFinding,
    saved: bool,
    file: Result<&'a Path, String>,
) -> Finding<'a> {
    let test = &found.test;
    let of = FindingOf::Type {
        target: &subject.harness.target,
        cause: &found.cause,
        calls: test.setup.len() + test.suffixes.iter().map(Vec::len).sum::<usize>() + test.finally.len(),
        source: &found.source,
        saved,
        why: &found.why,
        labels: labels(&subject.harness, test, &found.calls, &found.failure.trace),
    };
    Finding::new(of, &found.failure, file, &subject.source_roots)
}

/// A violation that did not repeat.
pub fn unconfirmed<'a>(subject: &'a Subject, unconfirmed: &'a Unconfirmed) -> Event<'a> {
    Event::Unconfirmed(event::Unconfirmed {
        of: UnconfirmedOf::Type { target: &subject.harness.target },
        kind: unconfirmed.kind,
        message: &unconfirmed.message,
        instead: &unconfirmed.instead,
    })
}

/// What a harness offers.
pub fn offers(subject: &Subject) -> Offers {
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

/// What is expected of methods less than of others.
pub fn expectations(harness: &hunt::Harness) -> Vec<Expectation> {
    let methods = harness.thunks.iter().filter(|t| t.role == Role::Method);
    let less = methods.filter_map(|t| {
        let (method, because) = (t.name.clone(), t.because.clone().unwrap_or_default());
        if t.weak {
            Some(Expectation::NotCompared { method, because })
        } else if t.refuses.iter().any(|r| r != "Pending") {
            Some(Expectation::MayRefuse { method, answers: t.refuses.clone(), because })
        } else {
            None
        }
    });
    less.collect()
}

/// What was done; with so many instances of patterns that have not occurred.
pub fn stats(hunted: &Hunted, open: usize) -> TypeStats {
    TypeStats {
        end: match hunted.end {
            End::Budget => HuntEnd::Budget,
            End::Exhausted => HuntEnd::Exhausted,
            End::Findings => HuntEnd::Findings,
            End::Settled => HuntEnd::Settled,
            End::Interrupted => HuntEnd::Interrupted,
            End::Broken(_) => HuntEnd::Broken,
        },
        tests: hunted.progress.tests,
        executions: hunted.progress.executions,
        all_executions: hunted.totals.executions,
        serial_executions: hunted.oracle.serial,
        undecided: hunted.oracle.undecided,
        steps: hunted.steps,
        lost: hunted.lost.0,
        never_returned: hunted.never_returned.iter().map(no_return).collect(),
        pairs: pairs(&hunted.coverage),
        patterns: patterns(hunted, open),
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
        elapsed: hunted.elapsed.as_secs_f64(),
        isolated_because: hunted.isolated_because.as_ref().map(|u| (u.message.clone(), u.instead.clone())),
        first_lost: hunted.lost.1.clone(),
    }
}

fn no_return(never: &NeverReturned) -> NoReturn {
    let Failing { how, calls, .. } = never.instead.clone();
    NoReturn { method: never.method.clone(), calls, instead: how }
}

fn pairs(coverage: &PairCoverage) -> Pairs {
    let report = coverage.report();
    Pairs {
        total: coverage.counts.len(),
        covered: report.covered.len(),
        open: report.open.len(),
        never: report.never_possible.len(),
    }
}

fn patterns(hunted: &Hunted, open: usize) -> Option<Patterns> {
    let patterns = hunted.patterns.as_ref()?;
    let report = patterns.report();
    let known = hunted.statics.as_ref().and_then(|s| s.as_ref().ok());
    Some(Patterns {
        total: report.all.total,
        covered: report.all.covered,
        outside: report.outside,
        chance_of_new: patterns.chance_of_new(),
        statics: known.map(|s| statics(s, open)),
        unknown: hunted.statics.as_ref().and_then(|s| s.as_ref().err().cloned()),
    })
}

fn statics(coverage: &StaticCoverage, open: usize) -> Statics {
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

/// Milliseconds, to the microsecond.
fn ms(time: Duration) -> f64 {
    time.as_micros() as f64 / 1000.0
}

/// What to say at the beginnings and ends of calls.
fn labels(harness: &hunt::Harness, test: &Test, calls: &[CallRecord], trace: &Trace) -> Labels {
    let mut enters = calls.iter();
    let mut ends: Vec<&CallRecord> = calls.iter().filter(|c| c.end.is_some()).collect();
    ends.sort_by_key(|c| c.end);
    let mut leaves = ends.into_iter();
    // The column says which thread it is.
    let name = |c: &CallRecord| {
        let text = call_text(harness, test, CallRef { thread: c.thread, step: c.step });
        let own = text.strip_prefix(&format!("T{} ", c.thread)).unwrap_or(&text);
        own.to_owned()
    };
    let mut labels = Labels::new();
    for (i, event) in trace.events.iter().enumerate() {
        let text = match event.op {
            Op::Enter(_) => enters.next().map(name),
            Op::Leave(_) => leaves.next().map(|c| {
                let name = name(c);
                format!("{} {}", name.split('(').next().unwrap_or_default(), does(&c.result))
            }),
            // The harness's own, which has no place in the user's source.
            Op::Spawn(thread) if event.thread.0 == 0 => Some(format!("starts thread {}", thread.0)),
            Op::Join(thread) if event.thread.0 == 0 => Some(format!("joins thread {}", thread.0)),
            Op::Exit => Some("ends".to_owned()),
            _ => None,
        };
        if let Some(text) = text {
            labels.insert(i, text);
        }
    }
    labels
}

/// Instances of memory-access patterns that have not occurred, most bug-prone patterns first.
pub fn open(hunted: &Hunted, most: usize) -> String {
    let Some(patterns) = &hunted.patterns else {
        return "open patterns: the generator does not follow them; use maptest\n".to_owned();
    };
    if let Some(Ok(statics)) = &hunted.statics {
        let mut text =
            String::from("memory-access patterns that the code allows and that have not been seen:\n");
        statics.open(most).iter().for_each(|line| _ = writeln!(text, "  {line}: not yet seen"));
        return text;
    }
    let mut text = String::from("memory-access patterns that have not occurred:\n");
    for instance in patterns.open(most) {
        let steps = instance.pattern().pattern().steps.iter().zip(instance.steps());
        let step = |(step, (kind, site, name)): (&Step, (AccessKind, SiteId, NameId))| {
            let symbols = &hunted.symbols;
            let site = symbols.sites.get(site.0 as usize);
            let (function, at) = site.map_or(("?", String::new()), |s| {
                let function = s.function.rsplit("::").next().unwrap_or(&s.function);
                let place = s.place();
                (function, place.rsplit('/').next().unwrap_or(&place).to_owned())
            });
            let does = if kind == AccessKind::Read { "reads" } else { "writes" };
            let name = symbols.names.get(name.0 as usize).map_or("?", String::as_str);
            let thread = if step.who == Who::A { "a" } else { "b" };
            format!("{thread}: `{function}` at {at} {does} `{name}`")
        };
        let steps: Vec<String> = steps.map(step).collect();
        let _ = writeln!(text, "  {:3} {}", instance.pattern().to_string(), steps.join(", then "));
    }
    text
}

/// For each pair of methods, how often it ran at the same time.
pub fn matrix(harness: &hunt::Harness, hunted: &Hunted) -> String {
    let legend = "times that two methods ran at the same time, by test (. open, - never possible so far):";
    format!("{legend}\n{}", hunted.coverage.matrix(harness))
}

/// What a call did, after its name.
fn does(result: &CallResult) -> String {
    match result {
        CallResult::Value(value) => format!("returns {value}"),
        CallResult::Opaque => "returns".to_owned(),
        CallResult::Panic { at, message } => {
            format!("panics at {at}: {}", message.lines().next().unwrap_or_default())
        }
        CallResult::Skipped => "is not called".to_owned(),
        CallResult::Unfinished => "does not return".to_owned(),
    }
}
