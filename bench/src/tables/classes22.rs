//! The 22 classes of MAPTest's and CovCon's evaluations, hunted with each generator.
//!
//! Each class and each fixed twin is hunted by the command itself, once per generator and seed, until the first finding
//! or the end of the budget. Time to the first bug is the time for making, running and judging tests; confirming and
//! minimising come on top and are not counted, as the published tools do neither.

use crate::Format;
use anyhow::{Context, bail};
use serde::Serialize;
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::Path;
use std::process::{Command, Stdio};

/// Options of the table.
#[derive(clap::Args, Debug)]
pub struct Args {
    /// One seed, five classes and a budget of 2 s
    #[arg(long)]
    quick: bool,
    /// Seeds per class and generator
    #[arg(long, default_value_t = 10)]
    seeds: u64,
    /// Seconds per hunt
    #[arg(long, default_value_t = 60)]
    budget: u64,
    /// Hunt the fixed twins as well, once, with the first generator
    #[arg(long)]
    twins: bool,
    /// Only these generators
    #[arg(long, value_delimiter = ',', default_values_t = ["maptest", "maptest-random", "covcon", "random"].map(String::from))]
    generators: Vec<String>,
    /// How to print
    #[arg(long, value_enum, default_value_t)]
    format: Format,
}

/// The class, and the published seconds to the first bug: MAPTest, CovCon and MAPTest-Random by MAPTest's authors (Table
/// III), and CovCon by its own. 3600 means never.
const CLASSES: &[(&str, [Option<f64>; 4])] = &[
    ("per_user_pool_data_source::PerUserPoolDataSource", [Some(25.3), Some(30.0), Some(93.0), Some(28.0)]),
    ("shared_pool_data_source::SharedPoolDataSource", [Some(20.3), Some(18.2), Some(85.9), Some(17.0)]),
    ("buffered_input_stream::BufferedInputStream", [Some(1.0), Some(4.5), Some(0.6), Some(3.0)]),
    ("concurrent_hash_map::ConcurrentHashMap", [Some(147.0), Some(2811.5), Some(572.0), Some(2477.0)]),
    ("hashtable::Hashtable", [Some(6.6), Some(433.1), Some(3.5), None]),
    ("logger::Logger", [Some(90.4), Some(287.8), Some(934.6), Some(159.0)]),
    ("string_buffer::StringBuffer", [Some(257.5), Some(1710.2), Some(674.7), Some(560.0)]),
    ("synchronized_map::SynchronizedMap", [Some(480.5), Some(404.5), Some(1235.5), Some(2602.0)]),
    ("vector117::Vector", [Some(237.3), Some(309.7), Some(3600.0), Some(793.0)]),
    ("vector142::Vector", [Some(86.7), Some(413.4), Some(2636.2), Some(134.0)]),
    ("day::Day", [Some(89.3), Some(127.0), Some(129.8), Some(26.0)]),
    ("number_axis::NumberAxis", [Some(31.1), Some(71.8), Some(2542.6), Some(72.0)]),
    ("period_axis::PeriodAxis", [Some(36.8), Some(56.0), Some(26.8), Some(26.0)]),
    ("time_series::TimeSeries", [Some(53.7), Some(53.8), Some(332.9), Some(59.0)]),
    ("xy_plot::XyPlot", [Some(27.7), Some(439.4), Some(2339.7), Some(325.0)]),
    ("xy_series::XySeries", [Some(9.2), Some(9.6), Some(55.3), Some(9.0)]),
    ("appender_attachable::AppenderAttachable", [Some(5.7), Some(20.9), Some(1.4), None]),
    ("file_appender::FileAppender", [Some(18.7), Some(3600.0), Some(15.0), None]),
    ("null_appender::NullAppender", [Some(239.3), Some(3600.0), Some(234.7), None]),
    ("x_stream::XStream", [Some(1210.5), Some(2316.3), Some(2647.8), Some(1416.0)]),
    ("int_range::IntRange", [None, None, None, Some(3600.0)]),
    ("as_map::AsMap", [None, None, None, Some(2881.0)]),
];

