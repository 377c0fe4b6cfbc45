//! The real command with the real runtime on the crates of `testdata/`, in the size that fits every change.
//!
//! `testdata/README.md` has the conventions: tests in a module `correct` pass under every schedule, tests in a
//! module `broken` fail under some schedules only, and the prefix of a name says how. What the command gets wrong
//! today stands in [`KNOWN_GAPS`] and nowhere else.

mod support;

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;
use support::{Ran, raddle, ran};

/// Tests whose result is wrong today: the package, the test, and the wrong result as `status` or
/// `status: kind`. A test that is listed here and comes out right fails the suite: it has to leave the list.
const KNOWN_GAPS: &[(&str, &str, &str)] = &[];

/// Runs `cargo raddle test` on a package of `testdata/`. No limit depends on the clock but the one for hangs,
/// unless there is a budget.
fn test(package: &str, args: &[&str]) -> Ran {
    ran(command(package, args).output().unwrap())
}

fn command(package: &str, args: &[&str]) -> Command {
    let manifest =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata").join(package).join("Cargo.toml");
    let mut command = raddle();
    command.args(["raddle", "test", "--format", "json", "--jobs", "2", "--manifest-path"]);
    command.arg(manifest).args(args);
    if !args.contains(&"--budget") {
        command.args(["--budget", "0"]);
    }
    in_own_directory(&mut command, package);
    command
}

/// As a user would call it, not as the test of this crate was called; and nothing is built among the sources.
fn in_own_directory<'a>(command: &'a mut Command, package: &str) -> &'a mut Command {
    for name in ["CARGO", "RUSTC", "RUSTFLAGS", "CARGO_ENCODED_RUSTFLAGS"] {
        command.env_remove(name);
    }
    command.env("CARGO_TARGET_DIR", Path::new(env!("CARGO_TARGET_TMPDIR")).join("conformance").join(package))
}

/// What came out for each test: `status`, or `failed: kind` where there is a finding.
fn results(ran: &Ran) -> BTreeMap<(String, String), String> {
    let text = |value: &serde_json::Value| value.as_str().unwrap().to_owned();
    let key = |event: &serde_json::Value| (text(&event["program"]), text(&event["target"]));
    let kinds: BTreeMap<_, _> = ran.named("finding").iter().map(|f| (key(f), text(&f["kind"]))).collect();
    let tests = ran.named("test");
    let result = |test: &serde_json::Value| match kinds.get(&key(test)) {
        Some(kind) => format!("{}: {kind}", text(&test["status"])),
        None => text(&test["status"]),
    };
    tests.iter().map(|test| (key(test), result(test))).collect()
}

/// Compares every test's result with the allowed ones, but for the known gaps; tells how many tests there were.
fn compare(package: &str, ran: &Ran, allowed: impl Fn(&str) -> Vec<&'static str>) -> usize {
    let results = results(ran);
    assert!(!results.is_empty(), "nothing was run: {}\n{}", ran.stdout, ran.stderr);
    let mut wrong = Vec::new();
    for ((target, test), result) in &results {
        let name = test.rsplit("::").next().unwrap();
        let gap = KNOWN_GAPS.iter().find(|(p, t, _)| *p == package && t == test).map(|(_, _, seen)| *seen);
        let expected = gap.map_or_else(|| allowed(name), |seen| vec![seen]);
        if !expected.contains(&result.as_str()) {
            wrong.push(format!("{target} {test}: {result} instead of {}", expected.join(" or ")));
        }
    }
    assert!(wrong.is_empty(), "{} of {} are wrong:\n{}", wrong.len(), results.len(), wrong.join("\n"));
    results.len()
}

