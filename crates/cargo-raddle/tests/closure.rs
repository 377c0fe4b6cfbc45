//! `cargo raddle test` on tests that check closures.

use serde_json::Value;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

struct Ran {
    code: i32,
    events: Vec<Value>,
}

fn manifest() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/closure/Cargo.toml")
}

fn raddle(args: &[&str]) -> Ran {
    let out = Command::new(env!("CARGO_BIN_EXE_cargo-raddle")).args(args).output().unwrap();
    let text = String::from_utf8(out.stdout).unwrap();
    let events: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert!(!events.is_empty(), "{}", String::from_utf8_lossy(&out.stderr));
    Ran { code: out.status.code().unwrap(), events }
}

/// Without a budget in time: how far a search comes must not depend on the machine.
fn test(target: &str, more: &[&str]) -> Ran {
    let manifest = manifest();
    let mut args = vec!["test", "--format", "json", "--manifest-path", manifest.to_str().unwrap()];
    args.extend(["--test", target, "--budget", "0"]);
    if !more.contains(&"--jobs") {
        args.extend(["--jobs", "1"]);
    }
    args.extend(more);
    raddle(&args)
}

impl Ran {
    /// A field of each event of a kind, by test.
    fn by_test(&self, event: &str, field: &str) -> BTreeMap<String, String> {
        let events = self.events.iter().filter(|e| e["event"] == event);
        let text = |v: &Value| v.as_str().map_or_else(|| v.to_string(), str::to_owned);
        events.map(|e| (text(&e["test"]), text(&e[field]))).collect()
    }
}

fn expected(pairs: &[(&str, &str)]) -> BTreeMap<String, String> {
    pairs.iter().map(|(a, b)| ((*a).to_owned(), (*b).to_owned())).collect()
}

#[test]
fn correct_checks_pass() {
    let ran = test("correct", &[]);
    let statuses = ran.by_test("test", "status");
    assert!(statuses.len() == 10 && statuses.values().all(|s| s == "ok"), "{statuses:?}");
    assert_eq!(ran.code, 0);
}

#[test]
fn broken_checks_are_findings_of_their_kind_that_replay() {
    let ran = test("broken", &[]);
    let kinds = expected(&[
        ("a_failure_after_checks_that_pass", "panic"),
        ("crash", "crash"),
        ("deadlock", "deadlock"),
        ("exit", "crash"),
        ("livelock", "livelock"),
        ("lost_update", "panic"),
        ("panic_in_a_thread", "panic"),
        ("the_third_check_fails", "panic"),
    ]);
    assert_eq!(ran.by_test("finding", "kind"), kinds);
    assert_eq!(ran.code, 1);
    let messages = ran.by_test("finding", "message");
    assert!(messages["a_failure_after_checks_that_pass"].starts_with("by itself\n"), "{messages:?}");
    let files = ran.by_test("finding", "file");
    // Of a livelock only what leads into the circle is kept.
    assert!(std::fs::metadata(&files["livelock"]).unwrap().len() < 1 << 20);
    for test in ["livelock", "lost_update", "the_third_check_fails"] {
        let again = raddle(&["replay", "--format", "json", &files[test]]);
        assert_eq!(again.by_test("replay", "verdict").values().next().unwrap(), "reproduced", "{test}");
        assert_eq!(again.code, 1);
    }
}

#[test]
fn a_failure_after_something_was_initialised_once_is_confirmed() {
    let ran = test("once", &[]);
    let statuses = expected(&[
        ("a_count_of_executions", "failed"),
        ("a_lazy_lock", "failed"),
        ("a_once", "failed"),
        ("a_once_lock_in_a_function", "failed"),
        ("every_execution_initialises", "ok"),
        ("random_keys", "failed"),
        ("what_is_captured", "failed"),
        ("what_is_initialised_late_is_the_same_for_one_process_and_for_many", "ok"),
    ]);
    assert_eq!(ran.by_test("test", "status"), statuses, "{:?}", ran.events);
}

