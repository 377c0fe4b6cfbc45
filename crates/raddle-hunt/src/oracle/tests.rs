//! Verdicts on executions of simulated types.

use super::*;
use crate::testing::{Simulator, decode, objects};
use crate::{CallRecord, Run, Step, Value};

/// The calls by name, all on slot 0, with an integer where there is one.
fn steps(ty: &objects::Type, calls: &[(&str, i128)]) -> Vec<Step> {
    let step = |(name, n): &(&str, i128)| {
        let thunk = ty.id(name);
        let mut args = vec![Value::Slot(0)];
        if ty.harness.thunk(thunk).params.len() > 1 {
            args.push(Value::Int(*n));
        }
        Step::new(thunk, args)
    };
    calls.iter().map(step).collect()
}

fn test(ty: &objects::Type, setup: &[(&str, i128)], a: &[(&str, i128)], b: &[(&str, i128)]) -> Test {
    let constructor = Step::new(ThunkId(0), vec![]);
    Test {
        setup: std::iter::once(constructor).chain(steps(ty, setup)).collect(),
        suffixes: vec![steps(ty, a), steps(ty, b)],
        ..Test::default()
    }
}

/// All judgements on all executions of a test.
fn judge_with(ty: &objects::Type, test: &Test, options: OracleOptions) -> (Vec<Judgement>, Oracle) {
    let mut sim = Simulator::new(ty.clone());
    assert_eq!(decode(&wire::encode(test)), *test);
    let run = Run { stop_at_failure: false, ..Run::new(wire::encode(test), "dfs", 1, 20_000) };
    let reply = sim.run(vec![run]).unwrap().remove(0);
    assert!(reply.exhausted);
    let mut oracle = Oracle::new(&ty.harness, options);
    let judgements = reply.distinct.iter().map(|e| oracle.judge(&mut sim, test, 1, e).unwrap()).collect();
    (judgements, oracle)
}

fn judge(ty: &objects::Type, test: &Test) -> (Vec<Judgement>, Oracle) {
    judge_with(ty, test, OracleOptions::default())
}

fn is_serial(run: &Run) -> bool {
    matches!(&run.search, crate::Search::Named(name) if name.starts_with("serial"))
}

/// Notes whether the sequential runs that it is asked for are calm, or not, or some of each.
struct Asked(Simulator, BTreeSet<bool>);

impl Executor for Asked {
    fn run(&mut self, runs: Vec<Run>) -> Result<Vec<RunReply>, ExecutorError> {
        self.1.extend(runs.iter().filter(|r| is_serial(r)).map(|r| r.calm));
        self.0.run(runs)
    }
}

#[test]
fn who_only_suspects_runs_sequential_orders_calmly_and_who_has_the_last_word_does_not() {
    let ty = objects::counter();
    let adds = [("Counter::add", 1), ("Counter::get", 0)];
    let many = [adds, adds].concat();
    // Few orders are all run; of many some are looked for.
    for t in [test(&ty, &[], &adds, &adds), test(&ty, &[], &many, &many)] {
        let run = Run { stop_at_failure: false, ..Run::new(wire::encode(&t), "random", 1, 200) };
        let executions = Simulator::new(ty.clone()).run(vec![run]).unwrap().remove(0).distinct;
        for care in [Care::Suspects, Care::LooksInto, Care::Isolates] {
            let mut oracle = Oracle::new(&ty.harness, OracleOptions { care, ..OracleOptions::default() });
            let mut asked = Asked(Simulator::new(ty.clone()), BTreeSet::new());
            for execution in executions.iter().take(10) {
                oracle.judge(&mut asked, &t, 1, execution).unwrap();
            }
            assert_eq!(asked.1, BTreeSet::from([care == Care::Suspects]), "{care:?}");
        }
    }
}

