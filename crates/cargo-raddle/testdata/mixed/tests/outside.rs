//! An integration test.

use std::env::var;

#[test]
fn from_outside() {
    let counter = mixed::Counter::default();
    counter.add();
    assert_eq!(counter.get(), 1);
}

#[test]
fn the_environment_is_that_of_cargo_test() {
    let dir = env!("CARGO_MANIFEST_DIR");
    assert_eq!(var("CARGO_MANIFEST_DIR").as_deref(), Ok(dir));
    assert_eq!(var("CARGO_MANIFEST_PATH"), Ok(format!("{dir}/Cargo.toml")));
    assert_eq!(var("CARGO_PKG_NAME").as_deref(), Ok("mixed"));
    assert_eq!(var("CARGO_PKG_VERSION_MAJOR").as_deref(), Ok(env!("CARGO_PKG_VERSION_MAJOR")));
    assert_eq!(var("CARGO_PKG_RUST_VERSION").as_deref(), Ok(env!("CARGO_PKG_RUST_VERSION")));
    assert_eq!(var("FROM_SCRIPT").as_deref(), Ok("yes"));
    assert!(std::path::Path::new(&var("OUT_DIR").unwrap()).is_dir());
    assert_eq!(var("CARGO_BIN_EXE_mixed").as_deref(), Ok(env!("CARGO_BIN_EXE_mixed")));
}
