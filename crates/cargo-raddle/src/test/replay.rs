//! `cargo raddle replay` of a finding in a test.

use crate::build::compile::{Target, Workspace, absolute, foreign};
use crate::build::runtime_lib::Runtime;
use crate::cli::{BuildArgs, ReplayArgs};
use crate::error::{Error, Result};
use crate::findings::store;
use crate::findings::test::{Origin, Repeat, TestFinding};
use crate::host;
use crate::interrupt;
use crate::report::Report;
use crate::report::event::{Event, Replay, ReplayVerdict};
use crate::sandbox;
use crate::test::discover::{self, Test};
use crate::test::supervise::{Replayed, TestRun};
use crate::worker::batch::MESSAGE_FD;
use crate::worker::scratch::Scratch;
use raddle_core::protocol::{Entry, Failure, Job};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Repeats a finding.
pub fn run(args: &ReplayArgs, finding: &TestFinding, report: &mut Report) -> Result<()> {
    let place = Place::of(args, finding)?;
    let build = build_args(args, finding, &place);
    let (mut target, runtime, out, rustc) = rebuild(args, finding, &place, &build)?;
    check_build(args, finding, &target, &runtime)?;
    let scratch = Scratch::new(&out)?;
    if args.sandbox {
        sandbox::check()?;
        target.confine(&runtime, scratch.path())?;
    }
    let test = find_test(args, finding, target, &runtime)?;
    let origin = Origin { rustc: &rustc, runtime: &runtime, manifest: None, build: &build, dir: &out };
    store::check_job(&finding.job).map_err(|reason| refuse(args, reason))?;
    let job = Job {
        message_fd: MESSAGE_FD,
        request_fd: None,
        places: None,
        jobs: 1,
        traces: 0,
        ..finding.job.clone()
    };
    let run =
        TestRun { job, args: &finding.args, origin, scratch: scratch.path(), jobs: 1, grace: args.grace };
    let mut job = run.job_for(&test);
    if finding.repeat == Repeat::Schedule {
        job.replay = Some(finding.failure.schedule.clone());
        job.check = finding.failure.check;
    }
    let mut reproduced = 0;
    let replayed = loop {
        let replayed = run.replay(&test, &job, finding.repeat, &finding.failure, "replay")?;
        if !matches!(replayed, Replayed::Reproduced(_)) {
            break replayed;
        }
        reproduced += 1;
        if reproduced == args.times {
            break replayed;
        }
    };
    if interrupt::interrupted() && !matches!(replayed, Replayed::Reproduced(_)) {
        return Err(Error::Interrupted);
    }
    report.event(&Event::Replay(Box::new(event(args, finding, &test, &replayed, reproduced))));
    Ok(())
}

/// Where the program under test is.
enum Place {
    Manifest(PathBuf),
    Executable(PathBuf),
}

impl Place {
    fn of(args: &ReplayArgs, finding: &TestFinding) -> Result<Self> {
        let file = absolute(&args.file)?;
        let recorded = file.parent().unwrap_or(Path::new("/")).join(&finding.target.path);
        let foreign = finding.target.kind == "executable";
        let path = args.manifest_path.clone().filter(|_| !foreign).unwrap_or(recorded);
        if !path.is_file() {
            let next = if foreign { "" } else { "; name its manifest with --manifest-path" };
            return Err(refuse(args, format!("`{}` is not there{next}", path.display())));
        }
        // The way up from the finding file goes through directories that need not be shown.
        let path = path.canonicalize().unwrap_or(path);
        Ok(if foreign { Place::Executable(path) } else { Place::Manifest(path) })
    }
}

fn refuse(args: &ReplayArgs, reason: String) -> Error {
    Error::Finding { file: args.file.clone(), reason }
}

