//! The classic programs of systematic concurrency testing, in C, beside what was published for other tools.
//!
//! The programs in `bench/sct` were written from their descriptions, so that a figure differs from a published one for the
//! program as well as for the search. Published are means of schedules up to the first failure, over those searches that came to
//! one; a technique of which not every search did has no figure here.

use crate::Format;
use crate::command::{build, output, output_with, root};
use crate::measure::geometric_mean;
use anyhow::Context;
use serde::Serialize;
use std::path::Path;
use std::process::Command;

/// Options of the table.
#[derive(clap::Args, Debug)]
pub struct Args {
    /// Two seeds, and the small programs only
    #[arg(long)]
    quick: bool,
    /// Seeds per program
    #[arg(long, default_value_t = 20)]
    seeds: u64,
    /// Schedules after which a search is given up, and counts with these
    #[arg(long, default_value_t = 10_000)]
    schedules: u64,
    /// Strategies
    #[arg(long, value_delimiter = ',', default_value = "auto")]
    strategies: Vec<String>,
    /// How to print
    #[arg(long, value_enum, default_value_t)]
    format: Format,
}

/// A program, and what was published for it.
struct Subject {
    /// Its name in the published tables.
    name: &'static str,
    /// Its file.
    file: &'static str,
    /// What it is compiled with.
    threads: Option<u32>,
    /// By technique, in the order of [`TECHNIQUES`]; 0 where there is no figure.
    published: [f64; 5],
}

/// Of the artifact of SURW (ASPLOS 2025), of RFF's (ASPLOS 2024) and of PERIOD's (ICSE 2022).
const TECHNIQUES: [&str; 5] = ["SURW", "RFF", "PERIOD", "POS", "PCT-3"];

const fn subject(
    name: &'static str,
    file: &'static str,
    threads: Option<u32>,
    published: [f64; 5],
) -> Subject {
    Subject { name, file, threads, published }
}

const SUBJECTS: [Subject; 24] = [
    subject("account", "account", None, [5.8, 1.0, 10.0, 1.0, 4.3]),
    subject("bluetooth_driver", "bluetooth", None, [70.2, 44.9, 9.0, 36.1, 112.5]),
    subject("boundedBuffer", "bounded_buffer", None, [8.7, 8.0, 0.0, 5.3, 15.0]),
    subject("carter01", "carter", None, [0.0, 1.9, 0.0, 1.9, 5.0]),
    subject("circular_buffer", "circular_buffer", None, [2.8, 1.6, 3.0, 1.6, 5.0]),
    subject("deadlock01", "deadlock", None, [1.8, 4.7, 3.0, 3.5, 12.9]),
    subject("lazy01", "lazy", None, [2.0, 6.0, 7.0, 4.7, 4.9]),
    subject("reorder_3", "reorder", Some(3), [7.3, 6.7, 6.0, 85.5, 185.2]),
    subject("reorder_4", "reorder", Some(4), [7.3, 6.0, 9.0, 533.0, 395.0]),
    subject("reorder_5", "reorder", Some(5), [10.4, 5.8, 12.0, 2169.1, 646.8]),
    subject("reorder_10", "reorder", Some(10), [17.2, 5.8, 27.0, 0.0, 2355.8]),
    subject("reorder_20", "reorder", Some(20), [6.0, 5.8, 39.0, 0.0, 2127.7]),
    subject("reorder_50", "reorder", Some(50), [13.0, 5.8, 129.0, 0.0, 0.0]),
    subject("reorder_100", "reorder", Some(100), [194.2, 5.8, 297.0, 0.0, 0.0]),
    subject("stack", "stack", None, [4.6, 1.6, 8.0, 1.7, 2.0]),
    subject("stringbuffer-jdk1.4", "stringbuffer", None, [8.5, 15.0, 27.0, 17.8, 194.9]),
    subject("token_ring", "token_ring", None, [8.2, 5.0, 2.0, 7.0, 7.7]),
    subject("twostage", "twostage", Some(2), [7.5, 8.0, 4.0, 14.6, 8.9]),
    subject("twostage_20", "twostage", Some(20), [5.7, 21.7, 76.0, 156.0, 159.2]),
    subject("twostage_50", "twostage", Some(50), [20.5, 35.0, 286.0, 1637.2, 849.0]),
    subject("twostage_100", "twostage", Some(100), [453.9, 56.0, 690.0, 0.0, 0.0]),
    subject("WorkStealQueue", "work_steal_queue", None, [6.0, 10.0, 57.0, 10.0, 12.0]),
    subject("wronglock", "wronglock", Some(7), [7.5, 1.0, 4.0, 1.0, 51.1]),
    subject("wronglock_3", "wronglock", Some(3), [8.8, 1.0, 5.0, 1.0, 40.0]),
];

/// Programs with more threads than this are left out with `--quick`.
const FEW: u32 = 10;

/// Searches of one program by one strategy.
#[derive(Debug, Default, Serialize)]
struct Effort {
    schedules: Vec<u64>,
    /// Searches without a failure; they count with what they had done.
    missed: u64,
}

impl Effort {
    fn mean(&self) -> f64 {
        self.schedules.iter().sum::<u64>() as f64 / self.schedules.len().max(1) as f64
    }
}

