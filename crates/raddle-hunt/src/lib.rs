//! Testing a type nobody wrote tests for: what the harness offers, tests as data, and how they are run.
//!
//! A [`Harness`] describes the generated program that contains one *thunk* per constructor and method of the type
//! under test. A [`Test`] is a list of thunk calls: a sequential setup, two or more concurrent suffixes, and checks
//! at the end. It travels to the harness in the [`wire`] format, which is interpreted there, so no test needs a
//! build. An [`Executor`] runs tests under schedules; the command has one made of worker processes, unit tests have
//! simulated ones.

#![forbid(unsafe_code)]

pub mod check;
pub mod edit;
pub mod generate;
pub mod group;
pub mod harness;
pub mod minimise;
pub mod oracle;
pub mod protocol;
pub mod render;
pub mod search;
pub mod simplify;
pub mod test;
#[cfg(test)]
mod testing;
pub mod value;
pub mod wire;

pub use harness::{Domain, Harness, ListForm, Output, Pass, Role, Sharing, Thunk, ThunkId, TypeId, TypeInfo};
pub use protocol::{
    CallRecord, CallResult, Execution, Executor, ExecutorError, Fresh, MethodAccess, Run, RunReply,
};
pub use search::{BoundedSearch, Search};
pub use test::{Step, Test};
pub use value::Value;

#[cfg(test)]
mod tests;
