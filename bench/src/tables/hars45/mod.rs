//! The 45 programs of the HARS paper under every strategy.
//!
//! The programs run in an executable of their own (`bench/hars45`), built with the hooks, in closure mode. What is asked
//! of it is a list of tasks, the important ones first; `--jobs` processes work on it, and when `--minutes` are over
//! the rest is left out and the table says so.

mod gather;
mod markdown;
mod runner;

use crate::Format;
use crate::svg;
use anyhow::Context;
use gather::Data;
use std::path::{Path, PathBuf};

/// Options of the table.
#[derive(clap::Args, Debug)]
pub struct Args {
    /// Fewer seeds, programs and strategies; less than a minute once everything is built
    #[arg(long)]
    quick: bool,
    /// How to print; JSON is one event per line
    #[arg(long, value_enum, default_value_t)]
    format: Format,
    /// Seeds per program and strategy; fewer for some, which the table says
    #[arg(long, default_value_t = 100)]
    seeds: u64,
    /// Processes at once
    #[arg(long, default_value_t = 1)]
    jobs: usize,
    /// Begin nothing new after so many minutes
    #[arg(long, default_value_t = 60.0)]
    minutes: f64,
    /// Use the answers that an earlier call with this option got from the same build; keep those of this one
    #[arg(long)]
    resume: bool,
    /// An executable that was built before, to be used as it is
    #[arg(long)]
    runner: Option<PathBuf>,
}

/// Strategies with the figures that the table gives for them.
#[derive(Clone, Copy, Debug)]
pub struct Kind {
    name: &'static str,
    /// It is tried with its share of the seeds: one of so many.
    share: u64,
    /// One seed tells all.
    fixed: bool,
    /// Many of its executions only look one step ahead: it is given up so many times later than the others, and its P is
    /// what it says itself. 0 for those that do not.
    looks_ahead: u64,
}

const fn kind(name: &'static str) -> Kind {
    Kind { name, share: 1, fixed: false, looks_ahead: 0 }
}

const fn slow(name: &'static str) -> Kind {
    Kind { share: 10, ..kind(name) }
}

const fn fixed(name: &'static str) -> Kind {
    Kind { fixed: true, ..kind(name) }
}

/// In the order of the columns.
const KINDS: &[Kind] = &[
    kind("auto"),
    Kind { looks_ahead: 40, ..kind("hars") },
    Kind { looks_ahead: 40, ..kind("ars") },
    kind("random"),
    kind("pos"),
    kind("rff"),
    slow("surw:locks"),
    slow("surw"),
    slow("pct:3"),
    slow("tsa"),
    Kind { looks_ahead: 10, share: 20, ..kind("hars:published") },
    fixed("period"),
    fixed("dfs:2"),
    fixed("dpor"),
];

/// Whose traces are covered, and how many.
const COVERED: [&str; 4] = ["random", "ars", "hars", "auto"];

/// How much is measured.
#[derive(Clone, Debug)]
struct Scale {
    kinds: Vec<Kind>,
    programs: usize,
    seeds: u64,
    /// Executions after which a search is given up.
    limit: u64,
    /// Executions of the random walk, of the fixed twins and for the costs.
    walk: u64,
    twins: u64,
    cost: u64,
    /// Traces per strategy whose coverage is measured, and of the walk before.
    traces: u64,
    estimate: u64,
}

impl Scale {
    fn new(args: &Args) -> Self {
        if args.quick {
            return Scale {
                kinds: KINDS
                    .iter()
                    .filter(|k| ["auto", "hars", "random", "pos"].contains(&k.name))
                    .copied()
                    .collect(),
                programs: 9,
                seeds: 2,
                limit: 200,
                walk: 40,
                twins: 200,
                cost: 200,
                traces: 15,
                estimate: 40,
            };
        }
        Scale {
            kinds: KINDS.to_vec(),
            programs: 45,
            seeds: args.seeds,
            limit: 3_000,
            walk: 400,
            twins: 10_000,
            cost: 1_000,
            traces: 500,
            estimate: 1_000,
        }
    }

    /// Executions after which a search by this strategy is given up.
    fn limit_of(&self, kind: &Kind) -> u64 {
        self.limit * kind.looks_ahead.max(1)
    }

    /// Seeds for this strategy.
    fn seeds_of(&self, kind: &Kind) -> u64 {
        if kind.fixed { 1 } else { (self.seeds / kind.share).max(3).min(self.seeds) }
    }
}

/// Measures, prints, and in Markdown writes the plots beside the committed table.
pub fn run(args: &Args) -> anyhow::Result<()> {
    let scale = Scale::new(args);
    let flag = if args.quick { " --quick" } else { "" };
    let command = format!("cargo bench-raddle hars45{flag} --seeds {} --jobs {}", scale.seeds, args.jobs);
    let json = args.format == Format::Json;
    let kept = args.resume.then(gather::kept_file);
    let runner = args.runner.clone().map_or_else(runner::build, Ok)?;
    let data = gather::gather(&scale, &runner, args.jobs, args.minutes * 60.0, kept.as_deref(), json)?;
    if json {
        return markdown::summary_json(&scale, &data);
    }
    print!("{}", markdown::render(&scale, &data, &command));
    if !args.quick {
        plots(&scale, &data)?;
    }
    Ok(())
}

/// The two curves as files beside the table.
fn plots(scale: &Scale, data: &Data) -> anyhow::Result<()> {
    let dir: PathBuf = Path::new(env!("CARGO_MANIFEST_DIR")).join("results");
    let coverage = svg::Plot {
        title: "MAP-coverage, mean over the programs".to_owned(),
        x: "complete traces",
        y: "% of the instances known",
        log_x: false,
        lines: COVERED
            .iter()
            .enumerate()
            .map(|(i, name)| {
                ((*name).to_owned(), svg::counted(data.coverage_curve(i, scale.traces as usize)))
            })
            .collect(),
    };
    let degree = svg::Plot {
        title: "Distinguishable degree, mean over the programs".to_owned(),
        x: "choice of a subtrace",
        y: "degree",
        log_x: false,
        lines: ["ars", "hars"].map(|s| (s.to_owned(), svg::counted(data.degree_curve(s)))).into(),
    };
    for (name, plot) in [("hars45-coverage.svg", coverage), ("hars45-degree.svg", degree)] {
        if plot.lines.iter().any(|(_, l)| l.is_empty()) {
            continue;
        }
        let file = dir.join(name);
        std::fs::write(&file, plot.render()).with_context(|| format!("cannot write {}", file.display()))?;
    }
    Ok(())
}
