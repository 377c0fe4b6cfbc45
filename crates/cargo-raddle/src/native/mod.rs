//! Programs in C and C++: compiled by `driver`, which calls the user's compiler with what puts the hooks in; looked at by
//! `program` before they are run; run by `run`, which is `cargo raddle test` for one whole program.

pub mod driver;
mod flags;
mod program;
pub mod run;

pub use program::check;
