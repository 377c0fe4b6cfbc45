//! `java.lang.StringBuffer` (Fig. 2 and 3): `append` asks for the length of its argument before it copies that much.

use crate::enter;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

/// A string builder, reduced to the number of its characters.
///
/// *Error*: between the two looks of [`append`](StringBuffer::append) at its argument, another thread shortens that.
/// *By hand*, `append` and [`set_length`](StringBuffer::set_length): l1 enters this; l2 to l4 enter the argument, read its count, leave; l5
/// reads the own count; l6 to l8 enter the argument, read its count, leave; l9 writes the own count; l10 leaves. m1 enters, m2
/// writes the count and leaves. m1 meets the six that enter or leave, m2 these and the four that access a count: 16 pairs, 32
/// targets. Where the argument is shortened, a lock leaves l4-m1, l8-m1, m2-l2, m2-l6; where this is, l10-m1 and m2-l1: 6.
/// The error is l4-m1, and then m2-l6.
#[derive(Debug, Default)]
pub struct StringBuffer {
    monitor: Mutex<()>,
    count: AtomicUsize,
}

impl StringBuffer {
    /// A buffer of so many characters.
    pub fn new(count: usize) -> StringBuffer {
        StringBuffer { monitor: Mutex::new(()), count: AtomicUsize::new(count) }
    }

    /// The number of characters.
    pub fn length(&self) -> usize {
        let _monitor = enter(&self.monitor);
        self.count.load(Relaxed)
    }

    /// Cuts the text.
    pub fn set_length(&self, length: usize) {
        let _monitor = enter(&self.monitor);
        self.count.store(length, Relaxed);
    }

    /// Copies the first characters; panics if there are not so many.
    pub fn get_chars(&self, end: usize) {
        let _monitor = enter(&self.monitor);
        let count = self.count.load(Relaxed);
        assert!(end <= count, "StringIndexOutOfBoundsException: {end} of {count}");
    }

    /// Appends another buffer's text. The original may be given itself; this one would wait for itself.
    pub fn append(&self, other: &StringBuffer) {
        let _monitor = enter(&self.monitor);
        let length = other.length();
        let count = self.count.load(Relaxed);
        other.get_chars(length);
        self.count.store(count.saturating_add(length), Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn appends_all_of_the_other_buffer() {
        let (buffer, other) = (StringBuffer::new(2), StringBuffer::new(3));
        buffer.append(&other);
        other.set_length(0);
        assert_eq!((buffer.length(), other.length()), (5, 0));
    }
}
