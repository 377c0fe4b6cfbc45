//! `cargo raddle test` against a fake worker.

mod support;

use raddle_core::outcome::Kind;
use raddle_core::protocol::{Failure, Message, Stats, Stop, Uncontrolled};
use support::{Fake, done, failed, lost_update, read, stats};

#[test]
fn a_test_without_failures_passes_and_the_summary_comes_last() {
    let fake = Fake::new(&["quick"]);
    fake.passes("quick");
    let ran = fake.test(&[]);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    assert_eq!(ran.status("quick"), "ok");
    let last = ran.events().pop().unwrap();
    assert_eq!(
        (&last["event"], &last["exit_code"], &last["passed"]),
        (&"summary".into(), &0.into(), &1.into())
    );
}

#[test]
fn a_worker_gets_exactly_one_test_to_run() {
    let fake = Fake::new(&["quick"]);
    fake.passes("quick");
    fake.test(&[]);
    assert_eq!(read(&fake.path("quick.args")), "quick --exact --nocapture --test-threads=1\n");
}

#[test]
fn the_job_carries_what_the_command_line_says() {
    let fake = Fake::new(&["quick"]);
    fake.passes("quick");
    fake.answer("quick.search.before", "cp \"$RADDLE_JOB\" \"$answers/job\"\n");
    fake.test(&[
        "--seed",
        "7",
        "--strategy",
        "pct:3",
        "--schedules",
        "5",
        "--budget",
        "2m",
        "--every-access",
    ]);
    let job: raddle_core::protocol::Job = serde_json::from_str(&read(&fake.path("job"))).unwrap();
    assert_eq!((job.seed, job.strategy.as_str(), job.schedules, job.budget_ms), (7, "pct:3", 5, 120_000));
    assert!(job.every_access && job.message_fd == 0 && job.replay.is_none());
}

#[test]
fn a_failure_that_repeats_is_a_finding_with_a_file() {
    let fake = Fake::new(&["quick"]);
    let failure = lost_update();
    fake.fails("quick", &failure, &[failed(&failure), done(Stop::Failures)]);
    let ran = fake.test(&[]);
    assert_eq!(ran.code, 1);
    let event = &ran.named("finding")[0];
    assert_eq!((&event["kind"], &event["execution"]), (&"panic".into(), &17.into()));
    assert_eq!(event["file"].as_str().unwrap(), fake.finding().to_str().unwrap());
    let file: serde_json::Value = serde_json::from_str(&read(&fake.finding())).unwrap();
    assert_eq!(file["format"], "raddle-finding");
    assert_eq!(file["test"], "quick");
    assert_eq!(serde_json::from_value::<Failure>(file["failure"].clone()).unwrap(), failure);
}

#[test]
fn the_same_finding_gets_the_same_file_again() {
    let fake = Fake::new(&["quick"]);
    let failure = lost_update();
    fake.fails("quick", &failure, &[failed(&failure), done(Stop::Failures)]);
    fake.test(&[]);
    let (file, text) = (fake.finding(), read(&fake.finding()));
    fake.test(&[]);
    assert_eq!((fake.finding(), read(&fake.finding())), (file, text));
}

#[test]
fn a_failure_whose_replay_passes_is_no_finding() {
    for instead in [Stop::ReplayPassed, Stop::Diverged("thread 1 is not there".into())] {
        let fake = Fake::new(&["quick"]);
        fake.fails("quick", &lost_update(), &[done(instead)]);
        let ran = fake.test(&[]);
        assert_eq!(ran.code, 3);
        assert_eq!(ran.status("quick"), "unconfirmed");
        assert_eq!(ran.named("unconfirmed").len(), 1);
        assert!(fake.findings().is_empty() && ran.named("finding").is_empty());
    }
}

#[test]
fn a_failure_whose_replay_fails_differently_is_no_finding() {
    let fake = Fake::new(&["quick"]);
    let other = Failure { kind: Kind::Deadlock, ..lost_update() };
    fake.fails("quick", &lost_update(), &[failed(&other), done(Stop::Failures)]);
    let ran = fake.test(&[]);
    assert_eq!((ran.code, fake.findings().len()), (3, 0));
    assert!(ran.named("unconfirmed")[0]["instead"].as_str().unwrap().contains("deadlock"));
}

