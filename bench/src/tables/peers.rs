//! Executions per second of raddle, shuttle and loom on the same programs in the same run, and what the hooks cost.
//!
//! Each tool has a program of its own in `bench/peers`, compiled from one source of the programs under test
//! against the tool's own threads and locks. It runs each program for a least amount of processor time and prints
//! one line of JSON per program. The time is that of the processor, children included, so that other load on the
//! machine matters little. Tools take turns, and the median of the rounds counts.
//!
//! Then the same on all cores, in real time: raddle and shuttle share one search between several, loom cannot. And how
//! long raddle and loom, which both can, take to visit all orders of programs that are small enough.

use crate::Format;
use crate::command::{output, raddle};
use crate::measure::{self, geometric_mean};
use anyhow::{Context, bail, ensure};
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};
use std::process::Command;

const TOOLS: [&str; 3] = ["raddle", "shuttle", "loom"];
/// Schedules of a check that asks for no number.
const SCHEDULES: u64 = 1_000;

/// Options of the table.
#[derive(clap::Args, Debug)]
pub struct Args {
    /// Less time per program, and one round
    #[arg(long)]
    quick: bool,
    /// How to print
    #[arg(long, value_enum, default_value_t)]
    format: Format,
}

/// What a peer prints about a program.
#[derive(Clone, Debug, Deserialize)]
struct Line {
    program: String,
    operations: u64,
    executions: u64,
    steps: u64,
    seconds: f64,
    /// The kernel's share in the tool's processor time up to here.
    kernel: f64,
}

/// One program.
#[derive(Debug, Serialize)]
struct Row {
    program: String,
    /// Operations on shared objects in the program's text, per execution.
    operations: u64,
    /// Executions per second of each tool, in the order of [`TOOLS`].
    rates: [f64; 3],
    /// Steps per execution that raddle counted.
    raddle_steps: f64,
    /// Steps per second of raddle.
    raddle_steps_per_second: f64,
    over_shuttle: f64,
    over_loom: f64,
}

/// One program under each tool's default.
#[derive(Debug, Serialize)]
struct DefaultRow {
    program: String,
    /// Executions after which raddle has seen all orders, if these are fewer than a check asks for.
    all_orders: Option<u64>,
    raddle: f64,
    shuttle: f64,
    /// Time that shuttle takes by that of raddle, for as many executions, or where raddle has seen all orders before, for a check.
    over_shuttle: f64,
}

/// The programs on all cores.
#[derive(Debug, Serialize)]
struct AllCores {
    cores: usize,
    rows: Vec<Row>,
    geometric_mean_over_shuttle: f64,
    geometric_mean_over_loom: f64,
}

/// All orders of one program.
#[derive(Debug, Serialize)]
struct Orders {
    program: String,
    raddle_executions: u64,
    loom_executions: u64,
    raddle_ms: f64,
    loom_ms: f64,
    over_loom: f64,
}

/// The whole table.
#[derive(Debug, Serialize)]
struct Table {
    command: String,
    versions: Vec<String>,
    /// The machine's: the ratios are not the same on all.
    processor: String,
    rounds: usize,
    seconds_per_program: f64,
    rows: Vec<Row>,
    geometric_mean_over_shuttle: f64,
    geometric_mean_over_loom: f64,
    defaults: Vec<DefaultRow>,
    geometric_mean_of_defaults_over_shuttle: f64,
    /// The kernel's share in the processor time of each tool, in the order of [`TOOLS`].
    kernel_shares: [f64; 3],
    all_cores: AllCores,
    orders: Vec<Orders>,
    geometric_mean_of_orders_over_loom: f64,
    /// Schedules per second of `cargo raddle test` on one test of two threads with five steps each.
    program_mode: f64,
    /// Processor time of single-threaded work with hooks and outside any execution, by that of a plain build.
    slowdown_outside: f64,
    /// Processor time of such work as thread 0 of an execution, by that of a plain build.
    slowdown_inside: f64,
}

