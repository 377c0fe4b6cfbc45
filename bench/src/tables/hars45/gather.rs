//! The tasks, and what came of them.

use super::runner::{Outcome, Runner, Task, What};
use super::{COVERED, KINDS, Kind, Scale};
use anyhow::Context;
use serde_json::json;
use std::collections::{BTreeMap, VecDeque};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::time::Instant;
use subjects_hars45::{PROGRAMS, Program};

/// What was asked, beside the program.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum About {
    /// Searches by this strategy.
    Search(&'static str),
    /// The random walk.
    Walk,
    /// The random walk of the fixed twin.
    Twin,
    /// What executions of the fixed twin cost.
    Cost(&'static str),
    Coverage,
    Degree(&'static str),
}

/// Everything measured.
#[derive(Debug, Default)]
pub struct Data(BTreeMap<(&'static str, About), Vec<Outcome>>);

/// Seconds per completed execution, executions begun per completed one, decisions per second.
pub type Cost = (f64, f64, f64);

/// The programs of a scale.
pub fn programs(scale: &Scale) -> impl Iterator<Item = &'static Program> {
    // Every so manieth, so that a small table has programs of all kinds.
    let step = PROGRAMS.len() / scale.programs;
    PROGRAMS.iter().step_by(step.max(1)).take(scale.programs)
}

/// The strategies that are asked first.
const MAIN: [&str; 6] = ["auto", "hars", "ars", "random", "pos", "rff"];

fn tasks(scale: &Scale) -> VecDeque<(&'static str, About, Task)> {
    let mut all = VecDeque::new();
    let mut add = |p: &'static Program, about: About, strategy: &str, what: What| {
        all.push_back((p.name, about, Task { program: p.name, strategy: strategy.to_owned(), what }));
    };
    let run = |executions, fixed| What::Run { seed: 1, executions, fixed };
    let (main, others): (Vec<&Kind>, Vec<&Kind>) = scale.kinds.iter().partition(|k| MAIN.contains(&k.name));
    let search = |kind: &Kind| {
        let seeds = (0..scale.seeds_of(kind)).collect();
        What::Find { seeds, limit: scale.limit_of(kind) }
    };
    for kind in &main {
        programs(scale).for_each(|p| add(p, About::Search(kind.name), kind.name, search(kind)));
    }
    let costs = |among: &[&Kind]| -> Vec<&'static str> {
        among.iter().filter(|k| !k.fixed && k.name != "tsa").map(|k| k.name).collect()
    };
    for p in programs(scale) {
        for name in costs(&main) {
            add(p, About::Cost(name), name, run(scale.cost, true));
        }
        for s in ["ars", "hars"] {
            add(p, About::Degree(s), s, run(60, false));
        }
    }
    for p in programs(scale) {
        add(p, About::Walk, "random", run(scale.walk, false));
        add(p, About::Twin, "random", run(scale.twins, true));
    }
    for kind in &others {
        programs(scale).for_each(|p| add(p, About::Search(kind.name), kind.name, search(kind)));
    }
    for name in costs(&others) {
        programs(scale).for_each(|p| add(p, About::Cost(name), name, run(scale.cost, true)));
    }
    // What takes longest comes last.
    let spec = format!("coverage:{},{},1,{}", scale.estimate, scale.traces, COVERED.join(","));
    programs(scale).for_each(|p| add(p, About::Coverage, &spec, run(u64::MAX, false)));
    all
}

/// Where answers are kept for `--resume`.
pub fn kept_file() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../target/hars45-answers.jsonl")
}

/// Answers kept by earlier calls, by build and task.
fn kept(file: &Path) -> BTreeMap<String, Vec<Outcome>> {
    let text = std::fs::read_to_string(file).unwrap_or_default();
    // A line that was not written to its end is no answer.
    text.lines().filter_map(|l| serde_json::from_str::<(String, Vec<Outcome>)>(l).ok()).collect()
}

/// Tells builds apart: of the runner, and of the runtime library that it finds, which has the strategies.
fn fingerprint(executable: &Path) -> anyhow::Result<u64> {
    let named = std::env::var_os("LD_LIBRARY_PATH").unwrap_or_default();
    let newest = executable.ancestors().map(|dir| dir.join("rt/current"));
    let dirs = std::env::split_paths(&named).chain(newest);
    let library = dirs.map(|dir| dir.join("libraddle_rt.so")).find(|file| file.is_file());
    let mut bytes = std::fs::read(executable)?;
    bytes.extend(std::fs::read(library.context("the runner has no runtime library")?)?);
    Ok(bytes.iter().fold(0xcbf2_9ce4_8422_2325, |h, b| (h ^ u64::from(*b)).wrapping_mul(0x0100_0000_01b3)))
}

