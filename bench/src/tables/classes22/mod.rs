//! The 22 classes of MAPTest's and CovCon's evaluations, hunted with each generator.
//!
//! Each class and each fixed twin is hunted by the command itself, once per generator and seed, until the first finding
//! or the end of the budget. Time to the first bug is the time for making, running and judging tests and counting what they cover, until its
//! violation is at hand; building the harness, looking up the places of its calls, reading MIR, starting the worker, confirming and minimising come on top and are not counted, as the published times count none of that either.

mod figures;
mod lab;
mod markdown;

use crate::Format;
use crate::measure::median;
pub use lab::{Hunt, Lab, Raw};
use serde::Serialize;
use std::collections::BTreeMap;
use std::path::PathBuf;

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
    /// Hunt the fixed twins as well, with the first generator
    #[arg(long)]
    twins: bool,
    /// Seconds per hunt of a twin [default: as for the classes]
    #[arg(long, value_name = "SECONDS")]
    twin_budget: Option<u64>,
    /// Only these generators
    #[arg(long, value_delimiter = ',', default_values_t = GENERATORS.map(String::from))]
    generators: Vec<String>,
    /// Take results from target/bench/classes22.jsonl that the same command produced
    #[arg(long)]
    resume: bool,
    /// Run nothing; print what there is, however many seeds that are
    #[arg(long, requires = "resume")]
    print: bool,
    /// A command that exists already, instead of building one
    #[arg(long, value_name = "PATH")]
    command: Option<PathBuf>,
    /// With --resume, also results of commands with these fingerprints, for generators that have not changed since
    #[arg(long, value_name = "HEX", requires = "resume")]
    accept: Vec<String>,
    /// What readers of the table should know about these results
    #[arg(long, value_name = "TEXT", requires = "accept")]
    note: Option<String>,
    /// How to print
    #[arg(long, value_enum, default_value_t)]
    format: Format,
}

/// A class; the published seconds to the first bug (MAPTest, CovCon and MAPTest-Random by MAPTest's authors, Table III, and CovCon
/// by its own; 3600 means never); and how many of a hundred hunts of the first three found it.
pub type Class = (&'static str, [Option<f64>; 4], Option<[u32; 3]>);

/// The classes.
pub const CLASSES: &[Class] = &[
    (
        "per_user_pool_data_source::PerUserPoolDataSource",
        [Some(25.3), Some(30.0), Some(93.0), Some(28.0)],
        Some([100, 100, 100]),
    ),
    (
        "shared_pool_data_source::SharedPoolDataSource",
        [Some(20.3), Some(18.2), Some(85.9), Some(17.0)],
        Some([100, 100, 100]),
    ),
    (
        "buffered_input_stream::BufferedInputStream",
        [Some(1.0), Some(4.5), Some(0.6), Some(3.0)],
        Some([100, 100, 100]),
    ),
    (
        "concurrent_hash_map::ConcurrentHashMap",
        [Some(147.0), Some(2811.5), Some(572.0), Some(2477.0)],
        Some([100, 40, 100]),
    ),
    ("hashtable::Hashtable", [Some(6.6), Some(433.1), Some(3.5), None], Some([100, 90, 100])),
    ("logger::Logger", [Some(90.4), Some(287.8), Some(934.6), Some(159.0)], Some([100, 100, 100])),
    (
        "string_buffer::StringBuffer",
        [Some(257.5), Some(1710.2), Some(674.7), Some(560.0)],
        Some([100, 90, 100]),
    ),
    (
        "synchronized_map::SynchronizedMap",
        [Some(480.5), Some(404.5), Some(1235.5), Some(2602.0)],
        Some([100, 100, 100]),
    ),
    ("vector117::Vector", [Some(237.3), Some(309.7), Some(3600.0), Some(793.0)], Some([100, 100, 0])),
    ("vector142::Vector", [Some(86.7), Some(413.4), Some(2636.2), Some(134.0)], Some([100, 90, 40])),
    ("day::Day", [Some(89.3), Some(127.0), Some(129.8), Some(26.0)], Some([100, 100, 100])),
    ("number_axis::NumberAxis", [Some(31.1), Some(71.8), Some(2542.6), Some(72.0)], Some([100, 100, 50])),
    ("period_axis::PeriodAxis", [Some(36.8), Some(56.0), Some(26.8), Some(26.0)], Some([100, 100, 100])),
    ("time_series::TimeSeries", [Some(53.7), Some(53.8), Some(332.9), Some(59.0)], Some([100, 100, 100])),
    ("xy_plot::XyPlot", [Some(27.7), Some(439.4), Some(2339.7), Some(325.0)], Some([100, 100, 70])),
    ("xy_series::XySeries", [Some(9.2), Some(9.6), Some(55.3), Some(9.0)], Some([100, 100, 100])),
    (
        "appender_attachable::AppenderAttachable",
        [Some(5.7), Some(20.9), Some(1.4), None],
        Some([100, 100, 100]),
    ),
    ("file_appender::FileAppender", [Some(18.7), Some(3600.0), Some(15.0), None], Some([100, 0, 100])),
    ("null_appender::NullAppender", [Some(239.3), Some(3600.0), Some(234.7), None], Some([100, 0, 100])),
    ("x_stream::XStream", [Some(1210.5), Some(2316.3), Some(2647.8), Some(1416.0)], Some([100, 70, 50])),
    ("int_range::IntRange", [None, None, None, Some(3600.0)], None),
    ("as_map::AsMap", [None, None, None, Some(2881.0)], None),
];

/// The generators, unless told otherwise.
const GENERATORS: [&str; 4] = ["maptest", "maptest-random", "covcon", "random"];

/// The module of a class, which is what tables call it.
pub fn module(class: &str) -> &str {
    class.rsplit_once("::").map_or(class, |(module, _)| module)
}

/// Classes of the quick table.
pub const QUICK: [&str; 5] = [
    "null_appender::NullAppender",
    "int_range::IntRange",
    "x_stream::XStream",
    "logger::Logger",
    "buffered_input_stream::BufferedInputStream",
];

/// One class with one generator.
#[derive(Serialize, Debug)]
struct Row {
    event: &'static str,
    class: String,
    generator: String,
    /// Hunts.
    seeds: usize,
    /// Hunts that found a bug.
    found: usize,
    /// Median seconds to the first bug; a hunt that found none counts with its budget.
    seconds: Option<f64>,
    /// Median tests to the first bug; a hunt that found none counts with the tests it made.
    tests: Option<f64>,
    kinds: BTreeMap<String, usize>,
}

/// All results.
#[derive(Debug)]
struct Results<'a> {
    classes: Vec<&'static Class>,
    generators: &'a [String],
    /// By class and generator, in the order of seeds.
    raw: BTreeMap<(String, String), Vec<Raw>>,
    /// The twins, if they were hunted.
    twins: Vec<Raw>,
    budget: u64,
    /// Milliseconds for looking up places, per class.
    placing: Vec<f64>,
}

