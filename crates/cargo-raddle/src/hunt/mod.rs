//! `cargo raddle hunt`: a type in, a verdict out.
//!
//! `prepare` says which types there are and builds a harness for each; `subject` is such a harness. `search` makes tests
//! for it and has them run by confined workers (`worker::session`); `prove` has `confirm` repeat it in a
//! fresh process, makes it small and keeps it, and `replay` repeats that. `events` puts what came of it into words for reports.
//! `lab` knows where workers come from, `statics` and `places` what is known before anything runs, `cpu_time` where the time went.

mod confirm;
mod cpu_time;
mod events;
mod keep;
mod lab;
mod places;
mod prepare;
mod prove;
pub mod replay;
mod result;
mod search;
mod statics;
mod subject;

use crate::build::compile::absolute;
use crate::build::runtime_lib::Runtime;
use crate::cli::{HuntArgs, HuntSearchArgs};
use crate::error::{Error, Result};
use crate::host;
use crate::interrupt;
use crate::report::event::{Event, Listing, TypeEnded, TypeStatus};
use crate::report::{ProgressLine, Report, many};
use crate::sandbox;
use crate::worker::in_order::{in_order, jobs};
use crate::worker::scratch::Scratch;
use lab::{Lab, Limits};
use prepare::{Prepared, Prospect, Wanted};
use raddle_hunt::Role;
use result::{End, Hunted, Progress, SearchSettings};

use std::time::{Duration, Instant};
use subject::Subject;

/// Time per type unless told otherwise.
const BUDGET: Duration = Duration::from_secs(30);
/// Time for all types of a crate together unless told otherwise, but at least [`LEAST`] for each.
const TOGETHER: Duration = Duration::from_secs(120);
/// A type's least share of that.
const LEAST: Duration = Duration::from_secs(5);

/// A type's time when so many are hunted without being named.
fn share(types: usize) -> Duration {
    (TOGETHER / u32::try_from(types.max(1)).unwrap_or(u32::MAX)).clamp(LEAST, BUDGET)
}

/// Hunts as the command line says.
pub fn run(args: &HuntArgs, report: &mut Report) -> Result<()> {
    host::check_machine(None)?;
    let mut settings = settings(&args.search, !args.no_sandbox);
    let prepared = Prepared::new(Wanted::new(args))?;
    if args.search.budget.is_none() && args.search.schedules.is_none() && !prepared.named() {
        settings.budget = Some(share(prepared.prospects.len()));
    }
    for warning in &prepared.warnings {
        report.warning(warning);
    }
    if args.list {
        report.event(&Event::List(Listing { types: prepared.list_json(), text: prepared.list() }));
        return Ok(());
    }
    if settings.limits.sandbox {
        sandbox::check()?;
    }
    let out = match &args.out {
        Some(dir) => absolute(dir)?,
        None => prepared.out.clone(),
    };
    let runtime = Runtime::install(&prepared.out)?;
    let scratch = Scratch::new(&out)?;
    let findings = out.join("findings");
    let lab =
        Lab { limits: &settings.limits, runtime: &runtime, scratch: scratch.path(), findings: &findings };
    report.event(&events::start(&settings, prepared.prospects.len()));
    let shown = report.progress();
    let hunt = |_, prospect: &Prospect| one(&prepared, prospect, &lab, &settings, &shown);
    let done = |prospect: &Prospect, outcome| ended(report, args, prospect, &outcome);
    in_order(&prepared.prospects, jobs(args.jobs), hunt, done);
    if interrupt::interrupted() {
        return Err(Error::Interrupted);
    }
    Ok(())
}

/// How a type came out, and why unless it was tested.
type Verdict = (TypeStatus, Option<String>);

/// What came of a type.
struct Outcome {
    subject: Option<Subject>,
    hunted: Option<Hunted>,
    verdict: Verdict,
    /// The compiler's words, if it was the build.
    details: Option<String>,
}

