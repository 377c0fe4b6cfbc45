//! What an oracle says about an execution.

use crate::protocol::CallResult;
use raddle_core::outcome::Kind;
use serde::{Deserialize, Serialize};

/// A call of a test: its thread and step, numbered as in [`CallRecord`](crate::CallRecord).
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
pub struct CallRef {
    /// 0 for setup and checks, otherwise the suffix counted from 1.
    pub thread: u32,
    /// Which step of it.
    pub step: u32,
}

/// An execution is wrong, and why.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Verdict {
    /// What kind of wrong.
    pub kind: Kind,
    /// In one line.
    pub summary: String,
    /// Where it panicked, if it did: `file:line:column`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at: Option<String>,
    /// The calls that returned the wrong thing, panicked or never returned.
    pub culprits: Vec<CallRef>,
    /// Calls that ran at the same time as one of those.
    pub beside: Vec<CallRef>,
    /// Why no sequential order explains it.
    pub explanation: Explanation,
}

/// Why no sequential order of the calls explains an execution.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Explanation {
    /// Sequential executions looked at.
    pub orders: u64,
    /// The sequential orders that come nearest, the nearest first.
    pub nearest: Vec<Order>,
    /// Methods without whose results some order explains the rest.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub apart: Vec<String>,
}

/// A sequential order of the calls and how it differs from the execution.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Order {
    /// The calls of the suffixes in the order in which they began.
    pub calls: Vec<CallRef>,
    /// Results that differ.
    pub differences: Vec<Difference>,
    /// Calls that began in this order only after the second had ended, although they had ended before it began.
    pub swapped: Vec<(CallRef, CallRef)>,
    /// How this order failed, if it did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failed: Option<Kind>,
}

/// A call that returned one thing in the execution and another in a sequential order.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Difference {
    /// The call.
    pub call: CallRef,
    /// What it returned in the execution.
    pub seen: CallResult,
    /// What it returned in the sequential order.
    pub expected: CallResult,
}

impl Order {
    /// How far it is from the execution.
    pub fn distance(&self) -> usize {
        self.differences.len() + self.swapped.len()
    }
}
