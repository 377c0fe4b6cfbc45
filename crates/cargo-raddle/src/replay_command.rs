//! `cargo raddle replay`: rebuild what a finding was found in, repeat it, and show the interleaving.

use crate::cli::ReplayArgs;
use crate::error::Result;
use crate::findings::format;
use crate::report::Report;
use crate::{host, hunt, test};

/// Repeats a finding.
pub fn run(args: &ReplayArgs, report: &mut Report) -> Result<()> {
    host::check_machine(None)?;
    let text = format::read(&args.file)?;
    if text.mode == crate::findings::hunt::MODE {
        return hunt::replay::run(args, text.parse()?, report);
    }
    test::replay::run(args, &text.parse()?, report)
}
