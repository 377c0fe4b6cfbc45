//! What an exhausted search claims: that no result is missing which the program has natively.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Native runs of each program.
const RUNS: &str = "500";
/// More programs than this have a search that comes to its end.
const EXHAUSTED: usize = 45;

type Results = BTreeMap<String, BTreeSet<String>>;

fn raddle(args: &[&str]) -> Command {
    let manifest = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/outcomes/Cargo.toml");
    let mut command = Command::new(env!("CARGO_BIN_EXE_cargo-raddle"));
    command.args(args).arg("--manifest-path").arg(manifest);
    command
}

/// The results that come when the processors decide.
fn natively() -> Results {
    let built = raddle(&["build", "--bin", "outcomes"]).output().unwrap();
    assert!(built.status.success(), "{}", String::from_utf8_lossy(&built.stderr));
    let executable = PathBuf::from(String::from_utf8(built.stdout).unwrap().trim());
    let ran = Command::new(executable).arg(RUNS).stderr(Stdio::null()).output().unwrap();
    assert!(ran.status.success());
    let mut results = Results::new();
    for line in String::from_utf8(ran.stdout).unwrap().lines() {
        let (program, result) = line.split_once('\t').unwrap();
        results.entry(program.to_owned()).or_default().insert(result.to_owned());
    }
    results
}

/// The results that a search has seen, of the programs of which it has seen all orders.
fn exhausted(test: &str) -> Results {
    let file = tempfile::NamedTempFile::new().unwrap();
    let mut command = raddle(&["test", "--test", "exhaustive", "--budget", "0", test]);
    let ran = command.env("RADDLE_OUTCOMES", file.path()).output().unwrap();
    assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stderr));
    let text = std::fs::read_to_string(file.path()).unwrap();
    let fields = || text.lines().map(|line| line.splitn(3, '\t').collect::<Vec<_>>());
    let mut results = Results::new();
    for line in fields().filter(|line| line[2].starts_with("Exhausted")) {
        results.insert(line[0].to_owned(), BTreeSet::new());
    }
    for line in fields() {
        if let (Some(seen), Some(result)) = (results.get_mut(line[0]), line[2].strip_prefix('=')) {
            seen.insert(result.to_owned());
        }
    }
    results
}

#[test]
fn no_native_result_is_missing_from_an_exhausted_search() {
    let natively = natively();
    for test in ["depth_first", "with_reduction"] {
        let exhausted = exhausted(test);
        assert!(exhausted.len() > EXHAUSTED, "{test}: only {}", exhausted.len());
        for (program, seen) in exhausted {
            let missing: Vec<_> = natively[&program].difference(&seen).collect();
            assert!(missing.is_empty(), "{test} of {program} lacks {missing:?}, has seen {seen:?}");
        }
    }
}
