//! A program under test that is a shell script: it lists tests and answers jobs from files, as a worker would.
#![allow(dead_code)]

use raddle_core::event::{Access, Event, Op, Ordering, VarId};
use raddle_core::outcome::Kind;
use raddle_core::protocol::{Failure, Held, Message, Stats, Stop, ThreadInfo, ThreadState};
use raddle_core::schedule::{Schedule, Transfer};
use raddle_core::trace::{NameId, Site, Symbols, Trace};
use raddle_core::{LockMode, ThreadId};
use serde_json::Value;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

const SCRIPT: &str = r#"#!/bin/sh
answers=$(dirname "$0")/answers
if [ -z "$RADDLE_JOB" ]; then
    case "$*" in
        *--ignored*) cat "$answers/ignored" ;;
        *) cat "$answers/list" ;;
    esac
    exit 0
fi
case "$1" in
    quick | slow | other) name=$1 ;;
    *) name=main ;;
esac
echo "$@" >> "$answers/$name.args"
if grep -q '"replay"' "$RADDLE_JOB"; then what=replay; else what=search; fi
if [ -f "$answers/$name.$what.before" ]; then . "$answers/$name.$what.before"; fi
cat "$answers/$name.$what" >&0
if [ -f "$answers/$name.$what.after" ]; then . "$answers/$name.$what.after"; fi
"#;

/// The script and its answers, in a directory of their own.
pub struct Fake {
    dir: tempfile::TempDir,
}

/// What the command did.
pub struct Ran {
    /// Exit code.
    pub code: i32,
    /// Standard output.
    pub stdout: String,
    /// Standard error.
    pub stderr: String,
}

impl Fake {
    /// A program with these tests.
    pub fn new(tests: &[&str]) -> Self {
        let dir = tempfile::tempdir().unwrap();
        std::fs::create_dir(dir.path().join("answers")).unwrap();
        let fake = Fake { dir };
        std::fs::write(fake.program(), SCRIPT).unwrap();
        std::fs::set_permissions(fake.program(), std::fs::Permissions::from_mode(0o755)).unwrap();
        fake.answer("list", &tests.iter().map(|t| format!("{t}: test\n")).collect::<String>());
        fake.answer("ignored", "");
        fake
    }

    /// Its file.
    pub fn program(&self) -> PathBuf {
        self.dir.path().join("program")
    }

    /// The file of an answer.
    pub fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join("answers").join(name)
    }

    /// Sets an answer.
    pub fn answer(&self, name: &str, text: &str) {
        std::fs::write(self.path(name), text).unwrap();
    }

    /// Sets what a worker says.
    pub fn say(&self, name: &str, messages: &[Message]) {
        let line = |m: &Message| serde_json::to_string(m).unwrap() + "\n";
        self.answer(name, &messages.iter().map(line).collect::<String>());
    }

    /// A test that passes.
    pub fn passes(&self, test: &str) {
        self.say(&format!("{test}.search"), &[done(Stop::Budget)]);
    }

    /// A test that fails; `replay` is what its replay says.
    pub fn fails(&self, test: &str, failure: &Failure, replay: &[Message]) {
        let failed = Message::Failure(Box::new(failure.clone()));
        self.say(&format!("{test}.search"), &[Message::Progress(stats()), failed, done(Stop::Failures)]);
        self.say(&format!("{test}.replay"), replay);
    }

    /// `cargo raddle test` on it, for scripts.
    pub fn test(&self, args: &[&str]) -> Ran {
        self.run(&["test", "--format", "json", "--libtest"], args)
    }

    /// `cargo raddle test` on it.
    pub fn run(&self, first: &[&str], args: &[&str]) -> Ran {
        let mut command = raddle();
        command.args(first).arg("--executable").arg(self.program()).arg("--out").arg(self.out());
        ran(command.args(args).current_dir(self.dir.path()).output().unwrap())
    }

    /// `cargo raddle replay` of its one finding.
    pub fn replay(&self, args: &[&str]) -> Ran {
        ran(raddle().arg("replay").arg(self.finding()).args(args).output().unwrap())
    }

    /// Where findings go.
    pub fn out(&self) -> PathBuf {
        self.dir.path().join("out")
    }

    /// All finding files.
    pub fn findings(&self) -> Vec<PathBuf> {
        let Ok(entries) = std::fs::read_dir(self.out().join("findings")) else { return vec![] };
        let mut files: Vec<PathBuf> = entries.map(|e| e.unwrap().path()).collect();
        files.sort();
        files
    }

    /// The one finding file.
    pub fn finding(&self) -> PathBuf {
        let [file] = <[PathBuf; 1]>::try_from(self.findings()).expect("one finding");
        file
    }
}

