//! `cargo raddle replay` against a fake worker.

mod support;

use raddle_core::Event;
use raddle_core::protocol::{Failure, Stop};
use raddle_core::trace::Trace;
use std::io::Write;
use support::{Fake, done, failed, lost_update, raddle, ran, read};

/// A program with one finding.
fn found(failure: &Failure) -> Fake {
    let fake = Fake::new(&["quick"]);
    fake.fails("quick", failure, &[failed(failure), done(Stop::Failures)]);
    assert_eq!(fake.test(&[]).code, 1);
    fake
}

#[test]
fn a_finding_that_fails_again_is_shown_and_ends_with_1() {
    let ran = found(&lost_update()).replay(&[]);
    assert_eq!(ran.code, 1, "{}", ran.stderr);
    assert!(ran.stdout.starts_with("replay of quick: it failed in the same way\n"), "{}", ran.stdout);
    assert!(ran.stdout.contains("| thread 1"));
}

#[test]
fn the_worker_gets_the_recorded_schedule() {
    let fake = found(&lost_update());
    fake.answer("quick.replay.before", "cp \"$RADDLE_JOB\" \"$answers/job\"\n");
    fake.replay(&[]);
    let job: raddle_core::protocol::Job = serde_json::from_str(&read(&fake.path("job"))).unwrap();
    assert_eq!(job.replay, Some(lost_update().schedule));
}

#[test]
fn a_finding_that_passes_diverges_or_fails_differently_ends_with_3() {
    let fake = found(&lost_update());
    let other = Failure { message: "something else".into(), at: None, ..lost_update() };
    for (messages, verdict) in [
        (vec![done(Stop::ReplayPassed)], "passed"),
        (vec![done(Stop::Diverged("no such thread".into()))], "diverged"),
        (vec![failed(&other), done(Stop::Failures)], "different"),
        (vec![], "broken"),
    ] {
        fake.say("quick.replay", &messages);
        let ran = fake.replay(&["--format", "json"]);
        assert_eq!((ran.code, &ran.named("replay")[0]["verdict"]), (3, &verdict.into()));
        assert_eq!(ran.events().pop().unwrap()["event"], "summary");
    }
}

#[test]
fn a_file_from_another_build_is_refused() {
    let fake = found(&lost_update());
    let mut program = std::fs::OpenOptions::new().append(true).open(fake.program()).unwrap();
    writeln!(program, "# another build").unwrap();
    drop(program);
    let ran = fake.replay(&[]);
    assert_eq!(ran.code, 2);
    assert!(ran.stderr.contains("it belongs to another build of program"), "{}", ran.stderr);
}

#[test]
fn a_file_from_another_runtime_is_refused() {
    let fake = found(&lost_update());
    let mut file: serde_json::Value = serde_json::from_str(&read(&fake.finding())).unwrap();
    file["runtime"] = "0123".into();
    std::fs::write(fake.finding(), file.to_string()).unwrap();
    let ran = fake.replay(&[]);
    assert_eq!(ran.code, 2);
    assert!(ran.stderr.contains("another build of raddle"), "{}", ran.stderr);
}

#[test]
fn a_test_that_is_gone_is_named() {
    let fake = found(&lost_update());
    fake.answer("list", "slow: test\n");
    let ran = fake.replay(&[]);
    assert_eq!(ran.code, 2);
    assert!(ran.stderr.contains("no test `quick`"), "{}", ran.stderr);
}

#[test]
fn a_program_that_is_gone_is_named() {
    let fake = found(&lost_update());
    std::fs::remove_file(fake.program()).unwrap();
    let ran = fake.replay(&[]);
    assert_eq!(ran.code, 2);
    assert!(ran.stderr.contains("is not there"), "{}", ran.stderr);
}

#[test]
fn a_file_that_is_no_finding_gets_an_error_and_a_summary() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("f.json");
    std::fs::write(&file, "[1, 2").unwrap();
    let ran = ran(raddle().args(["replay", "--format", "json"]).arg(&file).output().unwrap());
    assert_eq!(ran.code, 2);
    let events = ran.events();
    assert_eq!((&events[0]["event"], &events[1]["event"]), (&"error".into(), &"summary".into()));
}

#[test]
fn a_long_trace_is_cut_in_the_middle_unless_all_is_wanted() {
    let mut failure = lost_update();
    let events = (0..400).map(|i| Event::read(i / 7 % 2, 0, i % 11)).collect();
    failure.trace = Trace { events, vars: failure.trace.vars };
    let fake = found(&failure);
    let cut = fake.replay(&[]).stdout;
    assert!(cut.contains("... 320 steps not shown (--full shows them) ..."), "{cut}");
    assert!(
        cut.contains("\n 19 ")
            && !cut.contains("\n 20 ")
            && !cut.contains("\n339 ")
            && cut.contains("\n340 ")
    );
    let full = fake.replay(&["--full"]).stdout;
    assert!(!full.contains("not shown") && full.contains("\n200 "));
}

#[test]
fn numbers_without_a_meaning_do_not_break_the_picture() {
    let mut failure = lost_update();
    failure.symbols.sites.clear();
    failure.symbols.names.clear();
    let ran = found(&failure).replay(&[]);
    assert!(ran.stdout.contains("read variable 0 = 0"), "{}", ran.stdout);
}

#[test]
fn a_finding_is_repeated_as_often_as_wanted_and_must_fail_every_time() {
    let fake = found(&lost_update());
    let ran = fake.replay(&["--times", "5", "--format", "json"]);
    assert_eq!((ran.code, &ran.named("replay")[0]["reproduced"]), (1, &5.into()));
    assert_eq!(read(&fake.path("quick.args")).lines().count(), 2 + 5);
    let thrice =
        "echo >> \"$answers/count\"; if [ $(wc -l < \"$answers/count\") -gt 3 ]; then name=other; fi\n";
    fake.answer("quick.replay.before", thrice);
    fake.say("other.replay", &[done(Stop::ReplayPassed)]);
    let ran = fake.replay(&["--times", "5", "--format", "json"]);
    let event = &ran.named("replay")[0];
    assert_eq!((ran.code, &event["reproduced"], &event["verdict"]), (3, &3.into(), &"passed".into()));
}

#[test]
fn a_pipe_is_not_waited_for_and_no_finding() {
    let dir = tempfile::tempdir().unwrap();
    let pipe = dir.path().join("pipe");
    assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    let ran = ran(raddle().arg("replay").arg(&pipe).output().unwrap());
    assert_eq!(ran.code, 2);
    assert!(ran.stderr.contains("it is a pipe or device, not a finding file"), "{}", ran.stderr);
}