#[test]
fn an_unconfirmed_failure_does_not_hide_a_finding_elsewhere() {
    let fake = Fake::new(&["quick", "other"]);
    let failure = lost_update();
    fake.fails("quick", &failure, &[done(Stop::ReplayPassed)]);
    fake.fails("other", &failure, &[failed(&failure), done(Stop::Failures)]);
    assert_eq!(fake.test(&[]).code, 1);
}

#[test]
fn the_same_failure_reported_twice_is_one_finding() {
    let fake = Fake::new(&["quick"]);
    let failure = lost_update();
    fake.fails("quick", &failure, &[failed(&failure), done(Stop::Failures)]);
    let again = Failure { execution: 99, ..failure.clone() };
    fake.say("quick.search", &[failed(&failure), failed(&again), done(Stop::Budget)]);
    let ran = fake.test(&["--max-failures", "2"]);
    assert_eq!(ran.named("finding").len(), 1);
}

#[test]
fn tests_without_threads_are_skipped_and_testing_nothing_is_not_a_pass() {
    let fake = Fake::new(&["quick"]);
    fake.say("quick.search", &[done(Stop::NoThreads(0))]);
    let ran = fake.test(&[]);
    assert_eq!((ran.code, ran.status("quick").as_str()), (3, "no-threads"));
    let fake = Fake::new(&["quick", "other"]);
    fake.say("quick.search", &[done(Stop::NoThreads(0))]);
    fake.passes("other");
    assert_eq!(fake.test(&[]).code, 0);
}

#[test]
fn a_test_that_fails_with_one_thread_is_a_finding_without_a_schedule() {
    let fake = Fake::new(&["quick"]);
    fake.say("quick.search", &[done(Stop::NoThreads(101))]);
    fake.answer(
        "quick.search.before",
        "printf \"thread 'quick' panicked at src/a.rs:7:5:\\nso it goes\\n\"\n",
    );
    let ran = fake.test(&[]);
    assert_eq!((ran.code, ran.status("quick").as_str()), (1, "failed"));
    let file: serde_json::Value = serde_json::from_str(&read(&fake.finding())).unwrap();
    assert_eq!((&file["repeat"], &file["failure"]["kind"]), (&"native".into(), &"panic".into()));
    assert!(file["failure"]["message"].as_str().unwrap().starts_with("so it goes\n"), "{file}");
    assert_eq!(
        (&file["failure"]["at"]["file"], &file["failure"]["at"]["line"]),
        (&"src/a.rs".into(), &7.into())
    );
    assert_eq!(fake.replay(&[]).code, 1);
}

#[test]
fn what_was_not_wholly_controlled_is_not_a_pass() {
    let fake = Fake::new(&["quick", "other"]);
    fake.passes("other");
    let uncontrolled = vec![Uncontrolled { call: "epoll_wait".into(), at: None }];
    fake.say(
        "quick.search",
        &[Message::Done { stats: Stats { uncontrolled, ..stats() }, reason: Stop::Budget }],
    );
    let ran = fake.test(&[]);
    assert_eq!((ran.code, ran.status("quick").as_str()), (3, "uncontrolled"));
}

#[test]
fn a_search_without_anything_to_decide_is_not_a_pass() {
    let fake = Fake::new(&["quick"]);
    let searched = |decisions, points| {
        let stats = Stats { decisions, points, ..stats() };
        fake.say("quick.search", &[Message::Done { stats, reason: Stop::Exhausted }]);
        let ran = fake.test(&[]);
        (ran.code, ran.status("quick"))
    };
    assert_eq!(searched(0, 0), (3, "no-steps".to_owned()));
    assert_eq!(searched(14, 0), (0, "ok".to_owned()), "there are locks");
    assert_eq!(searched(0, 2), (0, "ok".to_owned()), "a single schedule has learned where threads meet");
}

