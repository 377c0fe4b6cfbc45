//! What generators make, tried out on simulated types.

use super::*;
use crate::testing::{Simulator, objects};
use crate::{Pass, Role, Run, Sharing, ThunkId, check, wire};
use raddle_core::pattern::{FullMatcher, Instance, patterns_of};
use std::collections::BTreeSet;

fn options() -> Options {
    Options { runs: vec![("random".to_owned(), 5)], ..Options::default() }
}

/// Makes and runs so many tests.
fn hunt(
    name: &str,
    ty: objects::Type,
    n: usize,
    options: Options,
) -> (Vec<Plan>, Box<dyn Generator>, Simulator) {
    let mut sim = Simulator::new(ty.clone());
    let mut generator = by_name(name, &ty.harness, 7, options).unwrap();
    let mut plans = Vec::new();
    for _ in 0..n {
        let Some(plan) = generator.next(&mut sim).unwrap() else { break };
        assert_eq!(check::test(&ty.harness, &plan.test), Ok(()));
        let text = wire::encode(&plan.test);
        let run = |(s, n): &(String, u64)| Run { patterns: true, ..Run::new(text.clone(), s, 1, *n) };
        let runs = plan.runs.iter().map(run).collect();
        let replies = sim.run(runs).unwrap();
        generator.feedback(&plan, &replies);
        plans.push(plan);
    }
    (plans, generator, sim)
}

#[test]
fn both_generators_are_deterministic() {
    for (name, _) in NAMES {
        let (a, _, _) = hunt(name, objects::channel(), 60, options());
        let (b, _, _) = hunt(name, objects::channel(), 60, options());
        assert_eq!(a, b, "{name}");
        assert_eq!(a.len(), 60, "{name}");
    }
    assert!(by_name("none", &objects::counter().harness, 0, options()).is_none());
}

#[test]
fn covcon_alternates_the_two_methods_and_starts_with_different_ones() {
    let ty = objects::counter();
    let (plans, _, _) = hunt("covcon", ty.clone(), 12, options());
    for plan in &plans {
        let (a, b) = plan.pair.unwrap().methods();
        let (a, b) = (ThunkId(a.0), ThunkId(b.0));
        let called = |i: usize| plan.test.suffixes[i].iter().map(|s| s.thunk).collect::<Vec<_>>();
        assert_eq!((called(0), called(1)), (vec![a, b], vec![b, a]));
    }
    // The first test of a selection has a constructor only.
    assert_eq!(plans[0].test.setup.len(), 1);
    assert!(plans.iter().skip(1).step_by(2).any(|p| p.test.setup.len() > 1));
}

#[test]
fn suffixes_have_two_calls_at_first_and_five_later_as_paper_and_code_count() {
    let ty = objects::counter();
    for (rule, tests) in [(Rule::LowestScore, 5), (Rule::BestQuarter, 10)] {
        let (plans, _, _) = hunt("covcon", ty.clone(), 400, Options { rule, ..options() });
        let pair = plans[0].pair;
        let lengths: Vec<usize> =
            plans.iter().filter(|p| p.pair == pair).map(|p| p.test.suffixes[0].len()).collect();
        let short = lengths.iter().take_while(|l| **l == 2).count();
        assert_eq!(short, tests, "{lengths:?}");
        assert!(lengths[tests..].iter().all(|l| *l == 5), "{lengths:?}");
    }
}

#[test]
fn covcon_covers_all_pairs_of_a_queue_but_reports_what_can_never_be() {
    let ty = objects::queue();
    let (_, generator, _) = hunt("covcon", ty.clone(), 200, options());
    let report = generator.coverage().report();
    // push, pop, len, id, peek: 15 pairs. All calls of one step; only push has two.
    assert!(report.covered.len() + report.open.len() + report.never_possible.len() == 15);
    assert!(report.covered.len() >= 14, "{report:?}");
    let matrix = generator.coverage().matrix(&ty.harness);
    assert_eq!(matrix.lines().count(), 5);
    assert!(matrix.starts_with("  1 Queue::push "), "{matrix}");
}

