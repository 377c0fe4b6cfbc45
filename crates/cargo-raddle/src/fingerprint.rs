//! Fingerprints of files and texts: SHA-256 in hexadecimal.

use sha2::{Digest, Sha256};
use std::path::Path;

/// The whole fingerprint of some bytes, in hexadecimal digits.
pub fn full(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|b| format!("{b:02x}")).collect()
}

/// Its first 16 digits, enough to tell builds and findings apart.
pub fn short(bytes: &[u8]) -> String {
    let mut text = full(bytes);
    text.truncate(16);
    text
}

/// The fingerprint of a file's contents.
pub fn file(path: &Path) -> std::io::Result<String> {
    Ok(full(&std::fs::read(path)?))
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_fingerprint_is_sha_256() {
        assert_eq!(super::short(b""), "e3b0c44298fc1c14");
        assert_eq!(super::full(b"abc").len(), 64);
    }
}
