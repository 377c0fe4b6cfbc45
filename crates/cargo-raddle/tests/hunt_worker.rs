//! What the worker of a hunt answers, whatever the code under test does.

#[path = "support/harness.rs"]
mod harness;

use harness::thunk::*;
use harness::{Worker, result, run, test, value};
use raddle_core::event::ThreadId;
use raddle_core::outcome::Kind;
use raddle_core::schedule::{Schedule, Transfer};
use raddle_hunt::oracle::Intervals;
use raddle_hunt::protocol::{Request, Rest};
use raddle_hunt::{CallResult, Execution, Fresh, Run, RunReply};
use std::collections::BTreeSet;

/// Adding, with a call that goes wrong when it sees the sum 1.
fn with_add(thunk: u32) -> Run {
    run(&[&[ADD], &[thunk]], "random", 40)
}

fn failures(executions: &[Execution]) -> Vec<Kind> {
    executions.iter().filter_map(Execution::failed).collect()
}

#[test]
fn different_results_and_orders_are_told_once_each_with_a_schedule_that_repeats_them() {
    let mut worker = Worker::start();
    let adds = Run { test: test(&[&[ADD], &[ADD]], &[GET]), ..run(&[], "random", 200) };
    let reply = worker.one(adds.clone());
    assert_eq!((reply.executions, reply.exhausted), (200, false));
    assert!(reply.steps > 200 && reply.decisions > 200, "{} {}", reply.steps, reply.decisions);
    let seen: Vec<_> =
        reply.distinct.iter().map(|e| (result(e, 1, 0), result(e, 2, 0), result(e, 0, 1))).collect();
    let (one, two) = (value("1"), value("2"));
    assert!(seen.contains(&(&one, &one, &one)), "the lost update");
    assert!(seen.contains(&(&one, &two, &two)) && seen.contains(&(&two, &one, &two)));
    // Two orders, two overlaps that go well, one that does not.
    assert_eq!(seen.len(), 5, "{seen:?}");
    assert_eq!(reply.pairs.len(), 1);
    assert_eq!((reply.pairs[0].0, reply.pairs[0].1), (ADD, ADD));
    for execution in &reply.distinct {
        let again =
            worker.one(Run { replay: Some(execution.schedule.clone()), traces: true, ..adds.clone() });
        assert_eq!((again.executions, &again.diverged), (1, &None));
        assert_eq!(again.distinct[0].calls, execution.calls);
        assert!(again.distinct[0].trace.as_ref().is_some_and(|t| !t.events.is_empty()));
    }
    assert_eq!(worker.end(), 0);
}

#[test]
fn the_same_request_has_the_same_answer_in_every_worker() {
    let answer = || {
        let mut worker = Worker::start();
        worker.ask(vec![with_add(GET), with_add(EXIT), run(&[&[LEFT_RIGHT], &[RIGHT_LEFT]], "pct", 50)])
    };
    assert_eq!(answer(), answer());
}

#[test]
fn the_code_under_test_may_end_its_process_in_any_way_and_the_run_goes_on() {
    let mut worker = Worker::start();
    for (thunk, kind, words) in [
        (EXIT, Kind::Crash, "exit(7)"),
        (OVERFLOW, Kind::Crash, "stack overflow"),
        (ALLOCATE, Kind::Crash, "runaway memory"),
        (ABORT, Kind::Crash, "aborted"),
        (STALE, Kind::Crash, "wild pointer"),
    ] {
        let reply = worker.one(with_add(thunk));
        assert_eq!(reply.executions, 40);
        assert!(failures(&reply.distinct).iter().all(|k| *k == kind), "{words}");
        let failed = reply.distinct.iter().find(|e| e.failure.is_some()).expect(words);
        let message = &failed.failure.as_ref().unwrap().message;
        assert!(message.contains(words), "{words}: {message}");
        assert_eq!(result(failed, 2, 0), &CallResult::Unfinished);
        assert!(reply.distinct.iter().any(|e| e.failure.is_none()), "{words}");
    }
}

#[test]
fn a_run_that_is_to_stop_at_a_failure_stops_there_and_the_next_one_begins() {
    let mut worker = Worker::start();
    let stop = Run { stop_at_failure: true, ..with_add(EXIT) };
    let [first, second] = <[_; 2]>::try_from(worker.ask(vec![stop, with_add(GET)])).unwrap();
    assert!(first.executions < 40);
    assert_eq!(first.distinct.last().unwrap().failed(), Some(Kind::Crash));
    assert_eq!((second.executions, failures(&second.distinct)), (40, vec![]));
}

