//! Data that a test passes to a call.

use serde::{Deserialize, Serialize};

/// A value of a [`Domain`](super::Domain).
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Value {
    /// `()`
    Unit,
    /// A truth value.
    Bool(bool),
    /// An integer; for a span of time, its milliseconds.
    Int(i128),
    /// A floating-point number.
    Float(f64),
    /// A character.
    Char(char),
    /// A string.
    Str(String),
    /// One of the expressions of a [`Domain::Choice`](super::Domain::Choice), by index.
    Choice(u32),
    /// A list, array, tuple or the two ends of a range.
    List(Vec<Value>),
    /// `None`
    None,
    /// `Some`
    Some(Box<Value>),
    /// `Ok`
    Ok(Box<Value>),
    /// `Err`
    Err(Box<Value>),
    /// A closure that returns this, or panics if there is nothing.
    Closure(Option<Box<Value>>),
    /// What is in a slot.
    Slot(u32),
}
