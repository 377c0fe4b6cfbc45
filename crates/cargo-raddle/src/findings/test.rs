//! A finding in a test: all that is needed to understand it and to repeat it.

use super::store::{Keep, relative};
use super::{FORMAT, VERSION};
use crate::build::compile::Target;
use crate::build::runtime_lib::Runtime;
use crate::cli::BuildArgs;
use crate::fingerprint;
use raddle_core::protocol::{Entry, Failure, Job};
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};

/// A finding in a test.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct TestFinding {
    /// [`FORMAT`].
    pub format: String,
    /// [`VERSION`].
    pub version: u32,
    /// The version of raddle that made it.
    pub raddle: String,
    /// The fingerprint of the runtime library.
    pub runtime: String,
    /// The compiler, as `rustc -vV` names it.
    pub rustc: String,
    /// What was run.
    pub target: TargetInfo,
    /// How it was built.
    pub build: BuildInfo,
    /// The test; `None` for a whole program.
    pub test: Option<String>,
    /// The test is marked `#[ignore]`.
    #[serde(default)]
    pub ignored: bool,
    /// Arguments of a whole program.
    #[serde(default)]
    pub args: Vec<String>,
    /// How it is repeated.
    pub repeat: Repeat,
    /// The job that found it.
    pub job: Job,
    /// What went wrong, with schedule and trace.
    pub failure: Failure,
}

/// How a finding is repeated.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Repeat {
    /// By its schedule.
    Schedule,
    /// By running the test: it fails before it creates a thread.
    Native,
    /// By the whole search: the worker itself died, so that no schedule is known.
    Search,
}

/// The executable that was run.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct TargetInfo {
    /// The package; empty if cargo did not build it.
    pub package: String,
    /// `lib`, `bin`, `test`, `example` or `executable`.
    pub kind: String,
    /// The target's name.
    pub name: String,
    /// How it begins.
    pub entry: Entry,
    /// SHA-256 of the executable file.
    pub fingerprint: String,
    /// The manifest that was built from, or the executable if cargo did not build it, seen from the finding
    /// file.
    pub path: PathBuf,
}

/// The options that decide how the code was built.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct BuildInfo {
    /// `--features`
    pub features: Vec<String>,
    /// `--all-features`
    pub all_features: bool,
    /// `--no-default-features`
    pub no_default_features: bool,
    /// `--opt-level`
    pub opt_level: String,
    /// The packages that were built together, which decides the features of what they share.
    pub packages: Vec<String>,
    /// `--workspace`
    pub workspace: bool,
}

/// What all findings of one run have in common.
#[derive(Debug)]
pub struct Origin<'a> {
    /// The compiler.
    pub rustc: &'a str,
    /// The runtime.
    pub runtime: &'a Runtime,
    /// The manifest that was built from, if cargo built.
    pub manifest: Option<&'a Path>,
    /// The build options.
    pub build: &'a BuildArgs,
    /// The directory of finding files.
    pub dir: &'a Path,
}

impl TestFinding {
    /// Puts a finding together.
    pub fn new(origin: &Origin<'_>, target: &Target, job: &Job, repeat: Repeat, failure: Failure) -> Self {
        let path = origin.manifest.unwrap_or(&target.executable);
        TestFinding {
            format: FORMAT.into(),
            version: VERSION,
            raddle: env!("CARGO_PKG_VERSION").into(),
            runtime: origin.runtime.fingerprint.clone(),
            rustc: origin.rustc.into(),
            target: TargetInfo {
                package: target.package.clone(),
                kind: target.kind.clone(),
                name: target.name.clone(),
                entry: target.entry,
                fingerprint: target.fingerprint.clone(),
                path: relative(origin.dir, path),
            },
            build: BuildInfo::from(origin.build),
            test: None,
            ignored: false,
            args: vec![],
            repeat,
            job: job.clone(),
            failure,
        }
    }

    /// The test's name, or the program's.
    pub fn label(&self) -> &str {
        self.test.as_deref().unwrap_or(&self.target.name)
    }
}

impl Keep for TestFinding {
    fn file_name(&self) -> String {
        let failure = &self.failure;
        let what = serde_json::to_vec(&(self.repeat, &failure.message, &failure.at, &failure.schedule))
            .expect("plain data becomes JSON");
        let place = [
            self.target.package.as_str(),
            &self.target.kind,
            &self.target.name,
            self.test.as_deref().unwrap_or_default(),
        ]
        .map(plain);
        let place = place.iter().filter(|s| !s.is_empty()).cloned().collect::<Vec<_>>().join("-");
        format!("{place}-{}-{}.json", failure.kind.as_str(), &fingerprint::short(&what)[..8])
    }
}

impl From<&BuildArgs> for BuildInfo {
    fn from(args: &BuildArgs) -> Self {
        BuildInfo {
            features: args.features.clone(),
            all_features: args.all_features,
            no_default_features: args.no_default_features,
            opt_level: args.opt_level.clone(),
            packages: args.package.clone(),
            workspace: args.workspace,
        }
    }
}

/// Letters, digits, `_` and `.` only, and not too long for a file name.
fn plain(text: &str) -> String {
    let text = text.replace("::", ".");
    text.chars()
        .map(|c| if c.is_ascii_alphanumeric() || c == '_' || c == '.' { c } else { '_' })
        .take(60)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_tests_become_names_of_files() {
        assert_eq!(plain("queue::tests::push (twice)/.."), "queue.tests.push__twice__..");
    }
}
