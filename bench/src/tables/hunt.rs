//! How fast hunts are, and where their time goes (CovCon's Fig. 4).
//!
//! Types of the 22 classes without their bugs are hunted by the command itself, with each generator, up to a number of
//! executions. All rates are per second of processor time of the command and its worker together, so they are
//! rates on one core, and other programs on the machine disturb them little. Of several rounds the fastest counts.

use crate::Format;
use crate::command::{raddle, root};
use anyhow::{Context, bail};
use serde::Serialize;
use serde_json::Value;
use std::process::Stdio;

/// Options of the table.
#[derive(clap::Args, Debug)]
pub struct Args {
    /// One round and a tenth of the executions
    #[arg(long)]
    quick: bool,
    /// Rounds of which the fastest counts
    #[arg(long, default_value_t = 3)]
    rounds: u64,
    /// Executions per hunt
    #[arg(long, default_value_t = 40_000)]
    schedules: u64,
    /// How to print
    #[arg(long, value_enum, default_value_t)]
    format: Format,
}

/// The types: the smallest, one in the middle and the largest, by methods.
const TYPES: [&str; 3] =
    ["x_stream::XStreamFixed", "null_appender::NullAppenderFixed", "vector142::VectorFixed"];
/// The generators, and the schedules per test. MAPTest decides by itself how often it runs a test.
const GENERATORS: [(&str, &str); 6] = [
    ("covcon", "1"),
    ("random", "1"),
    ("covcon", "20"),
    ("random", "20"),
    ("maptest", ""),
    ("maptest-random", ""),
];
/// The stages, as the command calls them.
const STAGES: [&str; 5] = ["generate", "execute", "cover", "judge", "other"];
/// Tests a second that are asked for, without judging.
const TARGET: f64 = 5_000.0;

#[derive(Serialize, Clone, Debug)]
struct Row {
    event: &'static str,
    target: String,
    generator: String,
    per_test: String,
    methods: u64,
    tests: u64,
    executions: u64,
    /// Executions for other purposes: tries and sequential orders.
    others: u64,
    /// Tests made, run, covered and judged per second.
    tests_per_second: f64,
    /// Tests made, run and covered per second, judging left out.
    unjudged_per_second: f64,
    /// Executions of tests per second, judging included.
    executions_per_second: f64,
    /// Shares of the time, in the order of the stages.
    shares: [f64; 5],
    findings: u64,
}

/// Runs the table.
pub fn run(args: &Args) -> anyhow::Result<()> {
    let (rounds, schedules) =
        if args.quick { (1, args.schedules / 10) } else { (args.rounds.max(1), args.schedules) };
    let mut rows: Vec<Row> = Vec::new();
    for (generator, per_test) in GENERATORS {
        let mut best: Vec<Row> = Vec::new();
        for _ in 0..rounds {
            for row in hunt(generator, per_test, schedules)? {
                match best.iter_mut().find(|b| b.target == row.target) {
                    Some(b) if b.tests_per_second < row.tests_per_second => *b = row,
                    Some(_) => {}
                    None => best.push(row),
                }
            }
        }
        rows.extend(best);
    }
    if args.format == Format::Json {
        for row in &rows {
            println!("{}", serde_json::to_string(row)?);
        }
        return Ok(());
    }
    print(args.quick, rounds, schedules, &rows);
    Ok(())
}

/// One call of the command for all types.
fn hunt(generator: &str, per_test: &str, schedules: u64) -> anyhow::Result<Vec<Row>> {
    let root = root();
    let out = tempfile::tempdir()?;
    let mut cargo = raddle();
    cargo.args(["hunt", "--manifest-path"]).arg(root.join("subjects/classes22/Cargo.toml"));
    cargo.args(["--generator", generator, "--format", "json", "--jobs", "1", "--budget", "0"]);
    cargo.arg(format!("--schedules={schedules}")).arg("--out").arg(out.path());
    if !per_test.is_empty() {
        cargo.args(["--per-test", per_test]);
    }
    TYPES.iter().for_each(|t| _ = cargo.args(["--type", &format!("subjects_classes22::{t}")]));
    let output = cargo.current_dir(root).stderr(Stdio::piped()).output().context("cannot start cargo")?;
    let text = String::from_utf8_lossy(&output.stdout);
    let events = text.lines().filter_map(|l| serde_json::from_str::<Value>(l).ok());
    let rows: Vec<Row> = events.filter_map(|e| row(&e, generator, per_test)).collect();
    if rows.len() != TYPES.len() {
        bail!(
            "{} of {} types were hunted:\n{}",
            rows.len(),
            TYPES.len(),
            String::from_utf8_lossy(&output.stderr)
        );
    }
    Ok(rows)
}

