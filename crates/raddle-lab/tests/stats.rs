//! The statistics against SciPy (`vectors/make.py` says how the values were made) and against sums done by hand.

use proptest::prelude::*;
use proptest::test_runner::RngSeed;
use raddle_lab::stats::{
    Magnitude, Saturation, ScottKnott, best_split, bonferroni, cliffs_delta, cohens_d, kendall_tau_b,
    scott_knott_esd, wilcoxon,
};
use serde::Deserialize;
use serde::de::DeserializeOwned;

#[derive(Deserialize)]
struct Vectors<T> {
    cases: Vec<T>,
}

fn cases<T: DeserializeOwned>(json: &str) -> Vec<T> {
    serde_json::from_str::<Vectors<T>>(json).expect("the vectors are valid JSON").cases
}

#[track_caller]
fn close(ours: f64, theirs: f64, what: &str) {
    assert!((ours - theirs).abs() <= 1e-9, "{what}: {ours} instead of {theirs}");
}

#[test]
fn kendalls_tau_b_and_its_p_value_are_those_of_scipy() {
    #[derive(Deserialize)]
    struct Case {
        x: Vec<f64>,
        y: Vec<f64>,
        tau: Option<f64>,
        p: Option<f64>,
    }
    let cases: Vec<Case> = cases(include_str!("vectors/kendall.json"));
    assert!(cases.len() >= 100);
    for (i, case) in cases.iter().enumerate() {
        let ours = kendall_tau_b(&case.x, &case.y);
        assert_eq!(ours.is_some(), case.tau.is_some(), "case {i}");
        if let (Some(ours), Some(tau), Some(p)) = (ours, case.tau, case.p) {
            close(ours.tau, tau, &format!("tau of case {i}"));
            close(ours.p, p, &format!("p of case {i}"));
            // Absolute agreement says little about a tiny p.
            assert!((ours.p - p).abs() <= 1e-9 * p, "p of case {i}: {} instead of {p}", ours.p);
        }
    }
}

#[test]
fn wilcoxons_statistic_and_p_value_are_those_of_scipy() {
    #[derive(Deserialize)]
    struct Case {
        x: Vec<f64>,
        y: Vec<f64>,
        statistic: f64,
        p: f64,
    }
    let cases: Vec<Case> = cases(include_str!("vectors/wilcoxon.json"));
    assert!(cases.len() >= 100);
    for (i, case) in cases.iter().enumerate() {
        let ours = wilcoxon(&case.x, &case.y).expect("every case has an answer");
        close(ours.statistic, case.statistic, &format!("statistic of case {i}"));
        close(ours.p, case.p, &format!("p of case {i}"));
        assert!((ours.p - case.p).abs() <= 1e-9 * case.p, "p of case {i}");
    }
}

#[test]
fn effect_sizes_are_those_of_the_mann_whitney_statistic_and_of_numpys_variances() {
    #[derive(Deserialize)]
    struct Case {
        x: Vec<f64>,
        y: Vec<f64>,
        delta: f64,
        d: f64,
    }
    let cases: Vec<Case> = cases(include_str!("vectors/effect.json"));
    assert!(cases.len() >= 20);
    for (i, case) in cases.iter().enumerate() {
        close(cliffs_delta(&case.x, &case.y).unwrap(), case.delta, &format!("delta of case {i}"));
        close(cohens_d(&case.x, &case.y).unwrap(), case.d, &format!("d of case {i}"));
    }
}