/// Passes, but for so many tests whose threads never meet, as after a join.
fn passes(package: &str, ran: &Ran, tests: usize, nothing_to_decide: usize) {
    assert_eq!(compare(package, ran, |_| vec!["ok", "no-steps"]), tests);
    let results = results(ran);
    let untested: Vec<_> = results.iter().filter(|(_, r)| *r == "no-steps").map(|(key, _)| key).collect();
    assert_eq!(untested.len(), nothing_to_decide, "{untested:#?}");
    assert_eq!(ran.code, if nothing_to_decide > 0 { 3 } else { 0 });
}

/// How a broken twin may fail. A thread that spins on memory nobody will write again can be called either.
fn by_prefix(name: &str) -> Vec<&'static str> {
    match name.split('_').next() {
        Some("panics") => vec!["failed: panic"],
        Some("deadlocks") => vec!["failed: deadlock"],
        Some("livelocks") => vec!["failed: livelock", "failed: deadlock"],
        _ => panic!("the name of a broken test must say how it fails: {name}"),
    }
}

#[test]
fn correct_uses_of_std_pass_under_fifty_schedules() {
    let ran = test(
        "conformance-std",
        &["--schedules", "50", "--skip", "a_thousand", "--skip", "recursion", "correct::"],
    );
    passes("conformance-std", &ran, 279, 42);
}

#[test]
fn a_strategy_that_is_asked_about_every_step_tests_nothing_where_one_thread_at_a_time_can_go_on() {
    let ran = test("conformance-std", &["--strategy", "dpor", "--schedules", "9", "sleeps_in_one_thread"]);
    passes("conformance-std", &ran, 1, 1);
}

#[test]
fn a_thousand_threads_and_deep_recursion_pass() {
    let ran = test("conformance-std", &["--schedules", "2", "a_thousand", "recursion"]);
    passes("conformance-std", &ran, 5, 2);
}

#[test]
fn every_broken_use_of_std_is_found() {
    let ran = test("conformance-std", &["--schedules", "1000", "broken::"]);
    assert_eq!(compare("conformance-std", &ran, by_prefix), 103);
    assert_eq!(ran.code, 1);
    // What a livelock repeats is not written down again and again.
    let long =
        |f: &serde_json::Value| std::fs::metadata(f["file"].as_str().unwrap()).unwrap().len() > 1 << 20;
    assert!(!ran.named("finding").iter().any(long));
    // To wait on a condition is to have given its mutex back.
    let waiting = ran
        .named("finding")
        .into_iter()
        .find(|f| f["test"].as_str().unwrap().ends_with("deadlocks_a_notification_before_the_wait"));
    let file = waiting.unwrap()["file"].as_str().unwrap().to_owned();
    let finding: serde_json::Value = serde_json::from_str(&support::read(Path::new(&file))).unwrap();
    let threads = finding["failure"]["threads"].as_array().unwrap();
    assert!(threads.iter().all(|t| t["holds"].as_array().unwrap().is_empty()), "{threads:?}");
}

/// How many of a package's broken programs fail in a search of all orders. That they can fail is what all orders must show.
fn exhaustively(package: &str, strategy: &str) -> usize {
    let ran = test(package, &["--strategy", strategy, "--schedules", "2000", "--budget", "0", "broken::"]);
    let tests = ran.named("test");
    let promises = |t: &&serde_json::Value| t["stop"] == "exhausted" && t["stats"]["unexplored"].is_null();
    let missed: Vec<&str> = tests.iter().filter(promises).map(|t| t["test"].as_str().unwrap()).collect();
    assert!(missed.is_empty(), "{strategy}: {missed:?}");
    tests.iter().filter(|t| t["status"] == "failed").count()
}

#[test]
fn a_search_that_has_tried_all_orders_has_seen_every_broken_use_fail() {
    for (package, strategy, failed) in [
        ("conformance-std", "dfs", 90),
        ("conformance-std", "dpor", 95),
        ("conformance-crates", "dfs", 24),
        ("conformance-crates", "dpor", 34),
    ] {
        let seen = exhaustively(package, strategy);
        assert!(seen >= failed, "{package} {strategy}: only {seen}");
    }
}