#[test]
fn a_call_without_time_may_be_served_as_if_it_had_some() {
    let ty = objects::meeting();
    let met = |j: &[Judgement], e: &[Execution], text: &str| {
        let some = |e: &Execution| e.calls.iter().any(|c| c.result == CallResult::Value(text.to_owned()));
        e.iter().zip(j).filter(|(e, _)| some(e)).map(|(_, j)| *j == Judgement::Right).collect::<Vec<_>>()
    };
    let judged = |t: &Test| {
        let mut sim = Simulator::new(ty.clone());
        let run = Run { stop_at_failure: false, ..Run::new(wire::encode(t), "dfs", 1, 20_000) };
        let executions = sim.run(vec![run]).unwrap().remove(0).distinct;
        (judge(&ty, t).0, executions)
    };
    // Both with time and without, and where two calls without time meet somebody.
    let (take, give) = (("Meeting::take", 0), ("Meeting::give", 7));
    for (a, b) in [
        (vec![("Meeting::take", 1)], vec![give]),
        (vec![take], vec![give]),
        (vec![take, take], vec![give, give]),
    ] {
        let (judgements, executions) = judged(&test(&ty, &[], &a, &b));
        let met = met(&judgements, &executions, "Some(7)");
        assert!(!met.is_empty() && met.iter().all(|right| *right), "{a:?}: {met:?}");
    }
    // A time for which nobody waits is none that could be lent.
    let (judgements, executions) = judged(&test(&ty, &[], &[("Meeting::flash", 0)], &[("Meeting::get", 0)]));
    let seen = met(&judgements, &executions, "1");
    assert!(!seen.is_empty() && !seen.iter().any(|right| *right), "{seen:?}");
}

#[test]
fn results_that_do_not_fit_each_other_are_not_explained_by_time() {
    let ty = objects::meeting();
    let t = test(&ty, &[], &[("Meeting::take", 0)], &[("Meeting::give", 7)]);
    let call = |thread, start, end, text: &str| CallRecord {
        thread,
        step: 0,
        start,
        end: Some(end),
        result: CallResult::Value(text.to_owned()),
    };
    let made = CallRecord { thread: 0, result: CallResult::Opaque, ..call(0, 0, 1, "") };
    for (took, gave) in [("Some(7)", "false"), ("None", "true"), ("Some(8)", "true")] {
        let calls = vec![made.clone(), call(1, 2, 5, took), call(2, 3, 4, gave)];
        let execution = Execution { calls, ..Execution::default() };
        let mut oracle = Oracle::new(&ty.harness, OracleOptions::default());
        let judgement = oracle.judge(&mut Simulator::new(ty.clone()), &t, 1, &execution).unwrap();
        assert!(matches!(judgement, Judgement::Wrong(_)), "{took} {gave}: {judgement:?}");
    }
}

fn verdicts(judgements: &[Judgement]) -> Vec<&Verdict> {
    judgements.iter().filter_map(|j| if let Judgement::Wrong(v) = j { Some(&**v) } else { None }).collect()
}

#[test]
fn a_lost_update_is_not_linearizable_and_the_nearest_order_says_why() {
    let ty = objects::counter();
    let t = test(
        &ty,
        &[],
        &[("Counter::add", 1), ("Counter::get", 0)],
        &[("Counter::add", 1), ("Counter::get", 0)],
    );
    let (judgements, _) = judge(&ty, &t);
    let wrong = verdicts(&judgements);
    assert!(!wrong.is_empty());
    let both_saw_one = wrong.iter().find(|v| v.explanation.nearest[0].differences.len() == 1).unwrap();
    assert_eq!(both_saw_one.kind, Kind::NonLinearizable);
    assert_eq!(both_saw_one.summary, "no sequential order explains what `Counter::get` returned");
    let difference = &both_saw_one.explanation.nearest[0].differences[0];
    assert_eq!(difference.seen, CallResult::Value("1".to_owned()));
    assert_eq!(difference.expected, CallResult::Value("2".to_owned()));
    assert_eq!(both_saw_one.explanation.orders, 6);
    let right = |j: &&Judgement| **j == Judgement::Right;
    assert!(judgements.iter().filter(right).count() > 0);
}

