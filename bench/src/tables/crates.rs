//! Published crates, hunted: what discovery finds of the main type, and what a hunt of it reports.
//!
//! Every crate is hunted by the command itself in its newest version, as a user would, with no settings but the features
//! that the main type needs. A hunt does not stop at a finding. `docs/published-crates.md` argues each report.

use crate::Format;
use crate::command::{raddle, root};
use crate::measure::load;
use anyhow::{Context, bail};
use serde::Serialize;
use serde_json::Value;
use std::collections::BTreeMap;
use std::process::Stdio;

/// Options of the table.
#[derive(clap::Args, Debug)]
pub struct Args {
    /// Two crates, 4 s each
    #[arg(long)]
    quick: bool,
    /// Seconds per hunt
    #[arg(long, default_value_t = 60)]
    seconds: u64,
    /// Only these crates
    #[arg(long, value_delimiter = ',', value_name = "CRATE,...")]
    only: Vec<String>,
    /// How tests are made
    #[arg(long, value_delimiter = ',', default_values_t = ["covcon", "maptest"].map(String::from))]
    generators: Vec<String>,
    /// How to print
    #[arg(long, value_enum, default_value_t)]
    format: Format,
}

/// The crate, its main type, and features that the type needs.
const CRATES: [(&str, &str, &str); 16] = [
    ("crossbeam-queue", "SegQueue", ""),
    ("crossbeam-queue", "ArrayQueue", ""),
    ("dashmap", "DashMap", ""),
    ("arc-swap", "ArcSwapAny", ""),
    ("once_cell", "sync::OnceCell", ""),
    ("parking_lot", "RwLock", ""),
    ("parking_lot", "Condvar", ""),
    ("concurrent-queue", "ConcurrentQueue", ""),
    ("sharded-slab", "Slab", ""),
    ("papaya", "HashMap", ""),
    ("scc", "HashMap", ""),
    ("flume", "Sender", ""),
    ("boxcar", "Vec", ""),
    ("moka", "sync::Cache", "sync"),
    ("lasso", "ThreadedRodeo", "multi-threaded"),
    ("thread_local", "ThreadLocal", ""),
];
/// Crates of the quick table.
const QUICK: [&str; 2] = ["crossbeam-queue", "boxcar"];

#[derive(Serialize, Debug, Default)]
struct Row {
    event: &'static str,
    target: String,
    version: String,
    generator: String,
    status: String,
    message: Option<String>,
    /// Public methods by `&self`.
    methods: u64,
    /// Those that have a thunk.
    working: u64,
    missing: Vec<(String, String)>,
    /// Methods whose results are not compared by default, and why.
    weak: Vec<(String, String)>,
    tests: u64,
    executions: u64,
    pairs: u64,
    covered: u64,
    /// Instances of memory-access patterns that occurred.
    instances: u64,
    /// Those of them that the compiler's MIR allows, and all that it allows; `None` if it could not be read.
    allowed: Option<(u64, u64)>,
    /// The chance that another test shows a new one.
    chance_of_new: Option<f64>,
    unconfirmed: u64,
    isolated: bool,
    /// Kind and what tells the finding from others.
    findings: Vec<(String, String)>,
}

/// Runs the table.
pub fn run(args: &Args) -> anyhow::Result<()> {
    let seconds = if args.quick { 4 } else { args.seconds };
    let chosen = |name: &str| match args.only.as_slice() {
        [] => !args.quick || QUICK.contains(&name),
        only => only.iter().any(|o| o == name),
    };
    if let Some(unknown) = args.only.iter().find(|o| !CRATES.iter().any(|(name, ..)| name == o)) {
        bail!("the table has no crate `{unknown}`");
    }
    let generators = if args.quick { &args.generators[..1] } else { &args.generators[..] };
    let mut rows = Vec::new();
    for (name, ty, features) in CRATES.iter().filter(|(name, ..)| chosen(name)) {
        for generator in generators {
            let row = hunt(name, ty, features, generator, seconds)?;
            if args.format == Format::Json {
                println!("{}", serde_json::to_string(&row)?);
            }
            rows.push(row);
        }
    }
    match args.format {
        Format::Json => summary(&rows),
        Format::Markdown => markdown(args, &rows, seconds),
    }
    Ok(())
}

fn hunt(name: &str, ty: &str, features: &str, generator: &str, seconds: u64) -> anyhow::Result<Row> {
    let out = tempfile::tempdir()?;
    let mut cargo = raddle();
    cargo.args(["hunt", name, "--type", ty, "--format", "json", "--jobs", "1", "--max-findings", "10"]);
    cargo.args(["--generator", generator]).arg(format!("--budget={seconds}s"));
    cargo.arg("--out").arg(out.path());
    if !features.is_empty() {
        cargo.args(["--features", features]);
    }
    let output = cargo.current_dir(root()).stderr(Stdio::piped()).output().context("cannot start cargo")?;
    let text = String::from_utf8_lossy(&output.stdout);
    let mut row = Row { event: "row", generator: generator.to_owned(), ..Row::default() };
    for event in text.lines().filter_map(|l| serde_json::from_str::<Value>(l).ok()) {
        match event["event"].as_str() {
            Some("finding") => row.findings.push((string(&event["kind"]), string(&event["cause"]))),
            Some("type") => fill(&mut row, &event),
            _ => {}
        }
    }
    if row.target.is_empty() {
        bail!("{name} {ty}: no answer:\n{text}\n{}", String::from_utf8_lossy(&output.stderr));
    }
    Ok(row)
}

