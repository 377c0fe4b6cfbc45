//! `cargo raddle hunt` on a harness that exists already, and what it says to people and to scripts.

#[path = "support/harness.rs"]
mod harness;
mod support;

use harness::{executable, fixture};
use serde_json::Value;
use std::path::{Path, PathBuf};
use support::{Ran, raddle, ran, read};

/// A hunt in a directory of its own, with only some of the fixture's methods.
struct Hunt {
    dir: tempfile::TempDir,
}

impl Hunt {
    fn new(methods: &[&str]) -> Self {
        let mut harness: Value = serde_json::from_str(&read(&fixture().join("harness.json"))).unwrap();
        for thunk in harness["thunks"].as_array_mut().unwrap() {
            let name = thunk["name"].as_str().unwrap().rsplit("::").next().unwrap().to_owned();
            if thunk["role"] == "method" && !methods.contains(&name.as_str()) {
                // A helper that makes nothing is never called.
                thunk["role"] = "helper".into();
            }
        }
        let hunt = Hunt { dir: tempfile::tempdir().unwrap() };
        std::fs::write(hunt.dir.path().join("harness.json"), harness.to_string()).unwrap();
        hunt
    }

    fn out(&self) -> PathBuf {
        self.dir.path().join("out")
    }

    fn run(&self, args: &[&str]) -> Ran {
        let mut command = raddle();
        command.current_dir(self.dir.path()).args(["hunt", "--harness", "harness.json", "--executable"]);
        command.arg(executable());
        if !args.contains(&"--out") {
            command.arg("--out").arg(self.out());
        }
        ran(command.args(args).output().unwrap())
    }

    fn json(&self, args: &[&str]) -> Ran {
        self.run(&[&["--format", "json"], args].concat())
    }
}

/// The one finding.
fn finding(ran: &Ran) -> Value {
    let found = ran.named("finding");
    assert_eq!((ran.code, found.len()), (1, 1), "{}{}", ran.stdout, ran.stderr);
    found[0].clone()
}

/// The output without what the clock decides.
fn timeless(ran: &Ran) -> Vec<Value> {
    let mut events = ran.events();
    for event in &mut events {
        if let Some(stats) = event["stats"].as_object_mut() {
            stats.retain(|key, _| !key.ends_with("_ms"));
            let points = stats.get_mut("curve").and_then(Value::as_array_mut);
            let without = |p: &mut Value| p.as_object_mut().unwrap().retain(|key, _| !key.ends_with("_ms"));
            points.into_iter().flatten().for_each(without);
        }
    }
    events
}

#[test]
fn a_lost_update_is_found_made_small_explained_and_repeated() {
    let hunt = Hunt::new(&["add", "get", "idle", "open"]);
    let ran = hunt.run(&["--schedules", "4000"]);
    assert_eq!(ran.code, 1, "{}{}", ran.stdout, ran.stderr);
    for part in [
        "no sequential order explains",
        "subject.add()",
        "How the threads interleaved",
        "read Subject.count = 0",
        "Why no sequential order of the calls explains it",
        "repeat it with: cargo raddle replay",
        "method pairs:",
    ] {
        assert!(ran.stdout.contains(part), "{part} in\n{}", ran.stdout);
    }
    let file = std::fs::read_dir(hunt.out().join("findings")).unwrap().next().unwrap().unwrap().path();
    let saved: Value = serde_json::from_str(&read(&file)).unwrap();
    assert_eq!((&saved["format"], &saved["mode"]), (&"raddle-finding".into(), &"hunt".into()));
    let calls: usize =
        saved["test"]["suffixes"].as_array().unwrap().iter().map(|s| s.as_array().unwrap().len()).sum();
    assert_eq!(calls, 2, "{}", saved["test"]);

    let replay = |args: &[&str]| support::ran(raddle().arg("replay").arg(&file).args(args).output().unwrap());
    let again = replay(&["--format", "json", "--times", "3"]);
    let verdict = &again.named("replay")[0];
    assert_eq!(
        (again.code, &verdict["verdict"], &verdict["reproduced"]),
        (1, &"reproduced".into(), &3.into())
    );
    assert_eq!(verdict["same_trace"], true);

    let next = hunt.json(&["--schedules", "4000"]);
    assert_eq!(finding(&next)["saved"], true, "what was found before comes first");
    assert_eq!(next.named("type")[0]["stats"]["tests"], 0);
    let told = hunt.run(&["--schedules", "4000"]).stdout;
    assert!(told.contains("FOUND 1 (found by an earlier hunt and repeated; no new test)"), "{told}");

    std::fs::write(&file, read(&file).replace(saved["fingerprint"].as_str().unwrap(), "0")).unwrap();
    let other = replay(&[]);
    assert_eq!(other.code, 2);
    assert!(other.stderr.contains("another build of the harness"), "{}", other.stderr);
}

