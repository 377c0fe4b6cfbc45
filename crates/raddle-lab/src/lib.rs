//! What judges the science of `raddle-core` and is no part of it: measurements and tests use it, the command and the runtime do not.
//!
//! - [`stats`]: the statistics of the papers' evaluations.
//! - [`mod@reference`]: what a pattern is, executed without any cleverness.
#![forbid(unsafe_code)]

pub mod reference;
pub mod stats;
