//! The files that findings are kept in: one format, with the same first fields, `job` and `failure`, for what `cargo raddle test`
//! and `cargo raddle hunt` find. `mode` tells the two kinds apart.

pub mod hunt;
pub mod read;
pub mod store;
pub mod test;

/// What a file says it is.
pub const FORMAT: &str = "raddle-finding";
/// The version of the format; a file of another version is refused.
pub const VERSION: u32 = 2;

/// What a file holds.
#[derive(Debug)]
pub enum Finding {
    /// What was found in a test.
    Test(Box<test::TestFinding>),
    /// What was found by a hunt.
    Hunt(Box<hunt::HuntFinding>),
}
