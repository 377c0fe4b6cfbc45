//! The conformance suites under many schedules: correct programs must survive all of them, broken ones must not.
//!
//! CI runs the same suites with fewer schedules (`crates/cargo-raddle/tests/conformance.rs`); this is the full size.

use crate::Format;
use crate::command::{output_with, raddle, root};
use anyhow::Context;
use serde::Serialize;
use std::collections::BTreeMap;

/// Options of the table.
#[derive(clap::Args, Debug)]
pub struct Args {
    /// Fewer schedules, and of each suite one file only
    #[arg(long)]
    quick: bool,
    /// Schedules for each correct program
    #[arg(long, default_value_t = 10_000)]
    schedules: u64,
    /// Schedules in which a broken program must be found
    #[arg(long, default_value_t = 1_000)]
    broken: u64,
    /// How to print
    #[arg(long, value_enum, default_value_t)]
    format: Format,
}

/// The suites, and the file of each that `--quick` runs.
const SUITES: [(&str, &str); 2] = [("conformance-std", "mutex"), ("conformance-crates", "arc_swap")];

/// Parts of the names of programs that take a thousand times as long as the others.
const HEAVY: &[&str] = &["a_thousand", "recursion"];

/// The programs of one file.
#[derive(Debug, Default, Serialize)]
struct Row {
    suite: String,
    file: String,
    programs: usize,
    schedules: u64,
    steps: u64,
    /// Programs in which something was found.
    found: usize,
    /// Programs with another result than they should have.
    wrong: Vec<String>,
}

#[derive(Debug, Serialize)]
struct Table {
    command: String,
    correct: Vec<Row>,
    /// Programs with a thousand threads or frames: a hundredth of the schedules.
    heavy: Vec<Row>,
    broken: Vec<Row>,
    milliseconds: u64,
}

/// Runs the suites and prints.
pub fn run(args: &Args) -> anyhow::Result<()> {
    let (schedules, command) = if args.quick {
        (args.schedules.min(500), "cargo bench-raddle conformance --quick".to_owned())
    } else {
        let command =
            format!("cargo bench-raddle conformance --schedules {} --broken {}", args.schedules, args.broken);
        (args.schedules, command)
    };
    let start = std::time::Instant::now();
    let mut table =
        Table { command, correct: Vec::new(), heavy: Vec::new(), broken: Vec::new(), milliseconds: 0 };
    for (suite, file) in SUITES {
        let only = args.quick.then_some(file);
        let light: Vec<&str> = HEAVY.iter().flat_map(|name| ["--skip", name]).collect();
        table.correct.extend(rows(suite, only, &light, "correct::", schedules)?);
        if suite == SUITES[0].0 && !args.quick {
            table.heavy = rows(suite, None, HEAVY, "correct::", (schedules / 100).max(1))?;
        }
        let broken = only.map(|file| format!("broken_{file}"));
        table.broken.extend(rows(suite, broken.as_deref(), &[], "broken::", args.broken)?);
    }
    table.milliseconds = start.elapsed().as_millis() as u64;
    match args.format {
        Format::Json => println!("{}", serde_json::to_string_pretty(&table)?),
        Format::Markdown => print!("{}", markdown(&table)),
    }
    Ok(())
}

/// Runs programs of a suite under random schedules: those of `module` if they are not told apart by `which`.
fn rows(
    suite: &str,
    file: Option<&str>,
    which: &[&str],
    module: &str,
    schedules: u64,
) -> anyhow::Result<Vec<Row>> {
    let mut command = raddle();
    command.args(["test", "--format", "json", "--budget", "0", "--strategy", "random"]);
    command.args(["--schedules", &schedules.to_string(), "--manifest-path"]);
    command.arg(root().join("testdata").join(suite).join("Cargo.toml"));
    if let Some(file) = file {
        command.args(["--test", file]);
    }
    command.args(which);
    if which != HEAVY {
        command.arg(module);
    }
    let text = output_with(&mut command, &[0, 1])?;
    let mut rows: BTreeMap<String, Row> = BTreeMap::new();
    for line in text.lines() {
        let event: serde_json::Value = serde_json::from_str(line)?;
        if event["event"] != "test" {
            continue;
        }
        let program = event["program"].as_str().context("a test without a program")?;
        let file = program.rsplit('/').next().unwrap_or(program);
        let row = rows.entry(file.to_owned()).or_default();
        row.suite = suite.to_owned();
        row.file = file.to_owned();
        row.programs += 1;
        row.schedules += event["stats"]["executions"].as_u64().unwrap_or(0);
        row.steps += event["stats"]["steps"].as_u64().unwrap_or(0);
        let failed = event["status"] == "failed";
        row.found += usize::from(failed);
        let right = if module == "broken::" { failed } else { event["status"] == "ok" };
        if !right {
            let test = event["test"].as_str().unwrap_or("?");
            row.wrong.push(format!("`{test}`: {}", event["status"].as_str().unwrap_or("?")));
        }
    }
    Ok(rows.into_values().collect())
}

fn markdown(table: &Table) -> String {
    let mut text = format!(
        "# Conformance under many schedules\n\nGenerated by `{}`; do not edit. Strategy `random`, seed 0, one process \
         per program; {} s for everything.\n",
        table.command,
        table.milliseconds / 1000
    );
    text += &part("Correct programs: nothing may be found", &table.correct);
    text += &part(
        "Correct programs with a thousand threads or frames: a hundredth of the schedules",
        &table.heavy,
    );
    text += &part("Broken programs: something must be found", &table.broken);
    text
}

fn part(title: &str, rows: &[Row]) -> String {
    let mut text = format!(
        "\n## {title}\n\n| suite | file | programs | schedules | steps | found in | wrong |\n\
         | --- | --- | --: | --: | --: | --: | --- |\n"
    );
    for r in rows {
        text += &format!(
            "| {} | {} | {} | {} | {} | {} | {} |\n",
            r.suite,
            r.file,
            r.programs,
            r.schedules,
            r.steps,
            r.found,
            r.wrong.join(", ")
        );
    }
    let sum = |f: fn(&Row) -> u64| rows.iter().map(f).sum::<u64>();
    text += &format!(
        "| all | | {} | {} | {} | {} | {} |\n",
        sum(|r| r.programs as u64),
        sum(|r| r.schedules),
        sum(|r| r.steps),
        sum(|r| r.found as u64),
        sum(|r| r.wrong.len() as u64)
    );
    text
}
