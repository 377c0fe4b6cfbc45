//! Conformance tests for crates that concurrent programs are made of, run by `cargo raddle test`.
//!
//! The conventions are those of `conformance-std`: `tests/<crate>.rs` holds tests that pass under every
//! interleaving, `tests/broken_<crate>.rs` holds tests that fail under some, as their prefix says.
