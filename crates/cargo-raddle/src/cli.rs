//! The command line.
#![allow(
    rustdoc::broken_intra_doc_links,
    reason = "a help text is not for rustdoc: brackets are what they look like"
)]

use clap::{Args, Parser, Subcommand, ValueEnum};
use raddle_core::protocol::{MOST_MEMORY_MB, Timeouts};
use raddle_core::strategy::{self, UnknownStrategy};
use raddle_hunt::generate::{GeneratorKind, UnknownGenerator};
use std::path::PathBuf;
use std::time::Duration;

/// Longer than any build should take.
const BUILD_LIMIT: &str = "30m";

/// Tests concurrent Rust, C and C++ code under controlled thread schedules.
#[derive(Parser, Debug)]
#[command(name = "cargo raddle", bin_name = "cargo raddle", version, about, max_term_width = 100)]
#[command(
    after_help = "Exit codes: 0 nothing found, 1 found, 2 could not do it, 3 something was not tested."
)]
pub struct Cli {
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

/// The subcommands.
#[derive(Subcommand, Debug)]
pub enum Command {
    /// Build a package's tests with the hooks and run each that creates threads under many schedules
    Test(Box<TestArgs>),
    /// Build tests, programs or examples with the hooks and print their paths
    Build {
        /// What is built and how.
        #[command(flatten)]
        build: BuildArgs,
        /// How the paths are shown
        #[arg(long, value_enum, default_value = "human", value_name = "FORMAT")]
        format: Format,
    },
    /// Run a program in C, C++ or Rust that was built with the hooks under many schedules
    Run(Box<RunArgs>),
    /// Compile or link C with the hooks: as `cc` (or what RADDLE_CC names), with the same arguments; --install DIR makes it
    /// callable as raddle-cc and raddle-c++
    #[command(disable_help_flag = true)]
    Cc(CompilerArgs),
    /// Compile or link C++ with the hooks: as `c++` (or what RADDLE_CXX names), with the same arguments
    #[command(name = "c++", disable_help_flag = true)]
    Cxx(CompilerArgs),
    /// Repeat a finding and show how its threads interleaved
    Replay(ReplayArgs),
    /// Generate tests for types that claim to be thread-safe, and search them for what no sequential use shows
    Hunt(Box<HuntArgs>),
}

/// How results are shown.
#[derive(ValueEnum, Clone, Copy, PartialEq, Eq, Debug)]
pub enum Format {
    /// For people.
    Human,
    /// One JSON object per line on standard output (docs/json.md).
    Json,
}

/// `cargo raddle test`.
#[derive(Args, Debug)]
pub struct TestArgs {
    /// Only tests whose name contains one of these
    #[arg(value_name = "NAME")]
    pub filters: Vec<String>,
    /// A name must match as a whole
    #[arg(long)]
    pub exact: bool,
    /// Leave out tests whose name contains this
    #[arg(long, value_name = "NAME")]
    pub skip: Vec<String>,
    /// Run tests marked #[ignore] as well
    #[arg(long)]
    pub include_ignored: bool,
    /// Show which tests would be run, and stop
    #[arg(long)]
    pub list: bool,
    /// What cargo's users are used to; it is refused with the reason
    #[arg(long, hide = true, alias = "no-capture", alias = "show-output")]
    pub nocapture: bool,
    /// How results are shown
    #[arg(long, value_enum, default_value = "human", value_name = "FORMAT")]
    pub format: Format,
    /// Where findings and the runtime go [default: raddle in the target directory]
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// Tests run at the same time; a long check of a closure uses what a few tests leave over [default: number of cores]
    #[arg(long, short, alias = "test-threads", value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub jobs: Option<u64>,
    /// Keep the tests from the network and from files outside the package and a scratch directory (docs/security.md)
    #[arg(long)]
    pub sandbox: bool,
    /// An exit status besides 0 with which a program (--bin, --example, --executable) may end
    #[arg(long, value_name = "STATUS", value_parser = clap::value_parser!(i32).range(0..=255))]
    pub ok_exit: Vec<i32>,
    /// Arguments for a program (--bin, --example, --executable or a test without harness)
    #[arg(last = true, value_name = "ARGS")]
    pub args: Vec<String>,
    /// Which code, and how it is built.
    #[command(flatten)]
    pub build: BuildArgs,
    /// How the schedules are searched.
    #[command(flatten)]
    pub search: SearchArgs,
}

/// `cargo raddle run`.
#[derive(Args, Debug)]
pub struct RunArgs {
    /// The program
    #[arg(value_name = "PROGRAM")]
    pub program: PathBuf,
    /// Its arguments
    #[arg(value_name = "ARGS", trailing_var_arg = true, allow_hyphen_values = true)]
    pub args: Vec<String>,
    /// How results are shown
    #[arg(long, value_enum, default_value = "human", value_name = "FORMAT")]
    pub format: Format,
    /// Where findings and the runtime go [default: target/raddle]
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// Keep the program from the network and from files outside this directory and a scratch directory (docs/security.md)
    #[arg(long)]
    pub sandbox: bool,
    /// An exit status besides 0 with which the program may end
    #[arg(long, value_name = "STATUS", value_parser = clap::value_parser!(i32).range(0..=255))]
    pub ok_exit: Vec<i32>,
    /// How the schedules are searched.
    #[command(flatten)]
    pub search: SearchArgs,
}

/// `cargo raddle cc` and `c++`. They are taken before the command line is read (see `native::driver`) and are here for the help.
#[derive(Args, Debug)]
pub struct CompilerArgs {
    /// What the compiler is called with
    #[arg(value_name = "ARGS", trailing_var_arg = true, allow_hyphen_values = true)]
    pub args: Vec<String>,
}

/// What is built and how.
#[derive(Args, Clone, Default, Debug)]
#[command(next_help_heading = "Build")]
pub struct BuildArgs {
    /// Path to Cargo.toml
    #[arg(long, value_name = "PATH")]
    pub manifest_path: Option<PathBuf>,
    /// Package to test
    #[arg(long, short, value_name = "PKG")]
    pub package: Vec<String>,
    /// All packages of the workspace
    #[arg(long)]
    pub workspace: bool,
    /// The library's unit tests only
    #[arg(long)]
    pub lib: bool,
    /// All binaries' unit tests only
    #[arg(long)]
    pub bins: bool,
    /// This integration test only
    #[arg(long, value_name = "NAME")]
    pub test: Vec<String>,
    /// Run this binary's `main`
    #[arg(long, value_name = "NAME")]
    pub bin: Vec<String>,
    /// Run this example's `main`
    #[arg(long, value_name = "NAME")]
    pub example: Vec<String>,
    /// Run the `main` of an executable that was built with the hooks elsewhere
    #[arg(long, value_name = "PATH", conflicts_with_all = ["lib", "bins", "test", "bin", "example", "package", "workspace"])]
    pub executable: Option<PathBuf>,
    /// The executable has the standard test harness
    #[arg(long, requires = "executable")]
    pub libtest: bool,
    /// Features to switch on
    #[arg(long, short = 'F', value_name = "FEATURES")]
    pub features: Vec<String>,
    /// Switch all features on
    #[arg(long)]
    pub all_features: bool,
    /// Switch the default features off
    #[arg(long)]
    pub no_default_features: bool,
    /// Optimisation level of the code under test
    #[arg(long, value_name = "N", default_value = "2", value_parser = ["0", "1", "2", "3", "s", "z"])]
    pub opt_level: String,
    /// Target triple; only x86_64-unknown-linux-gnu is supported
    #[arg(long, value_name = "TRIPLE")]
    pub target: Option<String>,
    /// Do not use the network
    #[arg(long)]
    pub offline: bool,
    /// Require an up-to-date Cargo.lock
    #[arg(long)]
    pub locked: bool,
    /// End a build that takes longer, with all that it has started; 0 for no limit
    #[arg(long, value_name = "TIME", default_value = BUILD_LIMIT, value_parser = parse_duration)]
    pub build_limit: Duration,
}

/// How the schedules are searched.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "Search")]
pub struct SearchArgs {
    /// Schedules per test at most [default: what a check in the test says, or 1000]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub schedules: Option<u64>,
    /// Time per test at most: 500ms, 30s, 2m, 1h; 0 for no limit
    #[arg(long, value_name = "TIME", default_value = "30s", value_parser = parse_duration)]
    pub budget: Duration,
    /// Decides everything that is drawn [default: what a check in the test says, or 0]
    #[arg(long, value_name = "N")]
    pub seed: Option<u64>,
    /// How schedules are chosen: auto, random, pct[:DEPTH], pos, hars, dfs[:PREEMPTIONS] and more; a wrong name lists all
    /// [default: what a check in the test says, or auto]
    #[arg(long, value_name = "NAME", value_parser = parse_strategy)]
    pub strategy: Option<String>,
    /// Every memory access is a scheduling point, not only those known to matter
    #[arg(long)]
    pub every_access: bool,
    /// When time-outs and sleeps may end although a thread could run: never, late (those of at most a second, in a few later
    /// schedules), any [default: what a check in the test says, or late]
    #[arg(long, value_name = "WHEN", value_parser = parse_timeouts)]
    pub timeouts: Option<Timeouts>,
    /// Stop a test after so many failures [default: what a check in the test says, or 1]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub max_failures: Option<u64>,
    /// Steps of an execution that the strategy decides; ten times as many that lead nowhere new are a livelock [default: what a check in the test says, or 100000]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub max_steps: Option<u64>,
    /// More memory than this in one execution is a crash [default: what a check in the test says, or 2048]
    #[arg(long, value_name = "MB", value_parser = clap::value_parser!(u64).range(1..=MOST_MEMORY_MB))]
    pub memory: Option<u64>,
    /// Code outside our control that does not come back for so long is a time-out
    #[arg(long, value_name = "TIME", default_value = "10s", value_parser = parse_duration)]
    pub hang: Duration,
    /// How long a worker may overrun its own limits before it is killed
    #[arg(long, value_name = "TIME", default_value = "15s", value_parser = parse_duration)]
    pub grace: Duration,
}

/// `cargo raddle hunt`.
#[derive(Args, Clone, Debug)]
pub struct HuntArgs {
    /// A crate of crates.io, with a version if it is not to be the newest: dashmap, dashmap@6.1.0 [default: the
    /// package at hand]
    #[arg(value_name = "CRATE[@VERSION]", conflicts_with_all = ["manifest_path", "package"])]
    pub subject: Option<String>,
    /// Only this type, by name or path: SegQueue, crossbeam_queue::SegQueue [default: all that qualify]
    #[arg(long = "type", value_name = "TYPE")]
    pub types: Vec<String>,
    /// Show what could be hunted and what was left out, and stop
    #[arg(long)]
    pub list: bool,
    /// How results are shown
    #[arg(long, value_enum, default_value = "human", value_name = "FORMAT")]
    pub format: Format,
    /// Where findings go [default: raddle in the target directory]
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// Types hunted at the same time [default: number of cores]
    #[arg(long, short, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub jobs: Option<u64>,
    /// Show for each pair of methods how often it ran at the same time
    #[arg(long)]
    pub matrix: bool,
    /// List so many memory-access patterns that have not occurred
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub open: usize,
    /// Let the code under test use the network and all files
    #[arg(long)]
    pub no_sandbox: bool,
    /// What is expected of functions.
    #[command(flatten)]
    pub functions: HuntFunctionArgs,
    /// How the harness is built.
    #[command(flatten)]
    pub build: HuntBuildArgs,
    /// How tests and schedules are searched.
    #[command(flatten)]
    pub search: HuntSearchArgs,
    /// A harness that exists already, for tests of raddle itself: its descriptor
    #[arg(long, hide = true, value_name = "FILE", requires = "executable")]
    pub harness: Option<PathBuf>,
    /// Its executable
    #[arg(long, hide = true, value_name = "FILE", requires = "harness")]
    pub executable: Option<PathBuf>,
}

/// What is expected of functions, besides what the package's settings say.
#[derive(Args, Clone, Default, Debug)]
#[command(next_help_heading = "Functions (by name, or Type::name)")]
pub struct HuntFunctionArgs {
    /// Never call these
    #[arg(long, value_name = "NAME,...", value_delimiter = ',')]
    pub exclude: Vec<String>,
    /// Do not compare what these return: they promise approximate or old results only
    #[arg(long, value_name = "NAME,...", value_delimiter = ',')]
    pub weak: Vec<String>,
    /// Compare what these return, although their documentation takes something back
    #[arg(long, value_name = "NAME,...", value_delimiter = ',')]
    pub strict: Vec<String>,
}

/// How a harness is built.
#[derive(Args, Clone, Default, Debug)]
#[command(next_help_heading = "Build")]
pub struct HuntBuildArgs {
    /// Path to Cargo.toml
    #[arg(long, value_name = "PATH")]
    pub manifest_path: Option<PathBuf>,
    /// Package of the workspace
    #[arg(long, short, value_name = "PKG")]
    pub package: Option<String>,
    /// Features to switch on
    #[arg(long, short = 'F', value_name = "FEATURES")]
    pub features: Vec<String>,
    /// Switch all features on
    #[arg(long)]
    pub all_features: bool,
    /// Switch the default features off
    #[arg(long)]
    pub no_default_features: bool,
    /// Optimisation level of the code under test
    #[arg(long, value_name = "N", default_value = "2", value_parser = ["0", "1", "2", "3", "s", "z"])]
    pub opt_level: String,
    /// Without debug assertions, as in a release build
    #[arg(long)]
    pub no_debug_assertions: bool,
    /// Without overflow checks, as in a release build
    #[arg(long)]
    pub no_overflow_checks: bool,
    /// Do not use the network
    #[arg(long)]
    pub offline: bool,
    /// End a build that takes longer, with all that it has started; 0 for no limit
    #[arg(long, value_name = "TIME", default_value = BUILD_LIMIT, value_parser = parse_duration)]
    pub build_limit: Duration,
}

/// How tests and schedules are searched.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "Search")]
pub struct HuntSearchArgs {
    /// Time per type at most, once it is built: 500ms, 30s, 2m, 1h; 0 for no limit. What is found at its end may take 15 s more to
    /// be proved [default: 30s, or a share of 2m where no type is named, or none with --schedules]
    #[arg(long, value_name = "TIME", value_parser = parse_duration)]
    pub budget: Option<Duration>,
    /// Executions of generated tests per type at most
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub schedules: Option<u64>,
    /// End with a type before its budget when, after at least this time, two thirds of its tests have brought no finding and at
    /// most one in two hundred of what they cover: memory-access patterns, or pairs of methods where those are not followed
    #[arg(long, value_name = "TIME", value_parser = parse_duration)]
    pub until_settled: Option<Duration>,
    /// Decides everything that is drawn
    #[arg(long, value_name = "N", default_value = "0")]
    pub seed: u64,
    /// How tests are made: maptest, maptest-random, covcon, random
    #[arg(long, value_name = "NAME", default_value = "maptest", value_parser = parse_generator)]
    pub generator: GeneratorKind,
    /// Follow memory-access patterns also with a generator that does not need them
    #[arg(long)]
    pub patterns: bool,
    /// How the schedules of a test are searched
    #[arg(long, value_name = "NAME", default_value = "random", value_parser = parse_strategy)]
    pub strategy: String,
    /// When time-outs and sleeps may end although a thread could run: never, late (those of at most a second, in a few
    /// schedules), any
    #[arg(long, value_name = "WHEN", default_value = "late", value_parser = parse_timeouts)]
    pub timeouts: Timeouts,
    /// Schedules per test
    #[arg(long, value_name = "N", default_value = "20", value_parser = clap::value_parser!(u64).range(1..))]
    pub per_test: u64,
    /// Concurrent threads of a test
    #[arg(long, value_name = "N", default_value = "2", value_parser = clap::value_parser!(u64).range(2..=4))]
    pub threads: u64,
    /// Go on with a type until it has so many findings
    #[arg(long, value_name = "N", default_value = "1", value_parser = clap::value_parser!(u64).range(1..))]
    pub max_findings: u64,
    /// More steps than this in one execution are a livelock
    #[arg(long, value_name = "N", default_value = "20000", value_parser = clap::value_parser!(u64).range(1..))]
    pub max_steps: u64,
    /// More memory than this in one execution is a crash
    #[arg(long, value_name = "MB", default_value = "512", value_parser = clap::value_parser!(u64).range(1..=MOST_MEMORY_MB))]
    pub memory: u64,
    /// Code outside our control that does not come back for so long is a time-out
    #[arg(long, value_name = "TIME", default_value = "2s", value_parser = parse_duration)]
    pub hang: Duration,
}

/// `cargo raddle replay`.
#[derive(Args, Debug)]
pub struct ReplayArgs {
    /// A finding file
    pub file: PathBuf,
    /// Path to the package's Cargo.toml, if it is no longer where the finding file expects it
    #[arg(long, value_name = "PATH")]
    pub manifest_path: Option<PathBuf>,
    /// Repeat it so many times, each in a new process
    #[arg(long, value_name = "N", default_value = "1", value_parser = clap::value_parser!(u64).range(1..))]
    pub times: u64,
    /// Show every step
    #[arg(long)]
    pub full: bool,
    /// Confine a test as `cargo raddle test --sandbox` does; findings of hunts always are
    #[arg(long)]
    pub sandbox: bool,
    /// How results are shown
    #[arg(long, value_enum, default_value = "human", value_name = "FORMAT")]
    pub format: Format,
    /// Do not use the network
    #[arg(long)]
    pub offline: bool,
    /// How long a worker may overrun its own limits before it is killed
    #[arg(long, value_name = "TIME", default_value = "15s", value_parser = parse_duration)]
    pub grace: Duration,
}

/// Reads `500ms`, `30s`, `2m`, `1h` and `0`.
pub fn parse_duration(text: &str) -> Result<Duration, String> {
    if text == "0" {
        return Ok(Duration::ZERO);
    }
    let digits = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let number: u64 =
        text[..digits].parse().map_err(|_| "expected a number and a unit: 500ms, 30s, 2m, 1h")?;
    let unit = match &text[digits..] {
        "ms" => 1,
        "s" => 1_000,
        "m" => 60_000,
        "h" => 3_600_000,
        "" => return Err("the unit is missing: ms, s, m or h".into()),
        other => return Err(format!("`{other}` is not a unit; use ms, s, m or h")),
    };
    number.checked_mul(unit).map(Duration::from_millis).ok_or_else(|| "that is too long".into())
}

/// Accepts what the workers will accept.
pub fn parse_strategy(text: &str) -> Result<String, UnknownStrategy> {
    strategy::by_name(text, 0).map(|_| text.to_owned())
}

/// Accepts the names of [`GeneratorKind`].
pub fn parse_generator(text: &str) -> Result<GeneratorKind, UnknownGenerator> {
    text.parse()
}

/// Accepts the names of [`Timeouts`].
pub fn parse_timeouts(text: &str) -> Result<Timeouts, String> {
    let named = Timeouts::NAMES.iter().find(|(name, _)| *name == text);
    named.map(|(_, when)| *when).ok_or_else(|| "expected never, late or any".into())
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_command_line_is_consistent() {
        Cli::command().debug_assert();
    }

    #[test]
    fn times_are_read_with_their_unit() {
        let ms = |text| parse_duration(text).map(|d| d.as_millis());
        assert_eq!(ms("500ms"), Ok(500));
        assert_eq!(ms("30s"), Ok(30_000));
        assert_eq!(ms("2m"), Ok(120_000));
        assert_eq!(ms("1h"), Ok(3_600_000));
        assert_eq!(ms("0"), Ok(0));
        for wrong in ["", "s", "5", "5d", "-1s", "99999999999999999h", "1.5s"] {
            assert!(ms(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_strategy_is_known_by_name_and_parameter() {
        assert_eq!(parse_strategy("pct:3").as_deref(), Ok("pct:3"));
        let error = parse_strategy("rnd").unwrap_err().to_string();
        assert!(error.contains("`rnd`") && error.contains("pct[:N]"), "{error}");
    }
}
