//! Does coverage go with bugs? MAPTest's RQ3 on variants of the classes without locks.
//!
//! A mutation removes every lock that protects no data of its own: statements that bind a guard to a name which begins with an
//! underscore. (A guard that gives access to data cannot be removed in Rust; such locks stay.) The variants are hunted
//! with several seeds for a fixed number of executions; after each quarter there is a point: coverage, and bugs found so far,
//! where findings of one kind at one place are one bug. Kendall's tau-b over the points of a class says whether more
//! coverage goes with more bugs.

use super::classes22::{CLASSES, Hunt, Lab, QUICK, Raw, module};
use crate::Format;
use anyhow::Context;
use raddle_lab::stats::kendall_tau_b;
use serde::Serialize;
use std::fmt::Write;
use std::path::{Path, PathBuf};

/// Options of the table.
#[derive(clap::Args, Debug)]
pub struct Args {
    /// Two seeds, 300 executions, and only the few classes of the quick table of `classes22`
    #[arg(long)]
    quick: bool,
    /// Seeds per class and generator
    #[arg(long, default_value_t = 10)]
    seeds: u64,
    /// Executions per hunt
    #[arg(long, default_value_t = 8000)]
    executions: u64,
    /// Take results from target/bench/correlation.jsonl that the same command produced
    #[arg(long)]
    resume: bool,
    /// A command that exists already, instead of building one
    #[arg(long, value_name = "PATH")]
    command: Option<PathBuf>,
    /// How to print
    #[arg(long, value_enum, default_value_t)]
    format: Format,
}

/// The paper's values: method pairs, patterns and bugs after two hours, and tau of MAP-coverage and of method-pair coverage.
type Published = (u32, u32, u32, Option<f64>, Option<f64>);

/// What the paper says about the classes that have locks to remove.
const PUBLISHED: &[(&str, Published)] = &[
    ("per_user_pool_data_source", (2145, 691, 1, Some(0.19), Some(0.20))),
    ("shared_pool_data_source", (1326, 462, 1, Some(0.38), Some(0.27))),
    ("buffered_input_stream", (45, 3960, 18, Some(0.61), Some(0.32))),
    ("concurrent_hash_map", (435, 3608, 1, Some(0.16), Some(0.16))),
    ("hashtable", (496, 8619, 10, Some(0.74), Some(0.19))),
    ("logger", (990, 469, 2, Some(0.44), Some(0.35))),
    ("string_buffer", (1485, 15205, 42, Some(0.28), Some(0.54))),
    ("synchronized_map", (351, 2354, 2, Some(0.20), Some(0.11))),
    ("vector142", (1326, 7504, 35, Some(0.33), Some(0.65))),
    ("file_appender", (561, 1585, 7, Some(0.37), Some(0.18))),
    ("null_appender", (190, 137, 2, Some(0.56), None)),
];

/// One class.
#[derive(Serialize, Debug)]
struct Row {
    event: &'static str,
    class: String,
    /// Locks that were removed from its file.
    removed: usize,
    seeds: usize,
    /// The most that one hunt had: pairs, patterns, bugs.
    pairs: f64,
    patterns: f64,
    bugs: f64,
    /// Of MAP-coverage with bugs, over the hunts with `maptest`.
    tau_patterns: Option<f64>,
    /// Of method-pair coverage with bugs, over the hunts with `covcon`.
    tau_pairs: Option<f64>,
    /// Of location-pair coverage with bugs, over the hunts with `maptest`.
    tau_locations: Option<f64>,
}

