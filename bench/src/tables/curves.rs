//! How coverage grows with the tests of a hunt: MAPTest's Fig. 5 and CovCon's Fig. 3.
//!
//! Hunts go on after findings, and follow memory-access patterns whatever the generator. Nobody knows how many instances of a
//! class are feasible: those that a long hunt covered stand for them, and its curve says how many were there after a tenth of the
//! time. A long hunt ends early where two thirds of its tests brought next to nothing.

use super::classes22::{CLASSES, Hunt, Lab, QUICK, Raw, module};
use crate::Format;
use crate::svg::Plot;
use anyhow::Context;
use serde::Serialize;
use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::{Path, PathBuf};

/// Options of the figures.
#[derive(clap::Args, Debug)]
pub struct Args {
    /// Two classes, hunted for 20 s, and no figures
    #[arg(long)]
    quick: bool,
    /// Seconds per hunt with `maptest`, at most; it ends after a fifth of that if it has settled
    #[arg(long, default_value_t = 600, value_parser = clap::value_parser!(u64).range(10..))]
    budget: u64,
    /// Seconds per hunt with the generators beside it
    #[arg(long, default_value_t = 60)]
    others: u64,
    /// Take results from target/bench/curves.jsonl that the same command produced
    #[arg(long)]
    resume: bool,
    /// A command that exists already, instead of building one
    #[arg(long, value_name = "PATH")]
    command: Option<PathBuf>,
    /// Take results of commands with these fingerprints as well, where there are none of this one
    #[arg(long, value_delimiter = ',', value_name = "HEX", requires = "resume")]
    accept: Vec<String>,
    /// Only these classes: a part of the table, or one of several calls side by side, before one with `--resume`
    #[arg(long, value_delimiter = ',', value_name = "MODULE")]
    only: Vec<String>,
    /// Hunt nothing: make the table of the results that are there, and say which are missing
    #[arg(long, requires = "resume")]
    no_hunts: bool,
    /// How to print
    #[arg(long, value_enum, default_value_t)]
    format: Format,
}

/// The classes of CovCon's curves: the largest, and one of middle size.
const PAIRS: [&str; 2] = ["xy_plot::XyPlot", "logger::Logger"];

/// A hunt that has settled ends after one in so many parts of its time.
const SETTLING: u64 = 5;

/// Below the table.
const FIGURES: &str = "
![MAP-coverage](classes22-map-coverage.svg)

![minus random](classes22-map-minus-random.svg)