fn fill(row: &mut Row, event: &Value) {
    let (offers, stats) = (&event["offers"], &event["stats"]);
    let number = |v: &Value| v.as_u64().unwrap_or(0);
    let pairs = |v: &Value| -> Vec<(String, String)> {
        let all = v.as_array().into_iter().flatten();
        all.map(|p| (string(&p[0]), string(&p[1]))).collect()
    };
    row.target = string(&event["target"]);
    row.version = string(&event["version"]);
    row.status = string(&event["status"]);
    row.message = event["message"].as_str().map(str::to_owned);
    row.missing = pairs(&offers["missing"]);
    row.weak = pairs(&offers["weak"]);
    row.working = number(&offers["shared_methods"]);
    row.methods = row.working + row.missing.len() as u64;
    row.tests = number(&stats["tests"]);
    row.executions = number(&stats["executions"]);
    row.pairs = number(&stats["pairs"]["total"]);
    row.covered = number(&stats["pairs"]["covered"]);
    let patterns = &stats["patterns"];
    row.instances = number(&patterns["covered"]);
    let all = patterns.get("static").map(|s| &s["all"]);
    row.allowed = all.map(|all| (number(&all["covered"]), number(&all["total"])));
    row.chance_of_new = patterns["chance_of_new"].as_f64();
    row.unconfirmed = number(&stats["unconfirmed"]);
    row.isolated = stats["isolated"].as_bool().unwrap_or(false);
}

fn string(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

fn summary(rows: &[Row]) {
    let low = rows.iter().filter(|r| r.working * 5 < r.methods * 4).count();
    let findings: usize = rows.iter().map(|r| r.findings.len()).sum();
    let line = serde_json::json!({
        "event": "summary", "hunts": rows.len(), "below_80_percent": low, "findings": findings,
        "unconfirmed": rows.iter().map(|r| r.unconfirmed).sum::<u64>(),
    });
    println!("{line}");
}

fn markdown(args: &Args, rows: &[Row], seconds: u64) {
    let mut flags = String::new();
    if args.quick {
        flags.push_str(" --quick");
    } else {
        flags.push_str(&format!(" --seconds {seconds} --generators {}", args.generators.join(",")));
        if !args.only.is_empty() {
            flags.push_str(&format!(" --only {}", args.only.join(",")));
        }
    }
    println!("# Published crates, hunted\n");
    println!(
        "Generated by `cargo bench-raddle crates{flags}`; do not edit. {seconds} s per hunt, one worker, seed 0, no settings; a hunt \
         goes on after a finding. The load of the machine at the end was {:.1}. *Working* counts public `&self` methods of the type and its other handles that have a thunk. \
         Each finding is argued in [published-crates.md](../../docs/published-crates.md).\n",
        load()
    );
    println!(
        "| type | version | generator | methods | working | share | tests | executions | pairs covered | \
         patterns | of those the code allows | new per test | findings |"
    );
    println!("| --- | --- | --- | --: | --: | --: | --: | --: | --: | --: | --: | --: | --- |");
    for r in rows {
        let share = 100.0 * r.working as f64 / r.methods.max(1) as f64;
        let mut findings: Vec<String> = r.findings.iter().map(|(_, cause)| cause.clone()).collect();
        if r.status != "found" && r.status != "ok" {
            findings.push(format!("{}: {}", r.status, r.message.as_deref().unwrap_or_default()));
        }
        if r.unconfirmed > 0 {
            findings.push(format!("{} not confirmed", r.unconfirmed));
        }
        let findings = if findings.is_empty() { "none".to_owned() } else { findings.join("<br>") };
        println!(
            "| {} | {} | {} | {} | {} | {share:.0} % | {} | {}{} | {} of {} | {} | {} | {} | {} |",
            r.target,
            r.version,
            r.generator,
            r.methods,
            r.working,
            r.tests,
            r.executions,
            if r.isolated { " (isolated)" } else { "" },
            r.covered,
            r.pairs,
            r.instances,
            r.allowed.map_or("not known".to_owned(), |(covered, all)| format!("{covered} of {all}")),
            r.chance_of_new.map_or("–".to_owned(), |c| format!("{:.0} %", 100.0 * c)),
            findings.replace('|', "\\|")
        );
    }
    println!(
        "\n*Isolated*: the type keeps something from test to test, so every execution had a process of its own. \
         *Patterns*: instances of memory-access patterns that occurred; then how many of them are among those that the compiler's MIR allows; \
         then the share of the last hundred tests that showed a new one."
    );
    by_type("Methods without a thunk", rows, |r| &r.missing);
    by_type("Results that are not compared by default", rows, |r| &r.weak);
}

/// Names and reasons, once per type.
fn by_type(title: &str, rows: &[Row], of: impl Fn(&Row) -> &Vec<(String, String)>) {
    println!("\n## {title}\n");
    let all: BTreeMap<&str, &Vec<(String, String)>> =
        rows.iter().map(|r| (r.target.as_str(), of(r))).collect();
    println!("| type | method | why |\n| --- | --- | --- |");
    for (target, (name, why)) in all.iter().flat_map(|(t, all)| all.iter().map(move |one| (t, one))) {
        println!("| {target} | {} | {} |", name.replace('|', "\\|"), why.replace(['|', '\n'], " "));
    }
}
