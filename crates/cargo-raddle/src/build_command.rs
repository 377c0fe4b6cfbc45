//! `cargo raddle build`: executables with the hooks, for people and scripts that run them themselves.

use crate::build::compile::Workspace;
use crate::build::runtime_lib::Runtime;
use crate::cli::{BuildArgs, Format};
use crate::error::{Error, Result};
use crate::exit::Exit;
use crate::host;
use crate::report::event::{Event, Summary};
use crate::report::output::Output;
use std::io::Write;

/// Builds and prints the path of each executable.
pub fn run(args: &BuildArgs, format: Format, output: &Output, summary: &mut Summary) -> Result<()> {
    host::check_machine(args.target.as_deref())?;
    let workspace = Workspace::load(args.manifest_path.as_deref())?;
    host::check_toolchain(workspace.root())?;
    let runtime = Runtime::install(&workspace.default_out())?;
    let built = workspace.build(args, &runtime)?;
    for left_out in &built.left_out {
        output.warning(&format!("not built: {left_out}"));
    }
    if built.targets.is_empty() {
        return Err(Error::NothingBuilt);
    }
    for target in &built.targets {
        match format {
            Format::Json => Event::Built { target: target.id(), executable: &target.executable }.print(),
            Format::Human => {
                let _ = writeln!(std::io::stdout().lock(), "{}", target.executable.display());
            }
        }
    }
    summary.exit_code = Exit::Clean;
    Ok(())
}
