//! V4, `java.util.concurrent.ConcurrentHashMap` of JDK 1.6: a bulk operation brings back what has been cleared.

use std::sync::Mutex;
use std::sync::atomic::{AtomicI32, AtomicUsize, Ordering::Relaxed};

use crate::java::{Field, enter, locked_twin};

const SEGMENTS: usize = 4;
const BUCKETS: usize = 4;
/// Keys are taken modulo this, so that each has a bucket of its own.
const KEYS: usize = SEGMENTS * BUCKETS;

/// How deep a map may be nested before hashing gives up, where the original overflows its stack.
const MAX_DEPTH: usize = 64;

/// What a key is mapped to: a number, or the map itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Value {
    /// A number that is not negative.
    Number(u16),
    /// The map that holds the value.
    Itself,
}

impl Value {
    fn to_field(self) -> i32 {
        match self {
            Value::Number(number) => number.into(),
            Value::Itself => -1,
        }
    }

    fn from_field(field: i32) -> Value {
        u16::try_from(field).map_or(Value::Itself, Value::Number)
    }
}

/// A part of the map: written under its lock, read without.
#[derive(Debug, Default)]
struct Segment {
    lock: Mutex<()>,
    buckets: [Field; BUCKETS],
    count: AtomicUsize,
    mod_count: AtomicI32,
}

impl Segment {
    fn modify(&self) {
        self.mod_count.store(self.mod_count.load(Relaxed).wrapping_add(1), Relaxed);
    }
}

/// A map from the numbers 0 to 15, in four segments (sixteen in the original) with a lock each.
///
/// *Shared*: per segment the buckets, `count` and the modification counter. *Locking*: a write holds its segment's lock, a
/// read none; bulk operations go from segment to segment and are not atomic.
/// *Bug*: the map contains itself. [`put_all_of_itself`](ConcurrentHashMap::put_all_of_itself) reads an entry;
/// [`clear`](ConcurrentHashMap::clear) removes it; it is put back; the thread that cleared the map calls
/// [`hash_code`](ConcurrentHashMap::hash_code), which should find an empty map and descends for ever instead.
#[derive(Debug, Default)]
pub struct ConcurrentHashMap {
    segments: [Segment; SEGMENTS],
}

impl ConcurrentHashMap {
    /// An empty map.
    pub fn new() -> ConcurrentHashMap {
        ConcurrentHashMap::default()
    }

    /// The segment of a key, and its bucket there.
    fn place(&self, key: u8) -> (&Segment, &Field) {
        let segment = &self.segments[usize::from(key) % SEGMENTS];
        (segment, &segment.buckets[usize::from(key) % KEYS / SEGMENTS])
    }

    /// The entries of a segment, one after the other; an empty count spares the look at the buckets.
    fn entries_of(&self, segment: usize) -> impl Iterator<Item = (u8, Value)> {
        let Segment { buckets, count, .. } = &self.segments[segment];
        let buckets = if count.load(Relaxed) == 0 { &buckets[..0] } else { &buckets[..] };
        buckets.iter().enumerate().filter_map(move |(i, bucket)| {
            Some(((i * SEGMENTS + segment) as u8, Value::from_field(bucket.get()?)))
        })
    }

    fn put_value(&self, key: u8, value: Value, only_if_absent: bool) -> Option<Value> {
        let (segment, bucket) = self.place(key);
        let _segment = enter(&segment.lock);
        let old = bucket.get().map(Value::from_field);
        if old.is_some() && only_if_absent {
            return old;
        }
        if old.is_none() {
            segment.modify();
        }
        bucket.set(Some(value.to_field()));
        if old.is_none() {
            segment.count.store(segment.count.load(Relaxed) + 1, Relaxed);
        }
        old
    }

    /// Maps a key to a number and returns the old value.
    pub fn put(&self, key: u8, number: u16) -> Option<Value> {
        self.put_value(key, Value::Number(number), false)
    }

    /// Maps a key to a number unless it is mapped to something.
    pub fn put_if_absent(&self, key: u8, number: u16) -> Option<Value> {
        self.put_value(key, Value::Number(number), true)
    }

    /// Maps a key to the map itself and returns the old value.
    pub fn put_itself(&self, key: u8) -> Option<Value> {
        self.put_value(key, Value::Itself, false)
    }

    /// Puts all entries of the map into the map, one by one.
    pub fn put_all_of_itself(&self) {
        for segment in (0..SEGMENTS).rev() {
            for (key, value) in self.entries_of(segment) {
                self.put_value(key, value, false);
            }
        }
    }

    /// The value of a key.
    pub fn get(&self, key: u8) -> Option<Value> {
        let (segment, bucket) = self.place(key);
        if segment.count.load(Relaxed) == 0 {
            return None;
        }
        bucket.get().map(Value::from_field)
    }

    /// Whether a key is there.
    pub fn contains_key(&self, key: u8) -> bool {
        self.get(key).is_some()
    }

