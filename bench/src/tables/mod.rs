//! One module per table.

pub mod classes22;
pub mod correlation;
pub mod curves;
pub mod hars45;
pub mod matcher;
pub mod peers;
pub mod statics;
