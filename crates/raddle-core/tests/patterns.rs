//! Both matchers against the definitions, on random traces.

mod common;

use common::{Size, runner, small, traces};
use proptest::prelude::*;
use proptest::test_runner::TestCaseResult;
use raddle_core::pattern::{
    CutConfig, CutMatcher, FullMatcher, Instance, InstanceSet, Match, Matcher, PatternRange, Which, Who,
    patterns_of,
};
use raddle_core::{Event, NameId, Op, Trace};
use raddle_lab::reference;
use std::cell::RefCell;
use std::collections::BTreeSet;

const CASES: u32 = 10_000;

/// Checks that the events of a witness are what the instance says.
fn check_witness(m: &Match, trace: &Trace) -> TestCaseResult {
    let steps = m.instance.pattern().pattern().steps;
    let events: Vec<&Event> = m.witness.events().iter().map(|&i| &trace.events[i as usize]).collect();
    prop_assert_eq!(events.len(), steps.len());
    prop_assert!(m.witness.events().is_sorted_by(|a, b| a < b));
    for ((step, event), (kind, site, name)) in steps.iter().zip(&events).zip(m.instance.steps()) {
        let access = event.access().expect("data");
        let fits = match event.op {
            Op::Read(_) => kind as u8 == 0,
            Op::Write(_) => kind as u8 == 1,
            _ => true,
        };
        prop_assert!(fits && event.site == site && trace.name(access.var) == name);
        prop_assert_eq!(step.who == Who::A, event.thread == events[0].thread);
        prop_assert_eq!(step.var == Which::X, access.var == events[0].access().expect("data").var);
    }
    let others: BTreeSet<_> =
        steps.iter().zip(&events).filter(|(s, _)| s.who == Who::B).map(|(_, e)| e.thread).collect();
    prop_assert_eq!(others.len(), 1);
    Ok(())
}

/// Pushes a trace event by event, comparing previews and the counts of a copy with what push reports; returns
/// what was reported.
fn push_all(
    matcher: &mut (impl Matcher + Clone),
    trace: &Trace,
) -> Result<BTreeSet<Instance>, TestCaseError> {
    let mut all = BTreeSet::new();
    let mut counter = matcher.clone();
    for event in &trace.events {
        let mut ahead = Vec::new();
        matcher.preview(event, &trace.vars, &mut ahead);
        let before = matcher.found().len();
        let counted = counter.count(event, &trace.vars);
        let mut new = Vec::new();
        matcher.push(event, &trace.vars, &mut new);
        let mut reported: Vec<Instance> = new.iter().map(|m| m.instance).collect();
        reported.sort_unstable();
        prop_assert_eq!(&ahead, &reported);
        prop_assert_eq!(counted, reported.len() as u64);
        prop_assert_eq!(matcher.found().len(), before + counted);
        for m in &new {
            check_witness(m, trace)?;
            prop_assert!(all.insert(m.instance), "reported twice: {}", m.instance);
        }
    }
    Ok(all)
}

#[test]
fn the_full_matcher_finds_exactly_the_subsequences_whether_pushed_singly_or_as_a_whole() {
    let matcher = RefCell::new(FullMatcher::new());
    let result = runner(CASES).run(&small(14), |trace| {
        let mut matcher = matcher.borrow_mut();
        let expected = reference::subsequences(&trace);
        matcher.clear();
        prop_assert_eq!(&push_all(&mut *matcher, &trace)?, &expected);
        prop_assert_eq!(&patterns_of(&mut *matcher, &trace), &expected);
        prop_assert_eq!(&patterns_of(&mut FullMatcher::new(), &trace), &expected);
        Ok(())
    });
    result.unwrap();
}

#[test]
fn the_full_matcher_is_exact_when_many_sites_touch_few_variables() {
    let size = Size { threads: 2, vars: 2, sites: 9, events: 70 };
    let matcher = RefCell::new(FullMatcher::new());
    let result = runner(60).run(&traces(size), |trace| {
        let mut matcher = matcher.borrow_mut();
        let expected = reference::subsequences(&trace);
        matcher.clear();
        let mut listed = BTreeSet::new();
        let mut new = Vec::new();
        for event in &trace.events {
            new.clear();
            matcher.push(event, &trace.vars, &mut new);
            listed.extend(new.iter().map(|m| m.instance));
        }
        prop_assert_eq!(&listed, &expected);
        prop_assert_eq!(&patterns_of(&mut *matcher, &trace), &expected);
        Ok(())
    });
    result.unwrap();
}