#[test]
fn a_test_that_ran_away_is_run_no_further_and_the_next_one_is() {
    let mut worker = Worker::start();
    let stop = |thunk| Run { stop_at_runaway: true, ..with_add(thunk) };
    for (thunk, kind) in [(ALLOCATE, Kind::Crash), (HANG, Kind::Timeout)] {
        let runs = vec![stop(thunk), stop(thunk), stop(GET), stop(thunk)];
        let [first, same, other, again] = <[_; 4]>::try_from(worker.ask(runs)).unwrap();
        assert!((1..40).contains(&first.executions), "{first:?}");
        assert_eq!(first.distinct.last().unwrap().failed(), Some(kind));
        assert_eq!((same.executions, failures(&same.distinct)), (0, vec![]));
        assert_eq!((other.executions, failures(&other.distinct)), (40, vec![]));
        assert!((1..40).contains(&again.executions), "another test came in between");
    }
    let crash = worker.one(stop(EXIT));
    assert_eq!(crash.executions, 40, "other failures cost little");
}

#[test]
fn a_deadlock_names_who_waits_for_whom_and_its_schedule_repeats_it() {
    let mut worker = Worker::start();
    let locks = run(&[&[LEFT_RIGHT], &[RIGHT_LEFT]], "random", 100);
    let reply = worker.one(locks.clone());
    let stuck = reply.distinct.iter().find(|e| e.failed() == Some(Kind::Deadlock)).expect("a deadlock");
    let message = &stuck.failure.as_ref().unwrap().message;
    assert!(message.contains("held by 1") && message.contains("held by 2"), "{message}");
    let again = worker.one(Run { replay: Some(stuck.schedule.clone()), ..locks });
    assert_eq!(again.distinct[0].failed(), Some(Kind::Deadlock));
}

#[test]
fn a_schedule_cut_short_ends_in_no_deadlock_while_somebody_could_go_on() {
    let mut worker = Worker::start();
    let pairs = [
        [LEFT_RIGHT, LEFT_RIGHT],
        [FIRST_SECOND, FIRST_SECOND],
        [SHARE, OWN],
        [OWN, OWN],
        [LINGER, ADD],
        [PASS, OPEN],
    ];
    for [one, other] in pairs {
        let calls = run(&[&[one], &[other]], "random", 20);
        let whole = worker.one(calls.clone());
        assert_eq!(failures(&whole.distinct), [], "{one} {other}");
        for schedule in whole.distinct.iter().map(|e| &e.schedule) {
            for end in 0..schedule.transfers.len() {
                let cut = Schedule { transfers: schedule.transfers[..end].to_vec(), ..Schedule::default() };
                let reply = worker.one(Run { replay: Some(cut.clone()), ..calls.clone() });
                assert_eq!(failures(&reply.distinct), [], "{one} {other}: {cut:?} of {schedule:?}");
            }
        }
    }
}

#[test]
fn who_spins_when_a_schedule_is_over_lets_those_go_on_who_have_not_run_yet() {
    let calls = run(&[&[PASS], &[OPEN]], "random", 20);
    let whole = Worker::start().one(calls.clone());
    let begins = |e: &Execution| e.schedule.transfers.iter().take(3).copied().collect();
    let schedules: Vec<Vec<Transfer>> = whole.distinct.iter().map(begins).collect();
    assert!(!schedules.is_empty());
    for transfers in schedules {
        // This worker has not seen that others write what it reads.
        let replay = Some(Schedule { transfers, ..Schedule::default() });
        let reply = Worker::start().one(Run { replay, ..calls.clone() });
        assert_eq!(failures(&reply.distinct), []);
    }
}

#[test]
fn a_wait_that_ends_after_the_end_of_a_schedule_ends_because_time_runs_out() {
    let mut worker = Worker::start();
    let calls = run(&[&[PASS], &[LINGER], &[OPEN]], "random", 200);
    let mut lingered = 0;
    let distinct: Vec<_> =
        (0..20).flat_map(|seed| worker.one(Run { seed, ..calls.clone() }).distinct).collect();
    for transfers in distinct.iter().map(|e| &e.schedule.transfers) {
        let Some(end) = transfers.iter().position(|t| t.timeout) else { continue };
        // The second thread waits, and the first goes on with nobody to let it pass.
        let Some(left) = transfers[..end - 1].iter().rposition(|t| t.to == ThreadId(2)) else { continue };
        let mut transfers = transfers[..=left + 1].to_vec();
        transfers[left + 1].to = ThreadId(1);
        let reply =
            worker.one(Run { replay: Some(Schedule { transfers, ..Schedule::default() }), ..calls.clone() });
        let calls = reply.distinct.iter().flat_map(|e| &e.calls);
        let ended: Vec<_> = calls.filter(|c| c.thread == 2 && c.end.is_some()).collect();
        assert!(ended.iter().all(|c| c.result == value("true")), "{ended:?}");
        lingered += ended.len();
    }
    assert!(lingered > 0);
}

