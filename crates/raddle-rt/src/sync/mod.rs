//! Models of what threads block on.

pub mod futex;
pub mod pthread;
pub mod words;