/// Measures and prints.
pub fn run(args: &Args) -> anyhow::Result<()> {
    let (seconds, rounds) = if args.quick { (0.3, 1) } else { (2.0, 3) };
    let peers = Peers::build()?;
    let on_one = peers.rounds(&TOOLS, rounds, seconds, None)?;
    let rows = rows(&on_one)?;
    let defaults = defaults(&peers.rounds(&["raddle", "shuttle"], rounds, seconds, Some("default"))?)?;
    let on_all = self::rows(&peers.rounds(&TOOLS, rounds, seconds, Some("cores"))?)?;
    let orders = orders(&peers.rounds(&["raddle", "loom"], rounds, seconds / 4.0, Some("orders"))?)?;
    let plain = median((0..rounds).map(|_| peers.work(&peers.plain, "outside")).collect::<Result<_, _>>()?);
    let hooked = median((0..rounds).map(|_| peers.work(&peers.raddle, "outside")).collect::<Result<_, _>>()?);
    let inside = median((0..rounds).map(|_| peers.work(&peers.raddle, "inside")).collect::<Result<_, _>>()?);
    let table = Table {
        command: format!("cargo bench-raddle peers{}", if args.quick { " --quick" } else { "" }),
        versions: peers.versions()?,
        processor: processor()?,
        rounds,
        seconds_per_program: seconds,
        geometric_mean_over_shuttle: geometric_mean(rows.iter().map(|r| r.over_shuttle)),
        geometric_mean_over_loom: geometric_mean(rows.iter().map(|r| r.over_loom)),
        rows,
        geometric_mean_of_defaults_over_shuttle: geometric_mean(defaults.iter().map(|r| r.over_shuttle)),
        defaults,
        kernel_shares: kernel_shares(&on_one),
        all_cores: AllCores {
            cores: std::thread::available_parallelism()?.get(),
            geometric_mean_over_shuttle: geometric_mean(on_all.iter().map(|r| r.over_shuttle)),
            geometric_mean_over_loom: geometric_mean(on_all.iter().map(|r| r.over_loom)),
            rows: on_all,
        },
        geometric_mean_of_orders_over_loom: geometric_mean(orders.iter().map(|o| o.over_loom)),
        orders,
        program_mode: peers.program_mode(if args.quick { 2_000 } else { 20_000 })?,
        slowdown_outside: hooked / plain,
        slowdown_inside: inside / plain,
    };
    match args.format {
        Format::Json => println!("{}", serde_json::to_string_pretty(&table)?),
        Format::Markdown => print!("{}", markdown(&table)),
    }
    Ok(())
}

/// What the tools printed, by tool and round.
type Rounds = Vec<Vec<Vec<Line>>>;

/// How many programs all of them ran.
fn count(all: &Rounds) -> anyhow::Result<usize> {
    let count = all[0][0].len();
    let same = all.iter().flatten().all(|round| round.len() == count);
    ensure!(same, "the tools ran different numbers of programs");
    Ok(count)
}

fn rows(all: &Rounds) -> anyhow::Result<Vec<Row>> {
    let row = |i: usize| {
        let rate =
            |tool: usize| median(all[tool].iter().map(|r| r[i].executions as f64 / r[i].seconds).collect());
        let rates = [rate(0), rate(1), rate(2)];
        let first = &all[0][0][i];
        let raddle_steps = first.steps as f64 / first.executions as f64;
        Row {
            program: first.program.clone(),
            operations: first.operations,
            rates,
            raddle_steps,
            raddle_steps_per_second: raddle_steps * rates[0],
            over_shuttle: rates[0] / rates[1],
            over_loom: rates[0] / rates[2],
        }
    };
    Ok((0..count(all)?).map(row).collect())
}

