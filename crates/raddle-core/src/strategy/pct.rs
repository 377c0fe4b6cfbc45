//! Probabilistic concurrency testing.

use super::{Choice, Finished, Strategy, View};
use crate::event::ThreadId;
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64Mcg;

/// PCT (Burckhardt et al., ASPLOS 2010): threads have random priorities, the highest enabled one runs, and
/// at `depth - 1` random steps the thread about to run drops below all others. A bug of depth d is found
/// with probability at least 1/(n k^(d-1)) for n threads and k steps.
///
/// Deviations: only decisions count as steps (a step that is nobody's choice cannot matter); k is the
/// largest number of decisions seen so far; a thread that yields drops to the bottom, or a spinning thread
/// of high priority would starve the others; new threads are inserted at a random place in the order.
#[derive(Debug)]
pub struct Pct {
    rng: Pcg64Mcg,
    depth: u32,
    longest: usize,
    steps: usize,
    /// Threads from the highest to the lowest priority.
    order: Vec<ThreadId>,
    /// Decisions at which the running thread drops, ascending.
    changes: Vec<usize>,
}

impl Pct {
    /// From a seed, for bugs of this depth (at least 1).
    pub fn new(seed: u64, depth: u32) -> Self {
        assert!(depth >= 1, "a bug has at least depth 1");
        let rng = Pcg64Mcg::seed_from_u64(seed);
        Pct { rng, depth, longest: 1, steps: 0, order: Vec::new(), changes: Vec::new() }
    }

    fn highest(&mut self, view: &View<'_>) -> usize {
        for e in view.enabled {
            if !self.order.contains(&e.thread) {
                // Dropped threads are below all initial priorities; a newcomer is placed among the others.
                let at = self.rng.random_range(0..=self.order.len());
                self.order.insert(at, e.thread);
            }
        }
        let top = self.order.iter().find(|t| view.enabled.iter().any(|e| e.thread == **t));
        let top = *top.expect("every enabled thread was inserted");
        view.enabled.iter().position(|e| e.thread == top).expect("it is enabled")
    }

    fn drop_to_bottom(&mut self, thread: ThreadId) {
        self.order.retain(|t| *t != thread);
        self.order.push(thread);
    }
}

impl Strategy for Pct {
    fn begin(&mut self) -> bool {
        self.longest = self.longest.max(self.steps);
        self.steps = 0;
        self.order.clear();
        self.changes = (1..self.depth).map(|_| self.rng.random_range(0..self.longest)).collect();
        self.changes.sort_unstable();
        true
    }

    fn choose(&mut self, view: &View<'_>) -> Choice {
        let mut chosen = self.highest(view);
        while self.changes.first() == Some(&self.steps) {
            self.changes.remove(0);
            self.drop_to_bottom(view.enabled[chosen].thread);
            chosen = self.highest(view);
        }
        self.steps += 1;
        if matches!(view.enabled[chosen].op, crate::event::Op::Yield) {
            self.drop_to_bottom(view.enabled[chosen].thread);
        }
        Choice::Run(chosen)
    }

    fn end(&mut self, _: &Finished<'_>) {}
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::Event;

    /// Runs `n` threads of `k` steps each; `fails` sees the order of the threads' steps.
    fn run(s: &mut Pct, n: u32, k: usize) -> Vec<u32> {
        s.begin();
        let mut left = vec![k; n as usize];
        let mut order = Vec::new();
        loop {
            let enabled: Vec<Event> =
                (0..n).filter(|&t| left[t as usize] > 0).map(|t| Event::write(t, 0, 0)).collect();
            let i = match enabled.len() {
                0 => return order,
                1 => 0,
                _ => {
                    let last = ThreadId(*order.last().unwrap_or(&0));
                    let view =
                        View { enabled: &enabled, last, events: &[], vars: &[], decision: order.len() };
                    let Choice::Run(i) = s.choose(&view) else { panic!() };
                    i
                }
            };
            let t = enabled[i].thread.0;
            left[t as usize] -= 1;
            order.push(t);
        }
    }

    #[test]
    fn a_bug_of_depth_two_is_found_at_least_as_often_as_the_bound_promises() {
        // Thread 1's first step must come between the fifth and the sixth step of thread 0: one ordering
        // constraint more than starting order.
        let (n, k) = (2, 10);
        let mut s = Pct::new(3, 2);
        let runs = 20_000;
        let hits = (0..runs)
            .filter(|_| {
                let order = run(&mut s, n, k);
                let first = order.iter().position(|&t| t == 1).expect("thread 1 runs");
                order[..first].iter().filter(|&&t| t == 0).count() == 5
            })
            .count();
        let bound = runs as f64 / (n as f64 * 2.0 * k as f64);
        assert!(hits as f64 >= bound, "{hits} hits, bound {bound}");
    }

    #[test]
    fn depth_one_never_preempts() {
        let mut s = Pct::new(1, 1);
        for _ in 0..100 {
            let order = run(&mut s, 3, 4);
            let switches = order.windows(2).filter(|w| w[0] != w[1]).count();
            assert_eq!(switches, 2, "{order:?}");
        }
    }
}
