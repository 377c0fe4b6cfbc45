//! Models of what threads block on.

pub mod futex;
pub mod models;
pub mod pthread;
pub mod words;
