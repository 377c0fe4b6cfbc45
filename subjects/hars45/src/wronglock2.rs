//! Wronglock2: a shared reference to an immutable pair is replaced by one derived from it.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex};
use std::thread;

const THREADS: u64 = 5;

/// An immutable pair in one word: to read the reference is to read the pair.
fn pair(number: u64, count: u64) -> u64 {
    number << 32 | count
}

fn number(pair: u64) -> u64 {
    pair >> 32
}

fn count(pair: u64) -> u64 {
    pair & u64::from(u32::MAX)
}

/// Five threads each replace a shared pair by a new one, with the number doubled and the count increased; main joins
/// them.
///
/// *Shared*: the reference to the pair, read once for the number and once for the count, and written.
/// *Bug*: replacements that fall between a thread's reads and its write are lost; the two reads may see different pairs.
/// *Oracle*: main panics unless the count is 5.
pub fn wronglock2() {
    let s = Arc::new(AtomicU64::new(pair(1, 0)));
    let threads: Vec<_> = (0..THREADS)
        .map(|_| {
            let s = Arc::clone(&s);
            thread::spawn(move || {
                let doubled = number(s.load(Relaxed)) * 2;
                let increased = count(s.load(Relaxed)) + 1;
                s.store(pair(doubled, increased), Relaxed);
            })
        })
        .collect();
    for thread in threads {
        thread.join().unwrap();
    }
    let count = count(s.load(Relaxed));
    assert!(count == THREADS, "{count} of {THREADS} replacements are left");
}

/// [`wronglock2`] with a lock held from the first read to the write.
pub fn wronglock2_fixed() {
    let s = Arc::new(Mutex::new(pair(1, 0)));
    let threads: Vec<_> = (0..THREADS)
        .map(|_| {
            let s = Arc::clone(&s);
            thread::spawn(move || {
                let mut s = s.lock().unwrap();
                *s = pair(number(*s) * 2, count(*s) + 1);
            })
        })
        .collect();
    for thread in threads {
        thread.join().unwrap();
    }
    let count = count(*s.lock().unwrap());
    assert!(count == THREADS, "{count} of {THREADS} replacements are left");
}
