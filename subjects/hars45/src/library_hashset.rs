//! Java.library.hashset: `removeAll(self)` iterates a hash set that another thread changes.

use std::sync::atomic::{AtomicI32, AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, Mutex};
use std::thread;

/// A reference to an entry; 0 is null. Each thread adds at most once, so its entry's number is its own.
type Entry = usize;
const NULL: Entry = 0;

/// The part of the JDK 1.5 hash set that adding and removing the null element touches.
///
/// Only the bucket of the null element is kept: the fifteen others stay empty and are never written.
#[derive(Default)]
struct HashSet {
    bucket: AtomicUsize,
    next: [AtomicUsize; 3],
    size: AtomicI32,
    mod_count: AtomicI32,
}

/// A fail-fast iterator: it remembers the modification counter and runs one entry ahead.
struct Iter<'a> {
    set: &'a HashSet,
    expected: i32,
    next: Entry,
    current: Entry,
}

impl HashSet {
    fn size(&self) -> i32 {
        self.size.load(Relaxed)
    }

    /// Adds the null element with `entry` as its node, unless an entry is there already.
    fn add(&self, entry: Entry) {
        if self.bucket.load(Relaxed) != NULL {
            return;
        }
        self.mod_count.store(self.mod_count.load(Relaxed) + 1, Relaxed);
        self.next[entry].store(self.bucket.load(Relaxed), Relaxed);
        self.bucket.store(entry, Relaxed);
        self.size.store(self.size.load(Relaxed) + 1, Relaxed);
    }

    fn contains(&self) -> bool {
        self.bucket.load(Relaxed) != NULL
    }

    /// Removes the null element. Every entry has the same key, so the first one of the bucket matches.
    fn remove(&self) {
        let entry = self.bucket.load(Relaxed);
        if entry == NULL {
            return;
        }
        let next = self.next[entry].load(Relaxed);
        self.mod_count.store(self.mod_count.load(Relaxed) + 1, Relaxed);
        self.size.store(self.size.load(Relaxed) - 1, Relaxed);
        self.bucket.store(next, Relaxed);
    }

    fn iter(&self) -> Iter<'_> {
        let expected = self.mod_count.load(Relaxed);
        let next = if self.size.load(Relaxed) != 0 { self.bucket.load(Relaxed) } else { NULL };
        Iter { set: self, expected, next, current: NULL }
    }

    /// Removes from the set all elements of the set.
    fn remove_all_of_itself(&self) {
        if self.size() > self.size() {
            let mut argument = self.iter();
            while argument.has_next() {
                argument.advance();
                self.remove();
            }
        } else {
            let mut own = self.iter();
            while own.has_next() {
                own.advance();
                if self.contains() {
                    own.remove();
                }
            }
        }
    }
}

impl Iter<'_> {
    fn has_next(&self) -> bool {
        self.next != NULL
    }

    fn check(&self) {
        let found = self.set.mod_count.load(Relaxed);
        assert!(
            found == self.expected,
            "ConcurrentModificationException: {found} instead of {}",
            self.expected
        );
    }

    fn advance(&mut self) {
        self.check();
        assert!(self.next != NULL, "NoSuchElementException");
        self.current = self.next;
        self.next = self.set.next[self.current].load(Relaxed);
    }

    fn remove(&mut self) {
        assert!(self.current != NULL, "IllegalStateException");
        self.check();
        self.current = NULL;
        self.set.remove();
        self.expected = self.set.mod_count.load(Relaxed);
    }
}

/// Two threads use an empty set: one calls `removeAll(set)` and `add(null)`, the other `add(null)` and `removeAll(set)`.
/// Nobody is joined.
///
/// *Shared*: the bucket of the null element, the links of its entries, `size` and the modification counter, all
/// unprotected. `removeAll` compares the two sizes and then removes through its own iterator, or iterates the argument.
/// *Bug*: the other thread's add or remove changes the counter between two steps of the iterator.
/// *Oracle*: the iterator panics where the original throws; rare, because the set is empty most of the time. A panic of
/// a thread that nobody joins is a failure.
pub fn library_hashset() {
    let set = Arc::new(HashSet::default());
    let shared = Arc::clone(&set);
    thread::spawn(move || {
        shared.remove_all_of_itself();
        shared.add(1);
    });
    thread::spawn(move || {
        set.add(2);
        set.remove_all_of_itself();
    });
}

/// [`library_hashset`] with a lock around each call; both threads are joined.
pub fn library_hashset_fixed() {
    let set = Arc::new(Mutex::new(HashSet::default()));
    let shared = Arc::clone(&set);
    let first = thread::spawn(move || {
        shared.lock().unwrap().remove_all_of_itself();
        shared.lock().unwrap().add(1);
    });
    let second = thread::spawn(move || {
        set.lock().unwrap().add(2);
        set.lock().unwrap().remove_all_of_itself();
    });
    first.join().unwrap();
    second.join().unwrap();
}
