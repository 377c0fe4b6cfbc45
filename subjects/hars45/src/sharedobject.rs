//! Sharedobject: one thread appends to a string cell that another one replaces.

use std::sync::atomic::{AtomicU32, Ordering::Relaxed};
use std::sync::{Arc, Mutex};
use std::thread;

/// A string of up to four letters in one word, so that a cell is read and written as a whole, like a reference.
const fn word(letters: &str) -> u32 {
    let mut word = 0;
    let mut i = 0;
    while i < letters.len() {
        word = concat(word, letters.as_bytes()[i] as u32);
        i += 1;
    }
    word
}

const fn concat(front: u32, letter: u32) -> u32 {
    front << 8 | letter
}

struct Cells {
    cell: AtomicU32,
    other: AtomicU32,
}

/// The first thread appends another cell's "W" to a cell that holds "H"; the second writes "L". Main joins both.
///
/// *Shared*: `cell` and `other`, unprotected; appending reads both and writes `cell`.
/// *Bug*: the replacement falls between the read and the write of the appending, and is lost.
/// *Oracle*: main panics unless the cell holds "L" or "LW".
pub fn sharedobject() {
    let cells = Arc::new(Cells { cell: AtomicU32::new(word("H")), other: AtomicU32::new(word("W")) });
    let shared = Arc::clone(&cells);
    let appender = thread::spawn(move || {
        let front = shared.cell.load(Relaxed);
        let letter = shared.other.load(Relaxed);
        shared.cell.store(concat(front, letter), Relaxed);
    });
    let shared = Arc::clone(&cells);
    let replacer = thread::spawn(move || shared.cell.store(word("L"), Relaxed));
    appender.join().unwrap();
    replacer.join().unwrap();
    let cell = cells.cell.load(Relaxed);
    assert!(cell == word("L") || cell == word("LW"), "the replacement is lost");
}

/// [`sharedobject`] with a lock around the appending and the replacing.
pub fn sharedobject_fixed() {
    let cell = Arc::new(Mutex::new(String::from("H")));
    let shared = Arc::clone(&cell);
    let appender = thread::spawn(move || shared.lock().unwrap().push('W'));
    let shared = Arc::clone(&cell);
    let replacer = thread::spawn(move || *shared.lock().unwrap() = String::from("L"));
    appender.join().unwrap();
    replacer.join().unwrap();
    let cell = cell.lock().unwrap();
    assert!(*cell == "L" || *cell == "LW", "the replacement is lost");
}
