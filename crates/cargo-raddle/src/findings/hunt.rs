//! A finding of a hunt: the test as data and as Rust source, how to build its harness again, and what went wrong.

use super::store::{self, Keep};
use crate::build::runtime_lib::Runtime;
use crate::fingerprint;
use raddle_core::protocol::{Failure, Job};
use raddle_hunt::{CallRecord, Harness, Test, check};
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};

/// What `mode` says in such a file.
pub const MODE: &str = "hunt";

/// A finding of a hunt.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct HuntFinding {
    /// [`FORMAT`](super::FORMAT)
    pub format: String,
    /// [`VERSION`](super::VERSION)
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

/// How to build a harness again. Paths are absolute here, and seen from the finding file there.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Origin {
    /// `NAME@VERSION` of a crate of crates.io.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub published: Option<String>,
    /// The manifest of a package at hand.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub manifest: Option<PathBuf>,
    /// The package, in a workspace.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub package: Option<String>,
    /// The path of the type under test.
    pub target: String,
    /// `--features`
    pub features: Vec<String>,
    /// `--all-features`
    pub all_features: bool,
    /// `--no-default-features`
    pub no_default_features: bool,
    /// `--opt-level`
    pub opt_level: String,
    /// `--no-debug-assertions`
    pub no_debug_assertions: bool,
    /// `--no-overflow-checks`
    pub no_overflow_checks: bool,
    /// `--exclude`
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub exclude: Vec<String>,
    /// `--weak`
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub weak: Vec<String>,
    /// `--strict`
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub strict: Vec<String>,
    /// A harness that was not built by raddle: descriptor and executable.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ready_made: Option<(PathBuf, PathBuf)>,
}

impl Origin {
    /// With every path changed.
    pub fn map_paths(mut self, change: impl Fn(&Path) -> PathBuf) -> Self {
        self.manifest = self.manifest.as_deref().map(&change);
        self.ready_made = self.ready_made.map(|(a, b)| (change(&a), change(&b)));
        self
    }
}

impl Keep for HuntFinding {
    fn file_name(&self) -> String {
        let what = serde_json::to_vec(&(&self.test, &self.cause, &self.failure.schedule))
            .expect("plain data becomes JSON");
        let plain = |c: char| if c.is_ascii_alphanumeric() || c == '_' { c } else { '.' };
        let target: String = self.target.replace("::", ".").chars().map(plain).take(80).collect();
        format!("hunt-{target}-{}-{}.json", self.failure.kind.as_str(), &fingerprint::short(&what)[..8])
    }
}

impl HuntFinding {
    /// Whether the harness has what the test calls, passes and returned, and the limits are such as hunts have; if not, what is
    /// wrong. Somebody may have changed the file.
    pub fn check(&self, harness: &Harness) -> std::result::Result<(), String> {
        store::check_job(&self.job)?;
        check::test(harness, &self.test)
            .and_then(|()| check::calls(&self.test, &self.calls))
            .map_err(|what| format!("it is damaged ({what})"))
    }

    /// Why it cannot be repeated with this build of raddle and this harness, if so.
    pub fn other_build(&self, fingerprint: &str, runtime: &Runtime) -> Option<String> {
        store::other_raddle(&self.raddle, &self.runtime, runtime).or_else(|| {
            (self.fingerprint != fingerprint).then(|| {
                format!(
                    "it belongs to another build of the harness of {}: the source, a dependency, the compiler or the build \
                     options have changed since; run `cargo raddle hunt` again",
                    self.target
                )
            })
        })
    }
}
