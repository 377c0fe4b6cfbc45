//! One module per table.

pub mod classes22;
pub mod crates;
pub mod hars45;
pub mod matcher;
pub mod peers;
pub mod statics;
