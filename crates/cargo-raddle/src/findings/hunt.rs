//! The file that a finding of a hunt is kept in. It belongs to the same family as the files of `cargo raddle
//! test`: the same first fields, the same `failure`; `mode` tells them apart.

use super::format::{self as finding, FORMAT, VERSION, relative, write};
use crate::build::runtime_lib::Runtime;
use crate::error::Result;
use crate::fingerprint;
use crate::hunt::confirm::Confirmed;
use crate::hunt::judge;
use crate::hunt::subject::{Origin, Subject};
use raddle_core::protocol::{Failure, Job};
use raddle_hunt::render::explanation;
use raddle_hunt::{CallRecord, Harness, Test, check};
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};

/// What `mode` says in such a file.
pub const MODE: &str = "hunt";

/// A finding of a hunt.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Saved {
    /// [`FORMAT`]
    pub format: String,
    /// [`VERSION`]
    pub version: u32,
    /// [`MODE`]
    pub mode: String,
    /// The version of raddle that made it.
    pub raddle: String,
    /// The fingerprint of the runtime library.
    pub runtime: String,
    /// The crate under test.
    pub crate_name: String,
    /// Its version.
    pub crate_version: String,
    /// The path of the type under test.
    pub target: String,
    /// How to build the harness again.
    pub origin: Origin,
    /// SHA-256 of the harness.
    pub fingerprint: String,
    /// The limits it was found under.
    pub job: Job,
    /// The test, as data.
    pub test: Test,
    /// The test, as Rust source.
    pub source: String,
    /// What its calls returned.
    pub calls: Vec<CallRecord>,
    /// Why no sequential order of the calls explains it.
    pub why: Vec<String>,
    /// What tells it from other findings: place, methods.
    pub cause: String,
    /// Where it panicked, if it did: `file:line:column`.
    pub at: Option<String>,
    /// What went wrong, with schedule and trace.
    pub failure: Failure,
}

/// A finding before it is written down; the fields are those of [`Saved`].
#[derive(Clone, Debug)]
pub struct Kept {
    /// The test, as data.
    pub test: Test,
    /// The test, as Rust source.
    pub source: String,
    /// What its calls returned.
    pub calls: Vec<CallRecord>,
    /// Why no sequential order explains it.
    pub why: Vec<String>,
    /// What tells it from others.
    pub cause: String,
    /// Where it panicked.
    pub at: Option<String>,
    /// What went wrong.
    pub failure: Failure,
}

impl Kept {
    /// What is to be kept of a confirmed violation.
    pub fn new(harness: &Harness, confirmed: Confirmed) -> Self {
        let Confirmed { found, failure } = confirmed;
        Kept {
            source: judge::source(harness, &found, &failure),
            why: explanation(harness, &found.test, &found.verdict),
            cause: judge::cause(harness, &found),
            at: found.verdict.at,
            test: found.test,
            calls: found.execution.calls,
            failure,
        }
    }
}

impl Saved {
    /// What was kept.
    pub fn kept(&self) -> Kept {
        let Saved { test, source, calls, why, cause, at, failure, .. } = self.clone();
        Kept { test, source, calls, why, cause, at, failure }
    }

    /// A finding in a harness, for a file in the directory `dir`.
    pub fn new(found: &Kept, subject: &Subject, runtime: &Runtime, job: &Job, dir: &Path) -> Self {
        let found = found.clone();
        Saved {
            format: FORMAT.into(),
            version: VERSION,
            mode: MODE.into(),
            raddle: env!("CARGO_PKG_VERSION").into(),
            runtime: runtime.fingerprint.clone(),
            crate_name: subject.harness.crate_name.clone(),
            crate_version: subject.harness.version.clone(),
            target: subject.harness.target.clone(),
            origin: subject.origin.clone().map_paths(|p| relative(dir, p)),
            fingerprint: subject.fingerprint.clone(),
            job: Job { places: None, ..job.clone() },
            test: found.test,
            source: found.source,
            calls: found.calls,
            why: found.why,
            cause: found.cause,
            at: found.at,
            failure: found.failure,
        }
    }

    /// The same finding has the same name, whenever it is found again.
    pub fn file_name(&self) -> String {
        let what = serde_json::to_vec(&(&self.test, &self.cause, &self.failure.schedule))
            .expect("plain data becomes JSON");
        let plain = |c: char| if c.is_ascii_alphanumeric() || c == '_' { c } else { '.' };
        let target: String = self.target.replace("::", ".").chars().map(plain).take(80).collect();
        format!("hunt-{target}-{}-{}.json", self.failure.kind.as_str(), &fingerprint::short(&what)[..8])
    }