#[test]
fn a_worker_that_a_signal_ends_every_time_is_a_crash() {
    let fake = Fake::new(&["quick"]);
    fake.say("quick.search", &[Message::Progress(stats())]);
    fake.answer("quick.search.after", "echo last words\nkill -SEGV $$\n");
    let ran = fake.test(&[]);
    assert_eq!(ran.code, 1, "{}", ran.stdout);
    let event = &ran.named("finding")[0];
    assert_eq!(event["kind"], "crash");
    assert!(event["message"].as_str().unwrap().contains("SIGSEGV"));
    assert!(read(&fake.finding()).contains("last words"));
    assert_eq!(fake.replay(&[]).code, 1);
}

#[test]
fn a_worker_that_a_signal_ends_once_is_not_confirmed() {
    let fake = Fake::new(&["quick"]);
    fake.say("quick.search", &[done(Stop::Budget)]);
    let once = "if [ ! -f \"$answers/died\" ]; then touch \"$answers/died\"; kill -SEGV $$; fi\n";
    fake.answer("quick.search.before", once);
    let ran = fake.test(&[]);
    assert_eq!((ran.code, ran.status("quick").as_str()), (3, "unconfirmed"));
    assert!(fake.findings().is_empty());
}

#[test]
fn what_a_worker_had_found_before_it_died_stands() {
    let fake = Fake::new(&["quick"]);
    let failure = lost_update();
    fake.fails("quick", &failure, &[failed(&failure), done(Stop::Failures)]);
    fake.say("quick.search", &[failed(&failure)]);
    assert_eq!(fake.test(&[]).code, 1);
    assert_eq!(fake.findings().len(), 1);
}

#[test]
fn a_program_that_ignores_its_job_is_an_error_and_never_a_finding() {
    let fake = Fake::new(&["quick"]);
    fake.answer("quick.search", "");
    let ran = fake.test(&[]);
    assert_eq!((ran.code, ran.status("quick").as_str()), (2, "error"));
    assert!(fake.findings().is_empty());
}

#[test]
fn a_worker_that_breaks_the_protocol_is_an_error() {
    let fake = Fake::new(&["quick"]);
    fake.answer("quick.search", "good morning\n");
    let ran = fake.test(&[]);
    assert_eq!(ran.code, 2);
    assert!(ran.named("test")[0]["message"].as_str().unwrap().contains("good morning"));
}

#[test]
fn a_worker_that_hangs_is_killed_with_all_it_started() {
    let fake = Fake::new(&["quick"]);
    fake.answer("quick.search", "");
    fake.answer("quick.search.after", "sleep 1000 & echo $! > \"$answers/pid\"; wait\n");
    let ran = fake.test(&["--budget", "100ms", "--hang", "0", "--grace", "3s"]);
    assert_eq!((ran.code, ran.status("quick").as_str()), (3, "killed"));
    assert!(support::gone(&read(&fake.path("pid"))));
}

#[test]
fn results_come_in_the_order_of_the_tests_whoever_is_first() {
    let fake = Fake::new(&["slow", "quick", "other"]);
    for test in ["slow", "quick", "other"] {
        fake.passes(test);
    }
    fake.answer("slow.search.before", "while [ ! -f \"$answers/go\" ]; do sleep 0.01; done\n");
    fake.answer("other.search.before", "touch \"$answers/go\"\n");
    let ran = fake.test(&["--jobs", "2"]);
    let order: Vec<String> =
        ran.named("test").iter().map(|e| e["test"].as_str().unwrap().to_owned()).collect();
    assert_eq!(order, ["slow", "quick", "other"]);
}

#[test]
fn a_whole_program_gets_its_own_arguments() {
    let fake = Fake::new(&[]);
    fake.passes("main");
    let ran = fake.run(&["test", "--format", "json"], &["--", "--port", "80"]);
    assert_eq!((ran.code, ran.status("program").as_str()), (0, "ok"));
    assert_eq!(read(&fake.path("main.args")), "--port 80\n");
}