#[test]
fn one_seed_and_number_of_schedules_give_one_output() {
    let hunt = |seed: &str| {
        let hunt = Hunt::new(&["add", "get", "left_right", "right_left", "exit_at_one", "idle"]);
        let ran = hunt.json(&["--seed", seed, "--schedules", "600", "--max-findings", "3"]);
        let text = serde_json::to_string(&timeless(&ran)).unwrap();
        text.replace(hunt.dir.path().to_str().unwrap(), "DIR")
    };
    assert_eq!(hunt("3"), hunt("3"));
    assert_ne!(hunt("3"), hunt("4"));
}

#[test]
fn what_was_looked_up_beforehand_changes_nothing_and_is_not_taken_for_another_executable() {
    let hunt = Hunt::new(&["add", "get", "idle", "open"]);
    let args = ["--schedules", "600", "--max-findings", "2", "--generator", "maptest", "--out"];
    let ran = |out: &str| timeless(&hunt.json(&[&args[..], &[out]].concat()));
    let without = ran("without");
    let bytes = std::fs::read(executable()).unwrap();
    let table = raddle_debuginfo::DebugInfo::parse(&bytes, [""; 0]).unwrap().places(&bytes).unwrap();
    let fingerprint = |bytes: &[u8]| -> String {
        use sha2::{Digest, Sha256};
        Sha256::digest(bytes).iter().map(|b| format!("{b:02x}")).collect()
    };
    let keep = |table: &[u8], of: &[u8]| {
        let seal = format!("{} {}\n", fingerprint(of), fingerprint(table));
        std::fs::write(hunt.dir.path().join("places.table"), table).unwrap();
        std::fs::write(hunt.dir.path().join("places.seal"), seal).unwrap();
    };
    let plain = |events: &[Value], out: &str| format!("{events:?}").replace(out, "out");
    keep(&table, &bytes);
    assert_eq!(plain(&ran("with"), "with"), plain(&without, "without"));
    // A table of nothing would change names and places.
    let empty = [b"radplac2".as_slice(), &[0; 20]].concat();
    keep(&empty, b"another executable");
    assert_eq!(plain(&ran("other"), "other"), plain(&without, "without"));
}

#[test]
fn a_deadlock_and_the_end_of_the_process_are_findings_and_the_hunt_goes_on() {
    let hunt = Hunt::new(&["left_right", "right_left"]);
    let found = finding(&hunt.json(&["--schedules", "2000"]));
    assert_eq!(found["kind"], "deadlock");
    assert!(Path::new(found["file"].as_str().unwrap()).is_file());
    let hunt = Hunt::new(&["add", "open", "overflow_at_one"]);
    let ran = hunt.json(&["--schedules", "600", "--max-findings", "9"]);
    let kinds: Vec<Value> = ran.named("finding").iter().map(|f| f["kind"].clone()).collect();
    assert!(kinds.contains(&"non-linearizable".into()), "{kinds:?} {}", ran.stderr);
    assert_eq!(ran.named("type")[0]["stats"]["executions"], 600, "it did not stop at the first crash");
}

