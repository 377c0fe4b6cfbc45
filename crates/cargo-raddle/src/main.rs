//! `cargo raddle`: tests concurrent Rust code under controlled thread schedules.
//!
//! `build` builds the code under test (through `wrapper`, which is this program again in the place of rustc), `test` lists its
//! tests, runs each in a process of `worker` and confirms what it finds, `findings` keeps it in files, `report` says so to
//! people and to scripts. `hunt` makes tests for a type and does all that with them.
#![forbid(unsafe_code)]

mod build;
mod build_command;
mod cli;
mod error;
mod exit;
mod findings;
mod fingerprint;
mod fixed_length_path;
mod host;
mod hunt;
mod interrupt;
mod report;
mod sandbox;
mod test;
mod worker;

use build::wrapper;
use clap::Parser;
use cli::{Cli, Command};
use error::Result;

use exit::Exit;
use report::event::{Event, Summary};
use report::output::Output;
use std::ffi::OsString;
use std::process::ExitCode;

fn main() -> ExitCode {
    let mut args = std::env::args_os().peekable();
    // Before all else: it may have been started with an environment that is meant for what it starts.
    if std::env::args_os().nth(1).is_some_and(|arg| arg == sandbox::MODE) {
        eprintln!("raddle: {}", sandbox::run(args.skip(2)));
        return ExitCode::from(u8::from(Exit::Failed));
    }
    if std::env::var_os(wrapper::MODE).is_some() {
        let error = wrapper::run(args.skip(1));
        eprintln!("error: cargo-raddle as compiler wrapper: {error}");
        return ExitCode::from(u8::from(Exit::Failed));
    }
    // Cargo passes the subcommand's own name first.
    let program = args.next();
    let name = args.next_if(|arg| arg == "raddle");
    drop(name);
    let args: Vec<OsString> = program.into_iter().chain(args).collect();
    let exit = match Cli::try_parse_from(&args) {
        Ok(cli) => dispatch(&cli),
        Err(error) => misused(&error, &args),
    };
    ExitCode::from(u8::from(exit))
}

/// Help and version are what was asked for; everything else is a mistake, and a script gets its summary.
fn misused(error: &clap::Error, args: &[OsString]) -> Exit {
    let _ = error.print();
    if !error.use_stderr() {
        return Exit::Clean;
    }
    if wants_json(args) {
        let mut summary = Summary::new();
        summary.exit_code = Exit::Failed;
        Event::Error { message: error.to_string().trim_end().to_owned(), details: None }.print();
        Event::Summary(&summary).print();
    }
    Exit::Failed
}

fn wants_json(args: &[OsString]) -> bool {
    args.iter().any(|a| a == "--format=json") || args.windows(2).any(|w| w[0] == "--format" && w[1] == "json")
}

fn dispatch(cli: &Cli) -> Exit {
    let format = match &cli.command {
        Command::Test(args) => args.format,
        Command::Replay(args) => args.format,
        Command::Build { format, .. } => *format,
        Command::Hunt(args) => args.format,
    };
    interrupt::install();
    if let Command::Hunt(args) = &cli.command {
        return hunt::run(args);
    }
    let mut output = Output::new(format);
    let mut summary = Summary::new();
    let result = match &cli.command {
        Command::Test(args) => test::run(args, &mut output, &mut summary),
        Command::Replay(args) => test::replay::run(args, &mut output, &mut summary),
        Command::Build { build, format } => build_command::run(build, *format, &output, &mut summary),
        Command::Hunt(_) => Ok(()),
    };
    finish(cli, result, &mut output, &mut summary)
}

fn finish(cli: &Cli, result: Result<()>, output: &mut Output, summary: &mut Summary) -> Exit {
    if let Err(error) = result {
        output.error(&interrupt::or(error));
        if summary.findings == 0 {
            summary.exit_code = Exit::Failed;
        }
    }
    // A failed command has no totals for people, and a replay has said all.
    let wanted = match &cli.command {
        Command::Test(args) => !args.list && (summary.tests > 0 || summary.exit_code != Exit::Failed),
        _ => false,
    };
    if wanted || matches!(output, Output::Json) {
        output.summary(summary);
    }
    summary.exit_code
}