#[test]
fn scott_knott_makes_the_cuts_of_a_second_implementation_on_scipys_chi_square() {
    #[derive(Deserialize)]
    struct Case {
        samples: Vec<Vec<f64>>,
        esd: Vec<Vec<usize>>,
        plain: Vec<Vec<usize>>,
        splits: Vec<Cut>,
        variance: f64,
        error_freedom: f64,
    }
    #[derive(Deserialize)]
    struct Cut {
        means: Vec<f64>,
        at: usize,
        lambda: f64,
        freedom: f64,
        p: f64,
    }
    let mut merges = 0;
    for (i, case) in cases::<Case>(include_str!("vectors/scott_knott.json")).iter().enumerate() {
        let members = |test: ScottKnott| {
            Vec::from_iter(test.groups(&case.samples).unwrap().into_iter().map(|g| g.members))
        };
        assert_eq!(members(ScottKnott::default()), case.esd, "case {i}");
        assert_eq!(members(ScottKnott { negligible: 0.0, ..ScottKnott::default() }), case.plain, "case {i}");
        merges += usize::from(case.esd != case.plain);
        for cut in &case.splits {
            let split = best_split(&cut.means, case.variance, case.error_freedom).unwrap();
            assert_eq!(split.at, cut.at);
            assert!((split.lambda - cut.lambda).abs() <= 1e-9 * cut.lambda, "lambda in case {i}");
            close(split.freedom, cut.freedom, "freedom");
            close(split.p, cut.p, "p");
        }
    }
    assert!(merges > 0, "some case must merge groups of negligible difference");
}

/// Two samples with means 2 and 12, error mean square 1 on 4 degrees, r = 3, so s² = 1/3.
/// B = 2²/1 + 12²/1 - 14²/2 = 50; σ² = (25 + 25 + 4/3) / 6 = 154/18; λ = π / (2 (π - 2)) · 900/154.
#[test]
fn scott_knott_of_two_samples_is_the_sum_done_by_hand() {
    let split = best_split(&[2.0, 12.0], 1.0 / 3.0, 4.0).unwrap();
    assert_eq!(split.at, 1);
    close(split.between, 50.0, "B");
    close(split.lambda, 1.375_969_196_942_054 * 900.0 / 154.0, "lambda");
    close(split.freedom, 1.751_938_393_884_108, "freedom");
    let groups = scott_knott_esd(&[vec![11.0, 12.0, 13.0], vec![1.0, 2.0, 3.0]]).unwrap();
    assert_eq!(groups.iter().map(|g| g.members.clone()).collect::<Vec<_>>(), [[1], [0]]);
    assert_eq!(groups[0].mean, 2.0);
}

/// Means 0, 1 and 10: B is 0 + 11²/2 - 11²/3 = 121/6 for the cut after the first and 1/2 + 100 - 121/3 = 361/6
/// for the cut after the second.
#[test]
fn scott_knott_cuts_where_the_sum_of_squares_between_is_largest() {
    let split = best_split(&[0.0, 1.0, 10.0], 0.01, 10.0).unwrap();
    assert_eq!(split.at, 2);
    close(split.between, 361.0 / 6.0, "B");
}

#[test]
fn scott_knott_leaves_equal_samples_together() {
    let same = vec![1.0, 2.0, 3.0];
    assert_eq!(scott_knott_esd(&[same.clone(), same.clone(), same]).unwrap()[0].members, [0, 1, 2]);
}

/// The values alternate one above and one below 0 and 0.15: the difference is significant with 4000 values
/// each, but 0.15 standard deviations are negligible.
#[test]
fn a_significant_difference_of_negligible_size_is_merged_again() {
    let around = |mean: f64| Vec::from_iter((0..4000).map(|i| mean + if i % 2 == 0 { 1.0 } else { -1.0 }));
    let samples = [around(0.0), around(0.15)];
    assert_eq!(scott_knott_esd(&samples).unwrap().len(), 1);
    assert_eq!(ScottKnott { negligible: 0.0, ..ScottKnott::default() }.groups(&samples).unwrap().len(), 2);
    assert_eq!(scott_knott_esd(&[around(0.0), around(0.25)]).unwrap().len(), 2);
}

#[test]
fn the_logarithm_is_taken_before_anything_else() {
    let test = ScottKnott { log: true, ..ScottKnott::default() };
    let groups = test.groups(&[vec![0.0, 0.0], vec![1f64.exp() - 1.0, 1f64.exp() - 1.0]]).unwrap();
    close(groups[1].mean, 1.0, "mean");
}

