//! The file that a finding of a hunt is kept in. It belongs to the same family as the files of `cargo raddle
//! test`: the same first fields, the same `failure`; `mode` tells them apart.

use super::confirm::Confirmed;
use super::judge;
use super::subject::{Origin, Subject};
use crate::error::{Context, Error, Result};
use crate::finding::{FORMAT, VERSION, relative};
use crate::hash;
use crate::runtime::{Runtime, write_whole};
use raddle_core::hunt::render::explanation;
use raddle_core::hunt::{CallRecord, Harness, Test};
use raddle_core::protocol::{Failure, Job};
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
            job: job.clone(),
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
        format!("hunt-{target}-{}-{}.json", self.failure.kind.as_str(), &hash::short(&what)[..8])
    }

    /// Writes the file; gives its path.
    pub fn save(&self, dir: &Path) -> Result<PathBuf> {
        let file = dir.join(self.file_name());
        std::fs::create_dir_all(dir).context(|| format!("cannot create `{}`", dir.display()))?;
        let mut json = serde_json::to_vec_pretty(self).expect("a finding is plain data");
        json.push(b'\n');
        write_whole(&file, &json).context(|| format!("cannot write `{}`", file.display()))?;
        Ok(file)
    }

    /// Whether a file is one of these; a file that cannot be read is not.
    pub fn is_one(file: &Path) -> bool {
        #[derive(Deserialize)]
        struct Header {
            mode: String,
        }
        let text = std::fs::read_to_string(file).unwrap_or_default();
        serde_json::from_str::<Header>(&text).is_ok_and(|h| h.mode == MODE)
    }

    /// Reads a file.
    pub fn load(file: &Path) -> Result<Self> {
        let refuse = |reason: String| Error::Finding { file: file.to_owned(), reason };
        let text = std::fs::read_to_string(file).map_err(|e| refuse(e.to_string()))?;
        let saved: Saved = serde_json::from_str(&text).map_err(|e| refuse(format!("it is damaged ({e})")))?;
        if saved.format != FORMAT || saved.version != VERSION {
            let theirs = saved.version;
            return Err(refuse(format!(
                "its format is version {theirs}; this raddle reads version {VERSION}"
            )));
        }
        Ok(saved)
    }

    /// The findings of a type that were saved by earlier hunts, with their files, in the order of their names.
    pub fn earlier(dir: &Path, target: &str) -> Vec<(PathBuf, Saved)> {
        let Ok(entries) = std::fs::read_dir(dir) else { return vec![] };
        let mut files: Vec<PathBuf> = entries.flatten().map(|e| e.path()).collect();
        files.sort();
        let saved = files
            .into_iter()
            .filter(|f| Saved::is_one(f))
            .filter_map(|f| Some((f.clone(), Saved::load(&f).ok()?)));
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