#[test]
fn the_same_test_of_an_atomic_update_is_right_in_every_execution() {
    let ty = objects::counter();
    let calls = [("Counter::add_once", 1), ("Counter::get", 0)];
    let (judgements, oracle) = judge(&ty, &test(&ty, &[], &calls, &calls));
    assert!(judgements.len() > 5 && judgements.iter().all(|j| *j == Judgement::Right));
    // All orders were run once, for all executions together.
    assert_eq!((oracle.cost.tests, oracle.cost.serial), (1, 6));
}

#[test]
fn a_final_check_shows_an_update_that_was_lost() {
    let ty = objects::counter();
    let mut t = test(&ty, &[], &[("Counter::add", 1)], &[("Counter::add", 1)]);
    assert!(verdicts(&judge(&ty, &t).0).is_empty());
    t.finally = steps(&ty, &[("Counter::get", 0)]);
    let (judgements, _) = judge(&ty, &t);
    let wrong = verdicts(&judgements);
    assert!(!wrong.is_empty());
    assert!(wrong.iter().all(|v| v.culprits == [CallRef { thread: 0, step: 1 }]));
}

#[test]
fn a_panic_counts_only_if_no_sequential_order_panics_there() {
    let ty = objects::checks();
    let t = test(&ty, &[("List::push", 1)], &[("List::first", 0)], &[("List::clear", 0)]);
    let (judgements, _) = judge(&ty, &t);
    let wrong = verdicts(&judgements);
    assert!(!wrong.is_empty());
    assert_eq!((wrong[0].kind, wrong[0].at.as_deref()), (Kind::Panic, Some("check.rs:4:9")));
    assert_eq!(wrong[0].culprits, [CallRef { thread: 1, step: 0 }]);
    assert_eq!(wrong[0].beside, [CallRef { thread: 2, step: 0 }]);

    let ty = objects::queue();
    let t = test(&ty, &[("Queue::push", 1)], &[("Queue::peek", 0)], &[("Queue::pop", 0)]);
    assert!(verdicts(&judge(&ty, &t).0).is_empty());
}

#[test]
fn a_deadlock_counts_only_if_no_sequential_order_deadlocks() {
    let ty = objects::checks();
    let t = test(&ty, &[], &[("List::lock_ab", 0)], &[("List::lock_ba", 0)]);
    let (judgements, _) = judge(&ty, &t);
    let wrong = verdicts(&judgements);
    assert!(!wrong.is_empty() && wrong.iter().all(|v| v.kind == Kind::Deadlock));
    assert_eq!(wrong[0].summary, "deadlock in `List::lock_ab` and `List::lock_ba`");
    assert_eq!(wrong[0].culprits.len(), 2);

    // A receiver without a sender waits in every order.
    let ty = objects::channel();
    let recv = Step::new(ty.id("Receiver::recv"), vec![Value::Slot(1)]);
    let send = Step::new(ty.id("Sender::send"), vec![Value::Slot(0), Value::Int(1)]);
    let mut t = test(&ty, &[], &[], &[]);
    t.suffixes = vec![vec![recv.clone(), recv.clone()], vec![send.clone()]];
    assert!(verdicts(&judge(&ty, &t).0).is_empty());
    // With two senders it does not, and calls that were resumed explain the results.
    t.suffixes = vec![vec![recv.clone(), recv], vec![send.clone(), send]];
    let (judgements, _) = judge(&ty, &t);
    assert!(judgements.iter().all(|j| *j == Judgement::Right), "{judgements:?}");
}

#[test]
fn results_that_vary_between_equal_orders_are_not_compared() {
    let ty = objects::queue();
    let t = test(&ty, &[], &[("Queue::id", 0), ("Queue::push", 1)], &[("Queue::id", 0)]);
    let (judgements, oracle) = judge(&ty, &t);
    assert!(judgements.iter().all(|j| *j == Judgement::Right));
    assert_eq!(oracle.opaque().iter().copied().collect::<Vec<_>>(), [ty.id("Queue::id")]);
}

