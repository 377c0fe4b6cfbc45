//! A test: data that the harness interprets.
//!
//! Slots are numbered in the order in which the steps of the setup make them, a step that fills two slots makes two
//! numbers. Every suffix goes on counting from there for the slots that its own steps make; no other thread sees
//! those. The checks at the end count from the same number and see the slots of the setup. A step whose slot is empty
//! is skipped, and so is the rest of a suffix after a panic. What a suffix made is dropped by its thread at its end,
//! last first; the slots of the setup are dropped by the first thread after the checks.

use super::harness::ThunkId;
use super::value::Value;
use serde::{Deserialize, Serialize};

/// A call.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Step {
    /// What is called.
    pub thunk: ThunkId,
    /// With what: one value per parameter.
    pub args: Vec<Value>,
    /// How often; from the second time on, the number of repetitions so far is added to every integer among the
    /// arguments (not inside them). More than 1 only in a setup.
    #[serde(default = "once", skip_serializing_if = "is_once")]
    pub repeat: u32,
}

fn once() -> u32 {
    1
}

fn is_once(n: &u32) -> bool {
    *n == 1
}

/// A sequential setup, concurrent suffixes, and checks when all is quiet.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct Test {
    /// Constructor and prefix; run by thread 0.
    pub setup: Vec<Step>,
    /// Slots of the setup that belong to one suffix (by its index, from 0). The others are shared by reference.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub give: Vec<(u32, u32)>,
    /// What the threads run at the same time; suffix `i` is run by thread `i + 1`.
    pub suffixes: Vec<Vec<Step>>,
    /// Run by thread 0 when all suffixes have ended.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub finally: Vec<Step>,
}

impl Step {
    /// A call made once.
    pub fn new(thunk: ThunkId, args: Vec<Value>) -> Self {
        Step { thunk, args, repeat: 1 }
    }
}
