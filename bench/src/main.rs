//! Measures raddle and prints tables.
//!
//! One subcommand per table, one file per table in `tables`. A table is printed as Markdown, or as JSON with
//! `--format json`; the files in `bench/results` are such prints and name the command that made them.

mod command;
mod measure;
mod svg;
mod tables;

use clap::{Parser, Subcommand, ValueEnum};

/// Measure raddle.
#[derive(Parser, Debug)]
#[command(name = "bench-raddle", version)]
struct Cli {
    #[command(subcommand)]
    table: Table,
}

#[derive(Subcommand, Debug)]
enum Table {
    /// The 22 classes of MAPTest and CovCon, hunted with each generator
    Classes22(tables::classes22::Args),
    /// The conformance suites under many schedules
    Conformance(tables::conformance::Args),
    /// Published crates: what discovery finds of them, and what a hunt reports
    Crates(tables::crates::Args),
    /// Does coverage go with bugs, on classes without locks
    Correlation(tables::correlation::Args),
    /// How coverage grows over a hunt, as figures
    Curves(tables::curves::Args),
    /// Cost of the full pattern matcher
    Matcher(tables::matcher::Args),
    /// The 45 programs of the HARS paper under every strategy
    Hars45(tables::hars45::Args),
    /// The default strategy on programs that it was not chosen on
    Heldout(tables::heldout::Args),
    /// How fast hunts are, and where their time goes
    Hunt(tables::hunt::Args),
    /// Which location pairs are ruled out
    LocationPairs(tables::location_pairs::Args),
    /// Executions per second beside shuttle and loom, and what the hooks cost
    Peers(tables::peers::Args),
    /// Classic programs in C beside what was published for other tools
    Sct(tables::sct::Args),
    /// Static accesses beside those seen at run time
    Static(tables::statics::Args),
}

/// How a table is printed.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, ValueEnum)]
enum Format {
    /// A Markdown table
    #[default]
    Markdown,
    /// One JSON document
    Json,
}

fn main() -> anyhow::Result<()> {
    match Cli::parse().table {
        Table::Classes22(args) => tables::classes22::run(&args),
        Table::Conformance(args) => tables::conformance::run(&args),
        Table::Crates(args) => tables::crates::run(&args),
        Table::Correlation(args) => tables::correlation::run(&args),
        Table::Curves(args) => tables::curves::run(&args),
        Table::Matcher(args) => tables::matcher::run(&args),
        Table::Hars45(args) => tables::hars45::run(&args),
        Table::Heldout(args) => tables::heldout::run(&args),
        Table::Hunt(args) => tables::hunt::run(&args),
        Table::LocationPairs(args) => tables::location_pairs::run(&args),
        Table::Peers(args) => tables::peers::run(&args),
        Table::Sct(args) => tables::sct::run(&args),
        Table::Static(args) => tables::statics::run(&args),
    }
}
