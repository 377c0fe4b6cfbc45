//! V7, `java.lang.StringBuffer` of JDK 1.6: an unsynchronised overload asks for the length of what it inserts too early.

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use crate::java::{enter, locked_twin};

/// A string builder whose methods hold its monitor.
///
/// *Shared*: `count` and the characters.
/// *Locking*: every method is one critical section, except [`insert_self`](StringBuffer::insert_self), which is the
/// original's overload for character sequences with the buffer itself as the argument: it reads the length of its argument
/// before it calls the synchronised overload with explicit bounds; that one reads the length again and rejects bounds
/// beyond it.
/// *Bug*: the argument shrinks between the two reads.
#[derive(Debug)]
pub struct StringBuffer {
    value: Mutex<Vec<u8>>,
    count: AtomicUsize,
}

impl StringBuffer {
    /// A buffer that holds a text.
    pub fn new(text: &str) -> StringBuffer {
        StringBuffer { value: Mutex::new(text.into()), count: AtomicUsize::new(text.len()) }
    }

    fn check(index: usize, limit: usize) {
        assert!(index < limit, "StringIndexOutOfBoundsException: {index} of {limit}");
    }

    fn splice(&self, value: &mut Vec<u8>, start: usize, end: usize, text: &[u8]) {
        value.splice(start..end, text.iter().copied());
        self.count.store(value.len(), Relaxed);
    }

    /// The number of characters.
    pub fn length(&self) -> usize {
        let _value = enter(&self.value);
        self.count.load(Relaxed)
    }

    /// The room for characters.
    pub fn capacity(&self) -> usize {
        enter(&self.value).len() + 16
    }

    /// Has no visible effect.
    pub fn ensure_capacity(&self, capacity: u8) {
        enter(&self.value).reserve(capacity.into());
    }

    /// Has no visible effect.
    pub fn trim_to_size(&self) {
        enter(&self.value).shrink_to_fit();
    }

    /// Cuts the text, or fills it up with spaces.
    pub fn set_length(&self, length: u8) {
        let mut value = enter(&self.value);
        value.resize(length.into(), b' ');
        self.count.store(length.into(), Relaxed);
    }

    /// The character at an index.
    pub fn char_at(&self, index: u8) -> u8 {
        let value = enter(&self.value);
        Self::check(index.into(), self.count.load(Relaxed));
        value[usize::from(index)]
    }

    /// Replaces the character at an index.
    pub fn set_char_at(&self, index: u8, character: u8) {
        let mut value = enter(&self.value);
        Self::check(index.into(), self.count.load(Relaxed));
        value[usize::from(index)] = character;
    }

    /// The characters from `start` up to `end`.
    pub fn sub_sequence(&self, start: u8, end: u8) -> Vec<u8> {
        let value = enter(&self.value);
        Self::check(end.into(), self.count.load(Relaxed) + 1);
        Self::check(start.into(), usize::from(end) + 1);
        value[start.into()..end.into()].to_vec()
    }

    /// The text.
    pub fn text(&self) -> String {
        let value = enter(&self.value);
        String::from_utf8_lossy(&value[..self.count.load(Relaxed)]).into_owned()
    }

    /// Appends a text.
    pub fn append(&self, text: &str) {
        let mut value = enter(&self.value);
        let end = self.count.load(Relaxed);
        self.splice(&mut value, end, end, text.as_bytes());
    }

    /// Appends a character.
    pub fn append_char(&self, character: u8) {
        let mut value = enter(&self.value);
        let end = self.count.load(Relaxed);
        self.splice(&mut value, end, end, &[character]);
    }

    /// Appends a number.
    pub fn append_int(&self, number: i32) {
        self.append(&number.to_string());
    }

    /// Appends a truth value.
    pub fn append_bool(&self, truth: bool) {
        self.append(&truth.to_string());
    }

    /// Removes the characters from `start` up to `end`, or to the end.
    pub fn delete(&self, start: u8, end: u8) {
        let mut value = enter(&self.value);
        let end = usize::from(end).min(self.count.load(Relaxed));
        Self::check(start.into(), end + 1);
        self.splice(&mut value, start.into(), end, &[]);
    }

    /// Removes the character at an index.
    pub fn delete_char_at(&self, index: u8) {
        let mut value = enter(&self.value);
        Self::check(index.into(), self.count.load(Relaxed));
        self.splice(&mut value, index.into(), usize::from(index) + 1, &[]);
    }