#[derive(Debug, Serialize)]
struct Row {
    program: &'static str,
    /// In the order of the strategies.
    efforts: Vec<Effort>,
    published: [f64; 5],
}

#[derive(Debug, Serialize)]
struct Table {
    command: String,
    strategies: Vec<String>,
    seeds: u64,
    schedules: u64,
    rows: Vec<Row>,
}

/// Builds the programs with `cargo raddle cc`, searches each and prints.
pub fn run(args: &Args) -> anyhow::Result<()> {
    let raddle = build(&root())?;
    let dir = tempfile::tempdir()?;
    let seeds = if args.quick { 2 } else { args.seeds };
    let flag = if args.quick { " --quick".to_owned() } else { format!(" --seeds {seeds}") };
    let strategies = args.strategies.join(",");
    let mut table = Table {
        command: format!(
            "cargo bench-raddle sct{flag} --schedules {} --strategies {strategies}",
            args.schedules
        ),
        strategies: args.strategies.clone(),
        seeds,
        schedules: args.schedules,
        rows: vec![],
    };
    for subject in SUBJECTS.iter().filter(|s| !args.quick || s.threads.is_none_or(|n| n <= FEW)) {
        let program = dir.path().join(subject.name);
        compile(&raddle, subject, &program, dir.path())?;
        let mut row = Row { program: subject.name, efforts: vec![], published: subject.published };
        for strategy in &args.strategies {
            let mut effort = Effort::default();
            for seed in 0..seeds {
                search(&raddle, &program, strategy, seed, args.schedules, &mut effort)?;
            }
            row.efforts.push(effort);
        }
        table.rows.push(row);
    }
    match args.format {
        Format::Json => println!("{}", serde_json::to_string_pretty(&table)?),
        Format::Markdown => print!("{}", markdown(&table)),
    }
    Ok(())
}

fn compile(raddle: &Path, subject: &Subject, to: &Path, cache: &Path) -> anyhow::Result<()> {
    let mut command = Command::new(raddle);
    command.args(["cc", "-O1", "-pthread"]).env("XDG_CACHE_HOME", cache);
    command.args(subject.threads.map(|n| format!("-DN={n}")));
    command.arg(root().join("bench/sct").join(subject.file).with_extension("c")).arg("-o").arg(to);
    output(&mut command).map(drop)
}

fn search(
    raddle: &Path,
    program: &Path,
    strategy: &str,
    seed: u64,
    schedules: u64,
    effort: &mut Effort,
) -> anyhow::Result<()> {
    let mut command = Command::new(raddle);
    command.args(["run", "--format", "json", "--budget", "0", "--strategy", strategy, "--seed"]);
    command.args([&seed.to_string(), "--schedules", &schedules.to_string(), "--out"]);
    let text = output_with(command.arg(program.with_extension("out")).arg(program), &[0, 1])?;
    for line in text.lines() {
        let event: serde_json::Value = serde_json::from_str(line)?;
        if event["event"] == "test" {
            let done = event["stats"]["executions"].as_u64().context("no number of executions")?;
            effort.schedules.push(done);
            effort.missed += u64::from(event["status"] != "failed");
        }
    }
    Ok(())
}

fn markdown(table: &Table) -> String {
    let mut text = format!(
        "# Classic programs in C\n\nGenerated by `{}`; do not edit. Schedules up to the first failure, means over {} seeds; a \
         search without a failure counts with {} and is marked with how many there were. The published figures are \
         those of the artifacts of SURW, RFF and PERIOD, for the original programs; ours were written from their descriptions.\n\n\
         | program | {} | {} |\n| --- |{}\n",
        table.command,
        table.seeds,
        table.schedules,
        table.strategies.join(" | "),
        TECHNIQUES.join(" | "),
        " --: |".repeat(table.strategies.len() + TECHNIQUES.len()),
    );
    let published = |figure: f64| if figure > 0.0 { format!("{figure:.1}") } else { "–".to_owned() };
    for row in &table.rows {
        let ours = row.efforts.iter().map(|effort| match effort.missed {
            0 => format!("{:.1}", effort.mean()),
            missed => format!("{:.1} ({missed} missed)", effort.mean()),
        });
        let cells: Vec<String> = ours.chain(row.published.map(published)).collect();
        text += &format!("| {} | {} |\n", row.program, cells.join(" | "));
    }
    text + &summary(table)
}

/// The geometric means over the programs for which each technique has a figure, beside ours over these.
fn summary(table: &Table) -> String {
    let mut text = String::from("\n| technique | programs | its geometric mean | ours over these |\n");
    text += "| --- | --: | --: | --- |\n";
    for (i, technique) in TECHNIQUES.iter().enumerate() {
        let rows: Vec<&Row> = table.rows.iter().filter(|row| row.published[i] > 0.0).collect();
        let theirs = geometric_mean(rows.iter().map(|row| row.published[i]));
        let ours = table.strategies.iter().enumerate().map(|(s, name)| {
            format!("{name} {:.1}", geometric_mean(rows.iter().map(|row| row.efforts[s].mean())))
        });
        let ours: Vec<String> = ours.collect();
        text += &format!("| {technique} | {} | {theirs:.1} | {} |\n", rows.len(), ours.join(", "));
    }
    text
}
