//! The programs under loom, as far into its exhaustive search as time allows.

mod tool {
    pub use loom::{sync, thread};
}
#[path = "../../programs.rs"]
mod programs;

use programs::{PROGRAMS, least, measure};
use std::sync::atomic::{AtomicU64, Ordering};

static EXECUTIONS: AtomicU64 = AtomicU64::new(0);

fn main() {
    let least = least();
    for program in PROGRAMS {
        measure(program, least, |n| {
            let mut model = loom::model::Builder::new();
            // Loom looks at the limit at checkpoints only, before the execution that would be the next.
            model.max_permutations = Some(n as usize + 1);
            model.checkpoint_interval = n as usize + 1;
            model.max_branches = 100_000;
            EXECUTIONS.store(0, Ordering::Relaxed);
            let run = program.run;
            model.check(move || {
                EXECUTIONS.fetch_add(1, Ordering::Relaxed);
                run();
            });
            (EXECUTIONS.load(Ordering::Relaxed), 0)
        });
    }
}