/// Hunts and prints.
pub fn run(args: &Args) -> anyhow::Result<()> {
    let (seeds, executions) = if args.quick { (2, 300) } else { (args.seeds, args.executions) };
    let (manifest, removed) = mutate()?;
    let mut lab = Lab::new(args.command.as_deref(), "correlation.jsonl", args.resume, &[])?.of(manifest);
    let classes: Vec<(&str, usize)> = CLASSES
        .iter()
        .filter(|(c, ..)| !args.quick || QUICK.contains(c))
        .filter_map(|(c, ..)| Some((*c, removed.iter().find(|(m, _)| m == module(c))?.1)))
        .collect();
    lab.prepare(classes.iter().map(|(c, _)| *c))?;
    for seed in (0..seeds).map(|s| s * 100) {
        for (class, _) in &classes {
            for generator in ["maptest", "covcon"] {
                lab.run(&Hunt {
                    class,
                    generator,
                    seed,
                    budget: executions,
                    whole: true,
                    settled_after: None,
                })?;
            }
        }
    }
    let rows: Vec<Row> = classes.iter().map(|(c, n)| row(&lab, (seeds, executions), c, *n)).collect();
    match args.format {
        Format::Json => {
            for row in &rows {
                println!("{}", serde_json::to_string(row)?);
            }
        }
        Format::Markdown => {
            let flags = match args.quick {
                true => "--quick".to_owned(),
                false => format!("--seeds {seeds} --executions {executions}"),
            };
            print!("{}", markdown(&rows, &flags));
        }
    }
    Ok(())
}

/// Copies the crate of the classes without the locks that can be removed; where its manifest is, and how many each file lost.
fn mutate() -> anyhow::Result<(PathBuf, Vec<(String, usize)>)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..").canonicalize()?;
    let (from, to) = (root.join("subjects/classes22"), root.join("target/bench/lockless"));
    std::fs::create_dir_all(to.join("src"))?;
    let manifest =
        "[package]\nname = \"subjects-classes22\"\nversion = \"0.1.0\"\nedition = \"2024\"\n\n[workspace]\n";
    update(&to.join("Cargo.toml"), manifest)?;
    let mut removed = Vec::new();
    for entry in std::fs::read_dir(from.join("src"))? {
        let path = entry?.path();
        let name = path.file_stem().and_then(|n| n.to_str()).context("a file without a name")?.to_owned();
        let text = std::fs::read_to_string(&path)?;
        // The fixed twins and the shared helpers keep their locks.
        let (text, n) = if name == "java" { (text, 0) } else { without_locks(&text) };
        update(&to.join("src").join(path.file_name().context("a file without a name")?), &text)?;
        if n > 0 {
            removed.push((name, n));
        }
    }
    removed.sort();
    Ok((to.join("Cargo.toml"), removed))
}

/// Writes a file unless it has this text already, so that nothing is built again without need.
fn update(path: &Path, text: &str) -> anyhow::Result<()> {
    if std::fs::read_to_string(path).is_ok_and(|old| old == text) {
        return Ok(());
    }
    std::fs::write(path, text).with_context(|| format!("cannot write {}", path.display()))
}

/// The text without statements such as `let _own = self.monitor.enter();`, and how many there were.
fn without_locks(text: &str) -> (String, usize) {
    let is_lock = |line: &&str| {
        let line = line.trim();
        line.starts_with("let _") && line.contains("enter(") && line.ends_with(';')
    };
    let removed = text.lines().filter(is_lock).count();
    let kept: Vec<&str> = text.lines().filter(|l| !is_lock(l)).collect();
    (kept.join("\n") + "\n", removed)
}

