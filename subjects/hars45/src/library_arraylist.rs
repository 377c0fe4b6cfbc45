//! Java.library.arraylist: two unsynchronised appends to an array list with room for neither.

use std::sync::atomic::{AtomicI32, AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, Mutex};
use std::thread;

const NULL: i32 = 0;
const THE_LIST: i32 = 1;
const MAX_CAPACITY: usize = 5;

/// The part of the JDK 1.5 array list that appending touches.
///
/// An array is named by who made it and its length; each thread grows the list at most once, so every array that may be
/// made exists from the beginning and its elements are ordinary shared fields.
struct ArrayList {
    arrays: [Vec<Vec<AtomicI32>>; 3],
    element_data: AtomicUsize,
    size: AtomicUsize,
    mod_count: AtomicI32,
}

impl ArrayList {
    /// A list trimmed to capacity 0 to which one element has been added: size 1, capacity 1.
    fn with_itself_inside() -> ArrayList {
        let arrays_of_one_maker = || -> Vec<Vec<AtomicI32>> {
            (0..=MAX_CAPACITY).map(|length| (0..length).map(|_| AtomicI32::new(NULL)).collect()).collect()
        };
        let list = ArrayList {
            arrays: [(); 3].map(|()| arrays_of_one_maker()),
            element_data: AtomicUsize::new(reference(0, 0)),
            size: AtomicUsize::new(0),
            mod_count: AtomicI32::new(0),
        };
        list.add(0, THE_LIST);
        list
    }

    fn array(&self, reference: usize) -> &[AtomicI32] {
        &self.arrays[reference / (MAX_CAPACITY + 1)][reference % (MAX_CAPACITY + 1)]
    }

    fn ensure_capacity(&self, maker: usize, needed: usize) {
        self.mod_count.store(self.mod_count.load(Relaxed) + 1, Relaxed);
        let old_capacity = self.array(self.element_data.load(Relaxed)).len();
        if needed > old_capacity {
            let old = self.array(self.element_data.load(Relaxed));
            let capacity = (old_capacity * 3 / 2 + 1).max(needed);
            self.element_data.store(reference(maker, capacity), Relaxed);
            let new = self.array(self.element_data.load(Relaxed));
            for i in 0..self.size.load(Relaxed) {
                new[i].store(old[i].load(Relaxed), Relaxed);
            }
        }
    }

    fn add(&self, maker: usize, element: i32) {
        self.ensure_capacity(maker, self.size.load(Relaxed) + 1);
        let array = self.array(self.element_data.load(Relaxed));
        let index = self.size.load(Relaxed);
        self.size.store(index + 1, Relaxed);
        array[index].store(element, Relaxed);
    }

    /// Equality with the list itself or with null, which the original decides without looking at the elements.
    fn equals(&self, other: i32) -> bool {
        other == THE_LIST
    }
}

fn reference(maker: usize, length: usize) -> usize {
    maker * (MAX_CAPACITY + 1) + length
}

/// Two threads use a list that contains itself (size 1, capacity 1): one calls `equals(null)` and `add(null)`, the other
/// `add(list)` and `equals(list)`. Nobody is joined.
///
/// *Shared*: the array reference, its elements, `size` and the modification counter, all unprotected. `add` reads the
/// size, grows the array if need be (reads its length, writes the reference, copies `size` elements), reads the array
/// and the size, writes the size and then the element.
/// *Bug*: both threads compute the needed capacity from size 1, so the capacity becomes 2; both increment the size, and
/// the second element goes to index 2. A thread may also copy with the new size out of the old array.
/// *Oracle*: index out of bounds, in a thread that nobody joins.
pub fn library_arraylist() {
    let list = Arc::new(ArrayList::with_itself_inside());
    let shared = Arc::clone(&list);
    thread::spawn(move || {
        shared.equals(NULL);
        shared.add(1, NULL);
    });
    thread::spawn(move || {
        list.add(2, THE_LIST);
        list.equals(THE_LIST);
    });
}

/// [`library_arraylist`] with a lock around each call, as a synchronised list would have; both threads are joined.
pub fn library_arraylist_fixed() {
    let list = Arc::new(Mutex::new(ArrayList::with_itself_inside()));
    let shared = Arc::clone(&list);
    let first = thread::spawn(move || {
        shared.lock().unwrap().equals(NULL);
        shared.lock().unwrap().add(1, NULL);
    });
    let second = thread::spawn(move || {
        list.lock().unwrap().add(2, THE_LIST);
        list.lock().unwrap().equals(THE_LIST);
    });
    first.join().unwrap();
    second.join().unwrap();
}
