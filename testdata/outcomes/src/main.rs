//! Runs the programs natively: `outcomes RUNS` prints a line with name and result for each result that came.

use std::collections::BTreeSet;

fn main() {
    let runs: u64 = std::env::args().nth(1).and_then(|n| n.parse().ok()).expect("how many runs");
    outcomes::run_natively(17);
    for (name, program) in outcomes::programs() {
        let seen: BTreeSet<String> = (0..runs).map(|_| program()).collect();
        seen.iter().for_each(|result| println!("{name}\t{result}"));
    }
}
