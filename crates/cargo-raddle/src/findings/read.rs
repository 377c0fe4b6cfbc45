//! Reading the files of findings, which somebody may have changed, or which are something else.

use super::hunt::{self, HuntFinding};
use super::{FORMAT, Finding, VERSION};
use crate::error::{Error, Result};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use std::path::{Path, PathBuf};

/// More bytes than the largest finding has.
const LARGEST: u64 = 1 << 30;

/// Reads a file; one that is something else is refused with the reason. A pipe would have to be waited for, perhaps for ever.
pub fn read(file: &Path) -> Result<Finding> {
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
    let text = text(file).map_err(refuse)?;
    let header: Header =
        serde_json::from_str(&text).map_err(|e| refuse(format!("it is not JSON of a finding ({e})")))?;
    if header.format != FORMAT {
        return Err(refuse("it is not a finding file of raddle".into()));
    }
    if header.version != u64::from(VERSION) {
        let theirs = header.version;
        return Err(refuse(format!("its format is version {theirs}; this raddle reads version {VERSION}")));
    }
    if header.mode == hunt::MODE {
        return parse(&text).map(Box::new).map(Finding::Hunt).map_err(refuse);
    }
    parse(&text).map(Box::new).map(Finding::Test).map_err(refuse)
}

/// The text of a file that may be a finding; or what is wrong.
fn text(file: &Path) -> std::result::Result<String, String> {
    let about = std::fs::metadata(file).map_err(|e| e.to_string())?;
    let kind = if about.is_dir() { "a directory" } else { "a pipe or device" };
    if !about.is_file() {
        return Err(format!("it is {kind}, not a finding file"));
    }
    if about.len() > LARGEST {
        return Err(format!("with {} MB it is too large for a finding file", about.len() >> 20));
    }
    let text = std::fs::read_to_string(file).map_err(|e| e.to_string())?;
    if text.trim().is_empty() { Err("it is empty".into()) } else { Ok(text) }
}

fn parse<T: DeserializeOwned>(text: &str) -> std::result::Result<T, String> {
    serde_json::from_str(text).map_err(|e| format!("it is damaged ({e})"))
}

/// The findings of a type that were saved by earlier hunts, with their files, in the order of their names.
pub fn earlier(dir: &Path, target: &str) -> Vec<(PathBuf, HuntFinding)> {
    let Ok(entries) = std::fs::read_dir(dir) else { return vec![] };
    let mut files: Vec<PathBuf> = entries.flatten().map(|e| e.path()).collect();
    files.sort();
    let saved = files.into_iter().filter_map(|file| match read(&file) {
        Ok(Finding::Hunt(finding)) if finding.target == target => Some((file, *finding)),
        _ => None,
    });
    saved.collect()
}

#[cfg(test)]
pub mod tests {
    use super::super::store::{Keep, check_job};
    use super::*;
    use crate::report;
    use crate::report::event::{FindingOf, TestId};
    use raddle_core::protocol::{Failure, Held, ThreadInfo, ThreadState};
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
            let finding = read(&path).map_err(|e| e.to_string())?;
            let Finding::Test(finding) = finding else { unreachable!() };
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
    fn a_file_that_is_no_finding_is_refused_with_the_reason() {
        let dir = tempfile::tempdir().unwrap();
        let refused = |text: &str| {
            let file = dir.path().join("f.json");
            std::fs::write(&file, text).unwrap();
            read(&file).unwrap_err().to_string()
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
