//! What is said of results, to people and to scripts.

pub mod columns;
pub mod console;
pub mod event;
pub mod failure_text;
pub mod hunt_event;
pub mod hunt_text;
pub mod output;
pub mod sources;