/// The finding with which a test of conformance-std fails, and what `replay` says of it.
fn found(args: &[&str]) -> (serde_json::Value, String) {
    let tested = test("conformance-std", args);
    assert_eq!(tested.code, 1, "{}{}", tested.stdout, tested.stderr);
    let finding = tested.named("finding").remove(0);
    let mut replay = raddle();
    replay.args(["raddle", "replay"]).arg(finding["file"].as_str().unwrap());
    let again = ran(in_own_directory(&mut replay, "conformance-std").output().unwrap());
    assert_eq!(again.code, 1, "{}{}", again.stdout, again.stderr);
    (finding, again.stdout)
}

#[test]
fn what_needs_a_wait_that_ends_early_comes_late_in_a_search_and_says_so_first() {
    let name = "broken::panics_a_sleep_believed_to_outlast_what_another_thread_does";
    let (finding, shown) = found(&["--test", "broken_time", name]);
    assert!(finding["execution"].as_u64().unwrap() > 1, "{finding}");
    let note = "a sleep of 30 ms ended although thread 2 could run";
    assert_eq!(finding["early"], serde_json::json!([note]));
    let first = shown.lines().find(|l| l.starts_with("panic in thread")).unwrap();
    assert!(first.ends_with(&format!("; {note}")), "{shown}");
    let never = test("conformance-std", &["--test", "broken_time", "--timeouts", "never", name]);
    assert_eq!(never.code, 0, "{}", never.stdout);
    // A wait that ended early on the way is not to blame for what happens without.
    let update = "broken::panics_a_lost_update_after_a_common_sleep";
    let often = ["--timeouts", "any", "--strategy", "random", "--seed", "3"];
    let (finding, _) = found(&[&["--test", "broken_time", update], &often[..]].concat());
    assert_eq!(finding["early"], serde_json::Value::Null);
    // A thread that is held up for half a minute is found only by those who ask for it.
    let pool = ["--test", "time", "a_pool_hands_out"];
    assert_eq!(test("conformance-std", &pool).code, 0);
    let (finding, _) = found(&[&pool[..], &["--timeouts", "any"]].concat());
    assert_eq!(finding["early"], serde_json::json!(["a time-out of 30 s ended although thread 2 could run"]));
}

#[test]
fn executions_differ_in_their_random_numbers_and_a_replay_repeats_them() {
    let name = "broken::panics_an_order_of_a_hash_map_believed_to_be_fixed";
    let (finding, _) = found(&["--test", "broken_thread", name]);
    let file: serde_json::Value =
        serde_json::from_str(&support::read(Path::new(finding["file"].as_str().unwrap()))).unwrap();
    let number = finding["execution"].as_u64().unwrap() + 1;
    assert_eq!(file["failure"]["schedule"]["stream"].as_u64(), Some(number));
}

#[test]
fn a_search_that_has_tried_all_schedules_names_what_it_has_not_tried() {
    let unexplored = |target: &str, name: &str| {
        let ran =
            test("conformance-std", &["--test", target, "--strategy", "dfs", "--schedules", "10000", name]);
        let test = ran.named("test").remove(0);
        assert_eq!((&test["status"], &test["stop"]), (&"ok".into(), &"exhausted".into()), "{test}");
        test["stats"]["unexplored"].clone()
    };
    let names = |names: &[&str]| serde_json::json!(names);
    assert_eq!(
        unexplored("thread", "a_scope_joins_all_its_threads_before_it_returns"),
        serde_json::Value::Null
    );
    assert_eq!(unexplored("condvar", "a_wait_loop_ends_when_the_flag_is_set"), names(&["spurious-wakeups"]));
    assert_eq!(
        unexplored("time", "a_pool_hands_out"),
        names(&["early-timeouts", "spurious-wakeups", "clock"])
    );
}

#[test]
fn correct_uses_of_crates_pass_under_fifty_schedules() {
    let ran = test("conformance-crates", &["--schedules", "50", "correct::"]);
    passes("conformance-crates", &ran, 87, 3);
}

