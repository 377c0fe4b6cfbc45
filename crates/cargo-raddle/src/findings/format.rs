//! The file that a finding is kept in: all that is needed to understand it and to repeat it.

use crate::build::compile::Target;
use crate::build::runtime_lib::{Runtime, write_whole};
use crate::cli::BuildArgs;
use crate::error::{Context, Error, Result};
use crate::fingerprint;
use raddle_core::protocol::{Entry, Failure, Job};
use raddle_core::strategy;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use std::path::{Component, Path, PathBuf};

/// What the file says it is.
pub const FORMAT: &str = "raddle-finding";
/// The version of the format; a file of another version is refused.
pub const VERSION: u32 = 2;

/// More bytes than the largest finding has.
const LARGEST: u64 = 1 << 30;
/// No machine has more megabytes.
const MOST_MEMORY: u64 = 1 << 30;
/// No execution ends after more steps.
const MOST_STEPS: u64 = 1 << 40;
/// Milliseconds of a year.
const LONGEST: u64 = 365 * 24 * 3_600_000;

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
        format!("{place}-{}-{}.json", failure.kind.as_str(), &fingerprint::short(&what)[..8])
    }

    /// Writes the file; gives its path.
    pub fn save(&self, dir: &Path) -> Result<PathBuf> {
        write(dir, &self.file_name(), self)
    }
}

/// Writes a finding of either kind; gives the file.
pub fn write(dir: &Path, name: &str, finding: &impl Serialize) -> Result<PathBuf> {
    let file = dir.join(name);
    std::fs::create_dir_all(dir).context(|| format!("cannot create `{}`", dir.display()))?;
    let mut json = serde_json::to_vec_pretty(finding).expect("a finding is plain data");
    json.push(b'\n');
    write_whole(&file, &json).context(|| format!("cannot write `{}`", file.display()))?;
    Ok(file)
}

/// A finding file that this version can read, as far as its first fields say.
#[derive(Debug)]
pub struct Text {
    file: PathBuf,
    text: String,
    /// What found it: empty for `cargo raddle test`.
    pub mode: String,
}

/// Reads a file; one that is something else is refused with the reason. A pipe would have to be waited for, perhaps for ever.
pub fn read(file: &Path) -> Result<Text> {
    #[derive(Deserialize)]
    struct Header {
        #[serde(default)]
        format: String,
        #[serde(default)]
        version: u64,
        #[serde(default)]
        mode: String,
    }
    let refuse = |reason: String| Error::Finding { file: file.to_owned(), reason };
    let about = std::fs::metadata(file).map_err(|e| refuse(e.to_string()))?;
    let kind = if about.is_dir() { "a directory" } else { "a pipe or device" };
    if !about.is_file() {
        return Err(refuse(format!("it is {kind}, not a finding file")));
    }
    if about.len() > LARGEST {
        return Err(refuse(format!("with {} MB it is too large for a finding file", about.len() >> 20)));
    }
    let text = std::fs::read_to_string(file).map_err(|e| refuse(e.to_string()))?;
    if text.trim().is_empty() {
        return Err(refuse("it is empty".into()));
    }
    let header: Header =
        serde_json::from_str(&text).map_err(|e| refuse(format!("it is not JSON of a finding ({e})")))?;
    if header.format != FORMAT {
        return Err(refuse("it is not a finding file of raddle".into()));
    }
    if header.version != u64::from(VERSION) {
        let theirs = header.version;
        return Err(refuse(format!("its format is version {theirs}; this raddle reads version {VERSION}")));
    }
    Ok(Text { file: file.to_owned(), text, mode: header.mode })
}

impl Text {
    /// The finding.
    pub fn parse<T: DeserializeOwned>(&self) -> Result<T> {
        let reason = |e| format!("it is damaged ({e})");
        serde_json::from_str(&self.text)
            .map_err(|e| Error::Finding { file: self.file.clone(), reason: reason(e) })
    }
}