#[test]
fn a_search_suspects_what_varies_until_somebody_has_looked_into_it() {
    let ty = objects::queue();
    let t = test(&ty, &[], &[("Queue::id", 0), ("Queue::push", 1)], &[("Queue::id", 0)]);
    let quick = OracleOptions { care: Care::Suspects, ..OracleOptions::default() };
    let (judgements, oracle) = judge_with(&ty, &t, quick);
    assert!(!verdicts(&judgements).is_empty() && oracle.opaque().is_empty());
    let mut sim = Simulator::new(ty.clone());
    let mut other = Oracle::new(&ty.harness, quick);
    assert!(other.look_into(&mut sim, &t, 1).unwrap());
    let mut oracle = oracle;
    let known = oracle.knowledge();
    oracle.learn(&other);
    assert!(oracle.knowledge() > known);
    let run = Run { stop_at_failure: false, ..Run::new(wire::encode(&t), "dfs", 1, 20_000) };
    for execution in &sim.run(vec![run]).unwrap().remove(0).distinct {
        assert_eq!(oracle.judge(&mut sim, &t, 1, execution).unwrap(), Judgement::Right);
    }
}

#[test]
fn what_the_user_marks_as_weak_is_never_compared() {
    let mut ty = objects::counter();
    let get = ty.id("Counter::get");
    ty.harness.thunks[get.0 as usize].weak = true;
    let calls = [("Counter::add", 1), ("Counter::get", 0)];
    assert!(verdicts(&judge(&ty, &test(&ty, &[], &calls, &calls)).0).is_empty());
}

#[test]
fn guided_search_agrees_with_running_all_orders() {
    let (counter, queue) = (objects::counter(), objects::queue());
    let adds = [("Counter::add", 1), ("Counter::get", 0)];
    let once = [("Counter::add_once", 1), ("Counter::get", 0)];
    let pushes = [("Queue::push", 1), ("Queue::pop", 0)];
    let more = [("Queue::push", 2), ("Queue::len", 0)];
    let cases = [
        (&counter, test(&counter, &[], &adds, &adds)),
        (&counter, test(&counter, &[], &once, &once)),
        (&queue, test(&queue, &[], &pushes, &more)),
    ];
    for (ty, mut t) in cases {
        t.finally = vec![t.suffixes[0][1].clone()];
        let guided = OracleOptions { few_orders: 1, all_orders: 1, ..OracleOptions::default() };
        let right = |j: Vec<Judgement>| j.iter().map(|j| *j == Judgement::Right).collect::<Vec<_>>();
        let (by_search, _) = judge_with(ty, &t, guided);
        assert!(!by_search.contains(&Judgement::Undecided));
        assert_eq!(right(by_search), right(judge(ty, &t).0));
    }
}

#[test]
fn too_many_orders_leave_an_execution_undecided() {
    let ty = objects::counter();
    let calls = [("Counter::add", 1), ("Counter::get", 0)];
    let t = test(&ty, &[], &calls, &calls);
    let few = OracleOptions { few_orders: 1, all_orders: 1, guided_orders: 1, ..OracleOptions::default() };
    let (judgements, oracle) = judge_with(&ty, &t, few);
    assert!(verdicts(&judgements).is_empty() && oracle.cost.undecided > 0);
}

#[test]
fn a_search_looks_at_few_of_many_orders_where_one_explains_the_execution() {
    let ty = objects::counter();
    let five = [("Counter::add_once", 1), ("Counter::get", 0), ("Counter::get", 0), ("Counter::add_once", 2)];
    let t = test(&ty, &[], &five, &five);
    let mut sim = Simulator::new(ty.clone());
    let reply = sim.run(vec![Run::new(wire::encode(&t), "random", 1, 50)]).unwrap().remove(0);
    let mut oracle = Oracle::new(&ty.harness, OracleOptions::default());
    for execution in &reply.distinct {
        assert_eq!(oracle.judge(&mut sim, &t, 1, execution).unwrap(), Judgement::Right);
    }
    // Of the 70 orders, about one per execution.
    let n = reply.distinct.len() as u64;
    assert!(oracle.cost.serial <= n, "{} orders for {n} executions", oracle.cost.serial);
}