#[test]
fn a_call_that_panics_alone_is_never_in_a_suffix() {
    let ty = objects::queue();
    let peek = ty.id("Queue::peek");
    let (plans, _, mut sim) = hunt("covcon", ty, 200, options());
    let mut used = 0;
    for plan in &plans {
        for suffix in &plan.test.suffixes {
            used += suffix.iter().filter(|s| s.thunk == peek).count();
            let alone =
                Test { setup: plan.test.setup.clone(), suffixes: vec![suffix.clone()], ..Test::default() };
            let fault = Tries::default().first_fault(&mut sim, 0, &alone).unwrap();
            assert_eq!(fault, None, "{}", wire::encode(&alone));
        }
    }
    assert!(used > 0, "peek works when the queue has an item");
}

#[test]
fn threads_own_what_they_take_by_value_and_no_slot_is_used_after_it_was_moved() {
    let ty = objects::channel();
    for name in ["random", "covcon"] {
        let (plans, _, mut sim) = hunt(name, ty.clone(), 150, Options { suffixes: 3, ..options() });
        let mut dropped = 0;
        for plan in &plans {
            let owner = |slot: u32| plan.test.give.iter().find(|(s, _)| *s == slot).map(|(_, o)| *o);
            let setup_slots: usize =
                plan.test.setup.iter().map(|s| ty.harness.thunk(s.thunk).output.slots.len()).sum();
            for (i, suffix) in plan.test.suffixes.iter().enumerate() {
                for step in suffix {
                    let thunk = ty.harness.thunk(step.thunk);
                    dropped += usize::from(thunk.role == Role::Drop);
                    for slot in step.args.iter().flat_map(slots_in) {
                        if (slot as usize) < setup_slots {
                            // Both handles are Owned: they have to be given before use.
                            assert_eq!(owner(slot), Some(i as u32), "{}", wire::encode(&plan.test));
                        }
                    }
                }
            }
            // Nothing is skipped when suffixes run one after the other.
            let run = Run::new(wire::encode(&plan.test), "serial", 0, 1);
            let reply = sim.run(vec![run]).unwrap().remove(0);
            let execution = &reply.distinct[0];
            if execution.failure.is_none() {
                let steps: usize = plan.test.suffixes.iter().map(Vec::len).sum();
                let calls = execution.calls.iter().filter(|c| {
                    c.thread > 0 && (c.step as usize) < plan.test.suffixes[c.thread as usize - 1].len()
                });
                assert_eq!(calls.count(), steps);
            }
        }
        assert!(dropped > 0, "{name}: guards and handles are dropped at some time");
    }
}

#[test]
fn exclusive_groups_stay_in_one_suffix() {
    let mut ty = objects::queue();
    let pop = ty.id("Queue::pop");
    ty.harness.thunks[pop.0 as usize].exclusive = Some("consumer".to_owned());
    let (plans, generator, _) = hunt("covcon", ty, 200, options());
    let consumers = |p: &Plan| p.test.suffixes.iter().filter(|s| s.iter().any(|c| c.thunk == pop)).count();
    assert!(plans.iter().all(|p| consumers(p) <= 1));
    assert!(plans.iter().any(|p| consumers(p) == 1));
    let never: Vec<_> =
        generator.coverage().report().never_possible.iter().map(|(p, _)| p.methods()).collect();
    assert!(never.contains(&(raddle_core::MethodId(pop.0), raddle_core::MethodId(pop.0))), "{never:?}");
}

#[test]
fn a_queue_is_counted_and_emptied_at_the_end() {
    let ty = objects::queue();
    let (plans, _, _) = hunt("random", ty.clone(), 50, options());
    let (len, pop) = (ty.id("Queue::len"), ty.id("Queue::pop"));
    let drained = plans.iter().filter(|p| {
        p.test.finally.first().is_some_and(|s| s.thunk == len)
            && p.test.finally[1..].iter().all(|s| s.thunk == pop)
    });
    assert!(drained.count() > 40);
    let (plans, _, _) = hunt("random", ty, 5, Options { checks: false, ..options() });
    assert!(plans.iter().all(|p| p.test.finally.is_empty()));
}