#[test]
fn previews_are_exact_when_many_sites_touch_few_variables() {
    let size = Size { threads: 3, vars: 2, sites: 7, events: 60 };
    runner(20).run(&traces(size), |trace| push_all(&mut FullMatcher::new(), &trace).map(|_| ())).unwrap();
}

#[test]
fn over_several_executions_only_what_is_new_to_all_is_reported() {
    let pairs = (small(10), small(10));
    let result = runner(2_000).run(&pairs, |(first, second)| {
        let mut matcher = FullMatcher::new();
        let one = push_all(&mut matcher, &first)?;
        matcher.begin();
        let more = push_all(&mut matcher, &second)?;
        let second: BTreeSet<Instance> = reference::subsequences(&second);
        prop_assert_eq!(&more, &second.difference(&one).copied().collect());
        prop_assert_eq!(matcher.patterns(), &one | &second);
        Ok(())
    });
    result.unwrap();
}

#[test]
fn many_executions_together_have_found_what_each_alone_contains() {
    check_many_executions(Size { threads: 3, vars: 3, sites: 3, events: 14 }, 200);
}

#[test]
fn in_many_executions_nothing_is_passed_over_once_most_has_been_found() {
    check_many_executions(Size { threads: 2, vars: 2, sites: 1, events: 6 }, 1_000);
    check_many_executions(Size { threads: 2, vars: 3, sites: 1, events: 8 }, 200);
}

#[test]
fn variables_that_share_a_name_are_not_passed_over_once_other_arrangements_are_known() {
    let run = |matcher: &mut FullMatcher, steps: [(u32, u32); 4]| {
        matcher.begin();
        let count = |&(t, v): &(u32, u32)| matcher.count(&Event::write(t, 0, v), &[NameId(0), NameId(0)]);
        steps.iter().map(count).sum::<u64>()
    };
    let p9 = [(0, 0), (1, 0), (1, 1), (0, 1)];
    let p10 = [(0, 0), (1, 1), (1, 0), (0, 1)];
    let p11 = [(0, 0), (1, 1), (0, 1), (1, 0)];
    for (known, other) in
        [([p9, p9], p10), ([p9, p9], p11), ([p10, p11], p9), ([p9, p10], p11), ([p9, p11], p10)]
    {
        let mut matcher = FullMatcher::new();
        for steps in known.repeat(3) {
            run(&mut matcher, steps);
        }
        assert_eq!(run(&mut matcher, other), 1, "{other:?} after {known:?}");
    }
}

fn check_many_executions(size: Size, cases: u32) {
    let result = runner(cases).run(&prop::collection::vec(traces(size), 40), |all| {
        let mut matcher = FullMatcher::new();
        let mut expected = BTreeSet::new();
        for trace in &all {
            matcher.begin();
            let new = push_all(&mut matcher, trace)?;
            let contained = reference::subsequences(trace);
            prop_assert_eq!(&new, &contained.difference(&expected).copied().collect());
            expected.extend(contained);
        }
        prop_assert_eq!(matcher.patterns(), expected);
        Ok(())
    });
    result.unwrap();
}

#[test]
fn more_sites_than_bits_in_a_word_are_no_problem() {
    let many = (0..100).flat_map(|s| [Event::write(0, s, 0), Event::read(0, s, 1), Event::write(0, s, 1)]);
    let many = Trace::from_events(many);
    let size = Size { threads: 2, vars: 2, sites: 100, events: 24 };
    let result = runner(200).run(&traces(size), |mut trace| {
        trace.vars.clone_from(&many.vars);
        let mut matcher = FullMatcher::new();
        prop_assert!(push_all(&mut matcher, &many)?.is_empty());
        matcher.begin();
        prop_assert_eq!(push_all(&mut matcher, &trace)?, reference::subsequences(&trace));
        Ok(())
    });
    result.unwrap();
}

fn one_variable(all: BTreeSet<Instance>) -> BTreeSet<Instance> {
    all.into_iter().filter(|i| i.y().is_none()).collect()
}

#[test]
fn the_cut_matcher_finds_exactly_what_no_write_hides_whether_pushed_singly_or_as_a_whole() {
    let all = RefCell::new(CutMatcher::new(CutConfig { patterns: PatternRange::All, drop_repeated: false }));
    let result = runner(CASES).run(&small(14), |trace| {
        let mut matcher = all.borrow_mut();
        let expected = reference::cut_at_writes(&trace);
        matcher.clear();
        prop_assert_eq!(&push_all(&mut *matcher, &trace)?, &expected);
        prop_assert_eq!(&patterns_of(&mut *matcher, &trace), &expected);
        let mut eight =
            CutMatcher::new(CutConfig { patterns: PatternRange::OneVariable, drop_repeated: false });
        prop_assert_eq!(patterns_of(&mut eight, &trace), one_variable(expected));
        Ok(())
    });
    result.unwrap();
}