#[test]
fn code_that_never_comes_back_is_given_up() {
    let mut worker = Worker::start();
    let hang = Run { stop_at_failure: true, ..with_add(HANG) };
    // First nobody is known to write what it waits for, then somebody is.
    let both = run(&[&[PASS], &[OPEN]], "random", 10);
    let spin = run(&[&[PASS], &[GET]], "random", 1);
    let [hang, first, both, spin] =
        <[_; 4]>::try_from(worker.ask(vec![hang, spin.clone(), both, spin.clone()])).unwrap();
    assert_eq!(failures(&hang.distinct), [Kind::Timeout]);
    assert_eq!(failures(&first.distinct), [Kind::Livelock]);
    assert_eq!(failures(&both.distinct), []);
    let [livelock] = &spin.distinct[..] else { panic!("{spin:?}") };
    assert_eq!(livelock.failed(), Some(Kind::Livelock));
    let schedule = first.distinct[0].schedule.clone();
    let again = worker.one(Run { replay: Some(schedule), fresh: Fresh::Once, ..spin_once() });
    assert_eq!(failures(&again.distinct), [Kind::Livelock], "{:?}", again.diverged);
}

fn spin_once() -> Run {
    run(&[&[PASS], &[GET]], "random", 1)
}

#[test]
fn what_a_sequential_order_explains_is_not_sent() {
    let mut worker = Worker::start();
    let adds = Run { explain: true, test: test(&[&[ADD], &[ADD]], &[GET]), ..run(&[], "random", 200) };
    let reply = worker.one(adds);
    let [lost] = &reply.distinct[..] else { panic!("{:?}", reply.distinct) };
    let one = value("1");
    assert_eq!((result(lost, 1, 0), result(lost, 2, 0), result(lost, 0, 1)), (&one, &one, &one));
    // Two orders, and two overlaps with the results of these.
    assert_eq!((reply.executions, reply.explained, reply.serial), (200, 4, 2));
    assert!(!lost.explained);
    let again =
        worker.one(Run { replay: Some(lost.schedule.clone()), ..run(&[&[ADD], &[ADD]], "random", 1) });
    assert_eq!(again.distinct[0].calls[..3], lost.calls[..3], "{:?}", again.diverged);
}

/// Runs with two kinds of executions in doubt: updates that are lost, and ends of the process.
fn doubtful() -> Vec<Run> {
    let watched = |run| Run { explain: true, patterns: true, ..run };
    vec![watched(run(&[&[ADD], &[ADD]], "random", 100)), watched(with_add(EXIT)), watched(with_add(GET))]
}

fn watch(rest: Option<Rest>) -> Request {
    match rest {
        None => Request { watched: true, ..Request::new(0, doubtful()) },
        rest => Request { rest, ..Request::new(0, vec![]) },
    }
}

#[test]
fn what_is_in_doubt_is_told_at_once_and_the_rest_is_as_if_nobody_had_looked() {
    let whole = Worker::start().ask(doubtful());
    let mut worker = Worker::start();
    let mut told = vec![];
    let mut reply = worker.request(watch(None));
    while let Some((run, execution)) = reply.doubt {
        assert!(reply.runs.is_empty());
        told.push((run, *execution));
        // Other runs in between change nothing, unless they teach the worker where threads meet.
        assert_eq!(worker.one(Run { explain: true, ..with_add(ADD) }).executions, 40);
        reply = worker.request(watch(Some(Rest::Run)));
    }
    let all = whole.iter().zip(0..).flat_map(|(r, i)| r.distinct.iter().map(move |e| (i, e.clone())));
    assert_eq!(
        told.iter().map(|(run, e)| (*run, e.index)).collect::<Vec<_>>(),
        all.map(|(i, e)| (i, e.index)).collect::<Vec<_>>()
    );
    assert!(told.iter().any(|(run, _)| *run == 0) && told.iter().any(|(run, _)| *run == 1));
    for (one, other) in whole.iter().zip(&reply.runs) {
        let facts = |r: &raddle_hunt::RunReply| {
            let calls: Vec<_> = r.distinct.iter().map(|e| (e.index, e.calls.clone(), e.failed())).collect();
            (
                (r.executions, r.steps, r.explained, r.serial),
                calls,
                r.pairs.clone(),
                r.patterns.clone(),
                r.accesses.clone(),
                r.values,
            )
        };
        assert_eq!(facts(one), facts(other));
    }
    assert_eq!(reply.runs.len(), whole.len());
    assert!(whole[0].patterns.len() > 1);
}