#[test]
fn orders_are_counted_by_the_multinomial() {
    let ty = objects::counter();
    let five = [("Counter::get", 0); 5];
    let mut t = test(&ty, &[], &five, &five);
    assert_eq!(serials::orders(&ty.harness, &t, 2_001), 252);
    t.suffixes.push(steps(&ty, &five));
    assert_eq!(serials::orders(&ty.harness, &t, 2_001), 2_001);
    assert_eq!(serials::orders(&ty.harness, &t, 1_000_000), 756_756);
}

#[test]
fn a_result_from_before_a_call_that_had_ended_is_wrong() {
    let (ty, t) = increment_then_read();
    for (read, right) in [("0", false), ("1", true)] {
        // A third call, from before the first to after the last, could come anywhere.
        let calls = vec![record(0, 0, 1, None), record(3, 2, 9, Some(read)), record(1, 3, 4, Some("()"))];
        let calls = [calls, vec![record(2, 5, 6, Some(read))]].concat();
        let execution = Execution { calls, ..Execution::default() };
        for few_orders in [0, 20] {
            let options = OracleOptions { few_orders, ..OracleOptions::default() };
            let mut oracle = Oracle::new(&ty.harness, options);
            let mut sim = Simulator::new(ty.clone());
            let judgement = oracle.judge(&mut sim, &t, 1, &execution).unwrap();
            assert_eq!(judgement == Judgement::Right, right, "{read}: {judgement:?}");
            assert!(right || verdicts(&[judgement])[0].explanation.nearest[0].distance() == 1);
        }
    }
}

#[test]
fn calls_that_do_not_overlap_explain_themselves() {
    let (ty, t) = increment_then_read();
    // As if what is counted depended on something that no two processes share.
    let calls = vec![record(0, 0, 1, None), record(1, 2, 3, Some("()")), record(2, 4, 5, Some("7"))];
    let calls = [calls, vec![record(3, 6, 7, Some("7"))]].concat();
    let execution = Execution { calls, ..Execution::default() };
    let mut oracle = Oracle::new(&ty.harness, OracleOptions::default());
    let mut sim = Simulator::new(ty.clone());
    assert_eq!(oracle.judge(&mut sim, &t, 1, &execution).unwrap(), Judgement::Right);
}

#[test]
fn a_threads_first_call_makes_several_steps_where_results_depend_on_who_calls() {
    let ty = objects::numbers();
    let take = ("Numbers::take", 0);
    // The second thread may have number 0 and not have taken it yet.
    let t = test(&ty, &[], &[take, ("Numbers::taken", 0)], &[take]);
    let (judgements, oracle) = judge_with(&ty, &t, OracleOptions::default());
    assert!(judgements.iter().all(|j| *j == Judgement::Right), "{judgements:?}");
    assert!(oracle.is_thread_dependent());
    // Updates are lost all the same, also between calls that are not the first.
    let add = ("Numbers::add", 1);
    let mut t = test(&ty, &[], &[take, add], &[take, add]);
    t.finally = steps(&ty, &[("Numbers::get", 0)]);
    let (judgements, _) = judge_with(&ty, &t, OracleOptions::default());
    assert!(!verdicts(&judgements).is_empty());
}

#[test]
fn results_that_one_thread_alone_would_get_are_compared() {
    let ty = objects::counter();
    let add = [("Counter::add", 1), ("Counter::get", 0)];
    let (judgements, oracle) = judge_with(&ty, &test(&ty, &[], &add, &add), OracleOptions::default());
    assert!(!verdicts(&judgements).is_empty() && !oracle.is_thread_dependent());
}