    /// Whether a number is a value.
    pub fn contains_value(&self, number: u16) -> bool {
        self.values().contains(&Value::Number(number))
    }

    /// Removes a key and returns its value.
    pub fn remove(&self, key: u8) -> Option<Value> {
        let (segment, bucket) = self.place(key);
        let _segment = enter(&segment.lock);
        let old = bucket.get().map(Value::from_field)?;
        segment.modify();
        bucket.set(None);
        segment.count.store(segment.count.load(Relaxed) - 1, Relaxed);
        Some(old)
    }

    /// Replaces the value of a key that is there, and returns the old one.
    pub fn replace(&self, key: u8, number: u16) -> Option<Value> {
        let (segment, bucket) = self.place(key);
        let _segment = enter(&segment.lock);
        let old = bucket.get().map(Value::from_field)?;
        bucket.set(Some(number.into()));
        Some(old)
    }

    /// Empties the segments, one after the other.
    pub fn clear(&self) {
        for segment in &self.segments {
            if segment.count.load(Relaxed) != 0 {
                let _segment = enter(&segment.lock);
                for bucket in &segment.buckets {
                    bucket.set(None);
                }
                segment.modify();
                segment.count.store(0, Relaxed);
            }
        }
    }

    /// The number of keys.
    pub fn size(&self) -> usize {
        self.segments.iter().map(|segment| segment.count.load(Relaxed)).sum()
    }

    /// Whether there is no key.
    pub fn is_empty(&self) -> bool {
        self.segments.iter().all(|segment| segment.count.load(Relaxed) == 0)
    }

    /// The keys with their values.
    pub fn entry_set(&self) -> Vec<(u8, Value)> {
        (0..SEGMENTS).flat_map(|segment| self.entries_of(segment)).collect()
    }

    /// The keys.
    pub fn key_set(&self) -> Vec<u8> {
        self.entry_set().into_iter().map(|entry| entry.0).collect()
    }

    /// The values.
    pub fn values(&self) -> Vec<Value> {
        self.entry_set().into_iter().map(|entry| entry.1).collect()
    }

    /// The hash code, of all that the map contains; panics if that is the map itself.
    pub fn hash_code(&self) -> i32 {
        self.hash_at(0)
    }

    fn hash_at(&self, depth: usize) -> i32 {
        assert!(depth < MAX_DEPTH, "StackOverflowError: the map contains itself");
        self.entry_set().into_iter().fold(0, |hash: i32, (key, value)| {
            let value = match value {
                Value::Number(number) => number.into(),
                Value::Itself => self.hash_at(depth + 1),
            };
            hash.wrapping_add(i32::from(key) ^ value)
        })
    }

    /// The map as a text, in which the map itself is only named.
    pub fn text(&self) -> String {
        format!("{:?}", self.entry_set())
    }
}

locked_twin! {
    ConcurrentHashMapFixed of ConcurrentHashMap, new() {
        fn put(&self, key: u8, number: u16) -> Option<Value>;
        fn put_if_absent(&self, key: u8, number: u16) -> Option<Value>;
        fn put_itself(&self, key: u8) -> Option<Value>;
        fn put_all_of_itself(&self);
        fn get(&self, key: u8) -> Option<Value>;
        fn contains_key(&self, key: u8) -> bool;
        fn contains_value(&self, number: u16) -> bool;
        fn remove(&self, key: u8) -> Option<Value>;
        fn replace(&self, key: u8, number: u16) -> Option<Value>;
        fn clear(&self);
        fn size(&self) -> usize;
        fn is_empty(&self) -> bool;
        fn entry_set(&self) -> Vec<(u8, Value)>;
        fn key_set(&self) -> Vec<u8>;
        fn values(&self) -> Vec<Value>;
        fn hash_code(&self) -> i32;
        fn text(&self) -> String;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keeps_values_by_key() {
        let map = ConcurrentHashMap::new();
        assert_eq!(
            (map.put(1, 10), map.put(1, 11), map.put_if_absent(1, 12)),
            (None, Some(Value::Number(10)), Some(Value::Number(11)))
        );
        map.put(6, 20);
        map.put_itself(3);
        map.put_all_of_itself();
        assert_eq!((map.size(), map.get(3), map.remove(3)), (3, Some(Value::Itself), Some(Value::Itself)));
        assert_eq!((map.replace(6, 21), map.replace(7, 1)), (Some(Value::Number(20)), None));
        assert_eq!(map.hash_code(), (1 ^ 11) + (6 ^ 21));
        map.clear();
        assert!(map.is_empty() && map.entry_set().is_empty());
    }

    #[test]
    #[should_panic(expected = "StackOverflowError")]
    fn cannot_hash_a_map_that_contains_itself() {
        let map = ConcurrentHashMap::new();
        map.put_itself(0);
        map.hash_code();
    }
}
