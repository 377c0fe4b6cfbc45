//! The examples of the MAP-coverage and HARS papers.

use raddle_core::coverage::map::{Accesses, Report};
use raddle_core::pattern::{
    AccessKind, CutConfig, CutMatcher, FullMatcher, Instance, Matcher, PatternRange, distance, patterns_of,
};
use raddle_core::{Event, NameId, SiteId, Trace};
use std::collections::BTreeSet;

#[test]
fn map_coverage_of_the_threshold_example_is_3_of_16() {
    let mut accesses = Accesses::default();
    accesses.add(NameId(0), AccessKind::Read, SiteId(4));
    accesses.add(NameId(0), AccessKind::Read, SiteId(5));
    accesses.add(NameId(0), AccessKind::Write, SiteId(9));
    assert_eq!(accesses.total(), 16);

    let run = Trace::from_events([Event::read(1, 4, 0), Event::write(2, 9, 0), Event::read(1, 5, 0)]);
    let mut matcher = FullMatcher::new();
    for event in &run.events {
        matcher.count(event, &run.vars);
    }
    let report = Report::new(&accesses, matcher.found(), None);
    let totals: Vec<u128> = report.per_pattern.iter().map(|t| t.total).collect();
    assert_eq!(totals, [2, 2, 1, 4, 2, 2, 2, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
    let covered: Vec<u128> = report.per_pattern.iter().map(|t| t.covered).collect();
    assert_eq!(covered, [1, 1, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
    assert_eq!((report.all.covered, report.all.total, report.all.open()), (3, 16, 13));
}

/// The store of HARS's example: each thread reads at statement 4 and writes at statement 5.
fn store(steps: &[(u32, u32)], config: CutConfig) -> BTreeSet<Instance> {
    let event = |&(t, s): &(u32, u32)| if s == 4 { Event::read(t, s, 0) } else { Event::write(t, s, 0) };
    patterns_of(&mut CutMatcher::new(config), &Trace::from_events(steps.iter().map(event)))
}

fn numbers(found: &BTreeSet<Instance>) -> Vec<u8> {
    found.iter().map(|i| i.pattern().number()).collect()
}

#[test]
fn the_first_trace_of_the_hars_example_has_patterns_2_and_3_and_the_ranking_follows_the_code() {
    for patterns in [PatternRange::OneVariable, PatternRange::All] {
        for drop_repeated in [false, true] {
            let config = CutConfig { patterns, drop_repeated };
            let passed = [store(&[(1, 4), (1, 5), (2, 4), (2, 5)], config)];
            assert_eq!(numbers(&passed[0]), [2, 3]);
            let far = |steps: &[(u32, u32)]| distance(&store(steps, config), &passed);
            assert_eq!([far(&[(1, 4)]), far(&[(2, 4)])], [0, 0]);
            let third = [&[(1, 4), (2, 4), (1, 5)][..], &[(1, 4), (2, 4), (2, 5)], &[(2, 4)]];
            assert_eq!(third.map(far), [1, 1, 0]);
        }
    }
}

#[test]
fn with_full_matching_the_hars_example_would_not_tell_its_subtraces_apart() {
    let run = |steps: &[(u32, u32)]| {
        let event = |&(t, s): &(u32, u32)| if s == 4 { Event::read(t, s, 0) } else { Event::write(t, s, 0) };
        patterns_of(&mut FullMatcher::new(), &Trace::from_events(steps.iter().map(event)))
    };
    let passed = [run(&[(1, 4), (1, 5), (2, 4), (2, 5)])];
    assert_eq!(numbers(&passed[0]), [1, 2, 3]);
    assert_eq!(distance(&run(&[(1, 4), (2, 4), (1, 5)]), &passed), 0);
}
