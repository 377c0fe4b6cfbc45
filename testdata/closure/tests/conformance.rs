//! The broken programs of `conformance-std` as closures (see `build.rs`).

include!(concat!(env!("OUT_DIR"), "/broken.rs"));