/// Whether a job that was read from a file is one that a command line could have asked for; if not, what is wrong.
pub fn check_job(job: &Job) -> std::result::Result<(), String> {
    let damaged = |what: &str, value: u64| Err(format!("it is damaged (`{what}` cannot be {value})"));
    match job {
        Job { memory_mb, .. } if !(1..=MOST_MEMORY).contains(memory_mb) => damaged("memory_mb", *memory_mb),
        Job { max_steps, .. } if !(1..=MOST_STEPS).contains(max_steps) => damaged("max_steps", *max_steps),
        Job { hang_ms, .. } if *hang_ms > LONGEST => damaged("hang_ms", *hang_ms),
        Job { budget_ms, .. } if *budget_ms > LONGEST => damaged("budget_ms", *budget_ms),
        Job { strategy, .. } => strategy::by_name(strategy, 0).map(drop).map_err(|error| {
            format!("it is damaged ({})", error.to_string().lines().next().unwrap_or_default())
        }),
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
pub mod tests {
    use super::*;
    use crate::report;
    use crate::report::event::{FindingOf, TestId};
    use raddle_core::protocol::{Held, ThreadInfo, ThreadState};
    use raddle_core::schedule::{Schedule, Transfer};
    use raddle_core::trace::{NameId, Site, Symbols, Trace};
    use raddle_core::{Event, Kind, ThreadId};
    use serde_json::{Value, json};

    /// A file with each number and string changed, one at a time; of long lists, those of the first elements.
    pub fn changed(file: &Value) -> Vec<Value> {
        let replaced = |key: &dyn Fn(&mut Value) -> &mut Value, old: &Value| -> Vec<Value> {
            let mut all = changed(old);
            for new in &mut all {
                let mut whole = file.clone();
                *key(&mut whole) = new.take();
                *new = whole;
            }
            all
        };
        match file {
            Value::Number(_) => {
                [json!(0), json!(1), json!(99_999), json!(u32::MAX), json!(u64::MAX), json!(-1), json!(0.5)]
                    .into()
            }
            Value::String(_) => [json!(""), json!("none"), json!("../".repeat(2_000)), json!(null)].into(),
            Value::Array(list) => {
                let first = list.iter().enumerate().take(3);
                first.flat_map(|(i, old)| replaced(&|v: &mut Value| &mut v[i], old)).collect()
            }
            Value::Object(map) => {
                map.iter().flat_map(|(key, old)| replaced(&|v: &mut Value| &mut v[key], old)).collect()
            }
            _ => vec![],
        }
    }

    /// What a worker says of a failure in two threads.
    pub fn failure() -> Value {
        let site =
            Site { function: "add".into(), file: "code.rs".into(), line: 2, column: 5, inlined: vec![] };
        let state = ThreadState::Blocked { on: "a".into(), by: vec![ThreadId(2)] };
        let holds = vec![Held { lock: "b".into(), at: Some(site.clone()) }];
        let failure = Failure {
            kind: Kind::Deadlock,
            message: "it failed".into(),
            thread: Some(ThreadId(0)),
            at: Some(site.clone()),
            backtrace: vec![site.clone()],
            threads: vec![ThreadInfo {
                id: ThreadId(1),
                name: None,
                stack: vec![site.clone()],
                state,
                holds,
            }],
            execution: 17,
            check: 0,
            schedule: Schedule {
                transfers: vec![Transfer { at: 40, to: ThreadId(1), timeout: false }],
                ..Schedule::default()
            },
            trace: Trace { events: vec![Event::read(0, 0, 0), Event::write(1, 0, 0)], vars: vec![NameId(0)] },
            symbols: Symbols { sites: vec![site], names: vec!["Counter.n".into()] },
            output: "hello".into(),
        };
        serde_json::from_str(&serde_json::to_string(&failure).unwrap()).unwrap()
    }

    /// A job with these limits.
    pub fn job() -> Value {
        json!({
            "entry": "libtest", "message_fd": 0, "seed": 0, "strategy": "pct:3", "schedules": 1000, "budget_ms": 30000,
            "max_failures": 1, "every_access": false, "max_steps": 100000, "memory_mb": 2048, "hang_ms": 10000,
            "crates": ["program"],
        })
    }

    #[test]
    fn a_file_that_was_changed_is_refused_or_shown_and_never_a_panic() {
        let file = json!({
            "format": FORMAT, "version": VERSION, "raddle": "0.1.0", "runtime": "0", "rustc": "rustc", "test": "quick",
            "target": {
                "package": "p", "kind": "lib", "name": "p", "entry": "libtest", "fingerprint": "0", "path": "../Cargo.toml",
            },
            "build": {
                "features": [], "all_features": false, "no_default_features": false, "opt_level": "2", "packages": [],
                "workspace": false,
            },
            "repeat": "schedule", "job": job(), "failure": failure(),
        });
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("f.json");
        let shown = |file: &Value| {
            std::fs::write(&path, file.to_string()).unwrap();
            let finding = read(&path).and_then(|text| text.parse::<Finding>()).map_err(|e| e.to_string())?;
            check_job(&finding.job)?;
            assert!(finding.file_name().len() < 400);
            let id = TestId { target: "t", test: "t", program: String::new(), title: String::new() };
            let of = FindingOf::Test { id, execution: finding.failure.execution, early: vec![] };
            let found = report::event::Finding::new(of, &finding.failure, Ok(&path), &[]);
            Ok(report::tests::as_people_read(&[report::event::Event::Finding(found)]))
        };
        assert_eq!(shown(&file).map(|text| text.contains("read Counter.n")), Ok(true));
        let changed = changed(&file);
        let refused: Vec<String> = changed.iter().filter_map(|f| shown(f).err()).collect();
        assert!(changed.len() > 200 && refused.len() > 50, "{} {}", changed.len(), refused.len());
        for part in
            ["is not a finding file", "version 99999", "damaged", "`memory_mb` cannot be", "no strategy"]
        {
            assert!(refused.iter().any(|why| why.contains(part)), "{part} in {refused:#?}");
        }
    }

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
            read(&file).and_then(|text| text.parse::<Finding>()).unwrap_err().to_string()
        };
        assert!(refused("\n").contains("it is empty"));
        assert!(refused("hello").contains("not JSON"));
        assert!(refused("{}").contains("not a finding file"));
        assert!(refused(r#"{"format":"raddle-finding","version":99}"#).contains("version 99"));
        assert!(refused(r#"{"format":"raddle-finding","version":2}"#).contains("damaged"));
        assert!(read(&dir.path().join("none")).unwrap_err().to_string().contains("No such file"));
        assert!(read(dir.path()).unwrap_err().to_string().contains("it is a directory"));
        assert!(read(Path::new("/dev/null")).unwrap_err().to_string().contains("a pipe or device"));
    }
}