#[test]
fn prefixes_repeat_calls_now_and_then() {
    let (plans, _, _) = hunt("random", objects::queue(), 300, options());
    let repeats: BTreeSet<u32> = plans.iter().flat_map(|p| p.test.setup.iter().map(|s| s.repeat)).collect();
    assert!(repeats.len() > 4 && *repeats.last().unwrap() >= 32, "{repeats:?}");
}

#[test]
fn a_mutated_prefix_works_and_differs_in_one_thing() {
    let ty = objects::queue();
    let mut builder = Builder::new(&ty.harness, 1);
    let mut sim = Simulator::new(ty);
    let (mut longer, mut repeated, mut argument) = (0, 0, 0);
    for _ in 0..200 {
        let prefix = builder.prefix(&mut sim, 3).unwrap().unwrap();
        let other = builder.mutated(&mut sim, &prefix).unwrap();
        let test = Test { setup: other.steps.clone(), ..Test::default() };
        assert_eq!(Tries::default().first_fault(&mut sim, 0, &test).unwrap(), None);
        let n = prefix.steps.len();
        let pairs = || prefix.steps.iter().zip(&other.steps);
        assert!(other.steps.len() >= n && pairs().all(|(a, b)| a.thunk == b.thunk));
        let changed = pairs().filter(|(a, b)| a != b).count();
        assert!(changed <= 1);
        longer += usize::from(other.steps.len() > n);
        repeated += pairs().filter(|(a, b)| a.repeat != b.repeat).count();
        argument += pairs().filter(|(a, b)| a.args != b.args).count();
    }
    assert!(longer > 10 && repeated > 10 && argument > 10, "{longer} {repeated} {argument}");
}

#[test]
fn a_call_that_blocks_alone_ends_at_most_one_suffix() {
    let ty = objects::channel();
    let (recv, send) = (ty.id("Receiver::recv"), ty.id("Sender::send"));
    let (plans, generator, _) = hunt("covcon", ty, 400, options());
    let pair = raddle_core::coverage::method_pairs::MethodPair::new(
        raddle_core::MethodId(recv.0),
        raddle_core::MethodId(send.0),
    );
    assert!(plans.iter().any(|p| p.pair == Some(pair)));
    let report = generator.coverage().report();
    assert!(report.covered.iter().any(|(p, _)| *p == pair), "{report:?}");
}

#[test]
fn sequences_are_not_run_twice() {
    let mut builder = Builder::new(&objects::counter().harness, 1);
    let mut sim = Simulator::new(objects::counter());
    for _ in 0..50 {
        builder.prefix(&mut sim, 0).unwrap().unwrap();
    }
    assert_eq!((builder.tries.asked, builder.tries.run), (50, 1));
}

#[test]
fn a_harness_without_methods_or_constructors_yields_no_test() {
    let mut ty = objects::counter();
    ty.harness.thunks.truncate(1);
    for (name, _) in NAMES {
        assert!(hunt(name, ty.clone(), 1, options()).0.is_empty());
    }
    let mut ty = objects::counter();
    ty.harness.thunks[0].role = Role::Helper;
    for (name, _) in NAMES {
        assert!(hunt(name, ty.clone(), 1, options()).0.is_empty());
    }
}

#[test]
fn maptest_turns_to_open_instances_once_it_knows_what_methods_do() {
    let ty = objects::counter();
    for name in ["maptest", "maptest-random"] {
        let (plans, _, _) = hunt(name, ty.clone(), 60, options());
        let guided = |p: &&Plan| p.runs.iter().any(|(s, _)| s.starts_with("pattern:"));
        assert!(plans.iter().find(guided).is_some(), "{name}");
        assert!(!guided(&&plans[0]), "{name}: nothing is known at first");
    }
}

#[test]
fn maptest_makes_as_many_suffixes_as_it_is_told() {
    let options = Options { suffixes: 3, ..options() };
    let (plans, _, _) = hunt("maptest", objects::counter(), 60, options);
    let guided = plans.iter().filter(|p| p.runs.iter().any(|(s, _)| s.starts_with("pattern:")));
    let suffixes: BTreeSet<usize> = guided.map(|p| p.test.suffixes.len()).collect();
    assert_eq!(suffixes, BTreeSet::from([3]));
}

