//! One module per table.

pub mod matcher;
pub mod peers;
