//! `cargo raddle replay` of a finding of a hunt: build the harness again, repeat the test under its schedule.

use super::confirm::{Proof, Refuted};
use super::lab::{Lab, Limits};
use super::prepare::{Prepared, Wanted};
use super::prove::repeat;
use super::{events, keep};
use crate::build::compile::absolute;
use crate::build::runtime_lib::Runtime;
use crate::cli::ReplayArgs;
use crate::error::{Error, Result};
use crate::findings::hunt::{HuntFinding, Origin};
use crate::report::Report;
use crate::report::event::{Event, Replay, ReplayVerdict};
use crate::worker::scratch::Scratch;
use raddle_core::protocol::Job;
use raddle_hunt::ExecutorError;
use std::path::Path;

/// Repeats a finding.
pub fn run(args: &ReplayArgs, saved: HuntFinding, report: &mut Report) -> Result<()> {
    let refuse = |reason: String| Error::Finding { file: args.file.clone(), reason };
    let file = absolute(&args.file)?;
    let dir = file.parent().unwrap_or(Path::new("/"));
    let prepared = Prepared::new(Wanted::again(origin(args, &saved, dir), args.offline))?;
    let runtime = Runtime::install(&prepared.out)?;
    let prospect = prepared.prospects.iter().find(|p| p.target == saved.target);
    let prospect = prospect.ok_or_else(|| refuse(format!("there is no longer a type {}", saved.target)))?;
    let subject = prepared.build(prospect, &runtime)?;
    if let Some(why) = saved.other_build(&subject.fingerprint, &runtime) {
        return Err(refuse(why));
    }
    saved.check(&subject.harness).map_err(refuse)?;
    let scratch = Scratch::new(&prepared.out)?;
    let limits = limits(&saved.job);
    let lab = Lab { limits: &limits, runtime: &runtime, scratch: scratch.path(), findings: dir };
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

/// How the harness was built, with paths as they are from here.
fn origin(args: &ReplayArgs, saved: &HuntFinding, dir: &Path) -> Origin {
    let origin = saved.origin.clone().map_paths(|p| {
        let path = dir.join(p);
        path.canonicalize().unwrap_or(path)
    });
    let manifest = args.manifest_path.clone().or(origin.manifest);
    Origin { manifest, ..origin }
}

/// The limits that it was found under.
fn limits(job: &Job) -> Limits {
    Limits {
        seed: job.seed,
        timeouts: job.timeouts,
        max_steps: job.max_steps,
        memory_mb: job.memory_mb,
        hang_ms: job.hang_ms,
        sandbox: crate::sandbox::check().is_ok(),
    }
}
