//! What can be said about the programs without a controlled scheduler.

use std::collections::BTreeSet;

use subjects_hars45::{Bug, PROGRAMS};

#[test]
fn the_table_has_45_programs_with_different_names_and_functions() {
    assert_eq!(PROGRAMS.len(), 45);
    let names: BTreeSet<&str> = PROGRAMS.iter().map(|program| program.name).collect();
    assert_eq!(names.len(), 45);
    let functions: BTreeSet<usize> = PROGRAMS.iter().map(|program| program.run as usize).collect();
    assert_eq!(functions.len(), 45);
}

#[test]
fn the_published_averages_follow_from_the_rows() {
    let mean = |figures: Vec<f64>| figures.iter().sum::<f64>() / figures.len() as f64;
    let of = |figure: fn(&subjects_hars45::Paper) -> Option<f64>| {
        mean(PROGRAMS.iter().filter_map(|program| figure(&program.paper)).collect())
    };
    let agree = |ours: f64, printed: f64| assert!((ours - printed).abs() < 0.001, "{ours} is not {printed}");
    agree(of(|paper| paper.ars_p), 5.853);
    agree(of(|paper| paper.hars_p), 4.961);
    agree(of(|paper| paper.sr_p), 18.090);
    agree(of(|paper| paper.mcr_p), 24.371);
    // The paper prints 11.819 and 2.497, which are the sums divided by the number of programs that TSA failed on.
    agree(of(|paper| paper.tsa_p), 26.171);
    agree(of(|paper| paper.tsa_seconds), 5.530);
    agree(of(|paper| paper.ars_seconds), 1.655);
    agree(of(|paper| paper.hars_seconds), 1.790);
    agree(of(|paper| paper.sr_seconds), 3.212);
    agree(of(|paper| paper.mcr_seconds), 84.428);
}

#[test]
fn the_probability_of_simple_random_scheduling_is_the_inverse_of_its_p() {
    for program in PROGRAMS {
        match (program.paper.sr_p, program.card.sr) {
            (Some(p), Some(probability)) => {
                assert!(
                    (1.0 / p - probability).abs() < 0.0011,
                    "{}: 1/{p} is not {probability}",
                    program.name
                );
            }
            (None, None) => assert_eq!(program.name, "Pingpong"),
            _ => panic!("{}: one of the two figures is missing", program.name),
        }
    }
}

#[test]
fn three_programs_are_deadlocks() {
    let deadlocks: Vec<&str> =
        PROGRAMS.iter().filter(|program| program.bug == Bug::Deadlock).map(|program| program.name).collect();
    assert_eq!(deadlocks, ["Boundedbuffer", "Nestedmonitors", "Rax"]);
}

/// A fixed twin joins its threads and passes their panics on, so returning is passing.
#[test]
fn every_fixed_twin_passes_twenty_native_runs() {
    for program in PROGRAMS {
        let fixed = program.fixed.unwrap_or_else(|| panic!("{} has no fixed twin", program.name));
        for _ in 0..20 {
            fixed();
        }
    }
}
