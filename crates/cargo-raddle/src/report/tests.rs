//! What reporters make of events that were written by hand.

use super::Reporter;
use super::columns::{Labels, Layout};
use super::console::Console;
use super::event::*;
use super::json::Json;
use super::summary::Summary;
use super::type_stats::{Expectation, Pairs, TypeStats};
use crate::exit::Exit;
use raddle_core::protocol::{Failure, Stats, Stop};
use std::path::Path;

/// What people read of these events, without the totals.
pub fn as_people_read(events: &[Event<'_>]) -> String {
    let mut text = Vec::new();
    let mut console = Console::to(&mut text, Layout { width: 80, full: true });
    let mut summary = Summary::of_tests();
    summary.exit_code = Exit::Failed;
    events.iter().chain([&Event::Summary(&summary)]).for_each(|event| console.event(event));
    drop(console);
    String::from_utf8(text).unwrap()
}

/// What people and scripts read of these events, with the totals.
fn both(events: &[Event<'_>], mut summary: Summary) -> (String, String) {
    let (mut human, mut json) = (Vec::new(), Vec::new());
    let mut console = Console::to(&mut human, Layout { width: 80, full: false });
    let mut lines = Json::to(&mut json);
    events.iter().for_each(|event| summary.count(event));
    for event in events.iter().chain([&Event::Summary(&summary)]) {
        console.event(event);
        lines.event(event);
    }
    drop((console, lines));
    (String::from_utf8(human).unwrap(), String::from_utf8(json).unwrap())
}

fn failure() -> Failure {
    serde_json::from_value(crate::findings::read::tests::failure()).unwrap()
}

fn id(test: &str) -> TestId<'_> {
    TestId { target: test, test, program: "p/lib/p".to_owned(), title: "lib p of p 1.0.0".to_owned() }
}

fn start<'a>() -> Event<'a> {
    Event::Start(Start::Tests {
        version: "1",
        rustc: "rustc 1.95.0",
        seed: 0,
        strategy: "auto",
        schedules: 1000,
        budget_ms: 0,
        tests: 2,
        ignored: 1,
        filtered_out: 0,
    })
}

#[test]
fn of_tests_people_read_a_listing_then_the_findings_then_the_totals() {
    let failure = failure();
    let of = FindingOf::Test { id: id("a::fails"), execution: 17, early: vec![] };
    let (stats, stop) = (Stats { executions: 18, threads: 2, ..Stats::default() }, Stop::Failures);
    let ended = |test, status, stop| {
        Event::Test(TestEnded { id: id(test), status, message: None, stop, stats: &stats })
    };
    let events = [
        start(),
        Event::Finding(Finding::new(of, &failure, Ok(Path::new("f.json")), &[])),
        ended("a::fails", TestStatus::Failed, Some(&stop)),
        ended("a::passes", TestStatus::Ok, Some(&Stop::Exhausted)),
    ];
    let (human, json) = both(&events, Summary::of_tests());
    let listing = "
running lib p of p 1.0.0
test a::fails ... FAILED: deadlock: it failed (18 schedules, 2 threads, 0 decisions)
test a::passes ... ok (18 schedules, 2 threads, 0 decisions, all of them)

---- a::fails ----
deadlock in thread 0 at code.rs:2: it failed
";
    let totals = "
execution 17; repeat it with: cargo raddle replay f.json

raddle result: FAILED. 1 passed; 1 failed; 1 ignored; 36 schedules, 0 steps
";
    assert!(human.starts_with(listing), "{human}");
    assert!(human.ends_with(totals), "{human}");
    let lines: Vec<serde_json::Value> = json.lines().map(|l| serde_json::from_str(l).unwrap()).collect();
    let names: Vec<_> = lines.iter().map(|l| l["event"].as_str().unwrap()).collect();
    assert_eq!(names, ["start", "finding", "test", "test", "summary"]);
    let finding = serde_json::json!({
        "event": "finding", "target": "a::fails", "test": "a::fails", "program": "p/lib/p", "execution": 17, "kind": "deadlock",
        "message": "it failed", "steps": 2, "file": "f.json",
        "at": { "function": "add", "file": "code.rs", "line": 2, "column": 5 },
    });
    let mut said = lines[1].clone();
    said["at"].as_object_mut().unwrap().remove("inlined");
    assert_eq!(said, finding);
    let summary = serde_json::json!({
        "event": "summary", "exit_code": 1, "tests": 2, "passed": 1, "failed": 1, "no_threads": 0, "untested": 0, "errors": 0,
        "ignored": 1, "filtered_out": 0, "findings": 1, "unconfirmed": 0, "executions": 36, "steps": 0,
    });
    assert_eq!(lines[4], summary);
}

fn type_ended(status: TypeStatus) -> TypeEnded<'static> {
    TypeEnded {
        target: "c::Queue",
        version: Some("1.0.0"),
        status,
        message: None,
        offers: None,
        stats: None,
        details: None,
        expectations: vec![],
        open: None,
        matrix: None,
    }
}

