//! Builds with the hooks: cargo as it is started for the user's code, this program in the place of rustc, the runtime
//! library, and the harnesses of hunts.

pub mod cargo;
pub mod compile;
pub mod harness;
pub mod runtime_lib;
pub mod wrapper;