#[test]
fn the_rest_of_what_is_in_doubt_can_be_left_out() {
    let mut worker = Worker::start();
    let reply = worker.request(watch(None));
    let (run, execution) = reply.doubt.expect("a lost update");
    assert_eq!(run, 0);
    let reply = worker.request(watch(Some(Rest::Drop)));
    let [begun] = &reply.runs[..] else { panic!("{:?}", reply.runs) };
    assert_eq!((begun.executions, begun.distinct.len()), (execution.index + 1, 1));
    assert!(begun.executions < 100 && !begun.patterns.is_empty());
    assert!(worker.request(watch(Some(Rest::Run))).runs.is_empty(), "there is no rest");
    assert_eq!(worker.one(with_add(GET)).executions, 40);
}

#[test]
fn executions_in_processes_of_their_own_are_explained_by_orders_in_processes_of_their_own() {
    let mut worker = Worker::start();
    let visits = Run { explain: true, fresh: Fresh::Each, ..run(&[&[VISITS], &[VISITS]], "random", 20) };
    let reply = worker.one(visits);
    assert_eq!((reply.executions, reply.distinct.len()), (20, 0), "{:?}", reply.distinct);
    assert!(reply.explained > 0 && (1..=2).contains(&reply.serial), "{} {}", reply.explained, reply.serial);
}

#[test]
fn a_sequential_order_that_ends_the_process_explains_nothing_and_the_run_goes_on() {
    let mut worker = Worker::start();
    let reply = worker.one(Run { explain: true, ..with_add(EXIT) });
    assert_eq!(reply.executions, 40);
    assert!(reply.distinct.iter().any(|e| e.failed() == Some(Kind::Crash)));
    let plain = worker.one(with_add(EXIT));
    let sound = plain.distinct.iter().filter(|e| e.failure.is_none()).count() as u64;
    let unexplained = reply.distinct.iter().filter(|e| e.failure.is_none()).count() as u64;
    assert_eq!(reply.explained + unexplained, sound);
}

#[test]
fn calls_that_all_return_are_told_in_a_word_and_others_in_full() {
    let mut worker = Worker::start();
    let alone = |suffixes: &[&[u32]], expects| Run { expects, ..run(suffixes, "serial", 1) };
    let fine = worker.one(alone(&[&[ADD, GET], &[ADD]], 4));
    assert!(fine.clean && fine.distinct.is_empty());
    let skipped = worker.one(alone(&[&[ADD, GET], &[ADD]], 5));
    assert!(!skipped.clean && skipped.distinct.len() == 1);
    let panics = worker.one(alone(&[&[ADD], &[PANIC]], 3));
    assert!(!panics.clean && matches!(result(&panics.distinct[0], 2, 0), CallResult::Panic { .. }));
    let exits = worker.one(alone(&[&[ADD], &[EXIT]], 3));
    assert_eq!((exits.clean, failures(&exits.distinct)), (false, vec![Kind::Crash]));
    let waits = worker.one(alone(&[&[PASS], &[OPEN]], 3));
    assert!(waits.clean, "a thread that spins in its call gives way: {:?}", waits.distinct);
}

#[test]
fn a_call_that_reads_what_the_one_before_has_read_is_not_taken_for_one_that_waits() {
    let mut worker = Worker::start();
    let orders = worker.one(run(&[&[GET; 8], &[ADD]], "serial", 100));
    assert!(orders.exhausted);
    assert_eq!(orders.executions, 9, "the other call comes before, between or after the eight");
}

/// The threads of the calls of those sequential orders in which none was interrupted.
fn uninterrupted(orders: &RunReply) -> BTreeSet<Vec<u32>> {
    let calls = |e: &Execution| Intervals::new(e.calls.iter().map(|c| (c.thread, c.start, c.end)));
    orders.distinct.iter().map(calls).filter(|c| !c.overlap()).map(|c| c.order()).collect()
}

