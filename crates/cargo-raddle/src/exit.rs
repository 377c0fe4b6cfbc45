//! The four answers that scripts can rely on; docs/exit-codes.md says the same in prose.

use serde::Serialize;

/// How the command ends.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[serde(into = "u8")]
pub enum Exit {
    /// Tested, and nothing found.
    Clean,
    /// At least one finding.
    Found,
    /// What was asked could not be done.
    Failed,
    /// Something that was to be tested was not.
    Untested,
}

impl From<Exit> for u8 {
    fn from(exit: Exit) -> u8 {
        match exit {
            Exit::Clean => 0,
            Exit::Found => 1,
            Exit::Failed => 2,
            Exit::Untested => 3,
        }
    }
}
