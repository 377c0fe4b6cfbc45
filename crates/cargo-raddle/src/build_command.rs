//! `cargo raddle build`: executables with the hooks, for people and scripts that run them themselves.

use crate::build::compile::Workspace;
use crate::build::runtime_lib::Runtime;
use crate::cli::BuildArgs;
use crate::error::{Error, Result};
use crate::host;
use crate::report::Report;
use crate::report::event::Event;

/// Builds and names each executable.
pub fn run(args: &BuildArgs, report: &mut Report) -> Result<()> {
    host::check_machine(args.target.as_deref())?;
    let workspace = Workspace::load(args.manifest_path.as_deref())?;
    host::check_toolchain(workspace.root())?;
    let runtime = Runtime::install(&workspace.default_out())?;
    let built = workspace.build(args, &runtime)?;
    for left_out in &built.left_out {
        report.warning(&format!("not built: {left_out}"));
    }
    if built.targets.is_empty() {
        return Err(Error::NothingBuilt);
    }
    for target in &built.targets {
        report.event(&Event::Built { target: target.id(), executable: &target.executable });
    }
    Ok(())
}
