//! A crate without a single test: there is nothing to run, which must be said.

/// Doubles a number.
pub fn double(n: u32) -> u32 {
    n * 2
}
