//! Whether the static accesses of a type contain what happens when it runs.
//!
//! `testdata/static-accesses` has a driver for each type: threads that call its methods. Each driver runs under a
//! number of schedules with traces on; every access to data in the type's crate should be among the accesses that `raddle-mir`
//! finds for the type's public methods. What is missing is listed.

use crate::Format;
use crate::command::raddle;
use anyhow::{Context, bail, ensure};
use raddle_core::protocol::{Entry, JOB_VAR, Job, Message, Timeouts};
use raddle_mir::meet::{Meeting, Observed, meet, observed};
use raddle_mir::{Access, Analysis, Calls, Reason, Universe, emit};
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Options of the table.
#[derive(clap::Args, Debug)]
pub struct Args {
    /// Fewer schedules, and only some of the types
    #[arg(long)]
    quick: bool,
    /// How to print
    #[arg(long, value_enum, default_value_t)]
    format: Format,
}

/// Package, driver, and the type or types that the driver uses. The marked ones are in the quick table.
const DRIVERS: &[(&str, &str, &[&str], bool)] = &[
    ("subjects-classes22", "subjects::appender_attachable", &["AppenderAttachable"], false),
    ("subjects-classes22", "subjects::as_map", &["AsMap"], false),
    ("subjects-classes22", "subjects::buffered_input_stream", &["BufferedInputStream"], true),
    ("subjects-classes22", "subjects::concurrent_hash_map", &["ConcurrentHashMap"], true),
    ("subjects-classes22", "subjects::day", &["Day"], false),
    ("subjects-classes22", "subjects::file_appender", &["FileAppender"], true),
    ("subjects-classes22", "subjects::hashtable", &["Hashtable"], true),
    ("subjects-classes22", "subjects::int_range", &["IntRange"], false),
    ("subjects-classes22", "subjects::logger", &["Logger"], false),
    ("subjects-classes22", "subjects::null_appender", &["NullAppender"], false),
    ("subjects-classes22", "subjects::number_axis", &["NumberAxis"], false),
    ("subjects-classes22", "subjects::per_user_pool_data_source", &["PerUserPoolDataSource"], false),
    ("subjects-classes22", "subjects::period_axis", &["PeriodAxis"], false),
    ("subjects-classes22", "subjects::shared_pool_data_source", &["SharedPoolDataSource"], false),
    ("subjects-classes22", "subjects::string_buffer", &["StringBuffer"], true),
    ("subjects-classes22", "subjects::synchronized_map", &["SynchronizedMap"], false),
    ("subjects-classes22", "subjects::time_series", &["TimeSeries"], false),
    ("subjects-classes22", "subjects::vector117", &["vector117::Vector"], false),
    ("subjects-classes22", "subjects::vector142", &["vector142::Vector"], true),
    ("subjects-classes22", "subjects::x_stream", &["XStream"], false),
    ("subjects-classes22", "subjects::xy_plot", &["XyPlot"], false),
    ("subjects-classes22", "subjects::xy_series", &["XySeries"], false),
    ("crossbeam-queue", "published::array_queue", &["ArrayQueue"], true),
    ("crossbeam-queue", "published::seg_queue", &["SegQueue"], true),
    ("concurrent-queue", "published::bounded", &["ConcurrentQueue"], true),
    ("concurrent-queue", "published::unbounded", &["ConcurrentQueue"], false),
    ("concurrent-queue", "published::single", &["ConcurrentQueue"], false),
    ("arc-swap", "published::arc_swap", &["ArcSwapAny", "Guard"], false),
    ("crossbeam-deque", "published::injector", &["Injector"], false),
    (
        "dashmap",
        "published::dash_map",
        &["DashMap", "mapref::one::Ref", "iter::Iter", "mapref::multiple::RefMulti"],
        false,
    ),
    ("once_cell", "published::once_cell", &["sync::OnceCell"], false),
    ("boxcar", "published::boxcar", &["vec::Vec", "vec::Iter"], false),
    ("sharded-slab", "published::slab", &["Slab", "Entry"], false),
    ("spin", "published::spin_mutex", &["mutex::spin::SpinMutex", "mutex::spin::SpinMutexGuard"], false),
];

