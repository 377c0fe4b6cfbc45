//! What debug information says about the calls of a harness, looked up when it is built and kept beside it.
//!
//! A worker asks for the functions around every place that it meets for the first time; from DWARF that takes longer than the first
//! test itself. The answers depend on the executable alone, so they are made once per build. The file is
//! named after nothing but the harness: it says itself which executable it was made of, and what its contents should be. If
//! either is wrong, it is made again, or a worker does without.

use crate::fingerprint;
use raddle_debuginfo::DebugInfo;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// The table, for workers.
const TABLE: &str = "places.table";
/// What it was made of, and its own fingerprint.
const SEAL: &str = "places.seal";

/// The file for this build of the harness, if there is one and nobody has changed it.
pub fn load(dir: &Path, fingerprint: &str) -> Option<PathBuf> {
    let seal = std::fs::read_to_string(dir.join(SEAL)).ok()?;
    let table = dir.join(TABLE);
    (seal == sealed(fingerprint, &fingerprint::file(&table).ok()?)).then_some(table)
}

/// Makes the file unless there is one, and tells how long that took. Failing to is no harm.
pub fn make(dir: &Path, fingerprint: &str, executable: &Path) -> (Option<PathBuf>, Duration) {
    let began = Instant::now();
    let table = load(dir, fingerprint).or_else(|| {
        save(dir, fingerprint, executable)?;
        load(dir, fingerprint)
    });
    (table, began.elapsed())
}

fn save(dir: &Path, fingerprint: &str, executable: &Path) -> Option<()> {
    let bytes = std::fs::read(executable).ok()?;
    if fingerprint::full(&bytes) != fingerprint {
        return None;
    }
    let table = DebugInfo::parse(&bytes, [""; 0]).ok()?.places(&bytes).ok()?;
    write(dir, TABLE, &table)?;
    write(dir, SEAL, sealed(fingerprint, &fingerprint::full(&table)).as_bytes())
}

fn sealed(executable: &str, table: &str) -> String {
    format!("{executable} {table}\n")
}

/// Writes a file that nobody sees half written.
fn write(dir: &Path, name: &str, bytes: &[u8]) -> Option<()> {
    let mut half = tempfile::NamedTempFile::new_in(dir).ok()?;
    half.write_all(bytes).ok()?;
    half.persist(dir.join(name)).ok().map(drop)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_is_taken_for_the_executable_it_was_made_of_and_only_unchanged() {
        let dir = tempfile::tempdir().unwrap();
        let source = dir.path().join("small.rs");
        std::fs::write(&source, "fn main() {}").unwrap();
        let this = dir.path().join("small");
        let mut compiler = std::process::Command::new("rustc");
        assert!(compiler.arg("-g").arg("-o").args([&this, &source]).status().unwrap().success());
        let fingerprint = fingerprint::file(&this).unwrap();
        assert_eq!(make(dir.path(), "another build", &this).0, None);
        let table = make(dir.path(), &fingerprint, &this).0.unwrap();
        assert_eq!(load(dir.path(), &fingerprint), Some(table.clone()));
        assert_eq!(load(dir.path(), "another build"), None);
        let mut bytes = std::fs::read(&table).unwrap();
        bytes[100] ^= 1;
        std::fs::write(&table, &bytes).unwrap();
        assert_eq!(load(dir.path(), &fingerprint), None);
        assert_eq!(make(dir.path(), &fingerprint, &this).0, Some(table));
    }
}
