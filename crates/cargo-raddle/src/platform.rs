//! What code is instrumented for, and how.

/// The one target for now.
pub const TARGET: &str = "x86_64-unknown-linux-gnu";
/// The first release with `-Cunsafe-allow-abi-mismatch` and `-Zexternal-clangrt` that this version is tested
/// with.
pub const OLDEST_RUSTC: &str = "1.95";

/// What instruments a crate.
pub const INSTRUMENT: &[&str] = &[
    "-Zsanitizer=thread",
    "-Zexternal-clangrt",
    "-Cunsafe-allow-abi-mismatch=sanitizer",
    // Functions with the same code stay apart: a report has to name the one that was called.
    "-Zmerge-functions=disabled",
    "-Cllvm-args=-tsan-instrument-read-before-write=1",
    "-Cdebuginfo=2",
];
