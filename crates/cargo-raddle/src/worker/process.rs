//! A process of the program under test, all that it has started, and the end of what it prints.

use crate::interrupt::Group;
use std::io::{PipeReader, Read};
use std::os::unix::process::ExitStatusExt;
use std::process::{Child, ChildStdin, ChildStdout, Command, ExitStatus};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// How long a pipe may stay open after the process has ended.
pub const DRAIN: Duration = Duration::from_secs(2);
/// How often somebody who waits for that looks.
const POLL: Duration = Duration::from_millis(10);
/// So much of what a dead process printed is shown.
const LOG_TAIL: usize = 2_000;

/// A process that ends with this value, together with its group.
#[derive(Debug)]
pub struct Process {
    child: Child,
    group: Group,
    log: Log,
}

impl Process {
    /// Starts a command that leads a process group of its own and prints to the other end of `printed`; `supervised`: it
    /// starts the program through the supervisor, which has to end what it has started.
    pub fn start(mut command: Command, printed: PipeReader, supervised: bool) -> std::io::Result<Self> {
        let child = command.spawn()?;
        // It holds our copy of the other end.
        drop(command);
        let group = if supervised { Group::supervised(&child) } else { Group::of(&child) };
        Ok(Process { child, group, log: Log::keep(printed) })
    }

    /// Its standard input and output, where they are piped.
    pub fn pipes(&mut self) -> (Option<ChildStdin>, Option<ChildStdout>) {
        (self.child.stdin.take(), self.child.stdout.take())
    }

    /// Whether it has ended by itself.
    pub fn has_ended(&mut self) -> bool {
        !matches!(self.child.try_wait(), Ok(None))
    }

    /// Ends it and all of its group, unless they have ended; how it did.
    pub fn end(&mut self) -> std::io::Result<ExitStatus> {
        self.group.kill();
        self.child.wait()
    }

    /// The end of what it printed, once it has ended.
    pub fn printed(&self) -> String {
        self.log.tail()
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.end();
    }
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

/// The end of what a program prints; a program that prints without end costs nothing.
#[derive(Debug)]
struct Log {
    kept: Arc<Mutex<Vec<u8>>>,
    reader: JoinHandle<()>,
}

impl Log {
    /// Reads until the pipe is closed.
    fn keep(mut from: PipeReader) -> Self {
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
    fn tail(&self) -> String {
        let start = Instant::now();
        while !self.reader.is_finished() && start.elapsed() < DRAIN {
            std::thread::sleep(POLL);
        }
        let kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        String::from_utf8_lossy(&kept).trim().to_owned()
    }
}