/// The analysis was written without looking at these crates.
const HELD_OUT: [&str; 4] = ["once_cell", "boxcar", "sharded-slab", "spin"];

/// One driver.
#[derive(Debug, Serialize)]
struct Row {
    package: String,
    driver: String,
    /// Variables in V.
    variables: usize,
    /// Static accesses: instruction, variable and kind.
    accesses: usize,
    /// Possible instances for tests in which a thread calls repeatedly, and for those in which it calls once.
    instances: u128,
    feasible_once: u128,
    /// Executions traced.
    executions: usize,
    /// Different accesses seen in the crate.
    seen: usize,
    met: usize,
    /// Of those met: nothing is known about the variable, statically or at run time.
    unnamed: usize,
    /// Of those met: debug information has no line, so they were compared by function.
    by_function: usize,
    share: f64,
    /// How often something was approximated.
    approximations: BTreeMap<Reason, u64>,
    unknown_functions: usize,
    misses: Vec<String>,
}

#[derive(Debug, Serialize)]
struct Parse {
    package: String,
    functions: usize,
    unknown: usize,
    mir_bytes: usize,
    seconds: f64,
}

/// Compares and prints.
pub fn run(args: &Args) -> anyhow::Result<()> {
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("../testdata/static-accesses");
    let program = Driver::build(&dir)?;
    let mut crates: BTreeMap<&str, Analysis> = BTreeMap::new();
    let (mut rows, mut parses) = (Vec::new(), Vec::new());
    for (package, driver, types, _) in DRIVERS.iter().filter(|d| d.3 || !args.quick) {
        if !crates.contains_key(package) {
            let (analysis, parse) = analyse(&dir, package)?;
            crates.insert(package, analysis);
            parses.push(parse);
        }
        let schedules = if args.quick { 20 } else { 100 };
        let (executions, seen) = program.observe(driver, &package.replace('-', "_"), schedules)?;
        rows.push(row(&crates[package], package, driver, types, executions, &seen)?);
    }
    match args.format {
        Format::Json => {
            for row in &rows {
                println!("{}", serde_json::to_string(row)?);
            }
            for parse in &parses {
                println!("{}", serde_json::to_string(parse)?);
            }
        }
        Format::Markdown => print!("{}", markdown(&rows, &parses, args.quick)),
    }
    Ok(())
}

fn row(
    analysis: &Analysis,
    package: &str,
    driver: &str,
    types: &[&str],
    executions: usize,
    seen: &BTreeSet<Observed>,
) -> anyhow::Result<Row> {
    let found: Vec<_> = types.iter().filter_map(|t| analysis.of_type(t)).collect();
    ensure!(found.len() == types.len(), "{package} lacks one of {types:?}");
    let accesses: BTreeSet<Access> =
        found.iter().flat_map(|t| &t.methods).flat_map(|m| m.accesses.clone()).collect();
    let accesses: Vec<Access> = accesses.into_iter().collect();
    let different: BTreeSet<_> = accesses.iter().map(|a| (&a.site, &a.variable, a.kind)).collect();
    let meeting: Meeting = meet(&accesses, &analysis.files(), seen);
    let first = &found[0];
    let report = |calls| {
        let universe = Universe::new(first, calls);
        let none = raddle_core::pattern::InstanceSet::default();
        raddle_core::coverage::map::Report::new(&universe.accesses, &none, Some(&universe.facts)).all
    };
    let miss = |(o, why): &(Observed, raddle_mir::meet::Miss)| {
        let last = |path: &str| path.rsplit('/').next().unwrap_or_default().to_owned();
        let (file, name) = (last(&o.file), last(&o.name));
        format!("{why:?}: {:?} of `{}` at {file}:{}:{} in `{}`", o.kind, name, o.line, o.column, o.function)
    };
    Ok(Row {
        package: package.to_owned(),
        driver: driver.to_owned(),
        variables: first.variables.len(),
        accesses: different.len(),
        instances: report(Calls::Repeatedly).open(),
        feasible_once: report(Calls::Once).open(),
        executions,
        seen: meeting.met.len() + meeting.only_runtime.len(),
        met: meeting.met.len(),
        unnamed: meeting.unnamed,
        by_function: meeting.by_function,
        share: meeting.share(),
        approximations: first.approximations.clone(),
        unknown_functions: first.unknown.len(),
        misses: meeting.only_runtime.iter().map(miss).collect(),
    })
}

