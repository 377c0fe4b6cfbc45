//! Processes of the program under test: one that works a job off (`batch`), and one that answers requests (`session`).

pub mod batch;
pub mod id_map;
mod replies;
pub mod scratch;
pub mod session;
