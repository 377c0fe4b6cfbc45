//! A crate that the compiler refuses with a type error: the error must reach the user as the compiler wrote it.

/// Returns the wrong type.
pub fn number() -> u32 {
    "not a number"
}

#[test]
fn never_runs() {
    std::thread::spawn(number).join().unwrap();
}