#[test]
fn a_panic_that_ends_one_thread_and_not_the_other_says_nothing_about_who_calls() {
    let ty = objects::queue();
    // The first thread panics if it comes first; the second goes on.
    let t =
        test(&ty, &[], &[("Queue::peek", 0), ("Queue::push", 1)], &[("Queue::push", 2), ("Queue::len", 0)]);
    let mut sim = Simulator::new(ty.clone());
    let all = Serials::run(&mut sim, &t, 1, 100, Fresh::No, false).unwrap();
    let panicked = |s: &Serial| s.calls.iter().any(|(_, c)| matches!(c.result, CallResult::Panic { .. }));
    assert!(all.all.iter().any(panicked));
    let order = |s: &Serial| Order { calls: s.calls.order(), ..Order::default() };
    let orders: Vec<Order> = all.all.iter().map(order).collect();
    assert!(!identity::matters(&mut sim, &ty.harness, &t, 1, &orders).unwrap());
}

/// Changes what it is told about sequential orders.
struct Changed(Simulator, Change);

type Change = fn(&mut RunReply);

impl Executor for Changed {
    fn run(&mut self, runs: Vec<Run>) -> Result<Vec<RunReply>, ExecutorError> {
        let serial: Vec<bool> = runs.iter().map(is_serial).collect();
        let mut replies = self.0.run(runs)?;
        replies.iter_mut().zip(serial).filter(|(_, s)| *s).for_each(|(reply, _)| self.1(reply));
        Ok(replies)
    }
}

/// The oracles that run all orders and that look for one.
fn thorough_and_guided() -> [OracleOptions; 2] {
    let all = OracleOptions { few_orders: 1_000, ..OracleOptions::default() };
    [all, OracleOptions { few_orders: 0, all_orders: 0, ..all }]
}

/// The last call of the last order was given up.
fn given_up(reply: &mut RunReply, kind: Kind) {
    let execution = reply.distinct.last_mut().unwrap();
    execution.failure = Some(Box::new(crate::testing::failed(kind, &execution.schedule)));
    let last = execution.calls.iter_mut().filter(|c| c.thread > 0).max_by_key(|c| c.start).unwrap();
    (last.end, last.result) = (None, CallResult::Unfinished);
}

#[test]
fn nothing_is_wrong_as_long_as_an_order_may_not_have_been_run_to_its_end() {
    let ty = objects::counter();
    let calls = [("Counter::add", 1), ("Counter::get", 0)];
    let t = test(&ty, &[], &calls, &calls);
    let run = Run { stop_at_failure: false, ..Run::new(wire::encode(&t), "dfs", 1, 20_000) };
    let executions = Simulator::new(ty.clone()).run(vec![run]).unwrap().remove(0).distinct;
    let changes: [(Change, bool); 4] = [
        (|_| (), true),
        (|reply| reply.unsure = 1, false),
        (|reply| given_up(reply, Kind::Livelock), false),
        (|reply| given_up(reply, Kind::Timeout), false),
    ];
    for options in thorough_and_guided() {
        for (i, (change, found)) in changes.into_iter().enumerate() {
            let mut exec = Changed(Simulator::new(ty.clone()), change);
            let mut oracle = Oracle::new(&ty.harness, options);
            let judgements: Vec<Judgement> =
                executions.iter().map(|e| oracle.judge(&mut exec, &t, 1, e).unwrap()).collect();
            assert_eq!(!verdicts(&judgements).is_empty(), found, "{i} {options:?}");
            assert_eq!(oracle.cost.undecided == 0, found, "{i} {options:?}");
        }
    }
}

#[test]
fn an_order_that_is_missing_is_missed_although_another_one_has_two_executions() {
    let ty = objects::counter();
    let t = test(&ty, &[], &[("Counter::add", 1), ("Counter::get", 0)], &[("Counter::add", 1)]);
    let mut sim = Simulator::new(ty.clone());
    let mut all = Serials::run(&mut sim, &t, 1, 100, Fresh::No, false).unwrap();
    assert!(all.complete && all.all.len() == 3 && !all.lacks_orders(&t));
    all.all[0] = all.all[1].clone();
    assert!(all.lacks_orders(&t));
}

