//! Does not compile.

pub fn length(text: &str) -> u32 {
    text.len()
}
