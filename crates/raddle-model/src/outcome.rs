//! How an execution ended.

use crate::json::{Deserialize, Serialize};

/// The kind of a finding, as scripts see it.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// A thread panicked, or the test failed.
    Panic,
    /// Every thread waits for another.
    Deadlock,
    /// Threads run without getting anywhere.
    Livelock,
    /// A fatal signal, an abort, an unexpected exit, a stack overflow, memory without end.
    Crash,
    /// Two unordered accesses, one of them a write.
    Race,
    /// Memory touched after it was freed.
    UseAfterFree,
    /// Memory never freed.
    Leak,
    /// Results that no sequential order of the calls explains.
    NonLinearizable,
    /// Code outside our control did not come back.
    Timeout,
}

/// How one execution ended.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Outcome {
    /// Nothing went wrong.
    Passed,
    /// The strategy gave it up half way.
    Abandoned,
    /// An oracle objects.
    Failed(Kind),
}

impl Kind {
    /// Whether no safe code may end like this, whatever it is called with and whatever runs beside it.
    pub fn is_never_meant(self) -> bool {
        matches!(self, Kind::Crash | Kind::UseAfterFree)
    }

    /// The name used in files and on the command line.
    pub fn as_str(self) -> &'static str {
        match self {
            Kind::Panic => "panic",
            Kind::Deadlock => "deadlock",
            Kind::Livelock => "livelock",
            Kind::Crash => "crash",
            Kind::Race => "race",
            Kind::UseAfterFree => "use-after-free",
            Kind::Leak => "leak",
            Kind::NonLinearizable => "non-linearizable",
            Kind::Timeout => "timeout",
        }
    }
}
