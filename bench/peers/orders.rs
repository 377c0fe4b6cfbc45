// Programs whose orders can all be visited, for the tools that search exhaustively, and how that is timed.

use crate::programs::{Program, counter, locked, print, seconds};

/// Programs so small that a search comes to its end.
pub const SMALL: &[Program] = &[
    Program { name: "2 threads x 3 fetch_add", operations: 6, run: || counter(2, 3) },
    Program { name: "2 threads x 5 fetch_add", operations: 10, run: || counter(2, 5) },
    Program { name: "3 threads x 2 fetch_add", operations: 6, run: || counter(3, 2) },
    Program { name: "2 threads x 3 under a mutex", operations: 12, run: || locked(2, 3) },
];

/// Runs `search`, which makes executions until there are no more and returns how many, again and again until that has taken
/// `least` seconds; prints how long it took once.
pub fn exhaust(program: &Program, least: f64, mut search: impl FnMut() -> u64) {
    let (mut executions, mut times) = (0, 1);
    let spent = loop {
        let spent = seconds(|| (0..times).for_each(|_| executions = search()));
        if spent >= least {
            break spent;
        }
        times *= 2;
    };
    print(program, executions, 0, spent / f64::from(times));
}