    /// Replaces the characters from `start` up to `end`, or to the end, by a text.
    pub fn replace(&self, start: u8, end: u8, text: &str) {
        let mut value = enter(&self.value);
        let end = usize::from(end).min(self.count.load(Relaxed));
        Self::check(start.into(), end + 1);
        self.splice(&mut value, start.into(), end, text.as_bytes());
    }

    /// Inserts a text.
    pub fn insert(&self, offset: u8, text: &str) {
        let mut value = enter(&self.value);
        Self::check(offset.into(), self.count.load(Relaxed) + 1);
        self.splice(&mut value, offset.into(), offset.into(), text.as_bytes());
    }

    /// Inserts a number.
    pub fn insert_int(&self, offset: u8, number: i32) {
        self.insert(offset, &number.to_string());
    }

    /// Inserts a truth value.
    pub fn insert_bool(&self, offset: u8, truth: bool) {
        self.insert(offset, &truth.to_string());
    }

    /// Inserts the buffer into itself: reads its length outside the monitor.
    pub fn insert_self(&self, offset: u8) {
        let length = self.count.load(Relaxed);
        self.insert_part_of_self(offset, 0, length);
    }

    /// Inserts a part of the buffer into itself.
    pub fn insert_self_part(&self, offset: u8, start: u8, end: u8) {
        self.insert_part_of_self(offset, start.into(), end.into());
    }

    fn insert_part_of_self(&self, offset: u8, start: usize, end: usize) {
        let mut value = enter(&self.value);
        let count = self.count.load(Relaxed);
        Self::check(offset.into(), count + 1);
        assert!(start <= end && end <= count, "IndexOutOfBoundsException: {start} to {end} of {count}");
        let part = value[start..end].to_vec();
        self.splice(&mut value, offset.into(), offset.into(), &part);
    }

    /// Where a text occurs first.
    pub fn index_of(&self, text: &str) -> Option<usize> {
        self.text().find(text)
    }

    /// Where a text occurs last.
    pub fn last_index_of(&self, text: &str) -> Option<usize> {
        self.text().rfind(text)
    }

    /// Turns the text around.
    pub fn reverse(&self) {
        enter(&self.value).reverse();
    }
}

locked_twin! {
    StringBufferFixed of StringBuffer, new(text: &str) {
        fn length(&self) -> usize;
        fn capacity(&self) -> usize;
        fn ensure_capacity(&self, capacity: u8);
        fn trim_to_size(&self);
        fn set_length(&self, length: u8);
        fn char_at(&self, index: u8) -> u8;
        fn set_char_at(&self, index: u8, character: u8);
        fn sub_sequence(&self, start: u8, end: u8) -> Vec<u8>;
        fn text(&self) -> String;
        fn append(&self, text: &str);
        fn append_char(&self, character: u8);
        fn append_int(&self, number: i32);
        fn append_bool(&self, truth: bool);
        fn delete(&self, start: u8, end: u8);
        fn delete_char_at(&self, index: u8);
        fn replace(&self, start: u8, end: u8, text: &str);
        fn insert(&self, offset: u8, text: &str);
        fn insert_int(&self, offset: u8, number: i32);
        fn insert_bool(&self, offset: u8, truth: bool);
        fn insert_self(&self, offset: u8);
        fn insert_self_part(&self, offset: u8, start: u8, end: u8);
        fn index_of(&self, text: &str) -> Option<usize>;
        fn last_index_of(&self, text: &str) -> Option<usize>;
        fn reverse(&self);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn builds_a_text() {
        let buffer = StringBuffer::new("abc");
        buffer.insert_self(1);
        assert_eq!(buffer.text(), "aabcbc");
        buffer.delete_char_at(0);
        buffer.append_int(12);
        buffer.replace(0, 2, "x");
        assert_eq!(buffer.text(), "xcbc12");
        assert_eq!((buffer.index_of("c"), buffer.last_index_of("c")), (Some(1), Some(3)));
        buffer.set_length(2);
        buffer.reverse();
        assert_eq!((buffer.length(), buffer.text().as_str()), (2, "cx"));
    }

    #[test]
    #[should_panic(expected = "IndexOutOfBoundsException")]
    fn rejects_bounds_beyond_the_end() {
        StringBuffer::new("abc").insert_self_part(0, 0, 4);
    }
}