#[test]
fn a_method_that_never_returns_is_named_and_one_that_always_crashes_is_a_finding_that_can_be_repeated() {
    let hunt = Hunt::new(&["add_slowly", "get", "abort_always", "panic_always"]);
    let hunt_it = || hunt.json(&["--schedules", "40", "--max-findings", "9"]);
    let ran = hunt_it();
    let never = ran.named("type")[0]["stats"]["never_returned"].clone();
    let names: Vec<&str> = never.as_array().unwrap().iter().map(|n| n["method"].as_str().unwrap()).collect();
    assert_eq!(names, ["Subject::abort_always", "Subject::panic_always"], "{}", ran.stdout);
    assert!(never[1]["instead"].as_str().unwrap().ends_with(": never this"), "{never}");
    let crashes = |ran: &Ran| -> Vec<Value> {
        let findings = ran.named("finding").into_iter().filter(|f| f["kind"] == "crash");
        findings.collect()
    };
    let [crash] = &crashes(&ran)[..] else { panic!("{}{}", ran.stdout, ran.stderr) };
    let again = raddle()
        .args(["replay", "--format", "json", "--times", "3"])
        .arg(crash["file"].as_str().unwrap())
        .output();
    let again = support::ran(again.unwrap());
    assert_eq!((again.code, &again.named("replay")[0]["reproduced"]), (1, &3.into()), "{}", again.stdout);
    assert_eq!(crashes(&hunt_it()).len(), 1, "it is not found again beside the saved one");
}

#[test]
fn a_bug_that_is_known_is_not_told_again_and_hides_no_deadlock() {
    let hunt = Hunt::new(&["add", "get", "idle", "left_right", "right_left"]);
    let ran = hunt.json(&["--schedules", "6000", "--max-findings", "99"]);
    let told = |kind: &str| ran.named("finding").iter().filter(|f| f["kind"] == kind).count();
    assert_eq!(told("deadlock"), 1, "{}{}", ran.stdout, ran.stderr);
    // Two calls of `add`, or one and one of `get`.
    assert!((1..=2).contains(&told("non-linearizable")), "{}{}", ran.stdout, ran.stderr);
}

#[test]
fn no_call_of_a_sequential_order_is_interrupted_where_it_could_wait_or_because_it_is_long() {
    // Either would be explained by an order in which another call comes in between.
    let hunt = Hunt::new(&["first_second", "second_first"]);
    assert_eq!(finding(&hunt.json(&["--schedules", "2000"]))["kind"], "deadlock");
    let hunt = Hunt::new(&["add_slowly", "get"]);
    assert_eq!(finding(&hunt.json(&["--schedules", "2000"]))["kind"], "non-linearizable");
}

#[test]
fn methods_that_share_nothing_are_not_called_tested() {
    let ran = Hunt::new(&["idle"]).json(&["--schedules", "100"]);
    let told = &ran.named("type")[0];
    assert_eq!((ran.code, &told["status"]), (3, &"untested".into()), "{}", ran.stdout);
    assert!(told["message"].as_str().unwrap().contains("no scheduling point"));
    let ran = Hunt::new(&[]).json(&["--schedules", "100"]);
    assert_eq!(ran.code, 3);
    assert!(ran.named("type")[0]["message"].as_str().unwrap().contains("no method"), "{}", ran.stdout);
}

#[test]
fn a_type_that_keeps_its_word_is_clean_and_its_pairs_can_be_shown() {
    let ran = Hunt::new(&["get", "open"]).run(&["--schedules", "200", "--matrix"]);
    assert_eq!(ran.code, 0, "{}{}", ran.stdout, ran.stderr);
    assert!(ran.stdout.contains("raddle hunt: ok. 1 clean"), "{}", ran.stdout);
    assert!(ran.stdout.contains("times that two methods ran at the same time"), "{}", ran.stdout);
}

#[test]
fn wrong_use_is_told_with_what_would_be_right() {
    let refused = |args: &[&str]| {
        let ran = ran(raddle().arg("hunt").args(args).output().unwrap());
        assert_eq!(ran.code, 2, "{args:?}: {}", ran.stdout);
        ran.stderr
    };
    assert!(refused(&["--generator", "wild"]).contains("covcon"));
    assert!(refused(&["--manifest-path", "/nowhere/Cargo.toml"]).contains("there is no manifest"));
    assert!(refused(&["--threads", "9"]).contains("2..=4"));
    assert!(refused(&["--memory", "262145"]).contains("1..=262144"));
    assert!(refused(&["../here"]).contains("cannot be the name of a crate"));
    let json = ran(raddle().args(["hunt", "--generator", "wild", "--format", "json"]).output().unwrap());
    let last = json.events().pop().unwrap();
    assert_eq!((json.code, &last["event"], &last["exit_code"]), (2, &"summary".into(), &2.into()));
}
