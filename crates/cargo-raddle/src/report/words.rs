//! Numbers in words.

/// `1 test`, `2 tests`.
pub fn many(n: u64, what: &str) -> String {
    format!("{n} {what}{}", if n == 1 { "" } else { "s" })
}
