//! `cargo raddle replay` of a finding of a hunt: build the harness again, repeat the test under its schedule.

use super::confirm::{Proof, Refuted};
use super::prepare::Prepared;
use super::prove::repeat;
use super::result::Settings;
use super::search::Lab;
use super::{events, keep};
use crate::build::compile::absolute;
use crate::build::runtime_lib::Runtime;
use crate::cli::{Format, HuntArgs, HuntBuildArgs, HuntFunctionArgs, HuntSearchArgs, ReplayArgs};
use crate::error::{Error, Result};
use crate::findings::hunt::HuntFinding;
use crate::report::Report;
use crate::report::event::{Event, Replay, ReplayVerdict};
use crate::worker::scratch::Scratch;
use raddle_core::protocol::Job;
use raddle_hunt::ExecutorError;
use raddle_hunt::generate::GeneratorKind;
use std::path::Path;
use std::time::Duration;

/// Repeats a finding.
pub fn run(args: &ReplayArgs, saved: HuntFinding, report: &mut Report) -> Result<()> {
    let refuse = |reason: String| Error::Finding { file: args.file.clone(), reason };
    let file = absolute(&args.file)?;
    let dir = file.parent().unwrap_or(Path::new("/"));
    let hunt = hunt_args(args, &saved, dir);
    let prepared = Prepared::new(&hunt)?;
    let runtime = Runtime::install(&prepared.out)?;
    let prospect = prepared.prospects.iter().find(|p| p.target == saved.target);
    let prospect = prospect.ok_or_else(|| refuse(format!("there is no longer a type {}", saved.target)))?;
    let subject = prepared.build(prospect, &runtime)?;
    if let Some(why) = saved.other_build(&subject.fingerprint, &runtime) {
        return Err(refuse(why));
    }
    saved.check(&subject.harness).map_err(refuse)?;
    let scratch = Scratch::new(&prepared.out)?;
    let settings = settings(&saved.job);
    let lab = Lab { settings: &settings, runtime: &runtime, scratch: scratch.path(), findings: dir };
    // Where debug information was looked up is known to this build alone.
    let job = Job { places: lab.job(&subject).places, ..saved.job.clone() };
    let mut workers = lab.workers(&subject, job, "replay", None)?;
    let mut oracle = lab.last_word(&subject);
    let mut reproduced = 0;
    let outcome = loop {
        workers.renew();
        let outcome = repeat(&mut workers, &mut oracle, &saved).map_err(|error| match error {
            Error::Workers(ExecutorError::Over) => Error::Interrupted,
            Error::Workers(ExecutorError::Broken(why)) => refuse(why),
            other => other,
        })?;
        let Proof::Confirmed(_) = &outcome else { break outcome };
        reproduced += 1;
        if reproduced == args.times {
            break outcome;
        }
    };
    let (verdict, message, shown, came) = match outcome {
        Proof::Confirmed(confirmed) => {
            let shown = keep::finding(&subject, &runtime, &saved.job, dir, *confirmed);
            (ReplayVerdict::Reproduced, "the finding was reproduced".to_owned(), shown, true)
        }
        Proof::Refuted(Refuted { instead, .. }) => {
            let message = format!("the finding was not reproduced: {instead}");
            (ReplayVerdict::Different, message, saved.clone(), false)
        }
    };
    report.event(&Event::Replay(Box::new(Replay {
        file: &args.file,
        target: &saved.target,
        test: &saved.cause,
        program: saved.crate_name.clone(),
        verdict,
        times: args.times,
        reproduced,
        message,
        kind: came.then_some(shown.failure.kind),
        same_trace: came.then_some(shown.failure.trace == saved.failure.trace),
        shown: events::finding(&subject, &shown, true, Ok(&args.file)),
    })));
    Ok(())
}

/// The command line that would build the same harness.
fn hunt_args(args: &ReplayArgs, saved: &HuntFinding, dir: &Path) -> HuntArgs {
    let origin = saved.origin.clone().map_paths(|p| {
        let path = dir.join(p);
        path.canonicalize().unwrap_or(path)
    });
    let (harness, executable) = origin.ready_made.unzip();
    HuntArgs {
        subject: origin.published,
        types: vec![origin.target],
        list: false,
        format: Format::Human,
        out: None,
        jobs: Some(1),
        matrix: false,
        open: 0,
        no_sandbox: false,
        functions: HuntFunctionArgs { exclude: origin.exclude, weak: origin.weak, strict: origin.strict },
        build: HuntBuildArgs {
            manifest_path: args.manifest_path.clone().or(origin.manifest),
            package: origin.package,
            features: origin.features,
            all_features: origin.all_features,
            no_default_features: origin.no_default_features,
            opt_level: origin.opt_level,
            no_debug_assertions: origin.no_debug_assertions,
            no_overflow_checks: origin.no_overflow_checks,
            offline: args.offline,
            build_limit: Duration::ZERO,
        },
        search: HuntSearchArgs {
            budget: None,
            until_settled: None,
            schedules: Some(1),
            seed: saved.job.seed,
            generator: GeneratorKind::Random,
            patterns: false,
            strategy: "random".to_owned(),
            per_test: 1,
            threads: 2,
            max_findings: 1,
            timeouts: saved.job.timeouts,
            max_steps: saved.job.max_steps,
            memory: saved.job.memory_mb,
            hang: Duration::from_millis(saved.job.hang_ms),
        },
        harness,
        executable,
    }
}

fn settings(job: &Job) -> Settings {
    Settings {
        seed: job.seed,
        generator: GeneratorKind::Random,
        strategy: String::new(),
        per_test: 1,
        threads: 2,
        schedules: None,
        budget: None,
        until_settled: None,
        max_findings: 1,
        timeouts: job.timeouts,
        max_steps: job.max_steps,
        memory_mb: job.memory_mb,
        hang_ms: job.hang_ms,
        sandbox: crate::sandbox::check().is_ok(),
        patterns: false,
    }
}