/// Classes of the quick table.
const QUICK: [&str; 5] = [
    "null_appender::NullAppender",
    "int_range::IntRange",
    "x_stream::XStream",
    "logger::Logger",
    "buffered_input_stream::BufferedInputStream",
];

#[derive(Serialize, Debug)]
struct Row {
    event: &'static str,
    class: String,
    generator: String,
    seeds: u64,
    found: u64,
    /// Median seconds to the first bug over the runs that found it.
    seconds: Option<f64>,
    /// Median tests to the first bug over the runs that found it.
    tests: Option<f64>,
    kinds: BTreeMap<String, u64>,
    published: [Option<f64>; 4],
}

/// Runs the table.
pub fn run(args: &Args) -> anyhow::Result<()> {
    let (seeds, budget) = if args.quick { (1, 2) } else { (args.seeds, args.budget) };
    let chosen = |class: &str| !args.quick || QUICK.contains(&class);
    let classes: Vec<_> = CLASSES.iter().filter(|(class, _)| chosen(class)).collect();
    let mut rows = Vec::new();
    for generator in &args.generators {
        let mut seen: BTreeMap<String, Seen> = BTreeMap::new();
        for seed in 0..seeds {
            let types: Vec<String> =
                classes.iter().map(|(c, _)| format!("subjects_classes22::{c}")).collect();
            hunt(&types, generator, seed * 100, budget, &mut seen)?;
        }
        for (class, published) in &classes {
            let seen = seen.remove(&format!("subjects_classes22::{class}")).unwrap_or_default();
            rows.push(Row {
                event: "row",
                class: (*class).to_owned(),
                generator: generator.clone(),
                seeds,
                found: seen.seconds.len() as u64,
                seconds: median(seen.seconds),
                tests: median(seen.tests),
                kinds: seen.kinds,
                published: *published,
            });
        }
    }
    let mut alarms = BTreeMap::new();
    if args.twins
        && let Some(generator) = args.generators.first()
    {
        let types: Vec<String> =
            classes.iter().map(|(c, _)| format!("subjects_classes22::{c}Fixed")).collect();
        hunt(&types, generator, 0, budget, &mut alarms)?;
        alarms.retain(|_, seen| !seen.seconds.is_empty());
    }
    print(args, &rows, seeds, budget, &alarms)
}

#[derive(Default, Debug)]
struct Seen {
    seconds: Vec<f64>,
    tests: Vec<f64>,
    kinds: BTreeMap<String, u64>,
}

/// One call of the command for all types.
fn hunt(
    types: &[String],
    generator: &str,
    seed: u64,
    budget: u64,
    seen: &mut BTreeMap<String, Seen>,
) -> anyhow::Result<()> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let out = tempfile::tempdir()?;
    let mut cargo = Command::new("cargo");
    cargo.args(["run", "--release", "--quiet", "--package", "cargo-raddle", "--", "raddle", "hunt"]);
    cargo.arg("--manifest-path").arg(root.join("subjects/classes22/Cargo.toml"));
    cargo.args(["--generator", generator, "--format", "json", "--jobs", "1"]);
    cargo.arg(format!("--seed={seed}")).arg(format!("--budget={budget}s"));
    cargo.arg("--out").arg(out.path());
    types.iter().for_each(|t| _ = cargo.args(["--type", t]));
    let output = cargo.current_dir(root).stderr(Stdio::piped()).output().context("cannot start cargo")?;
    let text = String::from_utf8_lossy(&output.stdout);
    let mut ended = 0;
    for event in text.lines().filter_map(|l| serde_json::from_str::<Value>(l).ok()) {
        let target = event["target"].as_str().unwrap_or_default().to_owned();
        match event["event"].as_str() {
            Some("finding") => {
                let kind = event["kind"].as_str().unwrap_or("?").to_owned();
                *seen.entry(target).or_default().kinds.entry(kind).or_default() += 1;
            }
            Some("type") => {
                ended += 1;
                if event["status"] == "found" {
                    let stats = &event["stats"];
                    let ms = |field: &str| stats[field].as_f64().unwrap_or(0.0);
                    let seen = seen.entry(target).or_default();
                    seen.seconds.push((ms("generate_ms") + ms("execute_ms") + ms("judge_ms")) / 1000.0);
                    seen.tests.push(ms("tests"));
                }
            }
            _ => {}
        }
    }
    if ended != types.len() {
        bail!("{ended} of {} types were hunted:\n{}", types.len(), String::from_utf8_lossy(&output.stderr));
    }
    Ok(())
}

