//! The process between the command and a program that it confines: starts the program, waits for it, says how it
//! ended by ending in the same way, and leaves nothing behind.
//!
//! The program is ended early when this process is asked to end (SIGTERM, which the kernel also sends when the command
//! dies), when its time is over, or when it writes too much.

use super::namespaces::{Namespaces, become_able, run_init};
use super::{Confinement, LARGEST_SCRATCH, descendants};
use crate::fixed_length_path::padded;
use raddle_core::protocol::{CONFINED_VAR, JOB_VAR};
use rustix::process::{
    Pid, Signal, WaitOptions, WaitStatus, getpid, getppid, kill_process, set_child_subreaper,
    set_parent_process_death_signal, wait,
};
use std::ffi::{OsStr, OsString};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicBool, AtomicI32, Ordering::SeqCst};
use std::time::Duration;

/// The first argument of this program when it is to be the supervisor; a [`Confinement`] as JSON, a program and its
/// arguments follow.
pub const MODE: &str = "--raddle-sandbox";
/// In place of a confinement: be the first process of a namespace.
pub const INIT: &str = "init";
/// In place of a confinement: find out whether there can be namespaces.
pub const PROBE: &str = "probe";

/// How often the size of a scratch directory is looked at that has no limit of its own.
const WATCH: Duration = Duration::from_millis(100);
/// Added to the number of a signal, it is the exit status of a program that the signal ended.
const BY_SIGNAL: i32 = 128;

/// The program that is running, or 0.
static PROGRAM: AtomicI32 = AtomicI32::new(0);
/// The program is to end.
static STOPPED: AtomicBool = AtomicBool::new(false);

/// Acts as the supervisor; the arguments after [`MODE`]. Returns only if that fails, and says why.
pub fn run(mut args: impl Iterator<Item = OsString>) -> String {
    let mode = args.next().unwrap_or_default();
    let done = match mode.to_str() {
        Some(INIT) => run_init(),
        Some(PROBE) => become_able().and_then(|()| Namespaces::enter()).map(drop),
        Some(json) => match (serde_json::from_str::<Confinement>(json), args.next()) {
            (Ok(confinement), Some(program)) => match supervise(&confinement, Path::new(&program), args) {
                Ok(status) => end_as(status),
                Err(why) => return why,
            },
            _ => return "the sandbox was called without a program".into(),
        },
        None => return "the sandbox was called without a confinement".into(),
    };
    match done {
        Ok(()) => std::process::exit(0),
        Err(error) => format!("no namespaces: {error}"),
    }
}

fn supervise(
    confinement: &Confinement,
    program: &Path,
    args: impl Iterator<Item = OsString>,
) -> Result<WaitStatus, String> {
    let failed = |error: std::io::Error| format!("the worker could not be confined: {error}");
    let job = std::env::var_os(JOB_VAR).map(PathBuf::from).and_then(|f| Some((std::fs::read(&f).ok()?, f)));
    if confinement.namespaces {
        become_able().map_err(failed)?;
    }
    ctrlc::set_handler(stop).map_err(|error| format!("no signals can be caught: {error}"))?;
    watch(confinement);
    let namespaces = confinement.namespaces.then(Namespaces::enter).transpose().map_err(failed)?;
    if let Some(namespaces) = namespaces.as_ref().filter(|_| confinement.scratch.is_dir()) {
        namespaces.bound(&confinement.scratch).map_err(failed)?;
        if let Some((content, file)) = job.filter(|(_, file)| file.starts_with(&confinement.scratch)) {
            std::fs::write(file, content).map_err(failed)?;
        }
    }
    set_child_subreaper(Some(getpid())).map_err(|e| failed(e.into()))?;
    set_parent_process_death_signal(Some(Signal::TERM)).map_err(|e| failed(e.into()))?;
    let parent = getppid().map_or(0, |id| id.as_raw_nonzero().get().unsigned_abs());
    if confinement.parent != 0 && confinement.parent != parent {
        return Err("the command has ended".into());
    }
    confinement.limit_sizes();
    let mut command = Command::new(program);
    // By its path once more: a file system may have been mounted there since.
    command.args(args).process_group(0).current_dir(std::env::current_dir().map_err(failed)?);
    if confinement.on && confinement.build {
        command.env_clear().envs(std::env::vars_os().filter(|(name, _)| harmless(name)));
        command.env("TMPDIR", &confinement.scratch);
    }
    if confinement.on {
        confinement.apply().map_err(|why| format!("the worker could not be confined: {why}"))?;
        command.env(CONFINED_VAR, "1");
    }
    if !confinement.build {
        command.arg0(padded(program));
    }
    let child = command.spawn().map_err(|error| format!("cannot start `{}`: {error}", program.display()))?;
    let status = follow(Pid::from_child(&child));
    // Numbers of processes in the `/proc` of a namespace mean others outside it.
    if namespaces.is_none() && (STOPPED.load(SeqCst) || !confinement.strays) {
        descendants::end_all();
    }
    status
}

