//! Testarray: a reader overtakes the writer of an array.

use std::sync::atomic::{AtomicI32, Ordering::Relaxed};
use std::sync::{Arc, Condvar, Mutex};
use std::thread;

const LENGTH: usize = 20;

/// Main starts a reader and then writes each index into an array of twenty zeros; nobody is joined.
///
/// *Shared*: the elements, unprotected. The reader walks up like main and reads each element twice, to print and to test
/// it.
/// *Bug*: nothing keeps the reader behind the writer.
/// *Oracle*: the reader panics on a 0 at any index but 0, in a thread that nobody joins.
pub fn testarray() {
    let array: Arc<[AtomicI32; LENGTH]> = Arc::new([const { AtomicI32::new(0) }; LENGTH]);
    let shared = Arc::clone(&array);
    thread::spawn(move || {
        for (i, element) in shared.iter().enumerate() {
            let _printed = element.load(Relaxed);
            assert!(element.load(Relaxed) != 0 || i == 0, "element {i} has not been written yet");
        }
    });
    for (i, element) in array.iter().enumerate() {
        element.store(i as i32, Relaxed);
    }
}

/// [`testarray`] with a reader that waits until an element has been written; it is joined.
pub fn testarray_fixed() {
    let written = Arc::new((Mutex::new(Vec::new()), Condvar::new()));
    let shared = Arc::clone(&written);
    let reader = thread::spawn(move || {
        let (array, grown) = &*shared;
        for i in 0..LENGTH {
            let mut array = array.lock().unwrap();
            while array.len() <= i {
                array = grown.wait(array).unwrap();
            }
            assert!(array[i] != 0 || i == 0, "element {i} has not been written yet");
        }
    });
    let (array, grown) = &*written;
    for i in 0..LENGTH {
        array.lock().unwrap().push(i);
        grown.notify_one();
    }
    reader.join().unwrap();
}