fn median(mut of: Vec<f64>) -> Option<f64> {
    of.sort_by(f64::total_cmp);
    let middle = of.len() / 2;
    match of.len() {
        0 => None,
        n if n % 2 == 1 => Some(of[middle]),
        _ => Some((of[middle - 1] + of[middle]) / 2.0),
    }
}

fn print(
    args: &Args,
    rows: &[Row],
    seeds: u64,
    budget: u64,
    alarms: &BTreeMap<String, Seen>,
) -> anyhow::Result<()> {
    let totals: Vec<(&String, u64, Option<f64>)> = args
        .generators
        .iter()
        .map(|g| {
            let mine = || rows.iter().filter(|r| r.generator == *g);
            (g, mine().map(|r| r.found).sum(), median(mine().filter_map(|r| r.seconds).collect()))
        })
        .collect();
    if args.format == Format::Json {
        for row in rows {
            println!("{}", serde_json::to_string(row)?);
        }
        let totals: Vec<Value> = totals
            .iter()
            .map(|(g, found, seconds)| serde_json::json!({"generator": g, "found": found, "median_seconds": seconds}))
            .collect();
        let alarms: Vec<&String> = alarms.keys().collect();
        println!("{}", serde_json::json!({"event": "summary", "generators": totals, "false_alarms": alarms}));
        return Ok(());
    }
    let quick = if args.quick { " --quick" } else { "" };
    println!("# The 22 classes, hunted\n");
    println!(
        "Generated by `cargo bench-raddle classes22{quick}{}`; do not edit. {seeds} seed(s), budget {budget} s per hunt, one worker. \
         Seconds and tests are medians to the first bug over the runs that found one, without confirmation and minimising. \
         Published seconds: MAPTest, CovCon, MAPTest-Random (MAPTest, Table III), CovCon (its own paper); 3600 means never.\n",
        if args.quick {
            String::new()
        } else {
            format!(" --seeds {seeds} --budget {budget}{}", if args.twins { " --twins" } else { "" })
        }
    );
    println!("| class | generator | found | seconds | tests | kinds | published seconds |");
    println!("| --- | --- | --: | --: | --: | --- | --- |");
    let number = |n: Option<f64>, digits: usize| n.map_or("-".to_owned(), |n| format!("{n:.digits$}"));
    for r in rows {
        let kinds: Vec<&str> = r.kinds.keys().map(String::as_str).collect();
        let published: Vec<String> = r.published.iter().map(|p| number(*p, 1)).collect();
        let (seconds, tests) = (number(r.seconds, 2), number(r.tests, 0));
        println!(
            "| {} | {} | {}/{} | {seconds} | {tests} | {} | {} |",
            r.class,
            r.generator,
            r.found,
            r.seeds,
            kinds.join(", "),
            published.join(" / ")
        );
    }
    println!();
    for (generator, found, seconds) in totals {
        println!(
            "{generator}: {found} of {} found, median {} s.",
            rows.len() as u64 / args.generators.len() as u64 * seeds,
            number(seconds, 2)
        );
    }
    if args.twins {
        let names: Vec<&str> = alarms.keys().map(String::as_str).collect();
        println!(
            "\nFixed twins with a report: {}.",
            if names.is_empty() { "none".to_owned() } else { names.join(", ") }
        );
    }
    Ok(())
}
