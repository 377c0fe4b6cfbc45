//! Java.library.vector: a set is built from a synchronised vector through its unsynchronised iterator.

use std::sync::atomic::{AtomicI32, AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, Mutex};
use std::thread;

const NULL_ELEMENT: i32 = 0;
const ABSENT: i32 = 1;

/// The part of the JDK 1.5 vector that iteration and `remove(object)` touch; it holds one null element at first.
struct Vector {
    monitor: Mutex<()>,
    element_data: [AtomicI32; 1],
    element_count: AtomicUsize,
    mod_count: AtomicI32,
}

impl Vector {
    fn with_one_null() -> Vector {
        Vector {
            monitor: Mutex::new(()),
            element_data: [AtomicI32::new(NULL_ELEMENT)],
            element_count: AtomicUsize::new(1),
            mod_count: AtomicI32::new(1),
        }
    }

    fn size(&self) -> usize {
        let _own = self.monitor.lock().unwrap();
        self.element_count.load(Relaxed)
    }

    fn get(&self, index: usize) -> i32 {
        let _own = self.monitor.lock().unwrap();
        assert!(index < self.element_count.load(Relaxed), "NoSuchElementException");
        self.element_data[index].load(Relaxed)
    }

    /// Removes the first occurrence; counts as a modification even if there is none.
    fn remove(&self, element: i32) {
        let _own = self.monitor.lock().unwrap();
        self.mod_count.store(self.mod_count.load(Relaxed) + 1, Relaxed);
        let count = self.element_count.load(Relaxed);
        let found = (0..count).find(|&i| self.element_data[i].load(Relaxed) == element);
        if found.is_some() {
            self.mod_count.store(self.mod_count.load(Relaxed) + 1, Relaxed);
            self.element_count.store(self.element_count.load(Relaxed) - 1, Relaxed);
        }
    }

    /// Visits all elements with the iterator that `AbstractList` gives: only `size` and `get` are synchronised.
    fn copy_through_iterator(&self) -> Vec<i32> {
        let mut copy = Vec::new();
        let expected = self.mod_count.load(Relaxed);
        let mut cursor = 0;
        while cursor != self.size() {
            let found = self.mod_count.load(Relaxed);
            assert!(found == expected, "ConcurrentModificationException: {found} instead of {expected}");
            copy.push(self.get(cursor));
            cursor += 1;
        }
        copy
    }
}

/// Two threads use a vector with one null element: one builds a tree set from it and removes two absent objects, the
/// other removes an absent string and null. Nobody is joined.
///
/// *Shared*: the element, `element_count` and the modification counter. The vector's methods hold its monitor, its
/// iterator does not.
/// *Bug*: every `remove` changes the counter even if it finds nothing; if it does so between the making of the iterator
/// and its next step, the iterator gives up.
/// *Oracle*: the iterator panics where the original throws, in a thread that nobody joins.
pub fn library_vector() {
    let vector = Arc::new(Vector::with_one_null());
    let shared = Arc::clone(&vector);
    thread::spawn(move || {
        if shared.size() > 0 {
            shared.copy_through_iterator();
        }
        shared.remove(ABSENT);
        shared.remove(ABSENT);
    });
    thread::spawn(move || {
        vector.remove(ABSENT);
        vector.remove(NULL_ELEMENT);
    });
}

/// [`library_vector`] with a lock held from the making of the iterator to its end; both threads are joined.
pub fn library_vector_fixed() {
    let vector = Arc::new(Mutex::new(Vector::with_one_null()));
    let shared = Arc::clone(&vector);
    let first = thread::spawn(move || {
        shared.lock().unwrap().copy_through_iterator();
        shared.lock().unwrap().remove(ABSENT);
        shared.lock().unwrap().remove(ABSENT);
    });
    let second = thread::spawn(move || {
        vector.lock().unwrap().remove(ABSENT);
        vector.lock().unwrap().remove(NULL_ELEMENT);
    });
    first.join().unwrap();
    second.join().unwrap();
}
