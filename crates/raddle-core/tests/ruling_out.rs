//! What is ruled out against all executions of small programs.

mod ruling_out {
    pub mod explorer;
    pub mod programs;
}

use raddle_core::location_pairs::ruling_out::{Analysis, Beyond};
use raddle_core::location_pairs::{Block, Target};
use ruling_out::explorer::Explorer;
use ruling_out::programs::{Dice, component};
use std::collections::BTreeSet;

/// What is used beyond the paper: nothing, and everything.
const BEYOND: [Beyond; 2] = [Beyond { locals: false, stable: false, ownership: false }, Beyond::ALL];

/// A random pair of methods with what is ruled out of it, and what its executions cover.
struct Pair {
    /// For each of [`BEYOND`]: the targets, those ruled out, and those covered.
    sets: [[BTreeSet<Target>; 3]; 2],
    /// Whether all executions were explored.
    complete: bool,
}

impl Pair {
    /// Explores up to so many states.
    fn new(seed: u64, states: usize) -> Pair {
        let mut dice = Dice(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15));
        let component = component(&mut dice);
        let methods = [0, dice.below(2)];
        let mut complete = true;
        let mut known: Option<(Vec<Block>, BTreeSet<Target>)> = None;
        let sets = BEYOND.map(|beyond| {
            let ruling = Analysis::new(&component, beyond).pair(methods[0], methods[1]);
            if known.as_ref().is_none_or(|(blocks, _)| *blocks != ruling.blocks) {
                let mut explorer = Explorer::new(&component, methods, &ruling.blocks);
                explorer.run(states, &mut dice);
                complete &= explorer.complete;
                known = Some((ruling.blocks.clone(), explorer.covered));
            }
            let covered = known.iter().flat_map(|(_, covered)| covered).copied().collect();
            [ruling.targets, ruling.ruled_out, covered]
        });
        Pair { sets, complete }
    }
}

#[test]
fn no_execution_of_two_thousand_random_pairs_covers_what_was_ruled_out() {
    for seed in 0..2_000 {
        for (beyond, [_, ruled_out, covered]) in BEYOND.iter().zip(Pair::new(seed, 4_000).sets) {
            let wrong: Vec<_> = ruled_out.intersection(&covered).collect();
            assert!(wrong.is_empty(), "program {seed} with {beyond:?}: {wrong:?}");
        }
    }
}

#[test]
fn everything_that_is_covered_is_a_target() {
    for seed in 0..200 {
        for [targets, _, covered] in Pair::new(seed, 4_000).sets {
            assert!(covered.is_subset(&targets), "program {seed}: {:?}", covered.difference(&targets));
        }
    }
}

#[test]
fn most_of_what_no_execution_covers_is_ruled_out() {
    let (mut pairs, mut infeasible, mut ruled_out) = (0, [0; 2], [0; 2]);
    for seed in 0..60 {
        let pair = Pair::new(seed, 15_000);
        if !pair.complete {
            continue;
        }
        pairs += 1;
        for (i, [targets, out, covered]) in pair.sets.iter().enumerate() {
            infeasible[i] += targets.difference(covered).count();
            ruled_out[i] += out.len();
        }
    }
    println!("{pairs} pairs explored, {infeasible:?} infeasible targets, {ruled_out:?} ruled out");
    assert!(pairs >= 5, "{pairs}");
    assert!(
        ruled_out[0] * 100 >= infeasible[0] * 60,
        "the paper's predicates: {ruled_out:?} of {infeasible:?}"
    );
    assert!(ruled_out[1] * 100 >= infeasible[1] * 80, "ours: {ruled_out:?} of {infeasible:?}");
}
