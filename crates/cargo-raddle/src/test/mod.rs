//! `cargo raddle test`.

pub mod discover;
pub mod replay;
pub mod supervise;

use crate::build::compile::{Built, Workspace, absolute, foreign};
use crate::build::runtime_lib::Runtime;
use crate::cli::{SearchArgs, TestArgs};
use crate::error::{Error, Result};
use crate::exit::Exit;
use crate::findings::format::Origin;
use crate::host;
use crate::report::event::Summary;
use crate::report::failure_text::many;
use crate::report::output::Output;
use crate::sandbox;
use crate::worker::batch::MESSAGE_FD;
use crate::worker::scratch::Scratch;
use discover::{Filter, Test};
use raddle_core::protocol::{Entry, Job, Stats};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use supervise::{Lab, Tested};

/// Builds, runs, reports; the totals grow as it goes, so that an error in the middle loses nothing.
pub fn run(args: &TestArgs, output: &mut Output, summary: &mut Summary) -> Result<()> {
    if args.nocapture {
        return Err(Error::NoCapture);
    }
    host::check_machine(args.build.target.as_deref())?;
    let Prepared { mut built, manifest, runtime, out, rustc } = prepare(args)?;
    for left_out in &built.left_out {
        output.warning(&format!("not tested: {left_out}"));
    }
    let scratch = Scratch::new(&out)?;
    if args.sandbox {
        sandbox::check()?;
        built.targets.iter_mut().try_for_each(|target| target.confine(&runtime, scratch.path()))?;
    }
    let tests = select(args, built, &runtime, summary)?;
    if args.list {
        output.list(&tests);
        summary.exit_code = Exit::Clean;
        return Ok(());
    }
    if !args.args.is_empty() && tests.iter().all(|test| test.name.is_some()) {
        output.warning("what stands after `--` is for programs; tests do not get it");
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
    let lab = Lab {
        // Where there are fewer tests than processes allowed, a check may use those left over.
        job: Job { jobs: (jobs / tests.len().clamp(1, jobs)) as u64, ..job(&args.search) },
        args: &args.args,
        origin,
        scratch: scratch.path(),
        jobs,
        grace: args.search.grace,
    };
    output.start(&lab.job, &rustc, tests.len());
    let bar = output.bar();
    let progress = |index: usize, stats: &Stats| {
        bar.set_message(format!("{}: {}", tests[index].label(), many(stats.executions, "schedule")));
    };
    lab.run(&tests, &progress, |test: &Test, tested: Tested| {
        let files: Vec<Result<PathBuf>> = tested.findings.iter().map(|f| f.save(&findings)).collect();
        summary.add(&tested);
        output.test(test, &tested, &files);
        files.iter().filter_map(|file| file.as_ref().err()).for_each(|error| output.error(error));
    })
}

/// All that comes before the first test.
struct Prepared {
    built: Built,
    manifest: Option<PathBuf>,
    runtime: Runtime,
    out: PathBuf,
    rustc: String,
}

fn prepare(args: &TestArgs) -> Result<Prepared> {
    let out = |default: PathBuf| args.out.as_deref().map_or(Ok(default), absolute);
    if let Some(executable) = &args.build.executable {
        let out = out(absolute(Path::new("target/raddle"))?)?;
        let target = foreign(executable, args.build.libtest)?;
        let built = Built { targets: vec![target], ..Built::default() };
        return Ok(Prepared {
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
    Ok(Prepared {
        built,
        manifest: Some(workspace.manifest().to_owned()),
        runtime,
        out,
        rustc: toolchain.version,
    })
}

fn select(args: &TestArgs, built: Built, runtime: &Runtime, summary: &mut Summary) -> Result<Vec<Test>> {
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
    let selection = discover::select(tests, &filter)?;
    summary.ignored = selection.ignored;
    summary.filtered_out = selection.filtered_out;
    Ok(selection.tests)
}

/// What the command line says about the search.
fn job(args: &SearchArgs) -> Job {
    let ms = |time: std::time::Duration| u64::try_from(time.as_millis()).unwrap_or(u64::MAX);
    Job {
        entry: Entry::Libtest,
        message_fd: MESSAGE_FD,
        seed: args.seed.unwrap_or(0),
        strategy: args.strategy.clone().unwrap_or_else(|| raddle_core::strategy::DEFAULT.to_owned()),
        schedules: args.schedules.unwrap_or(1_000),
        budget_ms: ms(args.budget),
        max_failures: args.max_failures.unwrap_or(1),
        every_access: args.every_access,
        max_steps: args.max_steps.unwrap_or(100_000),
        memory_mb: args.memory.unwrap_or(2_048),
        hang_ms: ms(args.hang),
        crates: vec![],
        timeouts: args.timeouts.unwrap_or_default(),
        replay: None,
        traces: 0,
        jobs: 1,
        check: 0,
        given: given(args),
        request_fd: None,
        places: None,
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

fn jobs(asked: Option<u64>) -> usize {
    let cores = || std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    asked.and_then(|n| usize::try_from(n).ok()).unwrap_or_else(cores)
}