fn one(
    prepared: &Prepared,
    prospect: &Prospect,
    lab: &Lab<'_>,
    settings: &SearchSettings,
    shown: &ProgressLine,
) -> Outcome {
    shown.say(format!("{}: building the harness", prospect.target));
    let failed = |verdict, details| Outcome { subject: None, hunted: None, verdict, details };
    let subject = match prepared.build(prospect, lab.runtime) {
        Ok(subject) => subject,
        Err(Error::Unfit(why)) if !prepared.named() => return failed((TypeStatus::Skipped, Some(why)), None),
        Err(_) if interrupt::interrupted() => {
            return failed((TypeStatus::Error, Some("interrupted".to_owned())), None);
        }
        Err(error) => {
            return failed(
                (TypeStatus::Error, Some(error.to_string())),
                error.details().map(ToOwned::to_owned),
            );
        }
    };
    if let Some(verdict) = unfit(&subject, prepared.named()) {
        return Outcome { subject: Some(subject), ..failed(verdict, None) };
    }
    let began = Instant::now();
    let progress = |p: &Progress| {
        let seconds = began.elapsed().as_secs_f64().max(0.001);
        shown.say(format!(
            "{}: {}, {:.0} executions/s, {} of {} pairs, {}",
            prospect.target,
            many(p.tests, "test"),
            p.executions as f64 / seconds,
            p.covered,
            p.pairs,
            many(p.findings as u64, "finding")
        ));
    };
    match search::hunt(lab, settings, &subject, &progress) {
        Ok(hunted) => {
            let verdict = verdict(&hunted);
            Outcome { subject: Some(subject), hunted: Some(hunted), verdict, details: None }
        }
        Err(error) => {
            Outcome { subject: Some(subject), ..failed((TypeStatus::Error, Some(error.to_string())), None) }
        }
    }
}

/// Why a harness cannot be hunted, if so.
fn unfit(subject: &Subject, named: bool) -> Option<Verdict> {
    let harness = &subject.harness;
    let made = |t: &raddle_hunt::Thunk| t.output.slots.iter().any(|s| harness.type_info(*s).subject);
    if !harness.thunks.iter().any(made) {
        let why = "no function was found that makes one; give an expression in [package.metadata.raddle]";
        let why = format!("no constructor: {why}");
        return Some(if named { (TypeStatus::Error, Some(why)) } else { (TypeStatus::Skipped, Some(why)) });
    }
    let none = harness.with_role(Role::Method).next().is_none();
    let why = "it has no method that could be called".to_owned();
    none.then_some(if named { (TypeStatus::Untested, Some(why)) } else { (TypeStatus::Skipped, Some(why)) })
}

fn verdict(hunted: &Hunted) -> Verdict {
    if !hunted.findings.is_empty() {
        return (TypeStatus::Found, None);
    }
    let untested = |why: String| (TypeStatus::Untested, Some(why));
    match &hunted.end {
        End::Broken(why) => return (TypeStatus::Error, Some(why.clone())),
        End::Interrupted => return (TypeStatus::Error, Some("interrupted".to_owned())),
        _ => {}
    }
    let calls: Vec<String> = hunted.totals.uncontrolled.iter().take(3).map(uncontrolled).collect();
    if hunted.progress.executions == 0 {
        let none = match hunted.end {
            End::Budget => {
                "the time was over before the first test: calls that do not come back, or end the process, take long to try; \
                 leave them out with --exclude, or give more time with --budget"
            }
            _ => "no test could be made of its methods",
        };
        let why = hunted.lost.1.clone().unwrap_or_else(|| none.to_owned());
        untested(why)
    } else if !calls.is_empty() {
        untested(format!("calls that raddle cannot control: {}", calls.join(", ")))
    } else if !hunted.unconfirmed.is_empty() {
        untested(format!("{} not confirmed", many(hunted.unconfirmed.len() as u64, "violation")))
    } else {
        let pairs = hunted.coverage.counts.report().covered.len();
        match missing(hunted.steps, pairs, hunted.oracle.serial) {
            Some(why) => untested(why.to_owned()),
            None => (TypeStatus::Ok, None),
        }
    }
}

