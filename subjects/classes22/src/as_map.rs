//! C18, Google Collections 1.0 `AbstractMultimap.AsMap`: a lazily made view is tested in the field and returned from a local.

use std::collections::BTreeMap;
use std::sync::Mutex;

use crate::java::{Field, enter, locked_twin};

/// The only object that the cached reference can refer to.
const VIEW: i32 = 1;

/// The view of a multimap as a map from keys to the number of their values.
///
/// *Shared*: `entry_set`, the reference to the view's set of entries, null until first asked for; and the contents, which
/// have a lock because the wrapped multimap is a synchronised one.
/// *Locking*: none around `entry_set`.
/// *Bug*: [`entry_set`](AsMap::entry_set) reads the field into a local, tests the *field* again, and returns the local. If
/// another thread makes the set in between, the local is null. Only the very first use of a view can fail.
#[derive(Debug)]
pub struct AsMap {
    contents: Mutex<BTreeMap<i32, usize>>,
    entry_set: Field,
}

impl AsMap {
    /// The view of a multimap with the given number of keys, each with one value.
    pub fn new(keys: u8) -> AsMap {
        AsMap {
            contents: Mutex::new((0..keys.into()).map(|key| (key, 1)).collect()),
            entry_set: Field::default(),
        }
    }

    /// The entries of the view, and of nothing if the reference is null.
    fn entries(&self) -> Vec<(i32, usize)> {
        self.entry_set().expect("NullPointerException: entrySet")
    }

    /// The entries; `None` is the null reference that the original returns by mistake.
    pub fn entry_set(&self) -> Option<Vec<(i32, usize)>> {
        let mut result = self.entry_set.get();
        if self.entry_set.get().is_none() {
            self.entry_set.set(Some(VIEW));
            result = Some(VIEW);
        }
        result.map(|_view| enter(&self.contents).iter().map(|(&key, &count)| (key, count)).collect())
    }

    /// The number of keys.
    pub fn size(&self) -> usize {
        self.entries().len()
    }

    /// Whether there is no key.
    pub fn is_empty(&self) -> bool {
        self.entries().is_empty()
    }

    /// The keys.
    pub fn key_set(&self) -> Vec<i32> {
        self.entries().into_iter().map(|(key, _)| key).collect()
    }

    /// The values.
    pub fn values(&self) -> Vec<usize> {
        self.entries().into_iter().map(|(_, count)| count).collect()
    }

    /// Whether a value occurs.
    pub fn contains_value(&self, count: usize) -> bool {
        self.values().contains(&count)
    }

    /// Whether a key occurs; answered by the multimap.
    pub fn contains_key(&self, key: i32) -> bool {
        enter(&self.contents).contains_key(&key)
    }

    /// The value of a key; answered by the multimap.
    pub fn get(&self, key: i32) -> Option<usize> {
        enter(&self.contents).get(&key).copied()
    }

    /// Removes a key and returns its value; done by the multimap.
    pub fn remove(&self, key: i32) -> Option<usize> {
        enter(&self.contents).remove(&key)
    }

    /// The view is read-only.
    pub fn put(&self, _key: i32, _count: usize) {
        panic!("UnsupportedOperationException");
    }

    /// Removes all keys, through the entries.
    pub fn clear(&self) {
        self.entries();
        enter(&self.contents).clear();
    }

    /// The hash code, of the entries.
    pub fn hash_code(&self) -> i32 {
        self.entries().iter().map(|&(key, count)| key ^ count as i32).fold(0, i32::wrapping_add)
    }

    /// Whether the view has just these keys.
    pub fn equals(&self, keys: Vec<i32>) -> bool {
        self.key_set() == keys
    }

    /// The view as a text.
    pub fn text(&self) -> String {
        format!("{:?}", self.entries())
    }
}

locked_twin! {
    AsMapFixed of AsMap, new(keys: u8) {
        fn entry_set(&self) -> Option<Vec<(i32, usize)>>;
        fn size(&self) -> usize;
        fn is_empty(&self) -> bool;
        fn key_set(&self) -> Vec<i32>;
        fn values(&self) -> Vec<usize>;
        fn contains_value(&self, count: usize) -> bool;
        fn contains_key(&self, key: i32) -> bool;
        fn get(&self, key: i32) -> Option<usize>;
        fn remove(&self, key: i32) -> Option<usize>;
        fn put(&self, key: i32, count: usize);
        fn clear(&self);
        fn hash_code(&self) -> i32;
        fn equals(&self, keys: Vec<i32>) -> bool;
        fn text(&self) -> String;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shows_the_keys_of_the_multimap() {
        let map = AsMap::new(2);
        assert_eq!(map.entry_set(), Some(vec![(0, 1), (1, 1)]));
        assert_eq!((map.size(), map.get(1), map.remove(0)), (2, Some(1), Some(1)));
        assert!(map.equals(vec![1]) && map.contains_value(1) && !map.contains_key(0));
        map.clear();
        assert!(map.is_empty());
    }
}
