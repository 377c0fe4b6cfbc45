//! One worker process from start to end: the instrumented program with a job, the messages it sends, and
//! the limits it is held to.
//!
//! The worker's standard input is the writing end of a pipe, and the job says that messages go to
//! descriptor 0: the only descriptor besides 1 and 2 that a child can be given without `unsafe`. Worker and
//! everything it starts form a process group of their own, which is killed as a whole.

use super::process::{DRAIN, Process, describe};
use crate::build::compile::Target;
use crate::build::runtime_lib::Runtime;
use crate::error::{Context, Error, Result};
use crate::fixed_length_path::padded;
use crate::interrupt;
use raddle_core::protocol::{Entry, Failure, JOB_VAR, Job, Message, Stats, Stop};
use std::io::{BufRead, BufReader, PipeReader, Read, Write};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::Path;
use std::process::Command;
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};
use tempfile::TempPath;

/// The descriptor that messages go to.
pub const MESSAGE_FD: i32 = 0;
const POLL: Duration = Duration::from_millis(10);

/// What to start.
#[derive(Debug)]
pub struct Launch<'a> {
    /// The executable.
    pub target: &'a Target,
    /// The one test, or `None` for the whole program.
    pub test: Option<&'a str>,
    /// Arguments for a whole program.
    pub args: &'a [String],
    /// The test may be an ignored one.
    pub ignored: bool,
    /// The job.
    pub job: &'a Job,
    /// The runtime to load.
    pub runtime: &'a Runtime,
    /// Where the job file goes.
    pub scratch: &'a Path,
    /// What it gets beyond its own limits before it is taken to hang.
    pub grace: Duration,
    /// Names this worker's job file; unique among the workers alive.
    pub tag: &'a str,
}

/// Everything a worker said, and how it ended.
#[derive(Debug)]
pub struct Report {
    /// The failures, in order.
    pub failures: Vec<Failure>,
    /// The last totals.
    pub stats: Stats,
    /// How it ended.
    pub end: End,
    /// The end of what the program printed, if it ended badly by itself.
    pub printed: String,
}

/// How a worker ended.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum End {
    /// As it should.
    Done(Stop),
    /// Without saying so.
    Died {
        /// In words.
        how: String,
        /// A signal ended it.
        by_signal: bool,
    },
    /// It did not come back within its limits and was killed.
    Killed {
        /// Which limit.
        why: String,
    },
    /// It said something else than messages and was killed.
    Garbled {
        /// What.
        why: String,
    },
}

/// Runs a worker to its end; `progress` hears the totals now and then.
pub fn run(launch: &Launch<'_>, mut progress: impl FnMut(&Stats)) -> Result<Report> {
    let job_file = write_job(launch)?;
    let (reader, mut process) = start(launch, &job_file)?;
    let messages = listen(reader);
    let mut report = Report {
        failures: vec![],
        stats: Stats::default(),
        end: End::Died { how: String::new(), by_signal: false },
        printed: String::new(),
    };
    let killed = follow(launch, &mut process, &messages, &mut report, &mut progress);
    let status = process.end().context(|| "cannot wait for a worker".into())?;
    drain(&messages, &mut report);
    if interrupt::interrupted() && report.failures.is_empty() {
        return Err(Error::Interrupted);
    }
    if !matches!(report.end, End::Done(_)) {
        report.end = match killed {
            Some(end) => end,
            None => End::Died { how: describe(status), by_signal: status.signal().is_some() },
        };
    }
    if matches!(report.end, End::Died { .. } | End::Done(Stop::NoThreads(1..))) {
        report.printed = process.printed();
    }
    Ok(report)
}

/// Writes the job where there is room for it: that of a replay has the whole schedule. The file is removed with the value.
fn write_job(launch: &Launch<'_>) -> Result<TempPath> {
    let json = serde_json::to_vec(launch.job).expect("a job is plain data");
    let name = format!("{}-", launch.tag);
    let written = |dir: &Path| {
        let mut file = tempfile::Builder::new().prefix(&name).suffix(".json").tempfile_in(dir)?;
        file.write_all(&json)?;
        Ok(file.into_temp_path())
    };
    let elsewhere = std::env::temp_dir();
    written(launch.scratch).or_else(|_: std::io::Error| written(&elsewhere)).context(|| {
        format!("cannot write a job to `{}` or `{}`", launch.scratch.display(), elsewhere.display())
    })
}

/// A process of the program under test, not yet started.
pub fn command(target: &Target, runtime: &Runtime) -> std::io::Result<Command> {
    let mut command = match &target.confinement {
        Some(confinement) => confinement.wrap(&target.executable)?,
        None => Command::new(&target.executable),
    };
    if target.confinement.is_none() {
        command.arg0(padded(&target.executable));
    }
    environment(&mut command, target, runtime);
    if let Some(confinement) = &target.confinement {
        command.env("TMPDIR", &confinement.scratch);
    }
    Ok(command)
}