#[test]
fn maptest_makes_tests_for_several_instances_at_once_after_the_first_tests() {
    let (plans, _, _) = hunt("maptest", objects::queue(), 160, options());
    let longest = |plans: &[Plan]| {
        let guided = plans.iter().filter(|p| p.runs.iter().any(|(s, _)| s.starts_with("pattern:")));
        guided.flat_map(|p| &p.test.suffixes).map(Vec::len).max()
    };
    // Two methods for the steps of a thread, and two calls that nobody asked for.
    assert!(longest(&plans[..40]) <= Some(4), "{:?}", longest(&plans[..40]));
    assert!(longest(&plans[40..]) > Some(4), "{:?}", longest(&plans[40..]));
}

#[test]
fn a_run_steered_towards_an_instance_produces_it_more_often_than_a_random_one() {
    let ty = objects::queue();
    let (mut steered_sim, mut random_sim) = (Simulator::new(ty.clone()), Simulator::new(ty.clone()));
    let mut generator = by_name("maptest", &ty.harness, 7, options()).unwrap();
    let (mut steered, mut random, mut tries) = (0, 0, 0);
    for _ in 0..60 {
        let plan = generator.next(&mut steered_sim).unwrap().unwrap();
        let text = wire::encode(&plan.test);
        let run = |s: &str, n: u64| Run { patterns: true, traces: true, ..Run::new(text.clone(), s, 1, n) };
        let replies = steered_sim.run(plan.runs.iter().map(|(s, n)| run(s, *n)).collect()).unwrap();
        let shows = |reply: &RunReply, target: &Instance| {
            let trace = reply.distinct[0].trace.as_ref().unwrap();
            patterns_of(&mut FullMatcher::new(), trace).contains(target)
        };
        for ((strategy, _), reply) in plan.runs.iter().zip(&replies) {
            let Some(target) = strategy.strip_prefix("pattern:").map(|t| t.parse().unwrap()) else {
                continue;
            };
            steered += usize::from(shows(reply, &target));
            tries += 1;
            // Another walk each time: a single one may happen to suit many tests.
            let unsteered = random_sim.run(vec![Run { seed: tries, ..run("random", 1) }]).unwrap();
            random += usize::from(shows(&unsteered[0], &target));
        }
        generator.feedback(&plan, &replies);
    }
    assert!(steered > 20 && 2 * steered > 3 * random, "{steered} steered, {random} at random, of {tries}");
}

#[test]
fn an_instance_whose_run_was_left_out_is_still_worth_a_try() {
    let ty = objects::counter();
    let targets = |executions: u64| {
        let mut sim = Simulator::new(ty.clone());
        let mut generator = by_name("maptest", &ty.harness, 7, options()).unwrap();
        let mut targets = std::collections::BTreeSet::new();
        for i in 0..200 {
            let plan = generator.next(&mut sim).unwrap().unwrap();
            let run = |(s, n): &(String, u64)| Run {
                patterns: true,
                stop_at_failure: false,
                ..Run::new(wire::encode(&plan.test), s.as_str(), 1, *n)
            };
            let mut replies = sim.run(plan.runs.iter().map(run).collect()).unwrap();
            // From then on nothing that was aimed at comes about.
            if i >= 20 {
                replies.iter_mut().for_each(|r| *r = RunReply { executions, ..RunReply::default() });
                targets.extend(plan.runs.iter().map(|(s, _)| (i / 60, s.clone())));
            }
            generator.feedback(&plan, &replies);
        }
        targets.into_iter().filter(|(part, s)| *part == 3 && s.starts_with("pattern:")).count()
    };
    assert_eq!(targets(1), 0, "all were tried in vain");
    assert!(targets(0) > 0);
}

/// What a static analysis says of two methods of which one reads twice what the other writes.
fn reads_twice_what_is_written(reader: ThunkId, writer: ThunkId) -> Known {
    use raddle_core::pattern::AccessKind::{Read, Write};
    let mut known = Known::default();
    let access =
        |kind, site| KnownAccess { kind, variable: 0, site, again: false, locks: Default::default() };
    known.add(reader, access(Read, 1));
    known.add(reader, access(Read, 2));
    known.add(writer, access(Write, 3));
    known
}