    /// Writes the file; gives its path.
    pub fn save(&self, dir: &Path) -> Result<PathBuf> {
        write(dir, &self.file_name(), self)
    }

    /// Whether the harness has what the test calls, passes and returned, and the limits are such as hunts have; if not, what is
    /// wrong. Somebody may have changed the file.
    pub fn check(&self, harness: &Harness) -> std::result::Result<(), String> {
        finding::check_job(&self.job)?;
        check::test(harness, &self.test)
            .and_then(|()| check::calls(&self.test, &self.calls))
            .map_err(|what| format!("it is damaged ({what})"))
    }

    /// The findings of a type that were saved by earlier hunts, with their files, in the order of their names.
    pub fn earlier(dir: &Path, target: &str) -> Vec<(PathBuf, Saved)> {
        let Ok(entries) = std::fs::read_dir(dir) else { return vec![] };
        let mut files: Vec<PathBuf> = entries.flatten().map(|e| e.path()).collect();
        files.sort();
        let saved = files.into_iter().filter_map(|file| {
            let text = finding::read(&file).ok().filter(|text| text.mode == MODE)?;
            Some((file, text.parse::<Saved>().ok()?))
        });
        saved.filter(|(_, s)| s.target == target).collect()
    }

    /// Why it cannot be repeated in this build, if so.
    pub fn other_build(&self, subject: &Subject, runtime: &Runtime) -> Option<String> {
        if self.runtime != runtime.fingerprint {
            return Some(format!(
                "it was made by another build of raddle (its version {}, runtime {}; this is version {}, runtime {})",
                self.raddle,
                self.runtime,
                env!("CARGO_PKG_VERSION"),
                runtime.fingerprint
            ));
        }
        (self.fingerprint != subject.fingerprint).then(|| {
            format!(
                "it belongs to another build of the harness of {}: the source, a dependency, the compiler or the build \
                 options have changed since; run `cargo raddle hunt` again",
                self.target
            )
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::{Cli, Command};
    use crate::findings::format::tests::{changed, failure, job};
    use crate::report::event::Event;
    use crate::report::tests::as_people_read;
    use clap::Parser;
    use serde_json::{Value, json};

    /// The fixture's harness; nothing is run.
    fn subject() -> Subject {
        let descriptor =
            Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/harness-fixture/harness.json");
        let args = ["cargo raddle", "hunt", "--harness", "h", "--executable", "h"];
        let Ok(Cli { command: Command::Hunt(args) }) = Cli::try_parse_from(args) else { unreachable!() };
        Subject::ready_made(&args, &descriptor, &descriptor).unwrap()
    }

    #[test]
    fn a_file_that_was_changed_is_refused_or_shown_and_never_a_panic() {
        let subject = subject();
        let add = json!({ "thunk": 1, "args": [{ "slot": 0 }], "repeat": 1 });
        let call = |thread, step| json!({ "thread": thread, "step": step, "start": 0, "end": 1, "result": { "value": "1" } });
        let file = json!({
            "format": FORMAT, "version": VERSION, "mode": MODE, "raddle": "0.1.0", "runtime": "0", "crate_name": "c",
            "crate_version": "1", "target": "c::T", "origin": { "target": "c::T" }, "fingerprint": "0", "job": job(),
            "test": { "setup": [{ "thunk": 0, "args": [] }], "give": [[0, 1]], "suffixes": [[add], [add]], "finally": [add] },
            "source": "fn found() {}", "calls": [call(0, 0), call(1, 0), call(0, 2)], "why": ["so"], "cause": "of add",
            "at": "src/lib.rs:1:2", "failure": failure(),
        });
        let shown = |file: &Value| {
            let saved: Saved = serde_json::from_str(&file.to_string()).map_err(|e| e.to_string())?;
            saved.check(&subject.harness)?;
            assert!(saved.file_name().len() < 400);
            let kept = saved.kept();
            let found = crate::hunt::events::finding(&subject, &kept, true, Ok(Path::new("f")));
            Ok(as_people_read(&[Event::Finding(found)]))
        };
        assert_eq!(shown(&file).map(|text| text.contains("fn found()")), Ok(true));
        let changed = changed(&file);
        let refused: Vec<String> = changed.iter().filter_map(|f| shown(f).err()).collect();
        for part in
            ["no call 99999", "does not take what it", "cannot be called", "no slot", "`memory_mb` cannot be"]
        {
            assert!(refused.iter().any(|why| why.contains(part)), "{part} in {refused:#?}");
        }
    }
}