/// A call by thread, name, beginning and end, with what it returned, or where it panicked.
type Made = (u32, &'static str, u32, u32, Result<&'static str, &'static str>);

/// What the oracles say about an execution of these calls by two threads on an empty queue, of which `peek` is weak: it panics in
/// every order.
fn beside_weak_peek(calls: &[Made]) -> [Judgement; 2] {
    let mut ty = objects::queue();
    let peek = ty.id("Queue::peek");
    ty.harness.thunks[peek.0 as usize].weak = true;
    let of = |t: u32| calls.iter().filter(|c| c.0 == t).map(|c| (c.1, 0)).collect::<Vec<_>>();
    let t = test(&ty, &[], &of(1), &of(2));
    let mut all = vec![record(0, 0, 1, None)];
    for &(thread, _, start, end, result) in calls {
        let step = all.iter().filter(|c| c.thread == thread).count() as u32;
        let result = match result {
            Ok(text) => CallResult::Value(text.to_owned()),
            Err(at) => CallResult::Panic { at: at.to_owned(), message: String::new() },
        };
        all.push(CallRecord { thread, step, start, end: Some(end), result });
    }
    let execution = Execution { calls: all, ..Execution::default() };
    thorough_and_guided().map(|options| {
        let mut oracle = Oracle::new(&ty.harness, options);
        oracle.judge(&mut Simulator::new(ty.clone()), &t, 1, &execution).unwrap()
    })
}

#[test]
fn a_weak_call_that_panics_in_every_order_and_returned_is_no_difference() {
    let peek = (1, "Queue::peek", 2, 9, Ok("7"));
    let judged = beside_weak_peek(&[peek, (2, "Queue::len", 3, 4, Ok("0"))]);
    assert_eq!(judged, [Judgement::Right, Judgement::Right]);
    // What the panic leaves behind may be something else.
    let judged = beside_weak_peek(&[peek, (2, "Queue::len", 3, 4, Ok("1"))]);
    assert_eq!(judged, [Judgement::Undecided, Judgement::Undecided]);
    // After it no order goes on.
    let after = (1, "Queue::len", 10, 13, Ok("0"));
    let judged = beside_weak_peek(&[peek, after, (2, "Queue::len", 3, 12, Ok("0"))]);
    assert_eq!(judged, [Judgement::Undecided, Judgement::Undecided]);
    // Before it nothing is excused.
    let before = [(2, "Queue::len", 2, 3, Ok("1")), (1, "Queue::peek", 4, 9, Ok("7"))];
    let judged = beside_weak_peek(&[before[0], before[1], (2, "Queue::len", 5, 6, Ok("0"))]);
    assert_eq!(verdicts(&judged).len(), 2, "{judged:?}");
}

#[test]
fn a_weak_call_that_panics_where_no_order_does_is_wrong() {
    let len = (2, "Queue::len", 3, 4, Ok("0"));
    for (at, right) in [("queue.rs:9:5", true), ("queue.rs:1:1", false)] {
        let [all, _] = beside_weak_peek(&[(1, "Queue::peek", 2, 9, Err(at)), len]);
        assert_eq!(all == Judgement::Right, right, "{all:?}");
        assert!(right || verdicts(&[all])[0].kind == Kind::Panic);
    }
    // Unless no order gets there, because a weak call panics before.
    let calls = [(1, "Queue::peek", 2, 5, Ok("7")), (1, "Queue::len", 6, 9, Err("queue.rs:1:1"))];
    let [all, _] = beside_weak_peek(&[calls[0], calls[1], len]);
    assert_eq!(all, Judgement::Undecided);
}

/// One thread increments a counter, two others read it.
fn increment_then_read() -> (objects::Type, Test) {
    let ty = objects::counter();
    let read = [("Counter::get", 0)];
    let mut t = test(&ty, &[], &[("Counter::add_once", 1)], &read);
    t.suffixes.push(steps(&ty, &read));
    (ty, t)
}

/// The first call of a thread.
fn record(thread: u32, start: u32, end: u32, value: Option<&str>) -> CallRecord {
    let result = value.map_or(CallResult::Opaque, |text| CallResult::Value(text.to_owned()));
    CallRecord { thread, step: 0, start, end: Some(end), result }
}