#[test]
fn rehearsed_tests_are_those_that_would_have_come_anyway_for_fewer_questions() {
    let ty = objects::counter();
    let known = reads_twice_what_is_written(ty.id("Counter::get"), ty.id("Counter::add"));
    for name in ["random", "covcon", "maptest"] {
        let plans = |ahead: usize| {
            let mut sim = Simulator::new(ty.clone());
            let mut generator = by_name(name, &ty.harness, 7, options()).unwrap();
            generator.inform(&known);
            let next = |_| {
                if ahead > 0 {
                    generator.prepare(ahead, &mut sim).unwrap();
                }
                generator.next(&mut sim).unwrap().unwrap()
            };
            ((0..40).map(next).collect::<Vec<Plan>>(), sim.requests)
        };
        let ((alone, asked), (rehearsed, requests)) = (plans(0), plans(16));
        assert!(alone == rehearsed, "{name}");
        assert!(requests < asked, "{name}: {requests} requests instead of {asked}");
    }
}

#[test]
fn maptest_tries_the_methods_first_that_a_static_analysis_finds_promising() {
    let ty = objects::queue();
    let (len, push) = (ty.id("Queue::len"), ty.id("Queue::push"));
    let known = reads_twice_what_is_written(len, push);
    let called = |name: &str, inform: bool| {
        let mut sim = Simulator::new(ty.clone());
        let mut generator = by_name(name, &ty.harness, 7, options()).unwrap();
        if inform {
            generator.inform(&known);
        }
        let plans: Vec<Plan> = (0..6).map(|_| generator.next(&mut sim).unwrap().unwrap()).collect();
        let has = |p: &Plan, i: usize, m| p.test.suffixes[i].iter().any(|s| s.thunk == m);
        let both = |p: &&Plan| (0..2).any(|i| has(p, i, len) && has(p, 1 - i, push));
        plans.iter().filter(both).count()
    };
    assert_eq!(called("maptest", true), 6);
    assert!(called("maptest", false) < 6, "without it, it begins with any two methods");
    assert_eq!(called("maptest-random", true), called("maptest-random", false), "the ablation ignores it");
}

#[test]
fn maptest_ends_tests_with_methods_that_look_at_what_their_calls_write() {
    let looks = |ty: objects::Type, i| {
        ty.thunk(
            &format!("Counter::look_{i}"),
            Role::Method,
            vec![objects::slot(0, Pass::Shared)],
            &[],
            objects::nothing,
        )
    };
    let ty = (0..20).fold(objects::counter(), looks);
    let (get, add) = (ty.id("Counter::get"), ty.id("Counter::add"));
    let seeing = [get, ty.id("Counter::look_0"), ty.id("Counter::look_1"), ty.id("Counter::look_2")];
    // How many tests have a method that sees in each place of their end.
    let seen = |inform: bool| {
        let mut sim = Simulator::new(ty.clone());
        let mut generator = by_name("maptest", &ty.harness, 7, options()).unwrap();
        if inform {
            let mut known = reads_twice_what_is_written(get, add);
            let access = |site| KnownAccess {
                kind: raddle_core::pattern::AccessKind::Read,
                variable: 0,
                site,
                again: false,
                locks: Default::default(),
            };
            seeing[1..].iter().for_each(|m| known.add(*m, access(10 + m.0)));
            generator.inform(&known);
        }
        let plans: Vec<Plan> = (0..6).map(|_| generator.next(&mut sim).unwrap().unwrap()).collect();
        assert!(plans.iter().all(|p| p.test.finally.len() == 3));
        [0, 1, 2].map(|i| plans.iter().filter(|p| seeing.contains(&p.test.finally[i].thunk)).count())
    };
    let [first, second, last] = seen(true);
    assert_eq!((first, second), (6, 6));
    assert!(last < 6, "not all that methods look at is known");
    assert!(seen(false)[0] < 6, "without it, it ends them with any");
}

