//! Processes of the program under test (`process`): one that works a job off (`batch`), and one that answers requests (`session`).

pub mod batch;
mod id_map;
pub mod in_order;
pub mod job;
pub mod process;
mod replies;
pub mod scratch;
pub mod session;
