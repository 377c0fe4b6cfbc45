//! Stringbuffer: appending a buffer asks for its length and copies its characters in two critical sections.

use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, Mutex};
use std::thread;

/// The length is a field of its own; the characters are only used under the monitor.
struct StringBuffer {
    value: Mutex<Vec<u8>>,
    count: AtomicUsize,
}

impl StringBuffer {
    fn new(text: &str) -> StringBuffer {
        StringBuffer { value: Mutex::new(text.into()), count: AtomicUsize::new(text.len()) }
    }

    fn length(&self) -> usize {
        let _own = self.value.lock().unwrap();
        self.count.load(Relaxed)
    }

    fn chars(&self, end: usize) -> Vec<u8> {
        let value = self.value.lock().unwrap();
        let count = self.count.load(Relaxed);
        assert!(end <= count, "StringIndexOutOfBoundsException: {end} of {count} characters");
        value[..end].to_vec()
    }

    fn append(&self, other: &StringBuffer) {
        let mut value = self.value.lock().unwrap();
        let length = other.length();
        let count = self.count.load(Relaxed);
        value.truncate(count);
        value.extend(other.chars(length));
        self.count.store(count + length, Relaxed);
    }

    fn delete(&self, start: usize, end: usize) {
        let mut value = self.value.lock().unwrap();
        let count = self.count.load(Relaxed);
        let end = end.min(count);
        assert!(start <= end, "StringIndexOutOfBoundsException: {start} to {end}");
        value.drain(start..end);
        self.count.store(count - (end - start), Relaxed);
    }
}

/// One thread appends the buffer "World" to the buffer "Hello" while another one empties "World". Nobody is joined.
///
/// *Shared*: each buffer's `count` and characters, accessed under the buffer's monitor. Appending holds the first
/// buffer's monitor and takes the second's twice, to ask for its length and to copy that many characters.
/// *Bug*: the deletion falls between the length and the copy.
/// *Oracle*: the copy panics if it is to go beyond the end, in a thread that nobody joins.
pub fn stringbuffer() {
    let buffers = Arc::new((StringBuffer::new("Hello"), StringBuffer::new("World")));
    let shared = Arc::clone(&buffers);
    thread::spawn(move || shared.0.append(&shared.1));
    thread::spawn(move || buffers.1.delete(0, buffers.1.length()));
}

/// [`stringbuffer`] with the appended buffer locked once for length and copy; both threads are joined.
pub fn stringbuffer_fixed() {
    let buffers = Arc::new((Mutex::new(String::from("Hello")), Mutex::new(String::from("World"))));
    let shared = Arc::clone(&buffers);
    let appending = thread::spawn(move || {
        let mut first = shared.0.lock().unwrap();
        let second = shared.1.lock().unwrap();
        let length = second.len();
        first.push_str(&second[..length]);
    });
    let shared = Arc::clone(&buffers);
    let deleting = thread::spawn(move || {
        let mut second = shared.1.lock().unwrap();
        let length = second.len();
        second.drain(..length);
    });
    appending.join().unwrap();
    deleting.join().unwrap();
    let first = buffers.0.lock().unwrap();
    assert!(*first == "Hello" || *first == "HelloWorld", "half of the buffer is appended");
}