impl Results<'_> {
    fn of(&self, class: &str, generator: &str) -> &[Raw] {
        self.raw.get(&(class.to_owned(), generator.to_owned())).map_or(&[], Vec::as_slice)
    }

    /// Seconds to the first bug, by seed.
    fn seconds(&self, class: &str, generator: &str) -> Vec<f64> {
        let cost = |r: &Raw| if r.found() { r.seconds() } else { self.budget as f64 };
        self.of(class, generator).iter().map(cost).collect()
    }

    /// Tests to the first bug, by seed.
    fn tests(&self, class: &str, generator: &str) -> Vec<f64> {
        self.of(class, generator).iter().map(Raw::tests).collect()
    }

    fn row(&self, class: &str, generator: &str) -> Row {
        let raw = self.of(class, generator);
        let mut kinds = BTreeMap::new();
        raw.iter().flat_map(|r| &r.kinds).for_each(|k| *kinds.entry(k.clone()).or_default() += 1);
        Row {
            event: "row",
            class: class.to_owned(),
            generator: generator.to_owned(),
            seeds: raw.len(),
            found: raw.iter().filter(|r| r.found()).count(),
            seconds: median(self.seconds(class, generator)),
            tests: median(self.tests(class, generator)),
            kinds,
        }
    }
}

/// Runs the table.
pub fn run(args: &Args) -> anyhow::Result<()> {
    let (seeds, budget) = if args.quick { (1, 2) } else { (args.seeds, args.budget) };
    let classes: Vec<&Class> =
        CLASSES.iter().filter(|(class, ..)| !args.quick || QUICK.contains(class)).collect();
    let twins: Vec<String> =
        if args.twins { classes.iter().map(|(c, ..)| format!("{c}Fixed")).collect() } else { vec![] };
    let twin_budget = args.twin_budget.unwrap_or(budget);
    let mut lab = Lab::new(args.command.as_deref(), "classes22.jsonl", args.resume, &args.accept)?;
    if args.print {
        lab.prepared();
    } else {
        lab.prepare(classes.iter().map(|(c, ..)| *c).chain(twins.iter().map(String::as_str)))?;
    }
    let placing = classes.iter().filter_map(|(class, ..)| lab.placing_ms(class)).collect();
    let (raw, twins_raw) = (BTreeMap::new(), vec![]);
    let mut results =
        Results { classes, generators: &args.generators, raw, twins: twins_raw, budget, placing };
    for seed in (0..seeds).map(|s| s * 100) {
        for generator in &args.generators {
            for (class, ..) in &results.classes {
                let hunt = Hunt { class, generator, seed, budget, whole: false, settled_after: None };
                if !args.print {
                    lab.run(&hunt)?;
                }
                let known = lab.known(&hunt).cloned();
                results.raw.entry(((*class).to_owned(), generator.clone())).or_default().extend(known);
            }
        }
        let generator = args.generators.first().map_or("maptest", String::as_str);
        for class in &twins {
            let hunt =
                Hunt { class, generator, seed, budget: twin_budget, whole: false, settled_after: None };
            if !args.print && seed == 0 {
                lab.run(&hunt)?;
            }
            results.twins.extend(lab.known(&hunt).cloned());
        }
    }
    match args.format {
        Format::Json => {
            for (class, ..) in &results.classes {
                for generator in &args.generators {
                    println!("{}", serde_json::to_string(&results.row(class, generator))?);
                }
            }
        }
        Format::Markdown => {
            let quick = if args.quick {
                " --quick".to_owned()
            } else {
                format!(" --seeds {seeds} --budget {budget}")
            };
            let twins = match args.twin_budget {
                Some(seconds) if args.twins => format!(" --twins --twin-budget {seconds}"),
                _ if args.twins => " --twins".to_owned(),
                _ => String::new(),
            };
            let generators = match args.generators.iter().map(String::as_str).eq(GENERATORS) {
                true => String::new(),
                false => format!(" --generators {}", args.generators.join(",")),
            };
            let command = format!("cargo bench-raddle classes22{quick}{twins}{generators}");
            print!("{}", markdown::render(&results, &command, args.note.as_deref()));
            print!("{}", figures::patterns(&results, lab.dir()));
        }
    }
    Ok(())
}