fn defaults(all: &Rounds) -> anyhow::Result<Vec<DefaultRow>> {
    let row = |i: usize| {
        let rate =
            |tool: usize| median(all[tool].iter().map(|r| r[i].executions as f64 / r[i].seconds).collect());
        let first = &all[0][0][i];
        let (raddle, shuttle) = (rate(0), rate(1));
        let all_orders = Some(first.executions).filter(|&n| n < SCHEDULES);
        let spared = all_orders.map_or(1.0, |n| SCHEDULES as f64 / n as f64);
        let over_shuttle = raddle / shuttle * spared;
        DefaultRow { program: first.program.clone(), all_orders, raddle, shuttle, over_shuttle }
    };
    Ok((0..count(all)?).map(row).collect())
}

/// The kernel's share in the processor time of each tool, over all programs.
fn kernel_shares(all: &Rounds) -> [f64; 3] {
    let share = |tool: usize| {
        let ends = all[tool].iter().filter_map(|round| round.last());
        median(ends.map(|line| line.kernel).collect())
    };
    [share(0), share(1), share(2)]
}

/// What the kernel calls this machine's processor, and its family and model, because names of virtual ones say little.
fn processor() -> anyhow::Result<String> {
    let text = std::fs::read_to_string("/proc/cpuinfo").context("/proc/cpuinfo")?;
    let field = |name: &str| {
        let mut fields = text.lines().filter_map(|line| line.split_once(':'));
        fields.find(|(key, _)| key.trim() == name).map_or("?", |(_, value)| value.trim()).to_owned()
    };
    Ok(format!("{}, family {}, model {}", field("model name"), field("cpu family"), field("model")))
}

fn orders(all: &Rounds) -> anyhow::Result<Vec<Orders>> {
    let of = |i: usize| {
        let ms = |tool: usize| median(all[tool].iter().map(|r| r[i].seconds * 1000.0).collect());
        Orders {
            program: all[0][0][i].program.clone(),
            raddle_executions: all[0][0][i].executions,
            loom_executions: all[1][0][i].executions,
            raddle_ms: ms(0),
            loom_ms: ms(1),
            over_loom: ms(1) / ms(0),
        }
    };
    Ok((0..count(all)?).map(of).collect())
}

/// The programs, built.
struct Peers {
    dir: PathBuf,
    raddle: PathBuf,
    plain: PathBuf,
    /// The directory of the runtime library.
    runtime: PathBuf,
}

impl Peers {
    fn build() -> anyhow::Result<Self> {
        let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("peers");
        for tool in TOOLS {
            let mut cargo = Command::new("cargo");
            // The plain build of raddle's program differs from the other in the hooks alone.
            let profile: &[&str] =
                if tool == "raddle" { &["--config", "profile.dev.opt-level=3"] } else { &["--release"] };
            cargo.arg("build").args(profile).args(["--quiet", "--locked", "--manifest-path"]);
            output(cargo.arg(dir.join(tool).join("Cargo.toml")))?;
        }
        let manifest = dir.join("raddle/Cargo.toml");
        // An executable that was linked before finds the runtime of that time, or what cargo put in the search path;
        // only the one that is installed now is to be measured.
        let runtimes = dir.join("raddle/target/raddle/rt");
        if runtimes.exists() {
            std::fs::remove_dir_all(&runtimes)?;
        }
        let mut build = raddle();
        build.args(["build", "--bin", "peer-raddle", "--opt-level", "3", "--manifest-path"]).arg(&manifest);
        let path = output(&mut build)?;
        let raddle = PathBuf::from(path.lines().next().context("cargo raddle build printed no path")?);
        let plain = dir.join("raddle/target/debug/peer-raddle");
        let installed = std::fs::read_dir(&runtimes)?.next().context("no runtime was installed")??;
        Ok(Peers { dir, raddle, plain, runtime: installed.path() })
    }

    fn executable(&self, tool: &str) -> PathBuf {
        match tool {
            "raddle" => self.raddle.clone(),
            _ => self.dir.join(tool).join("target/release").join(format!("peer-{tool}")),
        }
    }