#[test]
fn the_cut_matcher_is_exact_on_longer_traces() {
    let size = Size { threads: 3, vars: 3, sites: 3, events: 40 };
    let config = CutConfig { patterns: PatternRange::All, drop_repeated: false };
    let result = runner(60).run(&traces(size), |trace| {
        prop_assert_eq!(patterns_of(&mut CutMatcher::new(config), &trace), reference::cut_at_writes(&trace));
        Ok(())
    });
    result.unwrap();
}

/// The trace without the accesses that the same thread repeats later.
fn last_occurrences(trace: &Trace) -> Trace {
    let same = |a: &Event, b: &Event| {
        let ops = matches!(
            (a.op, b.op),
            (Op::Read(_), Op::Read(_)) | (Op::Write(_), Op::Write(_)) | (Op::Rmw(_), Op::Rmw(_))
        );
        ops && a.thread == b.thread && a.site == b.site && a.object() == b.object()
    };
    let keep = |i: usize| !trace.events[i + 1..].iter().any(|e| same(e, &trace.events[i]));
    let events = (0..trace.events.len()).filter(|&i| keep(i)).map(|i| trace.events[i]).collect();
    Trace { events, vars: trace.vars.clone() }
}

#[test]
fn dropping_repeated_accesses_is_matching_the_trace_without_them() {
    let result = runner(CASES).run(&small(14), |trace| {
        let config = CutConfig { patterns: PatternRange::All, drop_repeated: true };
        let mut matcher = CutMatcher::new(config);
        let reported = push_all(&mut matcher, &trace)?;
        let expected = reference::cut_at_writes(&last_occurrences(&trace));
        prop_assert_eq!(matcher.current(), &expected);
        prop_assert!(reported.is_superset(&expected));
        let eight = patterns_of(&mut CutMatcher::new(CutConfig::default()), &trace);
        prop_assert_eq!(eight, one_variable(expected));
        Ok(())
    });
    result.unwrap();
}

#[test]
fn a_set_of_instances_behaves_as_a_plain_set() {
    let three = (small(12), small(12), small(12));
    let result = runner(2_000).run(&three, |(a, b, c)| {
        let [a, b, c] = [a, b, c].map(|t| reference::subsequences(&t));
        let mut set: InstanceSet = a.iter().copied().collect();
        prop_assert_eq!(&set.iter().collect::<BTreeSet<_>>(), &a);
        prop_assert_eq!(set.merge(&b.iter().rev().copied().collect()), b.difference(&a).count() as u64);
        let union = &a | &b;
        prop_assert_eq!(set.len(), union.len() as u64);
        prop_assert_eq!(&set.iter().collect::<BTreeSet<_>>(), &union);
        prop_assert!(c.iter().all(|i| set.contains(i) == union.contains(i)));
        for (id, n) in set.per_pattern().iter().enumerate() {
            prop_assert_eq!(*n, union.iter().filter(|i| i.pattern().index() == id).count() as u64);
        }
        for (name, n) in set.per_variable() {
            let involved = union.iter().filter(|i| i.x() == name || i.y() == Some(name));
            prop_assert_eq!(n, involved.count() as u64);
        }
        let text = serde_json::to_string(&set).expect("serialisable");
        let back: InstanceSet = serde_json::from_str(&text).expect("readable");
        prop_assert_eq!(&back, &set);
        set.clear();
        prop_assert!(set.is_empty() && set.iter().next().is_none());
        set.extend(c.iter().copied());
        prop_assert_eq!(&set.iter().collect::<BTreeSet<_>>(), &c);
        Ok(())
    });
    result.unwrap();
}

#[test]
fn a_damaged_instance_is_refused() {
    let missing_variable = r#"{"pattern":9,"sites":[1,2,3,4],"vars":[0]}"#;
    assert!(serde_json::from_str::<Instance>(missing_variable).is_err());
    let no_such_pattern = r#"{"pattern":18,"sites":[1,2],"vars":[0]}"#;
    assert!(serde_json::from_str::<Instance>(no_such_pattern).is_err());
}
