//! Which location pairs are ruled out, by the paper's predicates and by ours.
//!
//! The examples of the Location Pairs paper and the bug patterns that it refers to (`subjects/location-pairs`), each beside the figures
//! that its documentation derives by hand, and the classes of MAPTest, of which every pair of methods is analysed.

use crate::Format;
use crate::command::root;
use crate::measure::{median, seconds};
use anyhow::{Context, ensure};
use raddle_core::SiteId;
use raddle_core::location_pairs::ruling_out::{Analysis, Beyond, Ruling};
use raddle_core::location_pairs::{Feasibility, Location, Place, Target};
use raddle_mir::{Machine, emit};
use serde::Serialize;
use std::collections::BTreeSet;

/// Options of the table.
#[derive(clap::Args, Debug)]
pub struct Args {
    /// Only some of the classes
    #[arg(long)]
    quick: bool,
    /// How to print
    #[arg(long, value_enum, default_value_t)]
    format: Format,
}

/// What is done somewhere, and the function that does it.
type Done = (&'static str, &'static str);

/// A type, its two methods, what counting by hand gives, and the error: two steps, one directly after the other.
struct Example {
    ty: &'static str,
    methods: [&'static str; 2],
    /// Targets, and how many of them are possible.
    by_hand: (usize, usize),
    error: [Done; 2],
}

const EXAMPLES: &[Example] = &[
    Example {
        ty: "string_buffer::StringBuffer",
        methods: ["append", "set_length"],
        by_hand: (32, 6),
        error: [("unlock StringBuffer.monitor", "length"), ("lock StringBuffer.monitor", "enter")],
    },
    Example {
        ty: "vector::Vector",
        methods: ["last_index_of", "add_element"],
        by_hand: (12, 4),
        error: [
            ("read Vector.element_count", "last_index_of"),
            ("write Vector.element_count", "add_element"),
        ],
    },
    Example {
        ty: "boxwood_cache::Cache",
        methods: ["copy_to_cache", "flush"],
        by_hand: (2, 2),
        error: [("read Cache.data[..]", "flush"), ("write Cache.data[..]", "copy_to_cache")],
    },
    Example {
        ty: "scan_cache::Cache",
        methods: ["sync", "write"],
        by_hand: (16, 4),
        error: [("unlock Cache.monitor", "sync"), ("lock Cache.monitor", "enter")],
    },
    Example {
        ty: "non_atomic::Counter",
        methods: ["increment", "increment"],
        by_hand: (3, 3),
        error: [("read Counter.n", "increment"), ("write Counter.n", "increment")],
    },
    Example {
        ty: "two_stage::Tables",
        methods: ["get", "set"],
        by_hand: (16, 4),
        error: [("unlock Tables.keys", "get"), ("lock Tables.keys", "enter")],
    },
    Example {
        ty: "wrong_lock::Counter",
        methods: ["add", "add_wrongly"],
        by_hand: (6, 6),
        error: [("read Counter.n", "add"), ("write Counter.n", "add_wrongly")],
    },
    Example {
        ty: "double_checked::Lazy",
        methods: ["get", "get"],
        by_hand: (10, 5),
        error: [("read Lazy.value", "get"), ("write Lazy.value", "get")],
    },
    Example {
        ty: "sleeper::Answer",
        methods: ["compute", "wait"],
        by_hand: (2, 2),
        error: [("read Answer.value", "wait"), ("write Answer.value", "compute")],
    },
    Example {
        ty: "lost_notification::Gate",
        methods: ["open", "wait"],
        by_hand: (4, 4),
        error: [("signal Gate.opened", "open"), ("signal Gate.opened", "wait")],
    },
    Example {
        ty: "blocking::Journal",
        methods: ["flush", "note"],
        by_hand: (14, 6),
        error: [("lock Journal.monitor", "enter"), ("try to lock Journal.monitor", "note")],
    },
    Example {
        ty: "orphan::Worker",
        methods: ["submit", "work"],
        by_hand: (4, 4),
        error: [("read Worker.job", "work"), ("write Worker.job", "submit")],
    },
];

/// The classes, those of the quick table first.
const CLASSES: &[&str] = &[
    "IntRange",
    "NullAppender",
    "StringBuffer",
    "AppenderAttachable",
    "AsMap",
    "BufferedInputStream",
    "ConcurrentHashMap",
    "Day",
    "FileAppender",
    "Hashtable",
    "Logger",
    "NumberAxis",
    "PerUserPoolDataSource",
    "PeriodAxis",
    "SharedPoolDataSource",
    "SynchronizedMap",
    "TimeSeries",
    "vector117::Vector",
    "vector142::Vector",
    "XStream",
    "XyPlot",
    "XySeries",
];
const QUICK: usize = 3;

/// One example.
#[derive(Debug, Serialize)]
struct Row {
    ty: String,
    methods: [String; 2],
    by_hand: (usize, usize),
    targets: usize,
    /// Not ruled out by the paper's predicates, and by ours.
    open: [usize; 2],
    /// Whether the error is a target that is open either way.
    error: bool,
    milliseconds: f64,
}

/// One class.
#[derive(Debug, Serialize)]
struct Class {
    ty: String,
    methods: usize,
    pairs: usize,
    targets: usize,
    ruled_out: [usize; 2],
    gave_up: usize,
    /// By pair, with ours: the middle and the largest; and all together.
    median_ms: f64,
    most_ms: f64,
    seconds: f64,
}

/// Analyses and prints.
pub fn run(args: &Args) -> anyhow::Result<()> {
    let examples = analyse("subjects/location-pairs")?;
    let rows = EXAMPLES.iter().map(|example| row(&examples, example)).collect::<anyhow::Result<Vec<_>>>()?;
    let all = analyse("subjects/classes22")?;
    let many = if args.quick { QUICK } else { CLASSES.len() };
    let classes = CLASSES[..many].iter().map(|ty| class(&all, ty)).collect::<anyhow::Result<Vec<_>>>()?;
    match args.format {
        Format::Json => {
            for row in &rows {
                println!("{}", serde_json::to_string(row)?);
            }
            for class in &classes {
                println!("{}", serde_json::to_string(class)?);
            }
        }
        Format::Markdown => print!("{}", markdown(&rows, &classes, args.quick)),
    }
    Ok(())
}

fn analyse(package: &str) -> anyhow::Result<raddle_mir::Analysis> {
    let dir = root().join(package);
    let emit = emit::Emit {
        manifest: dir.join("Cargo.toml"),
        target_dir: root().join("target/mir"),
        ..emit::Emit::default()
    };
    Ok(emit.run()?.analyse())
}

fn machine(analysis: &raddle_mir::Analysis, ty: &str) -> anyhow::Result<Machine> {
    analysis.machine(ty).with_context(|| format!("there is no type {ty}"))
}

fn row(analysis: &raddle_mir::Analysis, example: &Example) -> anyhow::Result<Row> {
    let machine = machine(analysis, example.ty)?;
    let number = |name: &str| machine.component.methods.iter().position(|m| m.name == name);
    let [a, b] = example.methods.map(number);
    let (a, b) = a.zip(b).with_context(|| format!("{} lacks {:?}", example.ty, example.methods))?;
    let rulings = [Beyond::default(), Beyond::ALL].map(|beyond| {
        let analysis = Analysis::new(&machine.component, beyond);
        seconds(|| analysis.pair(a, b))
    });
    let [(_, paper), (time, ours)] = &rulings;
    let error = errors(&machine, paper, &example.error);
    ensure!(!error.is_empty(), "{}: no target is {:?}", example.ty, example.error);
    let open = [paper, ours].map(|ruling| ruling.targets.len() - ruling.ruled_out.len());
    Ok(Row {
        ty: example.ty.to_owned(),
        methods: example.methods.map(str::to_owned),
        by_hand: example.by_hand,
        targets: ours.targets.len(),
        open,
        error: error.iter().any(|target| !paper.ruled_out(target) && !ours.ruled_out(target)),
        milliseconds: time * 1e3,
    })
}

/// The targets that are the error.
fn errors(machine: &Machine, ruling: &Ruling, [first, second]: &[Done; 2]) -> Vec<Target> {
    let sites = |(what, function): &Done| -> BTreeSet<SiteId> {
        let fits = |step: &raddle_mir::Step| {
            step.what == *what && step.site.function.rsplit("::").next() == Some(function)
        };
        let numbers = (0..).zip(&machine.sites).filter(|(_, step)| fits(step));
        numbers.map(|(number, _)| SiteId(number)).collect()
    };
    let (first, second) = (sites(first), sites(second));
    let at =
        |place: &Place, sites: &BTreeSet<SiteId>| matches!(place.at, Location::At(s) if sites.contains(&s));
    let targets = ruling.targets.iter();
    targets.filter(|t| at(&t.first, &first) && at(&t.second, &second)).copied().collect()
}

fn class(analysis: &raddle_mir::Analysis, ty: &str) -> anyhow::Result<Class> {
    let machine = machine(analysis, ty)?;
    let shared: Vec<usize> =
        (0..machine.component.methods.len()).filter(|&m| !machine.component.methods[m].exclusive).collect();
    let mut result = Class {
        ty: ty.to_owned(),
        methods: shared.len(),
        pairs: 0,
        targets: 0,
        ruled_out: [0; 2],
        gave_up: 0,
        median_ms: 0.0,
        most_ms: 0.0,
        seconds: 0.0,
    };
    let paper = Analysis::new(&machine.component, Beyond::default());
    let ours = Analysis::new(&machine.component, Beyond::ALL);
    let mut times = Vec::new();
    for (i, &a) in shared.iter().enumerate() {
        for &b in &shared[i..] {
            let start = std::time::Instant::now();
            let ruling = ours.pair(a, b);
            times.push(start.elapsed().as_secs_f64());
            result.pairs += 1;
            result.targets += ruling.targets.len();
            result.gave_up += usize::from(ruling.gave_up);
            result.ruled_out[0] += paper.pair(a, b).ruled_out.len();
            result.ruled_out[1] += ruling.ruled_out.len();
        }
    }
    result.seconds = times.iter().sum();
    result.most_ms = 1e3 * times.iter().copied().fold(0.0, f64::max);
    result.median_ms = 1e3 * median(times).unwrap_or(0.0);
    Ok(result)
}

fn markdown(rows: &[Row], classes: &[Class], quick: bool) -> String {
    let command = format!("cargo bench-raddle location-pairs{}", if quick { " --quick" } else { "" });
    let mut text = format!(
        "# Location pairs ruled out\n\nGenerated by `{command}`; do not edit. *targets*: two dependent actions of the two methods, in an order; \
         *left*: those that are not ruled out, by the paper's predicates and by those and what goes beyond them (conditions on locals, flags that are \
         only set and numbers that only grow, ownership). *by hand*: as the documentation of the type counts them. *error*: whether the error that the \
         example stands for is among those left.\n\n"
    );
    text.push_str(
        "| type | methods | by hand | left | targets | left (paper) | left (ours) | error | time |\n",
    );
    text.push_str("| --- | --- | --: | --: | --: | --: | --: | --- | --: |\n");
    for r in rows {
        text.push_str(&format!(
            "| `{}` | `{}`, `{}` | {} | {} | {} | {} | {} | {} | {:.1} ms |\n",
            r.ty,
            r.methods[0],
            r.methods[1],
            r.by_hand.0,
            r.by_hand.1,
            r.targets,
            r.open[0],
            r.open[1],
            if r.error { "left" } else { "**ruled out**" },
            r.milliseconds
        ));
    }
    text.push_str(
        "\nEvery pair of methods with `&self` of the classes on which MAPTest was evaluated. *given up*: pairs of which a search met too many states, \
         so that nothing it was to decide is ruled out. Times are by the clock.\n\n",
    );
    text.push_str("| class | methods | pairs | targets | ruled out (paper) | ruled out (ours) | given up | median | most | all |\n");
    text.push_str("| --- | --: | --: | --: | --: | --: | --: | --: | --: | --: |\n");
    for c in classes {
        let share = |n: usize| 100.0 * n as f64 / c.targets.max(1) as f64;
        text.push_str(&format!(
            "| {} | {} | {} | {} | {} ({:.0} %) | {} ({:.0} %) | {} | {:.1} ms | {:.0} ms | {:.2} s |\n",
            c.ty,
            c.methods,
            c.pairs,
            c.targets,
            c.ruled_out[0],
            share(c.ruled_out[0]),
            c.ruled_out[1],
            share(c.ruled_out[1]),
            c.gave_up,
            c.median_ms,
            c.most_ms,
            c.seconds
        ));
    }
    text
}
