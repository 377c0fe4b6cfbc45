//! One module per table.

pub mod classes22;
pub mod conformance;
pub mod correlation;
pub mod crates;
pub mod curves;
pub mod hars45;
pub mod heldout;
pub mod hunt;
pub mod location_pairs;
pub mod matcher;
pub mod peers;
pub mod sct;
pub mod statics;
