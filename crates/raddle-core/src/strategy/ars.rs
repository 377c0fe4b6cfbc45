//! Adaptive randomised scheduling.

use super::adaptive::AdaptiveConfig;
use super::hars::HARS;

/// ARS (Wang et al., "Adaptive Randomized Scheduling for Concurrency Bug Detection"): after one random execution,
/// always extend the subtrace whose memory-access patterns are farthest from those of the passed traces; ties are
/// broken by chance. A queue of 5, the best in the paper; without pruning, which the HARS paper claims as new although
/// its code lets its baseline prune as well. Patterns are those of the papers, and looking ends as for [`HARS`]; chance breaks ties anew at every
/// decision. `ars:published` is as the code has it. See [`Adaptive`](super::Adaptive) for the search and its deviations.
pub const ARS: AdaptiveConfig =
    AdaptiveConfig { queue: 5, heuristics: false, prune: false, lots: false, ..HARS };

#[cfg(test)]
mod tests {
    use super::super::Adaptive;
    use super::super::testing::{Do, Program};
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn it_prefers_the_subtrace_with_new_patterns_over_all_others() {
        // Thread 0 only touches what nobody else does; only thread 1's and 2's order makes patterns.
        let program =
            Program::new(&[&[Do::Write(1); 6], &[Do::Read(0), Do::Write(0)], &[Do::Read(0), Do::Write(0)]]);
        let mut s = Adaptive::new(2, ARS);
        let mut orders = BTreeSet::new();
        for _ in 0..600 {
            let run = program.run(&mut s).unwrap();
            if run.complete() {
                let order: Vec<u32> = run.order.iter().copied().filter(|&t| t != 0).collect();
                orders.insert(order);
            }
        }
        assert_eq!(orders.len(), 6, "{orders:?}");
        assert!(s.completed() < s.executions(), "some executions were given up for a better subtrace");
        assert_eq!(s.executions(), 600);
    }

    #[test]
    fn a_small_program_is_tried_in_every_order_although_nothing_is_pruned() {
        let write =
            [Do::Lock(0), Do::Write(2), Do::Unlock(0), Do::Lock(1), Do::Read(2), Do::Write(3), Do::Unlock(1)];
        let read = [Do::Lock(0), Do::Read(2), Do::Unlock(0), Do::Lock(1), Do::Read(3), Do::Unlock(1)];
        let mut program = Program::new(&[&write, &read]);
        program.silent_unlock = true;
        for seed in 0..20 {
            let mut s = Adaptive::new(seed, ARS);
            let mut orders = BTreeSet::new();
            for _ in 0..800 {
                let run = program.run(&mut s).unwrap();
                if run.complete() {
                    orders.insert(run.order);
                }
            }
            assert_eq!(orders.len(), 18, "seed {seed}: {orders:?}");
        }
    }

    #[test]
    fn one_seed_gives_one_search() {
        let program = Program::same_code(3, &[Do::Read(0), Do::Write(0), Do::Read(1)]);
        let search = |seed| -> Vec<Vec<u32>> {
            let mut s = Adaptive::new(seed, ARS);
            (0..50).map(|_| program.run(&mut s).unwrap().order).collect()
        };
        assert_eq!(search(4), search(4));
        assert_ne!(search(4), search(5));
    }
}