#[test]
fn a_call_that_reads_the_same_many_times_or_gives_way_for_a_while_is_run_without_interruption() {
    let mut worker = Worker::start();
    for thunk in [SUM, SUM_ON_HEAP, GET_POLITELY] {
        for calm in [true, false] {
            let orders = worker.one(Run { calm, ..run(&[&[thunk, thunk], &[ADD]], "serial", 100) });
            assert_eq!((orders.exhausted, orders.unsure), (true, 0), "{thunk} {calm}");
            assert_eq!(uninterrupted(&orders).len(), 3, "{thunk} {calm}: {:?}", orders.distinct);
            let both_ways = thunk == GET_POLITELY;
            assert!(both_ways || orders.distinct.len() == 3, "{thunk} {calm}: {:?}", orders.distinct);
        }
    }
}

#[test]
fn a_call_that_waits_for_certain_leaves_no_doubt_and_one_that_may_only_be_long_does() {
    let mut worker = Worker::start();
    for calm in [true, false] {
        let orders = |suffixes: &[&[u32]]| Run { calm, ..run(suffixes, "serial", 100) };
        let waits = worker.one(orders(&[&[PASS], &[OPEN]]));
        assert_eq!((waits.exhausted, waits.unsure), (true, 0));
        let long = worker.one(orders(&[&[GET_CAREFULLY], &[ADD]]));
        assert!(long.exhausted && long.unsure > 0, "{long:?}");
    }
}

#[test]
fn calm_sequential_orders_are_the_same_and_nothing_is_learned_from_them() {
    let mut worker = Worker::start();
    let both: [&[&[u32]]; 4] =
        [&[&[ADD, GET], &[ADD]], &[&[ADD], &[PANIC]], &[&[LEFT_RIGHT], &[RIGHT_LEFT]], &[&[PASS], &[OPEN]]];
    for suffixes in both {
        let orders = |calm| Run { calm, ..run(suffixes, "serial", 100) };
        let [calm, plain] = [true, false].map(|calm| worker.one(orders(calm)));
        assert!(calm.exhausted && plain.exhausted);
        let calls = |reply: &RunReply| -> Vec<_> { reply.distinct.iter().map(|e| e.calls.clone()).collect() };
        assert_eq!(calls(&calm), calls(&plain), "{suffixes:?}");
    }
    let traced = |calm| Run { calm, traces: true, ..run(&[&[ADD], &[ADD]], "serial", 1) };
    let [calm, plain] = [true, false].map(|calm| worker.one(traced(calm)));
    let accesses = |reply: &RunReply| {
        let trace = reply.distinct[0].trace.as_ref().unwrap();
        trace.events.iter().filter(|e| e.access().is_some()).count()
    };
    assert!(accesses(&calm) == 0 && accesses(&plain) > 0);
}

#[test]
fn a_panic_that_the_harness_catches_is_a_result_with_its_place() {
    let mut worker = Worker::start();
    let reply = worker.one(with_add(PANIC));
    assert_eq!(failures(&reply.distinct), []);
    let panic =
        reply.distinct.iter().map(|e| result(e, 2, 0)).find(|r| matches!(r, CallResult::Panic { .. }));
    let Some(CallResult::Panic { at, message }) = panic else { panic!("no panic in {reply:?}") };
    assert!(at.starts_with("src/lib.rs:") && message.contains("the sum is one"), "{at} {message}");
}

#[test]
fn executions_share_a_process_unless_a_fresh_one_is_asked_for() {
    let mut worker = Worker::start();
    let visits = |fresh| Run { fresh, ..run(&[&[VISITS], &[]], "random", 3) };
    let counts = |worker: &mut Worker, fresh| {
        let reply = worker.one(visits(fresh));
        let text = |e: &Execution| match result(e, 1, 0) {
            CallResult::Value(v) => v.parse::<u64>().unwrap(),
            other => panic!("{other:?}"),
        };
        (reply.executions, reply.distinct.iter().map(text).collect::<Vec<_>>())
    };
    assert_eq!(counts(&mut worker, Fresh::No), (3, vec![1, 2, 3]));
    assert_eq!(counts(&mut worker, Fresh::No), (3, vec![4, 5, 6]));
    assert_eq!(counts(&mut worker, Fresh::Once), (3, vec![1, 2, 3]));
    assert_eq!(counts(&mut worker, Fresh::Each), (3, vec![1]));
}

