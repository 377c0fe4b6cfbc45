//! The cost of the full matcher with all 17 patterns.
//!
//! Traces are random: each event is made by one of four threads at a random site. In a *program-like* trace a site
//! always does the same to the same variable, as an instruction that names a field does (with more variables
//! than sites, to one of several variables of the same kind, as an instruction that is given an object). In a
//! *divided* trace, moreover, each thread runs only half of the sites, so that many instances cannot occur. In a
//! *dense* trace every site reads and writes every variable, which is the worst case.
//!
//! Each row is measured in a process of its own, so that its peak memory is its own. The trace is kept in packed
//! form and is part of the peak.

use crate::Format;
use crate::measure::{peak_memory, seconds};
use anyhow::{Context, bail};
use raddle_core::pattern::{FullMatcher, Matcher};
use raddle_core::{Event, NameId, Trace};
use raddle_lab::reference;
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64Mcg;
use serde::{Deserialize, Serialize};
use std::process::Command;

const THREADS: u32 = 4;
const SEED: u64 = 1;
/// Different short traces.
const SHORT_TRACES: usize = 200;

/// Options of the table.
#[derive(clap::Args, Debug)]
pub struct Args {
    /// Only what is done in less than a minute
    #[arg(long)]
    quick: bool,
    /// How to print
    #[arg(long, value_enum, default_value_t)]
    format: Format,
    /// Measure one row and print it as JSON
    #[arg(long, hide = true)]
    row: Option<String>,
}

/// What is measured in a row.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Work {
    /// One long trace through the full matcher.
    Full,
    /// One trace through the brute-force matcher.
    BruteForce,
    /// Many traces of this length that add nothing new.
    NothingNew,
}

/// Which traces.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Shape {
    ProgramLike,
    Divided,
    Dense,
}

/// A row before it is measured.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
struct Setting {
    work: Work,
    shape: Shape,
    threads: u32,
    vars: u32,
    sites: u32,
    events: usize,
}

/// A measured row.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct Row {
    #[serde(flatten)]
    setting: Setting,
    /// For one trace.
    seconds: f64,
    instances: u64,
    peak_bytes: u64,
    /// Time divided by that of half the events; only where that was measured.
    #[serde(default)]
    growth: Option<f64>,
}

/// Prints the table.
pub fn run(args: &Args) -> anyhow::Result<()> {
    if let Some(setting) = &args.row {
        println!("{}", serde_json::to_string(&measure(serde_json::from_str(setting)?))?);
        return Ok(());
    }
    let mut rows: Vec<Row> = Vec::new();
    for setting in settings(args.quick) {
        let mut row = in_own_process(&setting)?;
        let half = Setting { events: setting.events / 2, ..setting };
        row.growth = rows.iter().find(|r| r.setting == half).map(|r| row.seconds / r.seconds);
        rows.push(row);
    }
    match args.format {
        Format::Json => println!("{}", serde_json::to_string_pretty(&rows)?),
        Format::Markdown => print_markdown(&rows, args.quick),
    }
    Ok(())
}

fn settings(quick: bool) -> Vec<Setting> {
    let mut all = Vec::new();
    let full = |shape, vars, sites, events| Setting {
        work: Work::Full,
        shape,
        threads: THREADS,
        vars,
        sites,
        events,
    };
    let lengths: &[usize] = match quick {
        true => &[1_000, 100_000, 500_000, 1_000_000],
        false => &[1_000, 10_000, 100_000, 250_000, 500_000, 1_000_000, 2_000_000],
    };
    let worlds = [(10, 20), (10, 200), (100, 20), (100, 200)];
    for (vars, sites) in worlds {
        all.extend(lengths.iter().map(|&n| full(Shape::ProgramLike, vars, sites, n)));
    }
    let dense: &[usize] = if quick { &[1_000] } else { &[1_000, 10_000, 100_000, 500_000, 1_000_000] };
    all.extend(dense.iter().map(|&n| full(Shape::Dense, 10, 20, n)));
    let brute = if quick { &[100, 200, 400][..] } else { &[100, 200, 400, 800] };
    all.extend(brute.iter().flat_map(|&events| {
        [Work::BruteForce, Work::Full]
            .map(|work| Setting { work, ..full(Shape::ProgramLike, 10, 20, events) })
    }));
    for (threads, vars, sites) in [(2, 4, 10), (2, 10, 20), (4, 10, 20)] {
        for shape in [Shape::ProgramLike, Shape::Divided] {
            all.push(Setting { work: Work::NothingNew, threads, ..full(shape, vars, sites, 100) });
        }
    }
    all
}

fn in_own_process(setting: &Setting) -> anyhow::Result<Row> {
    let output = Command::new(std::env::current_exe()?)
        .args(["matcher", "--row", &serde_json::to_string(setting)?])
        .output()
        .context("cannot start the measurement of a row")?;
    if !output.status.success() {
        bail!("row {setting:?} failed: {}", String::from_utf8_lossy(&output.stderr));
    }
    Ok(serde_json::from_slice(&output.stdout)?)
}

