//! The programs under shuttle's random scheduler.

mod tool {
    pub use shuttle::{sync, thread};
}
#[path = "../../programs.rs"]
mod programs;

use programs::{PROGRAMS, least, measure};
use shuttle::scheduler::RandomScheduler;
use shuttle::{Config, FailurePersistence, Runner};

fn main() {
    let least = least();
    for program in PROGRAMS {
        measure(program, least, |n| {
            let mut config = Config::new();
            config.failure_persistence = FailurePersistence::None;
            let scheduler = RandomScheduler::new_from_seed(0, n as usize);
            let executions = Runner::new(scheduler, config).run(program.run);
            (executions as u64, 0)
        });
    }
}
