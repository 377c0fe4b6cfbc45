//! `cargo raddle test`.

pub mod discover;
pub mod replay;
pub mod supervise;

use crate::build::compile::{Built, Workspace, absolute, foreign};
use crate::build::runtime_lib::Runtime;
use crate::cli::{SearchArgs, TestArgs};
use crate::error::{Error, Result};
use crate::exit::Exit;
use crate::findings::store::Keep;
use crate::findings::test::Origin;
use crate::host;
use crate::report::event::{Event, Finding, FindingOf, Start, TestEnded, Unconfirmed, UnconfirmedOf};
use crate::report::{Report, many};
use crate::sandbox;
use crate::worker::batch::MESSAGE_FD;
use crate::worker::in_order::jobs;
use crate::worker::job::blank;
use crate::worker::scratch::Scratch;
use discover::{Filter, Selection, Test};
use raddle_core::protocol::{Entry, Failure, Job, Stats};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use supervise::{TestRun, Tested};

/// Builds, runs, reports; the totals grow as it goes, so that an error in the middle loses nothing.
pub fn run(args: &TestArgs, report: &mut Report) -> Result<()> {
    if args.nocapture {
        return Err(Error::NoCapture);
    }
    host::check_machine(args.build.target.as_deref())?;
    let Ready { mut built, manifest, runtime, out, rustc } = prepare(args)?;
    for left_out in &built.left_out {
        report.warning(&format!("not tested: {left_out}"));
    }
    let scratch = Scratch::new(&out)?;
    if args.sandbox {
        sandbox::check()?;
        built.targets.iter_mut().try_for_each(|target| target.confine(&runtime, scratch.path()))?;
    }
    let Selection { tests, ignored, filtered_out } = select(args, built, &runtime)?;
    if args.list {
        return list(&tests, report);
    }
    if !args.args.is_empty() && tests.iter().all(|test| test.name.is_some()) {
        report.warning("what stands after `--` is for programs; tests do not get it");
    }
    let findings = out.join("findings");
    let origin = Origin {
        rustc: &rustc,
        runtime: &runtime,
        manifest: manifest.as_deref(),
        build: &args.build,
        dir: &findings,
    };
    let jobs = jobs(args.jobs);
    let run = TestRun {
        // Where there are fewer tests than processes allowed, a check may use those left over.
        job: Job {
            jobs: (jobs / tests.len().clamp(1, jobs)) as u64,
            ok_exit: args.ok_exit.clone(),
            ..job(&args.search)
        },
        args: &args.args,
        origin,
        scratch: scratch.path(),
        jobs,
        grace: args.search.grace,
    };
    report.event(&Event::Start(Start::Tests {
        version: env!("CARGO_PKG_VERSION"),
        rustc: &rustc,
        seed: run.job.seed,
        strategy: &run.job.strategy,
        schedules: run.job.schedules,
        budget_ms: run.job.budget_ms,
        tests: tests.len(),
        ignored,
        filtered_out,
    }));
    let shown = report.progress();
    let progress = |index: usize, stats: &Stats| {
        shown.say(format!("{}: {}", tests[index].label(), many(stats.executions, "schedule")));
    };
    run.run(&tests, &progress, |test: &Test, tested: Tested| ended(report, test, &tested, &findings))
}

/// Only says which tests there are.
fn list(tests: &[Test], report: &mut Report) -> Result<()> {
    tests.iter().for_each(|test| report.event(&Event::Listed(test.id())));
    if tests.is_empty() {
        report.warning("there are no tests");
    }
    report.summary.exit_code = Exit::Clean;
    Ok(())
}