#[test]
fn the_classes_of_cliffs_delta_change_at_romanos_bounds() {
    let letters =
        |deltas: &[f64]| deltas.iter().map(|&d| Magnitude::of_delta(d).letter()).collect::<String>();
    assert_eq!(letters(&[0.0, 0.146, 0.147, 0.329, 0.33, 0.473, 0.474, 1.0]), "NNSSMMLL");
    assert_eq!(letters(&[-0.146, -0.147, -0.33, -0.474]), "NSML");
}

#[test]
fn bonferroni_multiplies_by_the_number_of_tests_and_stops_at_one() {
    assert_eq!(bonferroni(&[0.001, 0.02, 0.4, 0.9]), [0.004, 0.08, 1.0, 1.0]);
}

#[test]
fn samples_without_an_answer_get_none() {
    assert_eq!(kendall_tau_b(&[1.0], &[1.0]), None);
    assert_eq!(kendall_tau_b(&[], &[]), None);
    assert_eq!(kendall_tau_b(&[1.0, 2.0], &[1.0]), None);
    assert_eq!(wilcoxon(&[], &[]), None);
    assert_eq!(wilcoxon(&[f64::NAN], &[1.0]), None);
    assert_eq!(wilcoxon(&[1.0; 20], &[1.0; 20]).unwrap().p, 1.0);
    assert_eq!(cliffs_delta(&[], &[1.0]), None);
    assert_eq!(cohens_d(&[1.0], &[1.0]), None);
    assert_eq!(scott_knott_esd(&[vec![1.0], vec![2.0]]), None);
}

#[test]
fn saturation_with_one_thing_per_execution_is_good_and_turings_estimate() {
    let mut saturation = Saturation::default();
    assert_eq!(saturation.chance_of_new(), None);
    for thing in [1, 1, 2, 3, 3, 3, 4, 5, 1, 3] {
        saturation.observe([thing]);
    }
    assert_eq!(saturation.chance_of_new(), Some(3.0 / 10.0)); // 2, 4 and 5 were seen once
    assert_eq!((saturation.executions(), saturation.distinct()), (10, 5));
}

#[test]
fn an_execution_that_repeats_itself_still_counts_as_the_only_one() {
    let mut saturation = Saturation::default();
    saturation.observe(["x", "x", "x"]);
    assert_eq!((saturation.chance_of_new(), saturation.expected_new()), (Some(1.0), Some(1.0)));
    saturation.observe(["x"]);
    assert_eq!((saturation.chance_of_new(), saturation.expected_new()), (Some(0.0), Some(0.0)));
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 10_000,
        failure_persistence: None,
        rng_seed: RngSeed::Fixed(11),
        ..ProptestConfig::default()
    })]

    /// Leave each execution out in turn, and see whether it would have brought something new.
    #[test]
    fn saturation_is_the_share_of_executions_that_the_others_do_not_make_up_for(
        executions in proptest::collection::vec(proptest::collection::vec(0u8..12, 0..6), 1..12),
    ) {
        let mut saturation = Saturation::default();
        executions.iter().for_each(|e| saturation.observe(e.iter().copied()));
        let new_in = |i: usize| {
            let others = |thing: &u8| executions.iter().enumerate().any(|(j, e)| j != i && e.contains(thing));
            let mut new = Vec::from_iter(executions[i].iter().filter(|thing| !others(thing)));
            new.sort_unstable();
            new.dedup();
            new.len()
        };
        let new = Vec::from_iter((0..executions.len()).map(new_in));
        let n = executions.len() as f64;
        prop_assert_eq!(saturation.chance_of_new(), Some(new.iter().filter(|&&k| k > 0).count() as f64 / n));
        prop_assert_eq!(saturation.expected_new(), Some(new.iter().sum::<usize>() as f64 / n));
    }
}
