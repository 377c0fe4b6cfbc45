//! Java.library.treeset: two elements that cannot be compared are added to an empty tree set.

use std::sync::atomic::{AtomicI32, AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, Mutex};
use std::thread;

/// What an entry holds, which is also its identity: each element is added once.
const NO_ENTRY: usize = 0;
const NULL_ELEMENT: usize = 1;
const SET_ELEMENT: usize = 2;

/// The part of the JDK 1.5 tree set that its first insertion and `toArray` touch.
///
/// There is never more than the root: a second element would have to be compared with it, which throws.
#[derive(Default)]
struct TreeSet {
    root: AtomicUsize,
    size: AtomicUsize,
    mod_count: AtomicI32,
}

impl TreeSet {
    fn add(&self, element: usize) {
        if self.root.load(Relaxed) != NO_ENTRY {
            match element {
                NULL_ELEMENT => panic!("NullPointerException: null has no natural order"),
                _ => panic!("ClassCastException: a set has no natural order"),
            }
        }
        self.mod_count.store(self.mod_count.load(Relaxed) + 1, Relaxed);
        self.size.store(self.size.load(Relaxed) + 1, Relaxed);
        self.root.store(element, Relaxed);
    }

    /// Copies the elements into an array as long as the set was at the beginning.
    fn to_array(&self) -> Vec<usize> {
        let mut array = vec![NO_ENTRY; self.size.load(Relaxed)];
        let expected = self.mod_count.load(Relaxed);
        let first = self.root.load(Relaxed);
        if first != NO_ENTRY {
            let found = self.mod_count.load(Relaxed);
            assert!(found == expected, "ConcurrentModificationException: {found} instead of {expected}");
            array[0] = first;
        }
        array
    }
}

/// Two threads use an empty set with natural ordering: one calls `toArray` and `add(null)`, the other `add(set)` and
/// `toArray`. Nobody is joined.
///
/// *Shared*: the root, `size` and the modification counter, all unprotected. `add` reads the root; if there is none it
/// increments counter and size and writes the root, else it compares.
/// *Bug*: neither null nor the set can be compared with anything, so every sequential order fails. A run *passes* only
/// if both threads read an empty root before either writes it, and `toArray` sees a consistent set: the failing runs are
/// the ordered ones. `toArray` may also meet more elements than its array was made for.
/// *Oracle*: comparison, index out of bounds or a changed counter panic, in a thread that nobody joins.
pub fn library_treeset() {
    let set = Arc::new(TreeSet::default());
    let shared = Arc::clone(&set);
    thread::spawn(move || {
        shared.to_array();
        shared.add(NULL_ELEMENT);
    });
    thread::spawn(move || {
        set.add(SET_ELEMENT);
        set.to_array();
    });
}

/// [`library_treeset`] with a lock around each call and an ordering that is defined on both elements; the threads are
/// joined.
///
/// A lock alone would make every schedule fail, because the sequential program is wrong.
pub fn library_treeset_fixed() {
    let set = Arc::new(Mutex::new(std::collections::BTreeSet::new()));
    let shared = Arc::clone(&set);
    let first = thread::spawn(move || {
        let _array: Vec<usize> = shared.lock().unwrap().iter().copied().collect();
        shared.lock().unwrap().insert(NULL_ELEMENT);
    });
    let shared = Arc::clone(&set);
    let second = thread::spawn(move || {
        shared.lock().unwrap().insert(SET_ELEMENT);
        let _array: Vec<usize> = shared.lock().unwrap().iter().copied().collect();
    });
    first.join().unwrap();
    second.join().unwrap();
    assert!(set.lock().unwrap().len() == 2, "an element is missing");
}
