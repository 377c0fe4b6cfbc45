//! `cargo raddle`: tests concurrent Rust, C and C++ code under controlled thread schedules.
//!
//! `build` builds the code under test (through `wrapper`, which is this program again in the place of rustc), `test` lists its
//! tests, runs each in a process of `worker` and confirms what it finds, `findings` keeps it in files, `report` says so to
//! people and to scripts. `hunt` makes tests for a type and does all that with them.
//! `native` is for programs in C and C++: compiler drivers, and the way to `test` for what they made.
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
mod native;
mod platform;
mod replay_command;
mod report;
mod sandbox;
mod test;
mod worker;

use build::wrapper;
use clap::Parser;
use cli::{Cli, Command, Format};
use exit::Exit;
use report::Report;
use report::event::Event;
use report::summary::Summary;
use std::ffi::OsString;
use std::process::ExitCode;

fn main() -> ExitCode {
    let mut args = std::env::args_os().peekable();
    // Before all else: it may have been started with an environment that is meant for what it starts.
    if std::env::args_os().nth(1).is_some_and(|arg| arg == sandbox::MODE) {
        eprintln!("raddle: {}", sandbox::run(args.skip(2)));
        return ExitCode::from(u8::from(Exit::Failed));
    }
    let all: Vec<OsString> = std::env::args_os().collect();
    if let Some((language, rest)) = native::driver::Language::called(&all) {
        return match native::driver::run(language, rest) {
            Ok(()) => ExitCode::SUCCESS,
            Err(error) => {
                eprintln!("raddle: {error}");
                ExitCode::from(u8::from(Exit::Failed))
            }
        };
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
        let hunts = args.get(1).is_some_and(|command| command == "hunt");
        let summary = if hunts { Summary::of_types() } else { Summary::of_tests() };
        let mut report = Report::new(Format::Json, false, summary);
        let message = error.to_string().trim_end().to_owned();
        report.event(&Event::Error { message, details: None, in_full: String::new() });
        report.summary.exit_code = Exit::Failed;
        report.end();
    }
    Exit::Failed
}

fn wants_json(args: &[OsString]) -> bool {
    args.iter().any(|a| a == "--format=json") || args.windows(2).any(|w| w[0] == "--format" && w[1] == "json")
}

fn dispatch(cli: &Cli) -> Exit {
    interrupt::install();
    let mut report = match &cli.command {
        Command::Test(args) => Report::new(args.format, false, Summary::of_tests()),
        Command::Replay(args) => Report::new(args.format, args.full, Summary::of_tests()),
        Command::Build { format, .. } => Report::new(*format, false, Summary::of_tests()),
        Command::Run(args) => Report::new(args.format, false, Summary::of_tests()),
        Command::Hunt(args) => Report::new(args.format, false, Summary::of_types()),
        Command::Cc(_) | Command::Cxx(_) => Report::new(Format::Human, false, Summary::of_tests()),
    };
    let result = match &cli.command {
        Command::Test(args) => test::run(args, &mut report),
        Command::Replay(args) => replay_command::run(args, &mut report),
        Command::Build { build, .. } => build_command::run(build, &mut report),
        Command::Run(args) => native::run::run(args, &mut report),
        Command::Hunt(args) => hunt::run(args, &mut report),
        // Taken before the command line was read.
        Command::Cc(_) | Command::Cxx(_) => Ok(()),
    };
    if let Err(error) = result {
        report.error(&interrupt::or(error));
        if report.summary.findings == 0 {
            report.summary.exit_code = Exit::Failed;
        }
    }
    report.end()
}