    /// Has the tools run their programs in turn.
    fn rounds(
        &self,
        tools: &[&str],
        rounds: usize,
        seconds: f64,
        how: Option<&str>,
    ) -> anyhow::Result<Rounds> {
        let mut all = vec![vec![]; tools.len()];
        for _ in 0..rounds {
            for (tool, rounds) in tools.iter().zip(&mut all) {
                rounds.push(self.programs(tool, seconds, how)?);
            }
        }
        Ok(all)
    }

    fn programs(&self, tool: &str, seconds: f64, how: Option<&str>) -> anyhow::Result<Vec<Line>> {
        let mut peer = Command::new(self.executable(tool));
        peer.env("LD_LIBRARY_PATH", &self.runtime).arg(seconds.to_string()).args(how);
        let text = output(&mut peer)?;
        let lines = text.lines().filter(|l| l.starts_with('{'));
        lines.map(|l| serde_json::from_str(l).with_context(|| format!("{tool} printed `{l}`"))).collect()
    }

    fn work(&self, executable: &Path, how: &str) -> anyhow::Result<f64> {
        let mut peer = Command::new(executable);
        let text = output(peer.env("LD_LIBRARY_PATH", &self.runtime).args(["0", how]))?;
        text.trim().parse().with_context(|| format!("no number: `{text}`"))
    }

    /// Schedules per second that the worker itself reports.
    fn program_mode(&self, schedules: u64) -> anyhow::Result<f64> {
        let mut test = raddle();
        test.args(["test", "--test", "program", "--jobs", "1", "--opt-level", "3", "--format", "json"]);
        test.args(["--budget", "0", "--schedules", &schedules.to_string(), "--manifest-path"]);
        let text = output(test.arg(self.dir.join("raddle/Cargo.toml")))?;
        for line in text.lines() {
            let event: serde_json::Value = serde_json::from_str(line)?;
            if event["event"] == "test" {
                let stats = &event["stats"];
                let executions = stats["executions"].as_f64().context("executions")?;
                return Ok(executions * 1000.0 / stats["elapsed_ms"].as_f64().context("elapsed_ms")?);
            }
        }
        bail!("cargo raddle test ran no test")
    }

    /// The peers' versions, from their lock files, and the compiler's.
    fn versions(&self) -> anyhow::Result<Vec<String>> {
        let mut versions = vec![output(Command::new("rustc").arg("-V"))?.trim().to_owned()];
        for tool in &TOOLS[1..] {
            let lock = std::fs::read_to_string(self.dir.join(tool).join("Cargo.lock"))?;
            let mut lines = lock.lines().skip_while(|l| *l != format!("name = \"{tool}\"")).skip(1);
            let version =
                lines.next().and_then(|l| l.split('"').nth(1)).context("no version in Cargo.lock")?;
            versions.push(format!("{tool} {version}"));
        }
        Ok(versions)
    }
}

/// The median of values that there are.
fn median(values: Vec<f64>) -> f64 {
    measure::median(values).expect("at least one round")
}