impl Ran {
    /// Every line of standard output as JSON.
    pub fn events(&self) -> Vec<Value> {
        let parse = |l| serde_json::from_str(l).unwrap_or_else(|e| panic!("{e} in {l}"));
        self.stdout.lines().map(parse).collect()
    }

    /// The events with this name.
    pub fn named(&self, event: &str) -> Vec<Value> {
        self.events().into_iter().filter(|e| e["event"] == event).collect()
    }

    /// The status of a test.
    pub fn status(&self, test: &str) -> String {
        let found = self.named("test").into_iter().find(|e| e["test"] == test);
        found.unwrap_or_else(|| panic!("no test {test} in {}", self.stdout))["status"]
            .as_str()
            .unwrap()
            .to_owned()
    }
}

/// The command.
pub fn raddle() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_cargo-raddle"));
    command.env_remove("RUSTC_WRAPPER");
    command
}

/// The result of a finished command.
pub fn ran(output: Output) -> Ran {
    Ran {
        code: output.status.code().unwrap(),
        stdout: String::from_utf8(output.stdout).unwrap(),
        stderr: String::from_utf8(output.stderr).unwrap(),
    }
}

/// Totals of a search that had something to decide.
pub fn stats() -> Stats {
    Stats {
        executions: 1000,
        completed: 1000,
        steps: 9000,
        decisions: 4000,
        threads: 3,
        points: 12,
        ..Stats::default()
    }
}

/// The last message.
pub fn done(reason: Stop) -> Message {
    Message::Done { stats: stats(), reason }
}

/// A place in a file of this test.
pub fn site(function: &str, line: u32) -> Site {
    Site { function: function.into(), file: "code.rs".into(), line, column: 5, inlined: vec![] }
}

/// Two threads, a lost update, and a panic.
pub fn lost_update() -> Failure {
    let access = |read: Option<u128>, written: Option<u128>| Access {
        read: read.into(),
        written: written.into(),
        ordering: Some(Ordering::SeqCst),
        ..Access::plain(VarId(0), 8)
    };
    let load = |thread| Event::new(thread, 0, Op::Read(access(Some(0), None)));
    let store = |thread| Event::new(thread, 1, Op::Write(access(None, Some(1))));
    Failure {
        kind: Kind::Panic,
        message: "assertion `left == right` failed\n  left: 1\n right: 2".into(),
        thread: Some(ThreadId(0)),
        at: Some(site("tests::counts", 9)),
        backtrace: vec![site("tests::counts", 9)],
        threads: vec![],
        execution: 17,
        check: 0,
        schedule: Schedule {
            transfers: vec![Transfer { at: 40, to: ThreadId(1), timeout: false }],
            ..Schedule::default()
        },
        trace: Trace { events: vec![load(0), load(1), store(1), store(0)], vars: vec![NameId(0)] },
        symbols: Symbols {
            sites: vec![site("Counter::add", 2), site("Counter::add", 3)],
            names: vec!["Counter.n".into()],
        },
        output: "hello from the test\n".into(),
    }
}

/// Two threads that each hold what the other wants.
pub fn deadlock() -> Failure {
    let lock = |lock, thread, site| {
        Event::new(thread, site, Op::Acquire { lock: VarId(lock), mode: LockMode::Exclusive })
    };
    let thread = |id, name: &str, on: &str, by, holds: &str| ThreadInfo {
        id: ThreadId(id),
        name: Some(name.into()),
        stack: vec![site("transfer", 5)],
        state: ThreadState::Blocked { on: on.into(), by: vec![ThreadId(by)] },
        holds: vec![Held { lock: holds.into(), at: Some(site("transfer", 4)) }],
    };
    Failure {
        kind: Kind::Deadlock,
        message: "2 threads wait for each other".into(),
        thread: None,
        at: None,
        backtrace: vec![],
        threads: vec![
            thread(1, "left", "Mutex Account.b", 2, "Mutex Account.a"),
            thread(2, "right", "Mutex Account.a", 1, "Mutex Account.b"),
        ],
        trace: Trace { events: vec![lock(0, 1, 0), lock(1, 2, 0)], vars: vec![NameId(0), NameId(1)] },
        symbols: Symbols {
            sites: vec![site("transfer", 4)],
            names: vec!["Account.a".into(), "Account.b".into()],
        },
        output: String::new(),
        ..lost_update()
    }
}

/// The message of a failure.
pub fn failed(failure: &Failure) -> Message {
    Message::Failure(Box::new(failure.clone()))
}

/// A file's text.
pub fn read(file: &Path) -> String {
    std::fs::read_to_string(file).unwrap()
}

/// Whether a process has ended, be it that nobody has asked for its status yet.
pub fn gone(pid: &str) -> bool {
    let state = std::fs::read_to_string(format!("/proc/{}/stat", pid.trim())).unwrap_or_default();
    state.is_empty() || state.contains(") Z ")
}