#[test]
fn a_second_object_is_shared_where_methods_take_two() {
    let mut ty = objects::counter();
    let subject = ty.harness.types.iter().position(|t| t.subject).unwrap() as u32;
    let other = objects::slot(subject, Pass::Shared);
    let method = ty.harness.thunks.iter().position(|t| t.role == Role::Method).unwrap();
    let setups = |ty: &objects::Type| {
        let mut builder = Builder::new(&ty.harness, 1);
        let mut sim = Simulator::new(ty.clone());
        let prefixes: Vec<_> = (0..40).map(|_| builder.prefix(&mut sim, 0).unwrap().unwrap()).collect();
        prefixes.iter().filter(|p| p.steps.len() > 1).count()
    };
    assert_eq!(setups(&ty), 0);
    ty.harness.thunks[method].params.push(other);
    assert!((10..30).contains(&setups(&ty)), "{} of 40", setups(&ty));
}

#[test]
fn no_prefix_drops_one_of_two_objects() {
    let mut ty = objects::counter().thunk(
        "drop::<Counter>",
        Role::Drop,
        vec![objects::slot(0, Pass::Move)],
        &[],
        objects::nothing,
    );
    let method = ty.id("Counter::get");
    ty.harness.thunks[method.0 as usize].params.push(objects::slot(0, Pass::Shared));
    let mut builder = Builder::new(&ty.harness, 1);
    builder.two_objects = true;
    let mut sim = Simulator::new(ty);
    for _ in 0..40 {
        let prefix = builder.prefix(&mut sim, 5).unwrap().unwrap();
        let left = (0..2).filter(|slot| prefix.scope.may(*slot, Pass::Move)).count();
        assert_eq!(left, 2, "{prefix:?}");
    }
}

#[test]
fn a_handle_that_a_call_of_the_prefix_has_made_belongs_to_a_thread_that_uses_it() {
    let ty = objects::Type::new("Tower", &[("Tower", Sharing::Shared), ("Listener", Sharing::Owned)])
        .thunk("Tower::new", Role::Constructor, vec![], &[0], objects::nothing)
        .thunk("Tower::listen", Role::Method, vec![objects::slot(0, Pass::Shared)], &[1], objects::nothing)
        .thunk(
            "Listener::hear",
            Role::Method,
            vec![objects::slot(1, Pass::Exclusive)],
            &[],
            objects::nothing,
        );
    let (listen, hear) = (ty.id("Tower::listen"), ty.id("Listener::hear"));
    let mut builder = Builder::new(&ty.harness, 1);
    let mut sim = Simulator::new(ty);
    for _ in 0..20 {
        let prefix = builder.prefix(&mut sim, 3).unwrap().unwrap();
        let made = prefix.steps.iter().filter(|s| s.thunk == listen).count();
        let draft = builder.equip(&prefix, &[vec![listen], vec![hear]]);
        assert_eq!(draft.give().len(), made, "{prefix:?}");
        assert!(draft.give().iter().all(|(_, suffix)| *suffix == 1), "{:?}", draft.give());
    }
}

#[test]
fn now_and_then_no_handle_stays_behind_so_that_a_thread_drops_the_last_one() {
    let mut ty = objects::channel();
    ty.harness.types[0].sharing = Sharing::Shared;
    let (send, dropping) = (ty.id("Sender::send"), ty.id("drop::<Sender>"));
    let mut builder = Builder::new(&ty.harness, 1);
    let mut sim = Simulator::new(ty);
    let mut all_given = 0;
    for _ in 0..100 {
        let prefix = builder.prefix(&mut sim, 0).unwrap().unwrap();
        let draft = builder.equip(&prefix, &[vec![send], vec![dropping]]);
        let owner =
            |slot: u32| draft.give().iter().find(|(given, _)| *given == slot).map(|(_, owner)| *owner);
        let senders: Vec<u32> =
            draft.setup().scope.slots().filter(|(_, s)| s.ty.0 == 0).map(|(i, _)| i).collect();
        if senders.iter().all(|slot| owner(*slot).is_some()) {
            all_given += 1;
            let owners: BTreeSet<u32> = senders.iter().filter_map(|slot| owner(*slot)).collect();
            assert_eq!(owners, BTreeSet::from([0, 1]), "each that uses one has one of its own: {draft:?}");
        }
    }
    assert!((10..50).contains(&all_given), "{all_given} of 100");
}