fn row(lab: &Lab, (seeds, executions): (u64, u64), class: &str, removed: usize) -> Row {
    let hunts = |generator: &'static str| -> Vec<&Raw> {
        let hunt =
            |seed| Hunt { class, generator, seed, budget: executions, whole: true, settled_after: None };
        (0..seeds).filter_map(|s| lab.known(&hunt(s * 100))).collect()
    };
    let (maptest, covcon) = (hunts("maptest"), hunts("covcon"));
    let most =
        |raw: &[&Raw], field: usize| raw.iter().flat_map(|r| r.curve()).map(|p| p[field]).fold(0.0, f64::max);
    let tau = |raw: &[&Raw], field: usize| {
        let points: Vec<[f64; 2]> = raw.iter().flat_map(|r| quarters(r, executions, field)).collect();
        let [x, y] = [0, 1].map(|i| points.iter().map(|p| p[i]).collect::<Vec<f64>>());
        kendall_tau_b(&x, &y).map(|c| c.tau)
    };
    Row {
        event: "row",
        class: module(class).to_owned(),
        removed,
        seeds: maptest.len(),
        pairs: most(&covcon, 2),
        patterns: most(&maptest, 3),
        bugs: most(&maptest, 4).max(most(&covcon, 4)),
        tau_patterns: tau(&maptest, 3),
        tau_pairs: tau(&covcon, 2),
        tau_locations: tau(&maptest, 6),
    }
}

/// Coverage and bugs after each quarter of the executions.
fn quarters(raw: &Raw, executions: u64, field: usize) -> Vec<[f64; 2]> {
    let curve = raw.curve();
    let at = |quarter: u64| {
        let until = (executions * quarter / 4) as f64;
        let point = curve.iter().take_while(|p| p[5] <= until).last()?;
        Some([point[field], point[4]])
    };
    (1..=4).filter_map(at).collect()
}

fn markdown(rows: &[Row], flags: &str) -> String {
    let mut s = format!(
        "# Does coverage go with bugs?\n\nGenerated by `cargo bench-raddle correlation {flags}`; do not edit. MAPTest's RQ3 on the classes \
         with locks that a mutation can remove (*removed*: statements that bind a guard to a name beginning with an underscore, in the class's file). \
         *pairs*, *patterns*, *bugs*: the most that one hunt had; bugs are findings that differ in kind or place. tau: Kendall's tau-b of coverage and bugs \
         over four points per hunt, `maptest` for MAP-coverage and for location pairs (two places that two threads visit one right after the other, one of them to \
         write), `covcon` for method pairs; `–` where one of the two never varied. Published: Table IV, two hours of Java.\n\n\
         | class | removed | seeds | pairs | patterns | bugs | tau MAP | tau pairs | tau locations | published: pairs | patterns | bugs | tau MAP | tau pairs |\n\
         | --- | --: | --: | --: | --: | --: | --: | --: | --: | --: | --: | --: | --: | --: |\n",
    );
    let number = |n: Option<f64>| n.map_or("–".to_owned(), |n| format!("{n:.2}"));
    for r in rows {
        let _ = write!(
            s,
            "| {} | {} | {} | {} | {} | {} | {} | {} | {} |",
            r.class,
            r.removed,
            r.seeds,
            r.pairs,
            r.patterns,
            r.bugs,
            number(r.tau_patterns),
            number(r.tau_pairs),
            number(r.tau_locations)
        );
        match PUBLISHED.iter().find(|(c, _)| *c == r.class) {
            Some((_, (pairs, patterns, bugs, map, pair))) => {
                let _ =
                    writeln!(s, " {pairs} | {patterns} | {bugs} | {} | {} |", number(*map), number(*pair));
            }
            None => s.push_str(" – | – | – | – | – |\n"),
        }
    }
    let mean = |of: &dyn Fn(&Row) -> Option<f64>| {
        let values: Vec<f64> = rows.iter().filter_map(of).collect();
        let n = values.len();
        (values.iter().sum::<f64>() / n.max(1) as f64, n)
    };
    let ((map, n), (pairs, m)) = (mean(&|r| r.tau_patterns), mean(&|r| r.tau_pairs));
    let (locations, k) = mean(&|r| r.tau_locations);
    let _ = writeln!(
        s,
        "\nMean tau: {map:.2} for MAP-coverage (over {n} classes), {pairs:.2} for method pairs (over {m}), {locations:.2} \
         for location pairs (over {k}). The paper gives 0.43 and 0.13 over all its data; \
         the means of its columns are 0.35 and 0.29."
    );
    s
}