#[test]
fn what_an_execution_leaves_allocated_is_told() {
    let mut worker = Worker::start();
    let left =
        |worker: &mut Worker, thunk| worker.one(run(&[&[thunk], &[]], "random", 1)).distinct[0].left_bytes;
    assert_eq!(left(&mut worker, LEAK), 1024);
    assert_eq!(left(&mut worker, GET), 0);
}

#[test]
fn what_calls_returned_is_kept_quiet_about_if_only_failures_are_asked_for() {
    let mut worker = Worker::start();
    let only_failures = |run: Run| Run { only_failures: true, ..run };
    assert!(!worker.one(with_add(ADD)).distinct.is_empty());
    let adds = worker.one(only_failures(with_add(ADD)));
    assert_eq!((adds.executions, adds.distinct.len()), (40, 0));
    for thunk in [PANIC, EXIT] {
        let reply = worker.one(only_failures(with_add(thunk)));
        assert!(!reply.distinct.is_empty() && !reply.distinct.iter().any(Execution::is_quiet));
    }
}

#[test]
fn beginnings_of_calls_are_no_scheduling_points_of_the_code_under_test() {
    let mut worker = Worker::start();
    let reply = worker.one(run(&[&[IDLE, IDLE], &[IDLE]], "random", 30));
    assert_eq!(reply.steps, 0);
    assert!(reply.decisions > 0);
}

#[test]
fn patterns_are_told_when_they_are_new_with_what_their_numbers_mean() {
    let mut worker = Worker::start();
    let follow = Run { patterns: true, ..with_add(ADD) };
    let first = worker.one(follow.clone());
    assert_eq!(first.symbols_from, (0, 0));
    // Written after another thread's read, and read after another thread's write.
    for pattern in ["P1(", "P2("] {
        assert!(first.patterns.iter().any(|p| p.to_string().starts_with(pattern)), "{:?}", first.patterns);
    }
    assert!(first.symbols.sites.iter().any(|s| s.function.ends_with("Subject>::add")), "{:?}", first.symbols);
    assert!(first.values > 0);
    let second = worker.one(follow);
    assert_eq!(second.values, 0);
    let known = (first.symbols.sites.len() as u32, first.symbols.names.len() as u32);
    assert_eq!((second.patterns.len(), second.symbols_from), (0, known));
}

#[test]
fn sequential_orders_of_a_test_are_run_once_for_all_its_runs() {
    let mut worker = Worker::start();
    let explained = |suffixes: &[&[u32]]| Run { explain: true, ..run(suffixes, "random", 20) };
    let (twice, other) = (explained(&[&[ADD], &[GET]]), explained(&[&[GET], &[ADD]]));
    let serial: Vec<u64> = worker.ask(vec![twice.clone(), twice, other]).iter().map(|r| r.serial).collect();
    assert!(serial[0] > 0 && serial[2] > 0, "{serial:?}");
    assert_eq!(serial[1], 0, "{serial:?}");
}

#[test]
fn an_unknown_strategy_is_an_answer_and_not_the_end() {
    let mut worker = Worker::start();
    let reply = worker.one(run(&[&[ADD], &[ADD]], "cleverest", 10));
    assert!(reply.diverged.is_some_and(|why| why.contains("`cleverest`")));
    assert_eq!(worker.one(with_add(GET)).executions, 40);
    assert_eq!(worker.end(), 0);
}

/// What the code under test could do that it should not, with the names of what it may do.
fn could(namespaces: bool) -> String {
    let scratch = tempfile::tempdir().unwrap();
    let mut worker = Worker::confined(scratch.path(), namespaces);
    let reply = worker.one(run(&[&[ADD, VANDALISE], &[]], "random", 1));
    let CallResult::Value(could) = result(&reply.distinct[0], 1, 1) else { panic!("{reply:?}") };
    assert_eq!(worker.end(), 0);
    assert!(harness::executable().is_file());
    could.clone()
}

#[test]
fn a_confined_worker_can_only_write_in_its_scratch_directory() {
    if !Worker::namespaces() {
        eprintln!("skipped: this machine does not let this user have namespaces");
        return;
    }
    assert_eq!(could(true), r#"["write in scratch"]"#);
}

#[test]
fn a_worker_confined_without_namespaces_can_only_see_processes_besides() {
    assert_eq!(could(false), r#"["see processes", "write in scratch", "fill the disk"]"#);
}
