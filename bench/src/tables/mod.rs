//! One module per table.

pub mod classes22;
pub mod conformance;
pub mod crates;
pub mod hars45;
pub mod hunt;
pub mod matcher;
pub mod peers;
pub mod statics;