#[test]
fn a_name_that_matches_nothing_is_an_error_that_names_the_nearest() {
    let fake = Fake::new(&["quick", "slow"]);
    let ran = fake.test(&["quik"]);
    assert_eq!(ran.code, 2);
    assert!(ran.named("error")[0]["message"].as_str().unwrap().contains("nearest of 2 are `quick`"));
    assert_eq!(ran.events().pop().unwrap()["exit_code"], 2);
}

#[test]
fn tests_are_listed_without_being_run() {
    let fake = Fake::new(&["quick", "slow"]);
    fake.answer("ignored", "slow: test\n");
    let ran = fake.run(&["test", "--libtest", "--list"], &[]);
    assert_eq!((ran.code, fake.path("quick.args").exists()), (0, false));
    assert!(ran.stdout.ends_with("quick: test\n\n1 test\n"), "{}", ran.stdout);
    let ran = fake.test(&["--list", "--include-ignored"]);
    let listed: Vec<String> = ran.named("listed").iter().map(|e| e["test"].to_string()).collect();
    assert_eq!((ran.code, listed), (0, vec!["\"quick\"".to_owned(), "\"slow\"".to_owned()]));
}

#[test]
fn what_cargos_users_are_used_to_is_understood_or_refused_with_the_reason() {
    let fake = Fake::new(&["quick"]);
    fake.passes("quick");
    let ran = fake.test(&["--nocapture"]);
    assert_eq!(ran.code, 2);
    assert!(ran.named("error")[0]["message"].as_str().unwrap().contains("cargo test -- --nocapture"));
    let ran = fake.test(&["--test-threads", "1", "--", "--nocapture"]);
    assert_eq!(ran.code, 0, "{}", ran.stdout);
    assert!(ran.named("warning")[0]["message"].as_str().unwrap().contains("after `--`"), "{}", ran.stdout);
}

#[test]
fn ignored_tests_run_only_on_request_and_know_it() {
    let fake = Fake::new(&["quick", "slow"]);
    fake.answer("ignored", "slow: test\n");
    fake.passes("quick");
    fake.passes("slow");
    let ran = fake.test(&[]);
    assert_eq!((ran.named("test").len(), &ran.named("summary")[0]["ignored"]), (1, &1.into()));
    fake.test(&["--include-ignored"]);
    assert!(read(&fake.path("slow.args")).contains("--include-ignored"));
}

#[test]
fn a_program_without_tests_is_not_a_pass() {
    assert_eq!(Fake::new(&[]).test(&[]).code, 3);
}

#[test]
fn nothing_is_left_behind_but_findings_and_the_runtime() {
    let fake = Fake::new(&["quick"]);
    fake.passes("quick");
    fake.test(&[]);
    let left: Vec<_> = std::fs::read_dir(fake.out()).unwrap().map(|e| e.unwrap().file_name()).collect();
    assert_eq!(left, ["rt"]);
}

#[test]
fn a_finding_that_cannot_be_saved_is_told_and_the_other_tests_are_run_all_the_same() {
    let fake = Fake::new(&["quick", "other"]);
    let failure = lost_update();
    fake.fails("quick", &failure, &[failed(&failure), done(Stop::Failures)]);
    fake.passes("other");
    // Where the directory of findings should be, there is no room for one.
    std::fs::create_dir(fake.out()).unwrap();
    std::fs::write(fake.out().join("findings"), "").unwrap();
    let ran = fake.test(&[]);
    assert_eq!((ran.code, ran.status("quick").as_str(), ran.status("other").as_str()), (1, "failed", "ok"));
    assert!(ran.named("finding")[0]["file"].is_null(), "{}", ran.stdout);
    assert!(ran.named("error")[0]["message"].as_str().unwrap().contains("findings"), "{}", ran.stdout);
    let human = fake.run(&["test", "--libtest"], &[]);
    assert_eq!(human.code, 1);
    assert!(
        human.stdout.contains("it cannot be repeated, for it could not be saved: cannot"),
        "{}",
        human.stdout
    );
}

/// Sends the signal that asks a program to end.
fn terminate(child: &std::process::Child) {
    let pid = child.id().to_string();
    assert!(std::process::Command::new("kill").args(["-TERM", &pid]).status().unwrap().success());
}

