//! The files that findings are kept in.

pub mod format;
pub mod hunt;
