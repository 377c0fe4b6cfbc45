//! The whole hunt on simulated types: tests are made, run and judged; what is found is made small and written out.

use super::generate::{GeneratorKind, Options};
use super::group::group;
use super::minimise::{Found, MinimiseOptions, minimise};
use super::oracle::{Judgement, Oracle, OracleOptions};
use super::render::{Style, explanation, render};
use super::testing::{Simulator, objects};
use super::{BoundedSearch, Executor, Run, Search, edit, wire};
use raddle_core::outcome::Kind;

const SEED: u64 = 5;

/// What so many tests find, one finding of each kind, made small; it ends when `most` are found.
fn hunt(generator: GeneratorKind, ty: &objects::Type, tests: usize, most: usize) -> Vec<Found> {
    let mut sim = Simulator::new(ty.clone());
    let options = Options { runs: vec![Search::random().most(15)], suffixes: 2, ..Options::default() };
    let mut generator = generator.make(&ty.harness, SEED, options);
    let mut oracle = Oracle::new(&ty.harness, OracleOptions::default());
    let mut all: Vec<Found> = Vec::new();
    for _ in 0..tests {
        if all.len() == most {
            break;
        }
        let plan = generator.next(&mut sim).unwrap().expect("there is always another test");
        let text = wire::encode(&plan.test);
        let run = |b: &BoundedSearch| Run::new(text.clone(), b.search.clone(), SEED, b.executions);
        let replies = sim.run(plan.runs.iter().map(run).collect()).unwrap();
        generator.feedback(&plan, &replies);
        for execution in replies.iter().flat_map(|r| &r.distinct) {
            let judgement = oracle.judge(&mut sim, &plan.test, SEED, execution).unwrap();
            if let Judgement::Wrong(verdict) = judgement
                && all.iter().all(|f| f.verdict.kind != verdict.kind)
            {
                let found =
                    Found { test: plan.test.clone(), execution: execution.clone(), verdict: *verdict };
                let options = MinimiseOptions { seed: SEED, ..MinimiseOptions::default() };
                let small = minimise(&mut sim, &mut oracle, &ty.harness, found, &options).unwrap();
                all.push(small.found);
                break;
            }
        }
    }
    all
}

#[test]
fn right_types_raise_no_alarm() {
    let mut right = objects::counter();
    right.harness.thunks.remove(1);
    right.bodies.remove(1);
    (1..right.harness.thunks.len()).for_each(|i| right.harness.thunks[i].id.0 = i as u32);
    for ty in [objects::queue(), objects::channel(), right] {
        for generator in [GeneratorKind::Random, GeneratorKind::CovCon] {
            assert_eq!(hunt(generator, &ty, 80, 1), [], "{generator:?} on {}", ty.harness.target);
        }
    }
}

#[test]
fn a_lost_update_is_found_made_small_and_explained() {
    let ty = objects::counter();
    for generator in [GeneratorKind::Random, GeneratorKind::CovCon] {
        let found = hunt(generator, &ty, 60, 1);
        let first = found.first().expect("found");
        assert_eq!(first.verdict.kind, Kind::NonLinearizable);
        assert!(edit::calls(&ty.harness, &first.test) <= 3, "{}", wire::encode(&first.test));
        let style = Style { assert_results: true, ..Style::default() };
        let source = render(&ty.harness, &first.test, Some(&first.execution), &style);
        assert!(source.contains("counter.add(") && source.contains("assert_ne!"), "{source}");
        let why = explanation(&ty.harness, &first.test, &first.verdict);
        assert!(why[0].starts_with("none of the ") && why[0].ends_with(" explains the results"), "{why:?}");
        assert!(why[1].contains("T1 ") && why[1].contains(" returns "), "{why:?}");
    }
}

#[test]
fn a_panic_and_a_deadlock_are_found_and_told_apart() {
    let ty = objects::checks();
    let found = hunt(GeneratorKind::CovCon, &ty, 200, 2);
    let groups = group(&ty.harness, &found);
    let kinds: Vec<Kind> = groups.iter().map(|(cause, _)| cause.kind).collect();
    assert!(kinds.contains(&Kind::Panic) && kinds.contains(&Kind::Deadlock), "{kinds:?}");
    for f in &found {
        assert!(edit::calls(&ty.harness, &f.test) <= 3, "{}", wire::encode(&f.test));
    }
}
