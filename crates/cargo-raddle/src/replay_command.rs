//! `cargo raddle replay`: rebuild what a finding was found in, repeat it, and show the interleaving.

use crate::cli::ReplayArgs;
use crate::error::Result;
use crate::findings::Finding;
use crate::findings::read::read;
use crate::report::Report;
use crate::{host, hunt, test};

/// Repeats a finding.
pub fn run(args: &ReplayArgs, report: &mut Report) -> Result<()> {
    host::check_machine(None)?;
    match read(&args.file)? {
        Finding::Test(finding) => test::replay::run(args, &finding, report),
        Finding::Hunt(finding) => hunt::replay::run(args, *finding, report),
    }
}
