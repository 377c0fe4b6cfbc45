//! What has been tried, of all that could be.

pub mod feasible;
pub mod magnitudes;
pub mod map;
pub mod method_pairs;