fn measure(setting: Setting) -> Row {
    let vars: Vec<NameId> = (0..setting.vars).map(NameId).collect();
    let mut rng = Pcg64Mcg::seed_from_u64(SEED);
    let (time, instances) = match setting.work {
        Work::Full => {
            let trace: Vec<Packed> = (0..setting.events).map(|_| Packed::draw(&setting, &mut rng)).collect();
            seconds(|| {
                let mut matcher = FullMatcher::new();
                trace.iter().map(|e| matcher.count(&e.event(), &vars)).sum()
            })
        }
        Work::BruteForce => {
            let events = (0..setting.events).map(|_| Packed::draw(&setting, &mut rng).event()).collect();
            let trace = Trace { events, vars };
            seconds(|| reference::subsequences(&trace).len() as u64)
        }
        Work::NothingNew => nothing_new(&setting, &vars, &mut rng),
    };
    Row { setting, seconds: time, instances, peak_bytes: peak_memory(), growth: None }
}

/// Short traces again and again through a matcher that has found all that is in them.
fn nothing_new(setting: &Setting, vars: &[NameId], rng: &mut Pcg64Mcg) -> (f64, u64) {
    let traces: Vec<Vec<Event>> = (0..SHORT_TRACES)
        .map(|_| (0..setting.events).map(|_| Packed::draw(setting, rng).event()).collect())
        .collect();
    let mut matcher = FullMatcher::new();
    let mut all = || -> u64 {
        let mut new = 0;
        for trace in &traces {
            matcher.begin();
            new += trace.iter().map(|e| matcher.count(e, vars)).sum::<u64>();
        }
        new
    };
    let instances = all();
    let (time, new) = seconds(all);
    assert_eq!(new, 0, "the second time nothing is new");
    (time / SHORT_TRACES as f64, instances)
}

/// An event in eight bytes.
#[derive(Clone, Copy, Debug)]
struct Packed {
    thread: u8,
    write: bool,
    site: u16,
    var: u16,
}

impl Packed {
    fn draw(setting: &Setting, rng: &mut Pcg64Mcg) -> Self {
        let thread = rng.random_range(0..setting.threads) as u8;
        let mut site = rng.random_range(0..setting.sites);
        while setting.shape == Shape::Divided && (site / 3 + u32::from(thread)) % 2 == 1 {
            site = rng.random_range(0..setting.sites);
        }
        let (write, var) = match setting.shape {
            Shape::Dense => (rng.random(), rng.random_range(0..setting.vars)),
            Shape::ProgramLike | Shape::Divided => {
                let places = setting.vars.min(setting.sites / 2);
                let objects = setting.vars / places;
                (site / places % 2 == 1, site % places + places * rng.random_range(0..objects))
            }
        };
        Packed { thread, write, site: site as u16, var: var as u16 }
    }

    fn event(self) -> Event {
        let make = if self.write { Event::write } else { Event::read };
        make(u32::from(self.thread), u32::from(self.site), u32::from(self.var))
    }
}

fn print_markdown(rows: &[Row], quick: bool) {
    let flag = if quick { " --quick" } else { "" };
    println!("<!-- Generated by `cargo bench-raddle matcher{flag}`; do not edit. -->");
    println!("# Cost of the full pattern matcher, all 17 patterns\n");
    println!(
        "Random traces, seed {SEED}. *program-like*: each site reads or writes its own variable (one of several if there \
         are more variables than sites); *divided*: moreover each thread runs only half of the sites; *dense*: each site reads \
         and writes every variable. Times are processor times; *growth* is the time \
         divided by the time for half the events. *peak* is the peak resident memory of a process that does only this \
         row, packed trace included.\n"
    );
    println!(
        "| matcher | traces | threads | variables | sites | events | time | per event | growth | instances | peak |"
    );
    println!("| --- | --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |");
    for r in rows {
        let s = &r.setting;
        let work = match s.work {
            Work::Full => "full",
            Work::BruteForce => "brute force",
            Work::NothingNew => "full, nothing new, per trace",
        };
        let shape = match s.shape {
            Shape::ProgramLike => "program-like",
            Shape::Divided => "divided",
            Shape::Dense => "dense",
        };
        println!(
            "| {work} | {shape} | {} | {} | {} | {} | {} | {} | {} | {} | {:.1} MB |",
            s.threads,
            s.vars,
            s.sites,
            s.events,
            in_words(r.seconds),
            in_words(r.seconds / s.events as f64),
            r.growth.map_or_else(String::new, |g| format!("{g:.2}")),
            r.instances,
            r.peak_bytes as f64 / 1e6,
        );
    }
}

fn in_words(seconds: f64) -> String {
    match seconds {
        s if s >= 1.0 => format!("{s:.2} s"),
        s if s >= 1e-3 => format!("{:.1} ms", s * 1e3),
        s if s >= 1e-6 => format!("{:.1} µs", s * 1e6),
        s => format!("{:.1} ns", s * 1e9),
    }
}
