//! `cargo raddle run`: `cargo raddle test` for a program that was built elsewhere, with its arguments.

use super::check;
use crate::build::compile::{absolute, foreign};
use crate::build::runtime_lib::Runtime;
use crate::cli::{BuildArgs, RunArgs, TestArgs};
use crate::error::{Context, Result};
use crate::host;
use crate::report::Report;
use crate::test;
use crate::worker::batch;
use std::path::Path;

/// Looks at the program and searches it.
pub fn run(args: &RunArgs, report: &mut Report) -> Result<()> {
    host::check_machine(None)?;
    let target = foreign(&args.program, false)?;
    let out = absolute(args.out.as_deref().unwrap_or(Path::new("target/raddle")))?;
    let runtime = Runtime::install(&out)?;
    let command =
        batch::command(&target, &runtime).context(|| format!("cannot start `{}`", args.program.display()))?;
    check(&target.executable, command)?;
    test::run(&as_test(args), report)
}

/// What it is called by `cargo raddle test`.
fn as_test(args: &RunArgs) -> TestArgs {
    TestArgs {
        filters: vec![],
        exact: false,
        skip: vec![],
        include_ignored: false,
        list: false,
        nocapture: false,
        format: args.format,
        out: args.out.clone(),
        jobs: None,
        sandbox: args.sandbox,
        // With 0 among them any thread may end the program, as is usual in C.
        ok_exit: [0].iter().chain(&args.ok_exit).copied().collect(),
        args: args.args.clone(),
        build: BuildArgs { executable: Some(args.program.clone()), ..BuildArgs::default() },
        search: args.search.clone(),
    }
}