/// What a hunt lacks that nothing was found in: the steps of its tests, the pairs of methods that ran at the same time, and the sequential
/// executions that results were compared with.
fn missing(steps: u64, pairs: usize, sequential: u64) -> Option<&'static str> {
    if steps == 0 {
        Some("no scheduling point: its methods change nothing that threads share")
    } else if pairs == 0 {
        Some("no two of its methods ever ran at the same time, as far as raddle sees")
    } else if sequential == 0 {
        Some("nothing that its methods did was compared with a sequential order")
    } else {
        None
    }
}

fn uncontrolled(call: &raddle_core::protocol::Uncontrolled) -> String {
    match &call.at {
        Some(at) => format!("{} at {}", call.call, at.place()),
        None => call.call.clone(),
    }
}

fn settings(args: &HuntSearchArgs, sandbox: bool) -> SearchSettings {
    let budget = match (args.budget, args.schedules) {
        (Some(Duration::ZERO), _) | (None, Some(_)) => None,
        (Some(budget), _) => Some(budget),
        (None, None) => Some(BUDGET),
    };
    SearchSettings {
        limits: Limits {
            seed: args.seed,
            timeouts: args.timeouts,
            max_steps: args.max_steps,
            memory_mb: args.memory,
            hang_ms: u64::try_from(args.hang.as_millis()).unwrap_or(u64::MAX),
            sandbox,
        },
        generator: args.generator,
        strategy: args.strategy.clone(),
        per_test: args.per_test,
        threads: usize::try_from(args.threads).unwrap_or(2),
        schedules: args.schedules,
        budget,
        until_settled: args.until_settled,
        max_findings: args.max_findings,
        patterns: args.patterns,
    }
}

/// Says what came of a type.
fn ended(report: &mut Report, args: &HuntArgs, prospect: &Prospect, outcome: &Outcome) {
    if let Some(subject) = &outcome.subject {
        report.event(&events::harness(subject));
    }
    let hunted = outcome.subject.as_ref().zip(outcome.hunted.as_ref());
    if let Some((subject, hunted)) = hunted {
        for (i, (found, file)) in hunted.findings.iter().enumerate() {
            let file = file.as_deref().map_err(ToString::to_string);
            report.event(&Event::Finding(events::finding(subject, found, i < hunted.saved, file)));
        }
        hunted.findings.iter().filter_map(|(_, file)| file.as_ref().err()).for_each(|e| report.error(e));
        hunted.unconfirmed.iter().for_each(|u| report.event(&events::unconfirmed(subject, u)));
    }
    let (status, message) = outcome.verdict.clone();
    report.event(&Event::Type(TypeEnded {
        target: &prospect.target,
        version: outcome.subject.as_ref().map(|s| s.harness.version.as_str()),
        status,
        message,
        offers: outcome.subject.as_ref().map(|s| Box::new(events::offers(s))),
        stats: hunted.map(|(_, h)| Box::new(events::stats(h, args.open))),
        details: outcome.details.as_deref(),
        expectations: hunted.map(|(s, _)| events::expectations(&s.harness)).unwrap_or_default(),
        open: hunted.filter(|_| args.open > 0).map(|(_, h)| events::open(h, args.open)),
        matrix: hunted.filter(|_| args.matrix).map(|(s, h)| events::matrix(&s.harness, h)),
    }));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hunt_without_steps_overlaps_or_comparisons_has_tested_nothing() {
        assert!(missing(0, 0, 0).unwrap().contains("no scheduling point"));
        assert!(missing(9, 0, 0).unwrap().contains("at the same time"));
        assert!(missing(9, 0, 7).unwrap().contains("at the same time"));
        assert!(missing(9, 1, 0).unwrap().contains("compared"));
        assert_eq!(missing(9, 1, 7), None);
    }

    #[test]
    fn many_types_share_the_time_and_few_have_as_much_as_a_named_one() {
        assert_eq!((share(1), share(4)), (BUDGET, BUDGET));
        assert_eq!(share(12), Duration::from_secs(10));
        assert_eq!(share(1000), LEAST);
    }
}
