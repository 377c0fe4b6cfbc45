//! The programs under loom, as far into its exhaustive search as time allows.

mod tool {
    pub use loom::{sync, thread};
}
#[path = "../../orders.rs"]
mod orders;
#[path = "../../programs.rs"]
mod programs;

use orders::{SMALL, exhaust};
use programs::{PROGRAMS, least, measure};
use std::sync::atomic::{AtomicU64, Ordering};

static EXECUTIONS: AtomicU64 = AtomicU64::new(0);

/// Runs a program, at most `most` times if that is given; tells how often.
fn search(run: fn(), most: Option<u64>) -> u64 {
    let mut model = loom::model::Builder::new();
    if let Some(n) = most {
        // Loom looks at the limit at checkpoints only, before the execution that would be the next.
        model.max_permutations = Some(n as usize + 1);
        model.checkpoint_interval = n as usize + 1;
    }
    model.max_branches = 100_000;
    EXECUTIONS.store(0, Ordering::Relaxed);
    model.check(move || {
        EXECUTIONS.fetch_add(1, Ordering::Relaxed);
        run();
    });
    EXECUTIONS.load(Ordering::Relaxed)
}

fn main() {
    let least = least();
    if std::env::args().nth(2).as_deref() == Some("orders") {
        SMALL.iter().for_each(|program| exhaust(program, least, || search(program.run, None)));
        return;
    }
    for program in PROGRAMS {
        measure(program, least, |n| (search(program.run, Some(n)), 0));
    }
}
