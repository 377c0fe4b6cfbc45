//! The harness of testdata/harness-fixture: built once, and talked to as the command does.
#![allow(dead_code)]

use raddle_core::protocol::{Entry, JOB_VAR, Job, Timeouts};
use raddle_hunt::protocol::{Reply, Request};
use raddle_hunt::{CallResult, Execution, Run, RunReply};
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::OnceLock;

/// The fixture's calls by number.
pub mod thunk {
    pub const ADD: u32 = 1;
    pub const GET: u32 = 2;
    pub const LEFT_RIGHT: u32 = 3;
    pub const RIGHT_LEFT: u32 = 4;
    pub const EXIT: u32 = 5;
    pub const OVERFLOW: u32 = 6;
    pub const ALLOCATE: u32 = 7;
    pub const HANG: u32 = 8;
    pub const PANIC: u32 = 9;
    pub const ABORT: u32 = 10;
    pub const LEAK: u32 = 11;
    pub const VISITS: u32 = 12;
    pub const PASS: u32 = 13;
    pub const OPEN: u32 = 14;
    pub const IDLE: u32 = 15;
    pub const VANDALISE: u32 = 16;
    pub const FIRST_SECOND: u32 = 17;
    pub const STALE: u32 = 20;
    pub const SHARE: u32 = 21;
    pub const OWN: u32 = 22;
    pub const LINGER: u32 = 23;
    pub const SUM: u32 = 24;
    pub const SUM_ON_HEAP: u32 = 25;
    pub const GET_POLITELY: u32 = 26;
    pub const GET_CAREFULLY: u32 = 27;
}

/// The fixture's directory.
pub fn fixture() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/harness-fixture")
}

/// The built harness.
pub fn executable() -> &'static Path {
    static BUILT: OnceLock<PathBuf> = OnceLock::new();
    BUILT.get_or_init(|| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_cargo-raddle"));
        command.env_remove("RUSTC_WRAPPER").args(["build", "--bin", "raddle_harness", "--manifest-path"]);
        let output = command.arg(fixture().join("Cargo.toml")).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        PathBuf::from(String::from_utf8(output.stdout).unwrap().trim())
    })
}

/// A worker without a sandbox.
pub struct Worker {
    child: Child,
    requests: Option<ChildStdin>,
    replies: BufReader<ChildStdout>,
    id: u64,
    _job: tempfile::TempPath,
}

/// A test: a subject, then the calls of each thread, then the checks.
pub fn test(suffixes: &[&[u32]], finally: &[u32]) -> String {
    let mut text = "s 0 1\n".to_owned();
    for suffix in suffixes {
        text.push_str("t\n");
        suffix.iter().for_each(|c| text.push_str(&format!("c {c} @0\n")));
    }
    finally.iter().for_each(|c| text.push_str(&format!("f {c} @0\n")));
    text
}

/// A run that does not stop at failures.
pub fn run(suffixes: &[&[u32]], strategy: &str, executions: u64) -> Run {
    Run { stop_at_failure: false, ..Run::new(test(suffixes, &[]), strategy, 0, executions) }
}

/// What a call of an execution returned.
pub fn result(execution: &Execution, thread: u32, step: u32) -> &CallResult {
    &execution.calls.iter().find(|c| (c.thread, c.step) == (thread, step)).unwrap().result
}

/// A value as a call returns it.
pub fn value(text: &str) -> CallResult {
    CallResult::Value(text.to_owned())
}

/// Cargo puts its own output directories in here, where a runtime may lie that is older than the command's.
const SEARCH_PATH: &str = "LD_LIBRARY_PATH";

impl Worker {
    /// Starts one.
    pub fn start() -> Self {
        Worker::run_in(Command::new(executable()), &std::env::temp_dir())
    }

    /// Starts one as the command does: confined to a directory, in namespaces of its own or not.
    pub fn confined(scratch: &Path, namespaces: bool) -> Self {
        let library = Command::new("ldd").arg(executable()).env_remove(SEARCH_PATH).output().unwrap();
        let library = String::from_utf8(library.stdout).unwrap();
        let runtime = library.lines().find_map(|l| l.split("=> ").nth(1).filter(|p| p.contains("raddle_rt")));
        let runtime = runtime.expect("the runtime").split(' ').next().unwrap();
        let readable = [Path::new(runtime).parent().unwrap(), executable()];
        let mode = serde_json::json!({ "scratch": scratch, "readable": readable, "on": true, "namespaces": namespaces });
        let mut command = Command::new(env!("CARGO_BIN_EXE_cargo-raddle"));
        command.args(["--raddle-sandbox", &mode.to_string()]).arg(executable()).current_dir(scratch);
        command.env_clear().env("TMPDIR", scratch);
        Worker::run_in(command, scratch)
    }

    fn run_in(mut command: Command, dir: &Path) -> Self {
        let job = Job {
            entry: Entry::Main,
            message_fd: 1,
            seed: 0,
            strategy: "random".to_owned(),
            schedules: 0,
            budget_ms: 0,
            max_failures: 1,
            every_access: false,
            max_steps: 10_000,
            memory_mb: 64,
            hang_ms: 3_000,
            crates: vec!["harness_fixture".to_owned()],
            ok_exit: vec![],
            timeouts: Timeouts::default(),
            replay: None,
            traces: 0,
            jobs: 1,
            check: 0,
            given: vec![],
            request_fd: Some(0),
            places: None,
        };
        let file = tempfile::Builder::new().suffix(".json").tempfile_in(dir).unwrap().into_temp_path();
        std::fs::write(&file, serde_json::to_vec(&job).unwrap()).unwrap();
        command.env_remove(SEARCH_PATH);
        command.env(JOB_VAR, &*file).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let requests = child.stdin.take();
        let replies = BufReader::new(child.stdout.take().unwrap());
        Worker { child, requests, replies, id: 0, _job: file }
    }

    /// Sends runs and waits for what comes of all of them.
    pub fn ask(&mut self, runs: Vec<Run>) -> Vec<RunReply> {
        self.request(Request::new(0, runs)).runs
    }

    /// Sends a request and waits for the reply.
    pub fn request(&mut self, request: Request) -> Reply {
        self.id += 1;
        let mut line = serde_json::to_vec(&Request { id: self.id, ..request }).unwrap();
        line.push(b'\n');
        self.requests.as_mut().unwrap().write_all(&line).unwrap();
        let mut line = String::new();
        self.replies.read_line(&mut line).unwrap();
        let reply: Reply = serde_json::from_str(&line).unwrap_or_else(|e| panic!("{e} in {line}"));
        assert_eq!(reply.id, self.id);
        reply
    }

    /// One run.
    pub fn one(&mut self, run: Run) -> RunReply {
        let [reply] = <[RunReply; 1]>::try_from(self.ask(vec![run])).expect("one reply");
        reply
    }

    /// Whether this machine lets a confined worker have namespaces.
    pub fn namespaces() -> bool {
        let mut command = Command::new(env!("CARGO_BIN_EXE_cargo-raddle"));
        command.args(["--raddle-sandbox", "probe"]).stderr(Stdio::null()).status().unwrap().success()
    }

    /// Closes the pipe; the exit code.
    pub fn end(mut self) -> i32 {
        self.requests = None;
        self.child.wait().unwrap().code().unwrap()
    }
}
