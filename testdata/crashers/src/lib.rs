//! One test per way to lose a process, each with threads. `tests/fatal.rs` holds those that kill or hang it and
//! `tests/harmless.rs` those that look bad but must pass. The prefix of a fatal test says what happens natively.