fn analyse(dir: &Path, package: &str) -> anyhow::Result<(Analysis, Parse)> {
    let emit = emit::Emit {
        manifest: dir.join("Cargo.toml"),
        package: Some(package.to_owned()),
        target_dir: dir.join("target/mir"),
        ..emit::Emit::default()
    };
    let emitted = emit.run()?;
    let (seconds, analysis) = crate::measure::seconds(|| emitted.analyse());
    let parse = Parse {
        package: package.to_owned(),
        functions: analysis.program.mir.functions.len(),
        unknown: analysis.program.unknown().count(),
        mir_bytes: emitted.mir.len(),
        seconds,
    };
    Ok((analysis, parse))
}

/// The drivers, built with the hooks.
struct Driver {
    dir: PathBuf,
    executable: PathBuf,
    runtime: PathBuf,
}

impl Driver {
    fn build(dir: &Path) -> anyhow::Result<Self> {
        let mut cargo = raddle();
        cargo
            .args(["build", "--test", "drivers", "--format", "json", "--manifest-path"])
            .arg(dir.join("Cargo.toml"));
        let output = cargo.current_dir(env!("CARGO_MANIFEST_DIR")).output().context("cannot start cargo")?;
        let text = String::from_utf8_lossy(&output.stdout);
        let built = text.lines().filter_map(|l| serde_json::from_str::<serde_json::Value>(l).ok());
        let executable = built.filter_map(|v| v.get("executable")?.as_str().map(PathBuf::from)).next();
        let Some(executable) = executable else { bail!("{}", String::from_utf8_lossy(&output.stderr)) };
        let runtime = dir.join("target/raddle/rt");
        let newest = std::fs::read_dir(&runtime)?
            .flatten()
            .max_by_key(|e| e.metadata().and_then(|m| m.modified()).ok());
        let runtime = newest.context("cargo raddle left no runtime")?.path();
        Ok(Driver { dir: dir.to_owned(), executable, runtime })
    }

    /// Runs a driver and collects its accesses.
    fn observe(
        &self,
        driver: &str,
        krate: &str,
        schedules: u64,
    ) -> anyhow::Result<(usize, BTreeSet<Observed>)> {
        let job = Job {
            entry: Entry::Libtest,
            message_fd: 0,
            seed: 0,
            strategy: "random".to_owned(),
            schedules,
            budget_ms: 20_000,
            max_failures: schedules,
            every_access: false,
            max_steps: 100_000,
            memory_mb: 2_048,
            hang_ms: 10_000,
            crates: vec![krate.to_owned()],
            ok_exit: vec![],
            timeouts: Timeouts::Late,
            replay: None,
            traces: schedules,
            jobs: 1,
            check: 0,
            given: vec![],
            request_fd: None,
            places: None,
        };
        let file = tempfile::NamedTempFile::new()?;
        serde_json::to_writer(&file, &job)?;
        // The only descriptor for messages that a child can be given without `unsafe` is one of the first three.
        let (reader, writer) = std::io::pipe()?;
        let mut command = Command::new(&self.executable);
        command.args([driver, "--exact", "--nocapture"]).current_dir(&self.dir);
        command.env(JOB_VAR, file.path()).env("LD_LIBRARY_PATH", &self.runtime);
        command.stdin(writer).stdout(Stdio::null()).stderr(Stdio::null());
        let mut child = command.spawn().context("cannot start a driver")?;
        drop(command);
        let mut executions = 0;
        let mut seen = BTreeSet::new();
        let mut done = false;
        for line in BufReader::new(reader).lines() {
            match serde_json::from_str(&line?)? {
                Message::Trace { trace, symbols, .. } => {
                    executions += 1;
                    seen.extend(observed([(&trace, &symbols)]));
                }
                Message::Failure(failure) => seen.extend(observed([(&failure.trace, &failure.symbols)])),
                Message::Done { .. } => done = true,
                Message::Progress(_) => {}
            }
        }
        child.wait()?;
        ensure!(done && executions > 0, "{driver} did not run to its end");
        Ok((executions, seen))
    }
}

