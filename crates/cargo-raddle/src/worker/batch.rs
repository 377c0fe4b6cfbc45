//! One worker process from start to end: the instrumented program with a job, the messages it sends, and
//! the limits it is held to.
//!
//! The worker's standard input is the writing end of a pipe, and the job says that messages go to
//! descriptor 0: the only descriptor besides 1 and 2 that a child can be given without `unsafe`. Worker and
//! everything it starts form a process group of their own, which is killed as a whole.

use crate::build::compile::Target;
use crate::build::runtime_lib::Runtime;
use crate::error::{Context, Error, Result};
use crate::fixed_length_path::padded;
use crate::interrupt::{self, Group};
use raddle_core::protocol::{Entry, Failure, JOB_VAR, Job, Message, Stats, Stop};
use std::io::{BufRead, BufReader, PipeReader, Read, Write};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::Path;
use std::process::{Child, Command, ExitStatus};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};
use tempfile::TempPath;

/// The descriptor that messages go to.
pub const MESSAGE_FD: i32 = 0;
/// How long the pipe may stay open after the worker has ended.
const DRAIN: Duration = Duration::from_secs(2);
const POLL: Duration = Duration::from_millis(10);
/// So much of what a dead worker printed is shown.
const LOG_TAIL: usize = 2_000;

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
    let (reader, log, mut child) = start(launch, &job_file)?;
    let messages = listen(reader);
    let log = Log::keep(log);
    let group = group(launch.target, &child);
    let mut report = Report {
        failures: vec![],
        stats: Stats::default(),
        end: End::Died { how: String::new(), by_signal: false },
        printed: String::new(),
    };
    let killed = follow(launch, &mut child, &messages, &mut report, &mut progress);
    group.kill();
    let status = child.wait().context(|| "cannot wait for a worker".into())?;
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
        report.printed = log.tail();
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

/// What ends such a process.
pub fn group(target: &Target, child: &Child) -> Group {
    if target.confinement.is_some() { Group::supervised(child) } else { Group::of(child) }
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

/// An exit status in words.
pub fn describe(status: ExitStatus) -> String {
    match (status.code(), status.signal()) {
        (Some(code), _) => format!("exit status {code}"),
        (None, Some(signal)) => format!("signal {signal}{}", signal_name(signal)),
        _ => "an unknown end".into(),
    }
}

fn signal_name(signal: i32) -> &'static str {
    match signal {
        4 => " (SIGILL)",
        6 => " (SIGABRT)",
        7 => " (SIGBUS)",
        8 => " (SIGFPE)",
        9 => " (SIGKILL)",
        11 => " (SIGSEGV)",
        13 => " (SIGPIPE)",
        15 => " (SIGTERM)",
        _ => "",
    }
}

/// The pipe of messages, the pipe of what the program prints, and the process.
fn start(launch: &Launch<'_>, job_file: &Path) -> Result<(PipeReader, PipeReader, Child)> {
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
    let child = command.spawn().context(cannot)?;
    Ok((reader, printed, child))
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
    child: &mut Child,
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
        if !matches!(child.try_wait(), Ok(None)) {
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

/// The end of what a program prints; a program that prints without end costs nothing.
#[derive(Debug)]
pub struct Log {
    kept: Arc<Mutex<Vec<u8>>>,
    reader: JoinHandle<()>,
}

impl Log {
    /// Reads until the pipe is closed.
    pub fn keep(mut from: PipeReader) -> Self {
        let kept = Arc::new(Mutex::new(Vec::new()));
        let shared = kept.clone();
        let reader = std::thread::spawn(move || {
            let mut chunk = [0; 4096];
            while let Ok(n @ 1..) = from.read(&mut chunk) {
                let mut kept = shared.lock().unwrap_or_else(PoisonError::into_inner);
                kept.extend_from_slice(&chunk[..n]);
                let extra = kept.len().saturating_sub(LOG_TAIL);
                kept.drain(..extra);
            }
        });
        Log { kept, reader }
    }

    /// Waits a moment for the pipe to close; a process that left the group may hold it open for ever.
    pub fn tail(&self) -> String {
        let start = Instant::now();
        while !self.reader.is_finished() && start.elapsed() < DRAIN {
            std::thread::sleep(POLL);
        }
        let kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        String::from_utf8_lossy(&kept).trim().to_owned()
    }
}
