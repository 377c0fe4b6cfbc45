//! What is needed to repeat an execution exactly.
//!
//! A schedule does not list decisions: which steps are scheduling points is learned and changes. It lists
//! the transfers of control, each placed by the number of raw events (every instrumented access and every
//! intercepted call) that the running thread had begun, which depends on the program alone, and by whether it
//! stood before or after the effect of the last one.

use crate::event::ThreadId;
use serde::{Deserialize, Serialize};

/// The running thread stops and another goes on.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
pub struct Transfer {
    /// Twice the raw events that the running thread had begun, plus one if the last of them had taken effect.
    pub at: u64,
    /// Who runs next.
    pub to: ThreadId,
    /// The next thread's wait ends because its time runs out.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub timeout: bool,
}

/// Every transfer of control of one execution, in order, starting with thread 0 running.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Schedule {
    /// The transfers.
    pub transfers: Vec<Transfer>,
}