#[test]
fn a_command_that_lists_tests_can_be_interrupted() {
    let fake = Fake::new(&["quick"]);
    std::fs::remove_file(fake.path("list")).unwrap();
    assert!(std::process::Command::new("mkfifo").arg(fake.path("list")).status().unwrap().success());
    let mut command = support::raddle();
    command.args(["test", "--libtest", "--executable"]).arg(fake.program()).arg("--out").arg(fake.out());
    let child = command.stderr(std::process::Stdio::piped()).spawn().unwrap();
    // This waits until the program reads its list, and then never gives it one.
    let _list = std::fs::OpenOptions::new().write(true).open(fake.path("list")).unwrap();
    terminate(&child);
    let ran = support::ran(child.wait_with_output().unwrap());
    assert_eq!(ran.code, 2);
    assert!(ran.stderr.contains("error: interrupted"), "{}", ran.stderr);
}

#[test]
fn a_command_that_builds_can_be_interrupted_and_leaves_no_build_behind() {
    let dir = tempfile::tempdir().unwrap();
    let path = |name: &str| dir.path().join(name);
    let manifest = "[package]\nname = \"slow\"\nversion = \"0.1.0\"\nedition = \"2024\"\n[workspace]\n";
    std::fs::create_dir(path("src")).unwrap();
    std::fs::write(path("Cargo.toml"), manifest).unwrap();
    std::fs::write(path("src/lib.rs"), "").unwrap();
    let cargo = format!(
        "#!/bin/sh\nif [ \"$1\" = metadata ]; then exec {} \"$@\"; fi\ncd {}\n\
         sh -c 'sleep 1000 & echo $! > started; mv started pid; wait'\n",
        env!("CARGO"),
        dir.path().display()
    );
    std::fs::write(path("cargo"), cargo).unwrap();
    std::fs::set_permissions(path("cargo"), std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    for what in ["test", "hunt"] {
        let mut command = support::raddle();
        command.args([what, "--format", "json", "--manifest-path"]).arg(path("Cargo.toml"));
        command.env("CARGO", path("cargo")).stdout(std::process::Stdio::piped());
        let child = command.spawn().unwrap();
        while !path("pid").exists() {
            std::thread::sleep(std::time::Duration::from_millis(5));
        }
        terminate(&child);
        let ran = support::ran(child.wait_with_output().unwrap());
        assert_eq!(
            (ran.code, &ran.events().pop().unwrap()["event"]),
            (2, &"summary".into()),
            "{}",
            ran.stdout
        );
        assert!(
            ran.named("error")[0]["message"].as_str().unwrap().starts_with("interrupted"),
            "{}",
            ran.stdout
        );
        while !support::gone(&read(&path("pid"))) {
            std::thread::sleep(std::time::Duration::from_millis(5));
        }
        std::fs::remove_file(path("pid")).unwrap();
    }
}

#[test]
fn an_interrupted_command_ends_its_workers_and_reports_what_it_had() {
    let fake = Fake::new(&["quick", "slow"]);
    fake.passes("quick");
    fake.answer("slow.search", "");
    fake.answer(
        "slow.search.after",
        "sleep 1000 & echo $! > \"$answers/started\"; mv \"$answers/started\" \"$answers/pid\"; wait\n",
    );
    let mut command = support::raddle();
    command
        .args(["test", "--format", "json", "--libtest", "--jobs", "1", "--executable"])
        .arg(fake.program());
    let child = command.arg("--out").arg(fake.out()).stdout(std::process::Stdio::piped()).spawn().unwrap();
    while !fake.path("pid").exists() {
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
    let kill = std::process::Command::new("kill").arg("-INT").arg(child.id().to_string()).status().unwrap();
    assert!(kill.success());
    let ran = support::ran(child.wait_with_output().unwrap());
    assert_eq!((ran.code, ran.status("quick").as_str()), (2, "ok"));
    assert_eq!(ran.events().pop().unwrap()["event"], "summary");
    assert!(support::gone(&read(&fake.path("pid"))));
}