/// Whether a build by others may know of a variable: what says how to build, and no secret.
fn harmless(name: &OsStr) -> bool {
    const PREFIXES: [&str; 6] = ["CARGO", "RUST", "RADDLE", "LC_", "CC_", "CXX_"];
    const NAMES: [&str; 11] = [
        "PATH",
        "HOME",
        "LANG",
        "TERM",
        "LD_LIBRARY_PATH",
        "CC",
        "CXX",
        "AR",
        "CFLAGS",
        "CXXFLAGS",
        "PKG_CONFIG_PATH",
    ];
    const SECRETS: [&str; 5] = ["TOKEN", "SECRET", "PASSWORD", "CREDENTIAL", "HTTP"];
    let Some(name) = name.to_str() else { return false };
    (NAMES.contains(&name) || PREFIXES.iter().any(|p| name.starts_with(p)))
        && !SECRETS.iter().any(|word| name.contains(word))
}

/// Waits for the program, and buries its orphans meanwhile.
fn follow(program: Pid) -> Result<WaitStatus, String> {
    PROGRAM.store(program.as_raw_nonzero().get(), SeqCst);
    if STOPPED.load(SeqCst) {
        stop();
    }
    loop {
        match wait(WaitOptions::empty()) {
            Ok(Some((id, status))) if id == program => {
                PROGRAM.store(0, SeqCst);
                return Ok(status);
            }
            Ok(_) | Err(rustix::io::Errno::INTR) => {}
            Err(error) => return Err(format!("cannot wait for the program: {error}")),
        }
    }
}

fn stop() {
    STOPPED.store(true, SeqCst);
    if let Some(program) = Pid::from_raw(PROGRAM.load(SeqCst)) {
        let _ = kill_process(program, Signal::KILL);
    }
}

/// Stops the program when its time is over, or when its files take too much room.
fn watch(confinement: &Confinement) {
    if confinement.limit_ms > 0 {
        let limit = Duration::from_millis(confinement.limit_ms);
        std::thread::spawn(move || {
            std::thread::sleep(limit);
            eprintln!(
                "raddle: the build did not end within {} s; --build-limit gives it more time",
                limit.as_secs()
            );
            stop();
        });
    }
    if confinement.on && !confinement.namespaces {
        let scratch = confinement.scratch.clone();
        std::thread::spawn(move || {
            while size(&scratch) <= LARGEST_SCRATCH {
                std::thread::sleep(WATCH);
            }
            eprintln!("raddle: ended because it wrote more than {} MB", LARGEST_SCRATCH >> 20);
            stop();
        });
    }
}

/// Bytes of all files in a directory.
fn size(directory: &Path) -> u64 {
    let entries = std::fs::read_dir(directory).into_iter().flatten().flatten();
    let sizes = entries.map(|entry| match entry.metadata() {
        Ok(data) if data.is_dir() => size(&entry.path()),
        Ok(data) => data.len(),
        Err(_) => 0,
    });
    sizes.sum()
}

/// Ends this process as the program has ended.
fn end_as(status: WaitStatus) -> ! {
    let signal = status.terminating_signal().unwrap_or(0);
    // Std's own handlers for some signals only make way for the default action, the first time.
    for _ in 0..2 {
        if let Some(signal) = Signal::from_named_raw(signal) {
            let _ = kill_process(getpid(), signal);
        }
    }
    std::process::exit(status.exit_status().unwrap_or(BY_SIGNAL + signal))
}