Method pairs against time (CovCon's Fig. 3):

![pairs of xy_plot](classes22-pairs-xy-plot.svg)

![pairs of logger](classes22-pairs-logger.svg)
";

/// The hunts of a class.
struct Hunts {
    class: &'static str,
    maptest: Raw,
    random: Raw,
}

/// What a class's hunts came to.
#[derive(Serialize, Debug)]
struct Row {
    event: &'static str,
    class: &'static str,
    /// How long the hunt was, and whether it ended because it had settled.
    seconds: f64,
    settled: bool,
    tests: f64,
    instances: f64,
    /// After a tenth of the budget.
    tenth_tests: f64,
    tenth_instances: f64,
    /// Of the instances, those covered after a tenth of the budget.
    share: f64,
    random_tests: f64,
    random_instances: f64,
    /// Of the instances that the accesses in MIR allow, those covered.
    of_mir: f64,
    /// In the end, the chance that the next test shows an instance not seen before.
    chance_of_new: f64,
    /// How many processes wanted to run on the machine when the hunt ended.
    load: f64,
    /// The fingerprint of the command.
    build: String,
}

/// Hunts, prints, and writes the figures beside the tables.
pub fn run(args: &Args) -> anyhow::Result<()> {
    let classes = chosen(args)?;
    let (budget, others) = if args.quick { (20, 2) } else { (args.budget, args.others) };
    let mut lab = Lab::new(args.command.as_deref(), "curves.jsonl", args.resume, &args.accept)?;
    if !args.no_hunts {
        lab.prepare(classes.iter().copied())?;
    }
    let mut hunt =
        |class: &'static str, generator: &'static str, budget: u64| -> anyhow::Result<Option<Raw>> {
            let settled_after = (generator == "maptest").then_some(budget / SETTLING);
            let hunt = Hunt { class, generator, seed: 0, budget, whole: true, settled_after };
            if !args.no_hunts {
                lab.run(&hunt)?;
            }
            Ok(lab.known(&hunt).cloned())
        };
    let (mut all, mut missing) = (Vec::new(), Vec::new());
    for &class in &classes {
        match (hunt(class, "maptest", budget)?, hunt(class, "random", others)?) {
            (Some(maptest), Some(random)) => all.push(Hunts { class, maptest, random }),
            _ => missing.push(module(class)),
        }
    }
    if !args.quick {
        draw_coverage(&all)?;
        for class in PAIRS.into_iter().filter(|c| classes.contains(c)) {
            if let (Some(covcon), Some(random)) =
                (hunt(class, "covcon", others)?, hunt(class, "random", others)?)
            {
                draw_pairs(class, &covcon, &random)?;
            }
        }
    }
    let rows: Vec<Row> = all.iter().map(|h| h.row(budget)).collect();
    match args.format {
        Format::Json => {
            for row in &rows {
                println!("{}", serde_json::to_string(row)?);
            }
        }
        Format::Markdown => {
            let mut flags = match args.quick {
                true => "--quick".to_owned(),
                false => format!("--budget {budget} --others {others}"),
            };
            if !args.only.is_empty() {
                let _ = write!(flags, " --only {}", args.only.join(","));
            }
            print!("{}", markdown(&rows, &missing, &flags, (budget, others)));
            if !args.quick {
                print!("{FIGURES}");
            }
        }
    }
    Ok(())
}

fn chosen(args: &Args) -> anyhow::Result<Vec<&'static str>> {
    let all = || CLASSES.iter().map(|(class, ..)| *class);
    if let Some(other) = args.only.iter().find(|m| !all().any(|c| module(c) == **m)) {
        anyhow::bail!("no class is in a module `{other}`");
    }
    let quick = |class: &&str| QUICK[..2].contains(class);
    let only = |class: &&str| args.only.iter().any(|m| m == module(class));
    Ok(match (args.only.is_empty(), args.quick) {
        (false, _) => all().filter(only).collect(),
        (true, true) => all().filter(quick).collect(),
        (true, false) => all().collect(),
    })
}

fn last(raw: &Raw) -> [f64; 8] {
    raw.curve().last().copied().unwrap_or_default()
}

/// The last point of the curve within so many seconds.
fn after(raw: &Raw, seconds: u64) -> [f64; 8] {
    let within = |p: &[f64; 8]| p[7] <= 1000.0 * seconds as f64;
    raw.curve().into_iter().take_while(within).last().unwrap_or_default()
}

impl Hunts {
    fn row(&self, budget: u64) -> Row {
        let [maptest, random] = [&self.maptest, &self.random].map(last);
        let tenth = after(&self.maptest, budget / 10);
        let (covered, allowed) = self.maptest.of_mir();
        Row {
            event: "row",
            class: module(self.class),
            seconds: self.maptest.elapsed(),
            settled: self.maptest.settled(),
            tests: maptest[0],
            instances: maptest[3],
            tenth_tests: tenth[0],
            tenth_instances: tenth[3],
            share: tenth[3] / maptest[3].max(1.0),
            random_tests: random[0],
            random_instances: random[3],
            of_mir: covered / allowed.max(1.0),
            chance_of_new: self.maptest.chance_of_new(),
            load: self.maptest.load,
            build: self.maptest.build[..8].to_owned(),
        }
    }
}

