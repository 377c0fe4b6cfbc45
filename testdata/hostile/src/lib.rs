//! A crate with nothing wrong in it but its build script, and a test that tries what a confined one must not do.

use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};

/// Counts.
#[derive(Debug, Default)]
pub struct Tally(AtomicUsize);

impl Tally {
    /// Nothing counted yet.
    pub fn new() -> Self {
        Tally::default()
    }

    /// Counts one more.
    pub fn count(&self) -> usize {
        self.0.fetch_add(1, SeqCst)
    }
}

#[cfg(test)]
mod tests {
    use super::Tally;

    #[test]
    fn vandalises() {
        let tally = Tally::new();
        std::thread::scope(|s| {
            s.spawn(|| tally.count());
            s.spawn(|| tally.count());
        });
        let outside = concat!(env!("CARGO_MANIFEST_DIR"), "/written");
        assert!(std::fs::write(outside, "by a test").is_err(), "could write");
        assert!(std::net::TcpListener::bind("127.0.0.1:0").is_err(), "could listen");
        assert!(std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/Cargo.toml")).is_ok());
        std::fs::write(std::env::temp_dir().join("own"), "by a test").unwrap();
    }
}
