//! The programs under shuttle's random scheduler.

mod tool {
    pub use shuttle::{sync, thread};
}
#[path = "../../programs.rs"]
mod programs;

use programs::{PROGRAMS, all_cores, least, measure};
use shuttle::scheduler::RandomScheduler;
use shuttle::{Config, FailurePersistence, PortfolioRunner, Runner};

fn main() {
    let least = least();
    for program in PROGRAMS {
        measure(program, least, |n| {
            let mut config = Config::new();
            config.failure_persistence = FailurePersistence::None;
            let scheduler = |seed, n| RandomScheduler::new_from_seed(seed, n as usize);
            if !all_cores() {
                return (Runner::new(scheduler(0, n), config).run(program.run) as u64, 0);
            }
            // The schedulers of a portfolio run side by side; each has its share.
            let cores = std::thread::available_parallelism().map_or(1, |n| n.get() as u64);
            let mut runner = PortfolioRunner::new(true, config);
            (0..cores).for_each(|seed| runner.add(scheduler(seed, n.div_ceil(cores))));
            runner.run(program.run);
            (cores * n.div_ceil(cores), 0)
        });
    }
}