fn row(event: &Value, generator: &str, per_test: &str) -> Option<Row> {
    if event["event"] != "type" {
        return None;
    }
    let stats = &event["stats"];
    let number = |field: &str| stats[field].as_u64();
    let seconds = |stage: &str| Some(stats[format!("{stage}_ms")].as_f64()? / 1000.0);
    let all = seconds("processor")? - seconds("prove")?;
    let [generate, execute, cover, judge] = ["generate", "execute", "cover", "judge"].map(seconds);
    let mut times = [generate?, execute?, cover?, judge?, 0.0];
    times[4] = (all - times.iter().sum::<f64>()).max(0.0);
    let (tests, executions) = (number("tests")?, number("executions")?);
    let pairs = stats["pairs"]["total"].as_f64()?;
    Some(Row {
        event: "row",
        target: event["target"].as_str()?.trim_start_matches("subjects_classes22::").to_owned(),
        generator: generator.to_owned(),
        per_test: per_test.to_owned(),
        // n methods have n (n + 1) / 2 pairs.
        methods: ((8.0 * pairs + 1.0).sqrt() / 2.0 - 0.5).round() as u64,
        tests,
        executions,
        others: number("all_executions")?.saturating_sub(executions),
        tests_per_second: tests as f64 / all,
        unjudged_per_second: tests as f64 / (all - times[3]),
        executions_per_second: executions as f64 / all,
        shares: times.map(|t| t / all),
        findings: u64::from(event["status"] == "found"),
    })
}

fn print(quick: bool, rounds: u64, schedules: u64, rows: &[Row]) {
    let quick = if quick { " --quick" } else { "" };
    println!("# How fast hunts are\n");
    println!(
        "Generated by `cargo bench-raddle hunt{quick}`; do not edit. {schedules} executions per hunt, the fastest of {rounds} round(s). \
         Rates are per second of processor time of the command and its worker together, that is on one core. \
         A test counts when it has been made (every call of it tried sequentially), run, and its coverage counted; \
         in the second rate also when all its executions have been judged by sequential orders. \
         `other` is what belongs to no stage: starting the worker, waiting for messages.\n"
    );
    println!(
        "| type | methods | generator | schedules per test | tests/s without judging | tests/s | executions/s | executions per test, others too | {} |",
        STAGES.join(" | ")
    );
    println!("| --- | --: | --- | --: | --: | --: | --: | --: |{}", " --: |".repeat(STAGES.len()));
    for r in rows {
        let per_test = if r.per_test.is_empty() {
            format!("{:.1}", r.executions as f64 / r.tests.max(1) as f64)
        } else {
            r.per_test.clone()
        };
        let shares: Vec<String> = r.shares.iter().map(|s| format!("{:.0} %", 100.0 * s)).collect();
        println!(
            "| {} | {} | {} | {per_test} | {:.0} | {:.0} | {:.0} | {:.1} | {} |",
            r.target,
            r.methods,
            r.generator,
            r.unjudged_per_second,
            r.tests_per_second,
            r.executions_per_second,
            (r.executions + r.others) as f64 / r.tests.max(1) as f64,
            shares.join(" | ")
        );
    }
    let middle = rows.iter().find(|r| r.target == TYPES[1] && r.generator == "covcon" && r.per_test == "1");
    if let Some(r) = middle {
        println!(
            "\n{} with covcon and one schedule per test: {:.0} complete tests a second without judging, {:.2} of the {TARGET:.0} asked for.",
            r.target,
            r.unjudged_per_second,
            r.unjudged_per_second / TARGET
        );
    }
    let found: Vec<&str> = rows.iter().filter(|r| r.findings > 0).map(|r| r.target.as_str()).collect();
    println!(
        "\nTypes with a report: {}.",
        if found.is_empty() { "none".to_owned() } else { found.join(", ") }
    );
}