/// The options of the build that found it, narrowed to the one target.
fn build_args(args: &ReplayArgs, finding: &TestFinding, place: &Place) -> BuildArgs {
    let (info, target) = (&finding.build, &finding.target);
    let main = target.entry == Entry::Main && target.kind != "test";
    let named = |wanted: bool| if wanted { vec![target.name.clone()] } else { vec![] };
    BuildArgs {
        manifest_path: if let Place::Manifest(path) = place { Some(path.clone()) } else { None },
        package: info.packages.clone(),
        workspace: info.workspace,
        lib: target.kind == "lib",
        bins: target.kind == "bin" && !main,
        test: named(target.kind == "test"),
        bin: named(target.kind == "bin" && main),
        example: named(target.kind == "example"),
        features: info.features.clone(),
        all_features: info.all_features,
        no_default_features: info.no_default_features,
        opt_level: info.opt_level.clone(),
        offline: args.offline,
        ..BuildArgs::default()
    }
}

fn rebuild(
    args: &ReplayArgs,
    finding: &TestFinding,
    place: &Place,
    build: &BuildArgs,
) -> Result<(Target, Runtime, PathBuf, String)> {
    if let Place::Executable(path) = place {
        let file = absolute(&args.file)?;
        let out = file.parent().and_then(Path::parent).unwrap_or(Path::new("/")).to_owned();
        let target = foreign(path, finding.target.entry == Entry::Libtest)?;
        return Ok((target, Runtime::install(&out)?, out, String::new()));
    }
    let workspace = Workspace::load(build.manifest_path.as_deref())?;
    let toolchain = host::check_toolchain(workspace.root())?;
    let out = workspace.default_out();
    let runtime = Runtime::install(&out)?;
    let wanted = &finding.target;
    let found = workspace.build(build, &runtime)?.targets.into_iter().find(|t| {
        (&t.package, &t.kind, &t.name, t.entry) == (&wanted.package, &wanted.kind, &wanted.name, wanted.entry)
    });
    let id = format!("{} {} of package {}", wanted.kind, wanted.name, wanted.package);
    let target = found.ok_or_else(|| refuse(args, format!("there is no longer a target {id}")))?;
    Ok((target, runtime, out, toolchain.version))
}

/// A schedule counts events of one executable; in another it means nothing.
fn check_build(args: &ReplayArgs, finding: &TestFinding, target: &Target, runtime: &Runtime) -> Result<()> {
    if let Some(why) = store::other_raddle(&finding.raddle, &finding.runtime, runtime) {
        return Err(refuse(args, why));
    }
    if finding.target.fingerprint != target.fingerprint {
        return Err(refuse(
            args,
            format!(
                "it belongs to another build of {}: the source, a dependency, the compiler or the build options have \
                 changed since (executable {}, now {}); run `cargo raddle test` again",
                target.name,
                short(&finding.target.fingerprint),
                short(&target.fingerprint)
            ),
        ));
    }
    Ok(())
}

fn short(fingerprint: &str) -> &str {
    fingerprint.get(..16).unwrap_or(fingerprint)
}

fn find_test(args: &ReplayArgs, finding: &TestFinding, target: Target, runtime: &Runtime) -> Result<Test> {
    let tests = discover::list(&Arc::new(target), runtime)?;
    let found = tests.into_iter().find(|t| t.name == finding.test);
    found.ok_or_else(|| refuse(args, format!("the program has no test `{}`", finding.label())))
}

fn event<'a>(
    args: &'a ReplayArgs,
    finding: &'a TestFinding,
    test: &'a Test,
    replayed: &'a Replayed,
    reproduced: u64,
) -> Replay<'a> {
    let failure: Option<&Failure> = match replayed {
        Replayed::Reproduced(f) | Replayed::Different(f) => Some(f),
        _ => None,
    };
    Replay {
        file: &args.file,
        target: test.label(),
        test: test.label(),
        program: test.target.id(),
        verdict: match replayed {
            Replayed::Reproduced(_) => ReplayVerdict::Reproduced,
            Replayed::Different(_) => ReplayVerdict::Different,
            Replayed::Passed => ReplayVerdict::Passed,
            Replayed::Diverged(_) => ReplayVerdict::Diverged,
            Replayed::Broken(_) => ReplayVerdict::Broken,
        },
        times: args.times,
        reproduced,
        message: replayed.describe(),
        kind: failure.map(|f| f.kind),
        same_trace: failure.map(|f| f.trace == finding.failure.trace && f.symbols == finding.failure.symbols),
        shown: super::found(test, failure.unwrap_or(&finding.failure), Ok(&args.file)),
    }
}