#[test]
fn every_broken_use_of_crates_is_found() {
    let ran = test("conformance-crates", &["--schedules", "1000", "broken::"]);
    assert_eq!(compare("conformance-crates", &ran, by_prefix), 41);
    assert_eq!(ran.code, 1);
}

/// Few steps, because a step of a thread that does nothing visible takes 2,000 events: the search must be over long
/// before its worker is thought dead, also on a slow machine.
#[test]
fn every_crash_and_hang_is_a_finding_of_its_kind() {
    let ran = test(
        "crashers",
        &[
            "--test",
            "fatal",
            "--schedules",
            "20",
            "--memory",
            "256",
            "--max-steps",
            "2000",
            "--hang",
            "5s",
            "--grace",
            "15s",
        ],
    );
    let kind = |name: &str| match name.split('_').next() {
        Some("aborts" | "exits" | "segfaults" | "overflows" | "fills") => vec!["failed: crash"],
        Some("hangs") if name == "hangs_in_a_loop_without_memory_accesses" => vec!["failed: timeout"],
        // Without a visible step only the clock can tell.
        Some("hangs") => vec!["failed: livelock", "failed: timeout"],
        Some("fails") => vec!["failed: panic"],
        _ => panic!("the name of a fatal test must say how it fails: {name}"),
    };
    assert_eq!(compare("crashers", &ran, kind), 19);
    assert_eq!(ran.code, 1);
    for finding in ran.named("finding") {
        let said = |part: &str| finding["message"].as_str().unwrap().contains(part);
        let name = finding["test"].as_str().unwrap();
        match name {
            "overflows_the_stack_where_a_long_list_is_dropped" => assert!(said("drop_in_place"), "{finding}"),
            _ => assert_eq!(name.starts_with("overflows"), said("stack overflow in `fatal::"), "{finding}"),
        }
        assert_ne!(finding["at"]["line"], 0, "{finding}");
    }
}

#[test]
fn an_access_through_a_wrong_pointer_is_a_crash_where_it_happens() {
    let ran = test("crashers", &["--test", "pointers", "--schedules", "1"]);
    assert_eq!(compare("crashers", &ran, |_| vec!["failed: crash"]), 16);
    let text = support::read(Path::new("../../testdata/crashers/tests/pointers.rs"));
    let lines: Vec<&str> = text.lines().collect();
    for finding in ran.named("finding") {
        let line = finding["at"]["line"].as_u64().unwrap() as usize;
        assert!(lines[line - 1].trim().starts_with(finding["test"].as_str().unwrap()), "{finding}");
    }
}

#[test]
fn a_hundred_failures_leave_the_process_they_come_from_as_it_was() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("footprints");
    let limits =
        ["--schedules", "100", "--max-failures", "100", "--max-steps", "500", "--strategy", "random"];
    let mut command = command("crashers", &["--test", "leftovers"]);
    let ran = ran(command.args(limits).env("FOOTPRINTS", &file).output().unwrap());
    assert_eq!(ran.code, 1, "{}", ran.stdout);
    let mut kinds: Vec<String> =
        ran.named("finding").iter().map(|f| f["kind"].as_str().unwrap().to_owned()).collect();
    kinds.sort();
    kinds.dedup();
    assert_eq!(kinds, ["crash", "deadlock", "livelock", "panic"]);
    assert_eq!(ran.named("test")[0]["stats"]["failures"], 100);
    let text = support::read(&file);
    let prints: Vec<Vec<u64>> =
        text.lines().map(|l| l.split(' ').map(|n| n.parse().unwrap()).collect()).collect();
    // The first executions bring in what is loaded and reserved once; replays come after the hundredth.
    let (early, late) = (&prints[8], &prints[99]);
    assert_eq!(early[..2], late[..2], "threads and descriptors");
    assert!(late[2] < early[2] + 4096, "from {} to {} kB", early[2], late[2]);
}

