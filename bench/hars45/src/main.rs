//! Runs the 45 programs under raddle; the table `hars45` of `bench-raddle` builds it with the hooks and talks to it.
//!
//! Each line of the standard input is a [`Task`] in JSON; the answer is one line of JSON.

use raddle::{Config, Report, explore};
use serde::{Deserialize, Serialize};
use std::io::{BufRead, Write};
use subjects_hars45::{PROGRAMS, Program};

/// What to do with a program.
#[derive(Clone, Debug, Deserialize)]
struct Task {
    program: String,
    strategy: String,
    #[serde(flatten)]
    what: What,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(tag = "task", rename_all = "kebab-case")]
enum What {
    /// Search for the bug, once per seed.
    Find { seeds: Vec<u64>, limit: u64 },
    /// Run so many executions, whatever they come to, of the program or of its fixed twin.
    Run { seed: u64, executions: u64, fixed: bool },
}

/// What came of one search.
#[derive(Debug, Serialize)]
struct Outcome {
    seed: u64,
    completed: u64,
    executions: u64,
    failures: u64,
    decisions: u64,
    /// What the strategy says about itself.
    notes: Vec<f64>,
    /// Processor time.
    seconds: f64,
    stop: String,
}

/// More than any execution of the set needs.
const STEPS: u64 = 20_000;

fn main() {
    let stdin = std::io::stdin();
    let mut line = String::new();
    while stdin.lock().read_line(&mut line).expect("the standard input can be read") > 0 {
        let task: Task = serde_json::from_str(&line).expect("a task in JSON");
        line.clear();
        println!("{}", serde_json::to_string(&perform(&task)).expect("plain data"));
        std::io::stdout().flush().expect("the standard output can be written");
    }
}

fn perform(task: &Task) -> Vec<Outcome> {
    let program = PROGRAMS.iter().find(|p| p.name == task.program);
    let program: &Program = program.unwrap_or_else(|| panic!("no program is called {}", task.program));
    let config = Config::new().strategy(&task.strategy).max_steps(STEPS);
    match &task.what {
        What::Find { seeds, limit } => {
            let search = |&seed| outcome(config.clone().schedules(*limit), seed, program.run);
            seeds.iter().map(search).collect()
        }
        What::Run { seed, executions, fixed } => {
            let run = if *fixed { program.fixed.expect("it has a twin") } else { program.run };
            vec![outcome(config.schedules(*executions).max_failures(u64::MAX), *seed, run)]
        }
    }
}

fn outcome(config: Config, seed: u64, run: fn()) -> Outcome {
    let start = processor_time();
    let Report { stats, stop, .. } = explore(config.seed(seed), run);
    Outcome {
        seed,
        completed: stats.completed,
        executions: stats.executions,
        failures: stats.failures,
        decisions: stats.decisions,
        notes: stats.notes,
        seconds: processor_time() - start,
        stop: format!("{stop:?}"),
    }
}

/// Processor time of this process and of its children that have ended, in seconds. The kernel counts it in
/// hundredths.
fn processor_time() -> f64 {
    let stat = std::fs::read_to_string("/proc/self/stat").expect("the system has /proc");
    let fields: Vec<&str> = stat.rsplit(')').next().unwrap_or_default().split_whitespace().collect();
    // utime, stime, cutime and cstime are the fields 14 to 17, the third being the first after the name.
    fields[11..15].iter().map(|f| f.parse::<f64>().expect("a number")).sum::<f64>() / 100.0
}