fn markdown(rows: &[Row], parses: &[Parse], quick: bool) -> String {
    let command = format!("cargo bench-raddle static{}", if quick { " --quick" } else { "" });
    let mut text = format!(
        "# Static accesses beside those seen at run time\n\nGenerated by `{command}`; do not edit. Each driver of \
         `testdata/static-accesses` runs under random schedules (seed 0). *seen*: different accesses (instruction, kind, variable) to data in the \
         crate; *met*: those that the accesses of the type's public methods contain, on file, line, column, kind and name; *unnamed*: of \
         those met, the ones where the static or the observed variable has no name of the crate's; *no line*: of those met, the ones without a \
         line in debug information, compared by function. *instances*: T_C if a thread calls repeatedly; *once*: what locks leave of it if a \
         thread calls once.\n\n"
    );
    text.push_str("| crate | driver | V | static accesses | instances | once | executions | seen | met | unnamed | no line | share |\n");
    text.push_str("| --- | --- | --: | --: | --: | --: | --: | --: | --: | --: | --: | --: |\n");
    for r in rows {
        text.push_str(&format!(
            "| {} | {} | {} | {} | {} | {} | {} | {} | {} | {} | {} | {:.1} % |\n",
            r.package,
            r.driver.rsplit("::").next().unwrap_or_default(),
            r.variables,
            r.accesses,
            r.instances,
            r.feasible_once,
            r.executions,
            r.seen,
            r.met,
            r.unnamed,
            r.by_function,
            100.0 * r.share
        ));
    }
    let (met, seen) = rows.iter().fold((0, 0), |(m, s), r| (m + r.met, s + r.seen));
    text.push_str(&format!(
        "\nAll together: {met} of {seen}, {:.1} %.\n\n",
        100.0 * met as f64 / seen.max(1) as f64
    ));
    let held: Vec<&Row> = rows.iter().filter(|r| HELD_OUT.contains(&r.package.as_str())).collect();
    if !held.is_empty() {
        let (met, seen) = held.iter().fold((0, 0), |(m, s), r| (m + r.met, s + r.seen));
        let share = 100.0 * met as f64 / seen.max(1) as f64;
        text.push_str(&format!(
            "Crates that the analysis was written without ({}): {met} of {seen}, {share:.1} %.\n\n",
            HELD_OUT.join(", ")
        ));
    }
    text.push_str("What was missed:\n\n");
    for r in rows {
        for miss in &r.misses {
            text.push_str(&format!("- {}: {miss}\n", r.driver));
        }
    }
    text.push_str("\n| crate | functions | not understood | MIR | time |\n| --- | --: | --: | --: | --: |\n");
    for p in parses {
        let mb = p.mir_bytes as f64 / 1e6;
        let (f, u, s) = (p.functions, p.unknown, p.seconds);
        text.push_str(&format!("| {} | {f} | {u} | {mb:.1} MB | {:.0} ms |\n", p.package, s * 1e3));
    }
    text.push_str("\nApproximations in the methods of each type and what they call:\n\n");
    for r in rows {
        let counts: Vec<String> =
            r.approximations.iter().map(|(reason, n)| format!("{reason:?} {n}")).collect();
        text.push_str(&format!("- {}: {}\n", r.driver, counts.join(", ")));
    }
    text
}