#[test]
fn a_search_that_has_tried_all_orders_of_a_closure_has_seen_every_broken_use_fail() {
    for (strategy, failed) in [("dfs", 88), ("dpor", 93)] {
        let ran = test("conformance", &["--strategy", strategy, "--schedules", "2000"]);
        let tests: Vec<&Value> = ran.events.iter().filter(|e| e["event"] == "test").collect();
        let promises = |t: &&&Value| t["stop"] == "exhausted" && t["stats"]["unexplored"].is_null();
        let missed: Vec<&str> = tests.iter().filter(promises).map(|t| t["test"].as_str().unwrap()).collect();
        assert!(missed.is_empty(), "{strategy}: {missed:?}");
        let seen = tests.iter().filter(|t| t["status"] == "failed").count();
        assert!(seen >= failed, "{strategy}: only {seen} of {}", tests.len());
    }
}

#[test]
fn checks_that_test_nothing_do_not_pass() {
    let ran = test("untested", &[]);
    let statuses = expected(&[
        ("a_check_inside_a_check", "failed"),
        ("no_such_strategy", "error"),
        ("no_threads", "no-steps"),
    ]);
    assert_eq!(ran.by_test("test", "status"), statuses);
    assert_eq!(ran.code, 1);
    assert_eq!(test("untested", &["no_threads"]).code, 3);
    assert_eq!(test("untested", &["no_such_strategy"]).code, 2);
}

#[test]
fn the_command_line_wins_over_what_a_check_wants() {
    let executions = |more: &[&str]| {
        let mut args = vec!["--exact", "a_condition_variable_wakes_its_waiter"];
        args.extend(more);
        let ran = test("correct", &args);
        let test = ran.events.iter().find(|e| e["event"] == "test").unwrap();
        test["stats"]["executions"].as_u64().unwrap()
    };
    assert_eq!(executions(&[]), 300);
    assert_eq!(executions(&["--schedules", "7"]), 7);
}

#[test]
fn searches_do_what_they_promise() {
    let ran = test("passing", &["--jobs", "2"]);
    let messages = ran.by_test("finding", "message");
    assert!(messages.is_empty(), "{messages:#?}");
    let statuses = ran.by_test("test", "status");
    assert!(statuses.len() == 36 && statuses.values().all(|s| s == "ok"), "{statuses:#?}");
    assert_eq!(ran.code, 0);
}

#[test]
fn a_failure_that_only_happens_among_several_processes_is_an_error_not_a_pass() {
    let ran = test("company", &[]);
    assert_eq!(ran.code, 2, "{:?}", ran.events);
    let said = ran.events.iter().any(|e| e.to_string().contains("passed when it was repeated in order"));
    assert!(said, "{:?}", ran.events);
}

/// Processes of a test executable of the closure package, of this clone of the repository.
fn processes(target: &str) -> usize {
    let package = manifest().canonicalize().unwrap().parent().unwrap().to_owned();
    let of_target = |entry: std::io::Result<std::fs::DirEntry>| {
        let exe = std::fs::read_link(entry.ok()?.path().join("exe")).ok()?;
        let name = exe.file_name()?.to_str()?;
        (exe.starts_with(&package) && name.starts_with(&format!("{target}-"))).then_some(())
    };
    std::fs::read_dir("/proc").unwrap().filter_map(of_target).count()
}

#[test]
fn workers_do_not_outlive_a_command_that_was_killed() {
    const MOMENT: Duration = Duration::from_millis(50);
    let manifest = manifest();
    let mut command = Command::new(env!("CARGO_BIN_EXE_cargo-raddle"));
    command.args(["test", "--test", "endless", "--include-ignored", "--budget", "0"]);
    command.arg("--manifest-path").arg(&manifest).stdout(Stdio::null()).stderr(Stdio::null());
    let mut running = command.spawn().unwrap();
    // The parent and two that share the search.
    while processes("endless") < 3 {
        assert_eq!(running.try_wait().unwrap(), None, "the search has ended");
        std::thread::sleep(MOMENT);
    }
    running.kill().unwrap();
    running.wait().unwrap();
    while processes("endless") > 0 {
        std::thread::sleep(MOMENT);
    }
}