#[test]
fn what_only_looks_like_a_crash_passes() {
    let slow = "never_gives_way";
    let ran = test("crashers", &["--test", "harmless", "--schedules", "200", "--skip", slow]);
    passes("crashers", &ran, 6, 2);
    let ran = test("crashers", &["--test", "harmless", "--schedules", "3", "--hang", "100ms", slow]);
    passes("crashers", &ran, 1, 0);
}

#[test]
fn a_long_loop_is_not_called_tested_and_no_livelock() {
    let ran = test(
        "crashers",
        &["--test", "long", "--schedules", "2", "--max-steps", "1000", "--skip", "computes"],
    );
    assert_eq!(compare("crashers", &ran, |_| vec!["too-long"]), 4);
    assert_eq!(ran.code, 3);
    // A computation without a visible step is not known to be endless, however long it takes.
    let ran = test("crashers", &["--test", "long", "computes", "--hang", "300ms"]);
    assert_eq!(compare("crashers", &ran, |_| vec!["too-long"]), 1);
    // Where the steps are not limited, time is.
    let limits = ["--test", "long", "a_counter_is", "--budget", "200ms", "--max-steps", "1000000000000"];
    let ran = test("crashers", &limits);
    assert_eq!(compare("crashers", &ran, |_| vec!["too-long"]), 1);
    assert_eq!(ran.code, 3);
    // An execution that the end of the budget cuts short takes nothing from those before it.
    let limits = ["--test", "long", "after_the_first", "--budget", "200ms", "--max-steps", "1000000000000"];
    let dir = tempfile::tempdir().unwrap();
    let ran =
        support::ran(command("crashers", &limits).env("FIRST", dir.path().join("first")).output().unwrap());
    assert_eq!(compare("crashers", &ran, |_| vec!["ok"]), 1);
    assert_eq!(ran.code, 0);
}

#[test]
fn waiting_in_the_kernel_is_not_called_tested() {
    let ran = test("uncontrolled", &["--schedules", "20", "--hang", "3s"]);
    assert_eq!(compare("uncontrolled", &ran, |_| vec!["uncontrolled"]), 12);
    let false_alarms =
        KNOWN_GAPS.iter().any(|(package, _, seen)| *package == "uncontrolled" && seen.starts_with("failed"));
    assert_eq!(ran.code, if false_alarms { 1 } else { 3 });
}

#[test]
fn the_race_of_a_whole_program_is_found() {
    let ran = test("bins", &["--bin", "bins", "--schedules", "200"]);
    assert_eq!(compare("bins", &ran, |_| vec!["failed: panic"]), 1);
    assert_eq!(ran.code, 1);
}

#[test]
fn threads_that_a_program_leaves_behind_may_get_further_before_its_end() {
    let ran = test("bins", &["--bin", "leaves", "--schedules", "200"]);
    assert_eq!(compare("bins", &ran, |_| vec!["failed: crash"]), 1);
}

#[test]
fn a_test_target_without_the_harness_is_run_as_a_program() {
    let ran = test("bins", &["--test", "own_main", "--schedules", "200"]);
    assert_eq!(compare("bins", &ran, |_| vec!["ok"]), 1);
    assert_eq!(ran.code, 0);
}

#[test]
fn tests_without_threads_are_skipped_and_nothing_counts_as_tested() {
    let ran = test("no-threads", &[]);
    assert_eq!(compare("no-threads", &ran, |_| vec!["no-threads"]), 2);
    assert_eq!(ran.code, 3);
}

#[test]
fn a_package_without_tests_is_not_called_tested() {
    let ran = test("no-tests", &[]);
    assert!(results(&ran).is_empty());
    assert_eq!(ran.code, 3);
}

#[test]
fn a_package_that_does_not_build_is_an_error() {
    let ran = test("does-not-build", &[]);
    assert!(ran.named("error")[0]["details"].as_str().unwrap().contains("mismatched types"));
    assert_eq!(ran.code, 2);
}