/// Asks the runner everything, until the time is over. What is in the file is not asked again, and new answers
/// are added to it.
pub fn gather(
    scale: &Scale,
    executable: &Path,
    jobs: usize,
    seconds: f64,
    file: Option<&Path>,
    print: bool,
) -> anyhow::Result<Data> {
    let build = fingerprint(executable)?;
    let mut known = file.map(kept).unwrap_or_default();
    let mut answers = Data::default();
    let mut open = VecDeque::new();
    for (program, about, task) in tasks(scale) {
        let key = format!("{build:016x} {}", serde_json::to_string(&task)?);
        match known.remove(&key) {
            Some(outcomes) => drop(answers.0.insert((program, about), outcomes)),
            None => open.push_back((program, about, task, key)),
        }
    }
    let keep = file.map(|f| std::fs::File::options().create(true).append(true).open(f)).transpose()?;
    let keep = Mutex::new(keep);
    let queue = Mutex::new(open);
    let data = Mutex::new(answers);
    let start = Instant::now();
    let work = || -> anyhow::Result<()> {
        let mut runner = Runner::start(executable)?;
        while start.elapsed().as_secs_f64() < seconds {
            let Some((program, about, task, key)) = queue.lock().expect("no panic").pop_front() else {
                break;
            };
            let outcomes = runner.ask(&task)?;
            if let Some(f) = keep.lock().expect("no panic").as_mut() {
                writeln!(f, "{}", serde_json::to_string(&(key, &outcomes))?)?;
            }
            if print {
                let (what, strategy) = (format!("{about:?}"), &task.strategy);
                let row = json!({"event": "row", "program": program, "what": what, "strategy": strategy, "outcomes": outcomes});
                println!("{row}");
            }
            data.lock().expect("no panic").0.insert((program, about), outcomes);
        }
        Ok(())
    };
    std::thread::scope(|s| {
        let workers: Vec<_> = (0..jobs.max(1)).map(|_| s.spawn(work)).collect();
        workers.into_iter().try_for_each(|w| w.join().expect("no panic"))
    })?;
    Ok(data.into_inner().expect("no panic"))
}

/// The mean of some numbers; `None` of none.
pub fn mean(values: impl IntoIterator<Item = f64>) -> Option<f64> {
    let all: Vec<f64> = values.into_iter().collect();
    (!all.is_empty()).then(|| all.iter().sum::<f64>() / all.len() as f64)
}

impl Data {
    fn get(&self, program: &'static str, about: About) -> Option<&[Outcome]> {
        self.0.get(&(program, about)).map(|o| &o[..])
    }

    pub fn searches(&self, program: &'static str, strategy: &'static str) -> Option<&[Outcome]> {
        self.get(program, About::Search(strategy))
    }

    /// Mean P and executions; searches that were given up count with what they had done.
    pub fn effort(&self, program: &'static str, strategy: &'static str) -> Option<(f64, f64)> {
        let all = self.searches(program, strategy)?;
        let looks_ahead = KINDS.iter().any(|k| k.name == strategy && k.looks_ahead > 0);
        let own = |o: &Outcome| o.notes.first().copied().filter(|_| looks_ahead);
        let p = mean(all.iter().map(|o| own(o).unwrap_or(o.completed as f64)))?;
        Some((p, mean(all.iter().map(|o| o.executions as f64))?))
    }

    /// Mean number of executions that ran to their end.
    pub fn completed(&self, program: &'static str, strategy: &'static str) -> Option<f64> {
        mean(self.searches(program, strategy)?.iter().map(|o| o.completed as f64))
    }

    /// Searches that did not find the bug.
    pub fn missed(&self, program: &'static str, strategy: &'static str) -> Option<usize> {
        Some(self.searches(program, strategy)?.iter().filter(|o| o.failures == 0).count())
    }

    /// How often the random walk fails.
    pub fn probability(&self, program: &'static str) -> Option<f64> {
        let o = self.get(program, About::Walk)?.first()?;
        Some(o.failures as f64 / o.completed as f64)
    }

    /// Failures and executions of the fixed twin.
    pub fn twin(&self, program: &'static str) -> Option<(u64, u64)> {
        self.get(program, About::Twin)?.first().map(|o| (o.failures, o.executions))
    }

    /// What executions of the fixed twin cost.
    pub fn cost(&self, program: &'static str, strategy: &'static str) -> Option<Cost> {
        // A search that has tried everything after a few executions says nothing about their cost.
        let o =
            self.get(program, About::Cost(strategy))?.first().filter(|o| !o.stop.contains("Exhausted"))?;
        let (n, seconds) = (o.completed.max(1) as f64, o.seconds.max(0.005));
        Some((seconds / n, o.executions as f64 / n, o.decisions as f64 / seconds))
    }

    /// Coverage in percent after each trace of a strategy of [`COVERED`], of one program.
    pub fn coverage(&self, program: &'static str, i: usize, traces: usize) -> Option<Vec<f64>> {
        let notes = &self.get(program, About::Coverage)?.first()?.notes;
        let all = *notes.get(1).filter(|n| **n > 0.0)?;
        let curve = notes.get(2 + i * traces..2 + (i + 1) * traces)?;
        Some(curve.iter().map(|c| 100.0 * c / all).collect())
    }

    /// The mean over the programs that were measured.
    pub fn coverage_curve(&self, i: usize, traces: usize) -> Vec<f64> {
        mean_curve(PROGRAMS.iter().filter_map(|p| self.coverage(p.name, i, traces)).collect())
    }

    /// The mean degree at each of the first choices, over the programs where so many were made.
    pub fn degree_curve(&self, strategy: &'static str) -> Vec<f64> {
        let degrees =
            |p: &Program| Some(self.get(p.name, About::Degree(strategy))?.first()?.notes.get(1..)?.to_vec());
        mean_curve(PROGRAMS.iter().filter_map(degrees).filter(|d| d.len() >= 50).collect())
    }
}

fn mean_curve(curves: Vec<Vec<f64>>) -> Vec<f64> {
    let length = curves.iter().map(Vec::len).min().unwrap_or(0);
    (0..length).filter_map(|n| mean(curves.iter().map(|c| c[n]))).collect()
}