fn markdown(rows: &[Row], missing: &[&str], flags: &str, (budget, others): (u64, u64)) -> String {
    let (tenth, least) = (budget / 10, budget / SETTLING);
    let cores = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    let mut s = format!(
        "# How coverage grows\n\nGenerated by `cargo bench-raddle curves {flags}`; do not edit. Seed 0; hunts go on after findings, of wall-clock time with everything \
         in it. A hunt of {budget} s ends early, but not before {least} s, when two thirds of its tests have brought no finding and at most one in two hundred of the \
         instances (`--until-settled`): *s* says how long it was, \\* that it ended so. *share*: the instances covered within {tenth} s, of those covered in the end; *of MIR's*: how much of the instances that the accesses in the class's MIR allow was \
         covered in the end, whether or not they can occur; *new*: the chance, in the end, that the next test shows an instance not seen before, estimated from the last hundred tests; *load*: how many \
         processes wanted to run on the {cores} processors of the machine at the end of the hunt, which alone has use for little more than one.\n\n\
         | class | maptest: s | tests | instances | in {tenth} s: tests | instances | share | of MIR's | new | load | random, {others} s: tests | instances |\n\
         | --- | --: | --: | --: | --: | --: | --: | --: | --: | --: | --: | --: |\n",
    );
    let mut builds: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for r in rows {
        let _ = writeln!(
            s,
            "| {} | {:.0}{} | {} | {} | {} | {} | {:.1} % | {:.1} % | {:.0} % | {:.0} | {} | {} |",
            r.class,
            r.seconds,
            if r.settled { "\\*" } else { "" },
            r.tests,
            r.instances,
            r.tenth_tests,
            r.tenth_instances,
            100.0 * r.share,
            100.0 * r.of_mir,
            100.0 * r.chance_of_new,
            r.load,
            r.random_tests,
            r.random_instances
        );
        builds.entry(&r.build).or_default().push(r.class);
    }
    let enough = rows.iter().filter(|r| r.share >= 0.95).count();
    let _ = writeln!(
        s,
        "\nOn {enough} of {} classes {tenth} s were enough for 95 % of what the whole hunt covered.",
        rows.len()
    );
    if !missing.is_empty() {
        let _ = writeln!(s, "\nNot measured: {}.", missing.join(", "));
    }
    if builds.len() > 1 {
        let of: Vec<String> =
            builds.iter().map(|(b, classes)| format!("{b} ({})", classes.join(", "))).collect();
        let _ = writeln!(s, "\nCommands of the hunts with `maptest`: {}.", of.join("; "));
    }
    s
}

/// Coverage by seconds, and by tests minus that of the random hunt.
fn draw_coverage(all: &[Hunts]) -> anyhow::Result<()> {
    let (mut absolute, mut minus) = (Vec::new(), Vec::new());
    for hunts in all {
        let (mine, theirs) = (hunts.maptest.curve(), hunts.random.curve());
        let full = last(&hunts.maptest)[3].max(last(&hunts.random)[3]).max(1.0);
        let at = |tests: f64| theirs.iter().take_while(|p| p[0] <= tests).last().map_or(0.0, |p| p[3]);
        let common = |p: &&[f64; 8]| p[0] <= last(&hunts.random)[0];
        let name = module(hunts.class);
        absolute.push((name.to_owned(), mine.iter().map(|p| (p[7] / 1000.0, 100.0 * p[3] / full)).collect()));
        let difference = |p: &[f64; 8]| (p[0], 100.0 * (p[3] - at(p[0])) / full);
        minus.push((name.to_owned(), mine.iter().filter(common).map(difference).collect()));
    }
    write(
        "classes22-map-coverage.svg",
        "MAP-coverage of maptest",
        "seconds",
        "% of the instances known",
        absolute,
    )?;
    write(
        "classes22-map-minus-random.svg",
        "MAP-coverage of maptest minus that of random",
        "tests",
        "percentage points",
        minus,
    )
}

/// Method pairs by seconds.
fn draw_pairs(class: &str, covcon: &Raw, random: &Raw) -> anyhow::Result<()> {
    let curve = |raw: &Raw| raw.curve().iter().map(|p| (p[1] / 1000.0, p[2])).collect();
    let lines = vec![("covcon".to_owned(), curve(covcon)), ("random".to_owned(), curve(random))];
    let file = format!("classes22-pairs-{}.svg", module(class).replace('_', "-"));
    write(&file, &format!("Method pairs of {}", module(class)), "seconds", "pairs covered", lines)
}

fn write(
    file: &str,
    title: &str,
    x: &'static str,
    y: &'static str,
    lines: Vec<(String, Vec<(f64, f64)>)>,
) -> anyhow::Result<()> {
    let plot = Plot { title: title.to_owned(), x, y, log_x: true, lines };
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("results").join(file);
    std::fs::write(&path, plot.render()).with_context(|| format!("cannot write {}", path.display()))
}
