//! Lang: a hash code that is cached while it is being computed.

use std::sync::atomic::{AtomicI32, Ordering::Relaxed};
use std::sync::{Arc, Mutex};
use std::thread;

/// Stands for the hash of the range's class.
const CLASS_HASH: i32 = 4711;

#[derive(Default)]
struct IntRange {
    hash_code: AtomicI32,
}

impl IntRange {
    fn hash_code(&self) -> i32 {
        if self.hash_code.load(Relaxed) == 0 {
            self.hash_code.store(17, Relaxed);
            self.hash_code.store(37 * self.hash_code.load(Relaxed) + CLASS_HASH, Relaxed);
        }
        self.hash_code.load(Relaxed)
    }
}

/// Two threads ask one range for its hash code; main joins them.
///
/// *Shared*: the cached `hash_code`, 0 while unset, written step by step: 17 first, then 37 times the field plus the
/// class hash, and read once more for the result. (The terms of the bounds are left out, as in the copy that HARS used.)
/// *Bug*: one thread sees the partial value 17, or the last step is applied twice.
/// *Oracle*: main panics if the two results differ.
pub fn lang() {
    let range = Arc::new(IntRange::default());
    let callers = [(); 2].map(|()| {
        let range = Arc::clone(&range);
        thread::spawn(move || range.hash_code())
    });
    let [first, second] = callers.map(|caller| caller.join().unwrap());
    assert!(first == second, "one object has the hash codes {first} and {second}");
}

/// [`lang`] with the computation in a critical section.
pub fn lang_fixed() {
    let range = Arc::new(Mutex::new(IntRange::default()));
    let callers = [(); 2].map(|()| {
        let range = Arc::clone(&range);
        thread::spawn(move || range.lock().unwrap().hash_code())
    });
    let [first, second] = callers.map(|caller| caller.join().unwrap());
    assert!(first == second, "one object has the hash codes {first} and {second}");
}