#[test]
fn of_types_people_read_what_was_covered_and_each_finding_with_its_test() {
    let failure = failure();
    let why = ["1: add returns 1".to_owned()];
    let of = FindingOf::Type {
        target: "c::Queue",
        cause: "deadlock of add",
        calls: 3,
        source: "fn found() {}\n",
        saved: true,
        why: &why,
        labels: Labels::new(),
    };
    let pairs = Pairs { total: 6, covered: 4, open: 1, never: 1 };
    let stats = TypeStats {
        tests: 2,
        executions: 40,
        pairs,
        generate_ms: 1.0,
        execute_ms: 3.0,
        ..TypeStats::default()
    };
    let because = "it says so".to_owned();
    let ended = TypeEnded {
        stats: Some(Box::new(stats)),
        expectations: vec![Expectation::NotCompared { method: "Queue::len".to_owned(), because }],
        ..type_ended(TypeStatus::Found)
    };
    let types = Start::Types {
        version: "1",
        seed: 0,
        generator: "maptest",
        strategy: "random",
        schedules: Some(40),
        budget_ms: 0,
        types: 1,
    };
    let unsaved = Err("no room".to_owned());
    let events =
        [Event::Start(types), Event::Finding(Finding::new(of, &failure, unsaved, &[])), Event::Type(ended)];
    let (human, json) = both(&events, Summary::of_types());
    let beginning = "\
type c::Queue ... FOUND 1 (found by an earlier hunt and repeated; 2 tests, 40 executions)
     method pairs: 4 of 6 ran at the same time, 1 open, 1 never possible so far
     time: 25 % making tests, 75 % running them, 0 % counting what they cover, 0 % judging (0 sequential executions), 0 % proving
     Queue::len: not compared (it says so)
     (--strict NAME compares all the same)

---- c::Queue: deadlock ----
";
    let end = "
it cannot be repeated, for it could not be saved: no room

raddle hunt: FOUND. 0 clean; 1 with findings; 2 tests, 40 executions
";
    assert!(human.starts_with(beginning), "{human}");
    assert!(human.contains("\n    fn found() {}\n") && human.contains("\n    1: add returns 1\n"), "{human}");
    assert!(human.ends_with(end), "{human}");
    let summary: serde_json::Value = serde_json::from_str(json.lines().last().unwrap()).unwrap();
    let expected = serde_json::json!({
        "event": "summary", "exit_code": 1, "types": 1, "clean": 0, "found": 1, "untested": 0, "skipped": 0, "errors": 0,
        "findings": 1, "unconfirmed": 0, "tests": 2, "executions": 40,
    });
    assert_eq!(summary, expected);
}

#[test]
fn what_the_compiler_said_of_a_harness_is_a_line_of_its_own_for_scripts() {
    let message = Some("it does not build".to_owned());
    let ended = TypeEnded { message, details: Some("error: no"), ..type_ended(TypeStatus::Error) };
    let (human, json) = both(&[Event::Type(ended)], Summary::of_types());
    assert!(human.contains("type c::Queue ... ERROR: it does not build\n     error: no\n"), "{human}");
    let names: Vec<_> = json.lines().map(|l| l.split('"').nth(3).unwrap()).collect();
    assert_eq!(names, ["error", "type", "summary"]);
    assert!(json.contains(r#""details":"error: no""#));
}

#[test]
fn a_finding_counts_more_than_a_failure_of_the_tool_and_that_more_than_what_was_not_tested() {
    let exit = |statuses: &[TestStatus]| {
        let mut summary = Summary::of_tests();
        for &status in statuses {
            let stats = Stats::default();
            let ended = TestEnded { id: id("t"), status, message: None, stop: None, stats: &stats };
            summary.count(&Event::Test(ended));
        }
        summary.exit_code
    };
    use TestStatus::{Error, NoThreads, Ok as Fine, Unconfirmed};
    assert_eq!(exit(&[]), Exit::Untested);
    assert_eq!(exit(&[Fine, NoThreads]), Exit::Clean);
    assert_eq!(exit(&[NoThreads]), Exit::Untested);
    assert_eq!(exit(&[Fine, Unconfirmed]), Exit::Untested);
    assert_eq!(exit(&[Fine, Error, Unconfirmed]), Exit::Failed);
    let failure = failure();
    let mut summary = Summary::of_types();
    let of = FindingOf::Test { id: id("t"), execution: 0, early: vec![] };
    summary.count(&Event::Finding(Finding::new(of, &failure, Ok(Path::new("f")), &[])));
    summary.count(&Event::Type(type_ended(TypeStatus::Error)));
    assert_eq!(summary.exit_code, Exit::Found);
}