/// Keeps what was found in a test, and says how it ended.
fn ended(report: &mut Report, test: &Test, tested: &Tested, findings: &Path) {
    let files: Vec<Result<PathBuf>> = tested.findings.iter().map(|f| f.save(findings)).collect();
    for (finding, file) in tested.findings.iter().zip(&files) {
        let file = file.as_deref().map_err(ToString::to_string);
        report.event(&Event::Finding(found(test, &finding.failure, file)));
    }
    for unconfirmed in &tested.unconfirmed {
        report.event(&Event::Unconfirmed(Unconfirmed {
            of: UnconfirmedOf::Test(test.id()),
            kind: unconfirmed.failure.kind,
            message: &unconfirmed.failure.message,
            instead: &unconfirmed.instead,
        }));
    }
    let (message, stop, stats) = (tested.message.as_deref(), tested.stop.as_ref(), &tested.stats);
    report.event(&Event::Test(TestEnded { id: test.id(), status: tested.status, message, stop, stats }));
    files.iter().filter_map(|file| file.as_ref().err()).for_each(|error| report.error(error));
}

/// A finding in a test, kept in this file or not, for this reason.
fn found<'a>(
    test: &'a Test,
    failure: &'a Failure,
    file: std::result::Result<&'a Path, String>,
) -> Finding<'a> {
    let early = failure.schedule.early.iter().map(ToString::to_string).collect();
    let of = FindingOf::Test { id: test.id(), execution: failure.execution, early };
    Finding::new(of, failure, file, &test.target.source_roots)
}

/// All that comes before the first test.
struct Ready {
    built: Built,
    manifest: Option<PathBuf>,
    runtime: Runtime,
    out: PathBuf,
    rustc: String,
}

fn prepare(args: &TestArgs) -> Result<Ready> {
    let out = |default: PathBuf| args.out.as_deref().map_or(Ok(default), absolute);
    if let Some(executable) = &args.build.executable {
        let out = out(absolute(Path::new("target/raddle"))?)?;
        let target = foreign(executable, args.build.libtest)?;
        let built = Built { targets: vec![target], ..Built::default() };
        return Ok(Ready {
            built,
            manifest: None,
            runtime: Runtime::install(&out)?,
            out,
            rustc: String::new(),
        });
    }
    let workspace = Workspace::load(args.build.manifest_path.as_deref())?;
    let toolchain = host::check_toolchain(workspace.root())?;
    let runtime = Runtime::install(&workspace.default_out())?;
    let built = workspace.build(&args.build, &runtime)?;
    let out = out(workspace.default_out())?;
    Ok(Ready {
        built,
        manifest: Some(workspace.manifest().to_owned()),
        runtime,
        out,
        rustc: toolchain.version,
    })
}

fn select(args: &TestArgs, built: Built, runtime: &Runtime) -> Result<Selection> {
    let mut tests = vec![];
    for target in built.targets {
        tests.extend(discover::list(&Arc::new(target), runtime)?);
    }
    let filter = Filter {
        names: args.filters.clone(),
        exact: args.exact,
        skip: args.skip.clone(),
        include_ignored: args.include_ignored,
    };
    discover::select(tests, &filter)
}

/// What the command line says about the search.
fn job(args: &SearchArgs) -> Job {
    let ms = |time: std::time::Duration| u64::try_from(time.as_millis()).unwrap_or(u64::MAX);
    let blank = blank(Entry::Libtest, MESSAGE_FD);
    Job {
        seed: args.seed.unwrap_or(blank.seed),
        strategy: args.strategy.clone().unwrap_or(blank.strategy),
        schedules: args.schedules.unwrap_or(1_000),
        budget_ms: ms(args.budget),
        max_failures: args.max_failures.unwrap_or(blank.max_failures),
        every_access: args.every_access,
        max_steps: args.max_steps.unwrap_or(100_000),
        memory_mb: args.memory.unwrap_or(2_048),
        hang_ms: ms(args.hang),
        timeouts: args.timeouts.unwrap_or_default(),
        given: given(args),
        ..blank
    }
}

/// The names of what was chosen on the command line, as the job calls it.
fn given(args: &SearchArgs) -> Vec<String> {
    let chosen = [
        (args.seed.is_some(), "seed"),
        (args.strategy.is_some(), "strategy"),
        (args.schedules.is_some(), "schedules"),
        (args.max_failures.is_some(), "max_failures"),
        (args.max_steps.is_some(), "max_steps"),
        (args.memory.is_some(), "memory_mb"),
        (args.timeouts.is_some(), "timeouts"),
    ];
    chosen.iter().filter(|(is, _)| *is).map(|(_, name)| (*name).to_owned()).collect()
}