/// What every process of the program under test gets.
fn environment(command: &mut Command, target: &Target, runtime: &Runtime) {
    let mut paths = vec![runtime.dir.clone()];
    paths.extend(target.libraries.iter().cloned());
    if let Some(old) = std::env::var_os("LD_LIBRARY_PATH") {
        paths.extend(std::env::split_paths(&old));
    }
    if let Ok(joined) = std::env::join_paths(paths) {
        command.env("LD_LIBRARY_PATH", joined);
    }
    command.envs(&target.env).env_remove(JOB_VAR).current_dir(&target.dir).process_group(0);
}

/// The pipe of messages, and the process.
fn start(launch: &Launch<'_>, job_file: &Path) -> Result<(PipeReader, Process)> {
    let (reader, writer) = std::io::pipe().context(|| "cannot make a pipe".into())?;
    let (printed, log) = std::io::pipe().context(|| "cannot make a pipe".into())?;
    let log_too = log.try_clone().context(|| "cannot duplicate a descriptor".into())?;
    let cannot = || format!("cannot start `{}`", launch.target.executable.display());
    let mut command = command(launch.target, launch.runtime).context(cannot)?;
    match launch.target.entry {
        Entry::Libtest => {
            command.arg(launch.test.unwrap_or_default()).args(["--exact", "--nocapture", "--test-threads=1"]);
            if launch.ignored {
                command.arg("--include-ignored");
            }
        }
        Entry::Main => {
            command.args(launch.args);
        }
    }
    command.env(JOB_VAR, job_file).stdin(writer).stdout(log).stderr(log_too);
    let process = Process::start(command, printed, launch.target.confinement.is_some()).context(cannot)?;
    Ok((reader, process))
}

/// Lines of the pipe, read elsewhere so that waiting for them can end.
pub fn listen(reader: impl Read + Send + 'static) -> Receiver<String> {
    let (sender, receiver) = channel();
    std::thread::spawn(move || {
        let mut reader = BufReader::new(reader);
        let mut line = Vec::new();
        // A line without its end is what a worker was saying when it died.
        while matches!(reader.read_until(b'\n', &mut line), Ok(n) if n > 0) && line.ends_with(b"\n") {
            if sender.send(String::from_utf8_lossy(&line).into_owned()).is_err() {
                return;
            }
            line.clear();
        }
    });
    receiver
}

/// Takes messages until the worker is done, has ended or must be killed; says how it ends then.
fn follow(
    launch: &Launch<'_>,
    process: &mut Process,
    messages: &Receiver<String>,
    report: &mut Report,
    progress: &mut impl FnMut(&Stats),
) -> Option<End> {
    let silence = Duration::from_millis(launch.job.hang_ms) + launch.grace;
    let budget = launch.job.budget_ms;
    let limit = (budget > 0).then(|| Duration::from_millis(budget) + silence);
    let start = Instant::now();
    let mut heard = start;
    loop {
        match messages.recv_timeout(POLL) {
            Ok(line) => {
                heard = Instant::now();
                if let Err(why) = take(&line, report) {
                    return Some(End::Garbled { why });
                }
                progress(&report.stats);
                if matches!(report.end, End::Done(_)) {
                    return None;
                }
            }
            Err(RecvTimeoutError::Disconnected) => std::thread::sleep(POLL),
            Err(RecvTimeoutError::Timeout) => {}
        }
        if process.has_ended() {
            return None;
        }
        if let Some(limit) = limit
            && start.elapsed() > limit
        {
            return Some(End::Killed { why: format!("it did not end within {} s", limit.as_secs()) });
        }
        if limit.is_none() && heard.elapsed() > silence {
            return Some(End::Killed { why: format!("it said nothing for {} s", silence.as_secs()) });
        }
    }
}

fn drain(messages: &Receiver<String>, report: &mut Report) {
    let start = Instant::now();
    while let Some(left) = DRAIN.checked_sub(start.elapsed())
        && !matches!(report.end, End::Done(_))
        && let Ok(line) = messages.recv_timeout(left)
    {
        let _ = take(&line, report);
    }
}

fn take(line: &str, report: &mut Report) -> std::result::Result<(), String> {
    let message = serde_json::from_str(line).map_err(|error| {
        let shown: String = line.chars().take(80).collect();
        format!("it broke the protocol: {error} in `{}`", shown.trim_end())
    })?;
    match message {
        Message::Progress(stats) => report.stats = stats,
        Message::Failure(failure) => report.failures.push(*failure),
        Message::Trace { .. } => {}
        Message::Done { stats, reason } => {
            report.stats = stats;
            report.end = End::Done(reason);
        }
    }
    Ok(())
}