fn markdown(table: &Table) -> String {
    let all = &table.all_cores;
    let mut text = format!(
        "# raddle beside shuttle and loom\n\n\
         Generated by `{}`; do not edit. {}. Processor: {}. Median of {} round(s) of at least {} s per program and tool. \
         raddle in closure mode, with the strategy `random` where nothing else is said, shuttle with its random scheduler, loom as far as its \
         exhaustive search comes. After a thousand executions without a new scheduling point, raddle records one \
         in eight, then ever fewer, after 32 thousand one in 256, and those that come to code for the first time.\n\n\
         ## By default, on one core, by processor time\n\n\
         What `raddle::check(Config::new(), ..)` does, given enough schedules, with the strategy `auto`, beside shuttle's default. As long as `auto` \
         may learn or come to an end it records everything; then it leaves sixteen of seventeen executions to chance. \
         Where it has executed all orders before the {SCHEDULES} schedules of a check are used up, it ends; there the last column compares the time \
         of a whole check with that of {SCHEDULES} executions of shuttle.\n\n{}\n\
         ## With the strategy `random`, on one core, by processor time\n\n{}\n\
         Of this time raddle spent {:.0} % in the kernel, shuttle {:.0} %, loom {:.0} %. What a kernel takes does not follow the speed of a processor, \
         so the ratio to loom depends on the machine.\n\n\
         ## On all {} cores, by real time\n\n\
         raddle shares one search between processes, with the same result as in one; shuttle has a portfolio of as many random \
         schedulers; loom uses one core.\n\n{}\n",
        table.command,
        table.versions.join(", "),
        table.processor,
        table.rounds,
        table.seconds_per_program,
        default_rates(table),
        rates(&table.rows, table.geometric_mean_over_shuttle, table.geometric_mean_over_loom),
        100.0 * table.kernel_shares[0],
        100.0 * table.kernel_shares[1],
        100.0 * table.kernel_shares[2],
        all.cores,
        rates(&all.rows, all.geometric_mean_over_shuttle, all.geometric_mean_over_loom),
    );
    text += "## All orders, on one core\n\n\
             Both search exhaustively, raddle with the strategy `dfs`, each in its own way of telling orders apart.\n\n\
             | program | raddle executions | loom executions | raddle ms | loom ms | over loom |\n\
             | --- | --: | --: | --: | --: | --: |\n";
    for o in &table.orders {
        text += &format!(
            "| {} | {} | {} | {:.2} | {:.2} | {:.1} |\n",
            o.program, o.raddle_executions, o.loom_executions, o.raddle_ms, o.loom_ms, o.over_loom
        );
    }
    text += &format!(
        "| geometric mean | | | | | {:.1} |\n\n\
         ## Beside that\n\n| | |\n| --- | --: |\n\
         | program mode, 2 threads x 5 fetch_add, schedules per second | {:.0} |\n\
         | slow-down of code with hooks outside any execution | {:.2} |\n\
         | slow-down of code with hooks in an execution with one thread | {:.2} |\n",
        table.geometric_mean_of_orders_over_loom,
        table.program_mode,
        table.slowdown_outside,
        table.slowdown_inside
    );
    text
}

fn default_rates(table: &Table) -> String {
    let mut text = "| program | raddle exec/s | shuttle exec/s | all orders | over shuttle |\n\
                    | --- | --: | --: | --: | --: |\n"
        .to_owned();
    for r in &table.defaults {
        let all = r.all_orders.map_or(String::new(), |n| format!("after {n} executions"));
        text += &format!(
            "| {} | {:.0} | {:.0} | {all} | {:.2} |\n",
            r.program, r.raddle, r.shuttle, r.over_shuttle
        );
    }
    text += &format!("| geometric mean | | | | {:.2} |\n", table.geometric_mean_of_defaults_over_shuttle);
    text
}

fn rates(rows: &[Row], over_shuttle: f64, over_loom: f64) -> String {
    let mut text =
        "| program | operations | raddle exec/s | shuttle exec/s | loom exec/s | raddle steps/exec | \
                    raddle steps/s | over shuttle | over loom |\n\
                    | --- | --: | --: | --: | --: | --: | --: | --: | --: |\n"
            .to_owned();
    for r in rows {
        text += &format!(
            "| {} | {} | {:.0} | {:.0} | {:.0} | {:.1} | {:.0} | {:.2} | {:.2} |\n",
            r.program,
            r.operations,
            r.rates[0],
            r.rates[1],
            r.rates[2],
            r.raddle_steps,
            r.raddle_steps_per_second,
            r.over_shuttle,
            r.over_loom
        );
    }
    text += &format!("| geometric mean | | | | | | | {over_shuttle:.2} | {over_loom:.2} |\n");
    text
}
