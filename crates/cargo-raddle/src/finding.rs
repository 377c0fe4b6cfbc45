//! The file that a finding is kept in: all that is needed to understand it and to repeat it.

use crate::cli::BuildArgs;
use crate::compile::Target;
use crate::error::{Context, Error, Result};
use crate::hash;
use crate::runtime::{Runtime, write_whole};
use raddle_core::protocol::{Entry, Failure, Job};
use serde::{Deserialize, Serialize};
use std::path::{Component, Path, PathBuf};

/// What the file says it is.
pub const FORMAT: &str = "raddle-finding";
/// The version of the format; a file of another version is refused.
pub const VERSION: u32 = 2;

/// A finding.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Finding {
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

impl Finding {
    /// Puts a finding together.
    pub fn new(origin: &Origin<'_>, target: &Target, job: &Job, repeat: Repeat, failure: Failure) -> Self {
        let path = origin.manifest.unwrap_or(&target.executable);
        Finding {
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

    /// The same finding has the same name, whenever it is found again.
    pub fn file_name(&self) -> String {
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
        format!("{place}-{}-{}.json", failure.kind.as_str(), &hash::short(&what)[..8])
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

    /// Reads a file; a file that is something else is refused with the reason.
    pub fn load(file: &Path) -> Result<Self> {
        #[derive(Deserialize)]
        struct Header {
            #[serde(default)]
            format: String,
            #[serde(default)]
            version: u32,
        }
        let refuse = |reason: String| Error::Finding { file: file.to_owned(), reason };
        let text = std::fs::read_to_string(file).map_err(|e| refuse(e.to_string()))?;
        let header: Header =
            serde_json::from_str(&text).map_err(|e| refuse(format!("it is not JSON of a finding ({e})")))?;
        if header.format != FORMAT {
            return Err(refuse("it is not a finding file of raddle".into()));
        }
        if header.version != VERSION {
            let theirs = header.version;
            return Err(refuse(format!(
                "its format is version {theirs}; this raddle reads version {VERSION}"
            )));
        }
        serde_json::from_str(&text).map_err(|e| refuse(format!("it is damaged ({e})")))
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

/// `path` as seen from the directory `from`; both start at the root.
pub fn relative(from: &Path, path: &Path) -> PathBuf {
    let from: Vec<Component<'_>> = from.components().collect();
    let to: Vec<Component<'_>> = path.components().collect();
    let common = from.iter().zip(&to).take_while(|(a, b)| a == b).count();
    let up = std::iter::repeat_n(Component::ParentDir, from.len() - common);
    up.chain(to[common..].iter().copied()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_seen_from_the_directory_of_findings() {
        let seen =
            |from: &str, to: &str| relative(Path::new(from), Path::new(to)).to_string_lossy().into_owned();
        assert_eq!(seen("/a/target/raddle/findings", "/a/Cargo.toml"), "../../../Cargo.toml");
        assert_eq!(seen("/a", "/a/b/c"), "b/c");
        assert_eq!(seen("/x/y", "/z"), "../../z");
    }

    #[test]
    fn names_of_tests_become_names_of_files() {
        assert_eq!(plain("queue::tests::push (twice)/.."), "queue.tests.push__twice__..");
    }

    #[test]
    fn a_file_that_is_no_finding_is_refused_with_the_reason() {
        let dir = tempfile::tempdir().unwrap();
        let refused = |text: &str| {
            let file = dir.path().join("f.json");
            std::fs::write(&file, text).unwrap();
            Finding::load(&file).unwrap_err().to_string()
        };
        assert!(refused("hello").contains("not JSON"));
        assert!(refused("{}").contains("not a finding file"));
        assert!(refused(r#"{"format":"raddle-finding","version":99}"#).contains("version 99"));
        assert!(refused(r#"{"format":"raddle-finding","version":2}"#).contains("damaged"));
        assert!(Finding::load(&dir.path().join("none")).unwrap_err().to_string().contains("No such file"));
    }
}
