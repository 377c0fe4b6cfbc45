//! V8, `java.util.Collections.synchronizedMap`: two maps that contain each other are locked in opposite orders.

use std::sync::{Arc, Mutex, Weak};

use crate::java::{Monitor, enter};

/// How deep maps may be nested before hashing gives up, where the original overflows its stack.
const MAX_DEPTH: usize = 64;

/// The contents of a map: numbers, and other maps, as keys.
#[derive(Debug)]
struct Contents<M> {
    numbers: Vec<(i32, i32)>,
    maps: Vec<Weak<M>>,
}

impl<M> Default for Contents<M> {
    fn default() -> Contents<M> {
        Contents { numbers: Vec::new(), maps: Vec::new() }
    }
}

impl<M> Contents<M> {
    fn put(&mut self, key: i32, value: i32) -> Option<i32> {
        match self.numbers.iter_mut().find(|entry| entry.0 == key) {
            Some(entry) => Some(std::mem::replace(&mut entry.1, value)),
            None => {
                self.numbers.push((key, value));
                None
            }
        }
    }

    fn hash_of_numbers(&self) -> i32 {
        self.numbers.iter().fold(0, |hash, (key, value)| hash.wrapping_add(key ^ value))
    }

    fn maps(&self) -> Vec<Arc<M>> {
        self.maps.iter().filter_map(Weak::upgrade).collect()
    }
}

/// A wrapper that enters its own monitor, and then that of the table it wraps, for every method.
///
/// *Shared*: the wrapped table. *Locking*: both monitors are re-entrant and held to the end of a method.
/// *Bug*: [`hash_code`](SynchronizedMap::hash_code), [`equals`](SynchronizedMap::equals), `text` and
/// [`put_all`](SynchronizedMap::put_all) enter the monitors of the maps that are keys or arguments, while they hold their
/// own. Two maps that contain each other, used by two threads, wait for each other. One map alone cannot deadlock; one that
/// contains itself overflows the stack, in the original as here.
///
/// Keys that are maps are held weakly, so that maps which contain each other are freed.
#[derive(Debug, Default)]
pub struct SynchronizedMap {
    mutex: Monitor,
    table_monitor: Monitor,
    table: Mutex<Contents<SynchronizedMap>>,
}

impl SynchronizedMap {
    /// An empty map.
    pub fn new() -> SynchronizedMap {
        SynchronizedMap::default()
    }

    /// Calls the wrapped table under both monitors. The short lock inside only makes the table's memory safe.
    fn locked<T>(&self, call: impl FnOnce(&mut Contents<SynchronizedMap>) -> T) -> T {
        let _wrapper = self.mutex.enter();
        let _table = self.table_monitor.enter();
        call(&mut enter(&self.table))
    }

    /// Sets the value of a key and returns the old one.
    pub fn put(&self, key: i32, value: i32) -> Option<i32> {
        self.locked(|table| table.put(key, value))
    }

    /// Makes another map a key of this one.
    pub fn put_map(&self, map: &Arc<SynchronizedMap>) {
        self.locked(|table| table.maps.push(Arc::downgrade(map)));
    }

    /// Puts all numbers of another map into this one, entering its monitors inside the own ones.
    pub fn put_all(&self, other: &SynchronizedMap) {
        let _wrapper = self.mutex.enter();
        let _table = self.table_monitor.enter();
        let numbers = other.locked(|table| table.numbers.clone());
        for (key, value) in numbers {
            enter(&self.table).put(key, value);
        }
    }

    /// The value of a key.
    pub fn get(&self, key: i32) -> Option<i32> {
        self.locked(|table| table.numbers.iter().find(|entry| entry.0 == key).map(|entry| entry.1))
    }

    /// Removes a key; `false` if it is not there.
    pub fn remove(&self, key: i32) -> bool {
        self.locked(|table| {
            let before = table.numbers.len();
            table.numbers.retain(|entry| entry.0 != key);
            table.numbers.len() < before
        })
    }

    /// Removes everything.
    pub fn clear(&self) {
        self.locked(|table| *table = Contents::default());
    }

    /// The number of keys.
    pub fn size(&self) -> usize {
        self.locked(|table| table.numbers.len() + table.maps.len())
    }

    /// Whether there is no key.
    pub fn is_empty(&self) -> bool {
        self.size() == 0
    }

    /// Whether a number is a key.
    pub fn contains_key(&self, key: i32) -> bool {
        self.get(key).is_some()
    }

    /// Whether a value is there.
    pub fn contains_value(&self, value: i32) -> bool {
        self.values().contains(&value)
    }

    /// The keys that are numbers.
    pub fn key_set(&self) -> Vec<i32> {
        self.locked(|table| table.numbers.iter().map(|entry| entry.0).collect())
    }

    /// The values.
    pub fn values(&self) -> Vec<i32> {
        self.locked(|table| table.numbers.iter().map(|entry| entry.1).collect())
    }

    /// The keys that are numbers, with their values.
    pub fn entry_set(&self) -> Vec<(i32, i32)> {
        self.locked(|table| table.numbers.clone())
    }

    /// The hash code, of all that the map contains.
    pub fn hash_code(&self) -> i32 {
        self.hash_at(0)
    }

    fn hash_at(&self, depth: usize) -> i32 {
        assert!(depth < MAX_DEPTH, "StackOverflowError: a map contains itself");
        let _wrapper = self.mutex.enter();
        let _table = self.table_monitor.enter();
        let (hash, maps) = {
            let table = enter(&self.table);
            (table.hash_of_numbers(), table.maps())
        };
        maps.iter().fold(hash, |hash, map| hash.wrapping_add(map.hash_at(depth + 1)))
    }

    /// Whether another map has the same numbers, entering its monitors inside the own ones.
    pub fn equals(&self, other: &SynchronizedMap) -> bool {
        let _wrapper = self.mutex.enter();
        let _table = self.table_monitor.enter();
        let numbers = other.locked(|table| table.numbers.clone());
        enter(&self.table).numbers == numbers
    }

    /// The map as a text.
    pub fn text(&self) -> String {
        format!("{:?}", self.entry_set())
    }
}

/// Entered by every method of every [`SynchronizedMapFixed`].
static ALL: Mutex<()> = Mutex::new(());

/// [`SynchronizedMap`] with one monitor for all maps: whoever looks at several sees them at one moment, and there is no
/// order in which two could be entered.
#[derive(Debug, Default)]
pub struct SynchronizedMapFixed {
    table: Mutex<Contents<SynchronizedMapFixed>>,
}

impl SynchronizedMapFixed {
    /// An empty map.
    pub fn new() -> SynchronizedMapFixed {
        SynchronizedMapFixed::default()
    }

    /// Calls the table under the monitor. The short lock inside only makes the table's memory safe.
    fn locked<T>(&self, call: impl FnOnce(&mut Contents<SynchronizedMapFixed>) -> T) -> T {
        let _all = enter(&ALL);
        call(&mut enter(&self.table))
    }

    /// Sets the value of a key and returns the old one.
    pub fn put(&self, key: i32, value: i32) -> Option<i32> {
        self.locked(|table| table.put(key, value))
    }

    /// Makes another map a key of this one.
    pub fn put_map(&self, map: &Arc<SynchronizedMapFixed>) {
        self.locked(|table| table.maps.push(Arc::downgrade(map)));
    }

    /// Puts all numbers of another map into this one.
    pub fn put_all(&self, other: &SynchronizedMapFixed) {
        let _all = enter(&ALL);
        let numbers = enter(&other.table).numbers.clone();
        let mut table = enter(&self.table);
        for (key, value) in numbers {
            table.put(key, value);
        }
    }

    /// The number of keys.
    pub fn size(&self) -> usize {
        self.locked(|table| table.numbers.len() + table.maps.len())
    }

    /// Removes everything.
    pub fn clear(&self) {
        self.locked(|table| *table = Contents::default());
    }

    /// The keys that are numbers, with their values.
    pub fn entry_set(&self) -> Vec<(i32, i32)> {
        self.locked(|table| table.numbers.clone())
    }

    /// The hash code, of all that the map contains; still overflows if that includes the map.
    pub fn hash_code(&self) -> i32 {
        let _all = enter(&ALL);
        self.hash_at(0)
    }

    fn hash_at(&self, depth: usize) -> i32 {
        assert!(depth < MAX_DEPTH, "StackOverflowError: a map contains itself");
        let (hash, maps) = {
            let table = enter(&self.table);
            (table.hash_of_numbers(), table.maps())
        };
        maps.iter().fold(hash, |hash, map| hash.wrapping_add(map.hash_at(depth + 1)))
    }

    /// Whether another map has the same numbers.
    pub fn equals(&self, other: &SynchronizedMapFixed) -> bool {
        let _all = enter(&ALL);
        let numbers = enter(&other.table).numbers.clone();
        enter(&self.table).numbers == numbers
    }

    /// The value of a key.
    pub fn get(&self, key: i32) -> Option<i32> {
        self.locked(|table| table.numbers.iter().find(|entry| entry.0 == key).map(|entry| entry.1))
    }

    /// Removes a key; `false` if it is not there.
    pub fn remove(&self, key: i32) -> bool {
        self.locked(|table| {
            let before = table.numbers.len();
            table.numbers.retain(|entry| entry.0 != key);
            table.numbers.len() < before
        })
    }

    /// Whether there is no key.
    pub fn is_empty(&self) -> bool {
        self.size() == 0
    }

    /// Whether a number is a key.
    pub fn contains_key(&self, key: i32) -> bool {
        self.get(key).is_some()
    }

    /// Whether a value is there.
    pub fn contains_value(&self, value: i32) -> bool {
        self.values().contains(&value)
    }

    /// The keys that are numbers.
    pub fn key_set(&self) -> Vec<i32> {
        self.entry_set().into_iter().map(|entry| entry.0).collect()
    }

    /// The values.
    pub fn values(&self) -> Vec<i32> {
        self.entry_set().into_iter().map(|entry| entry.1).collect()
    }

    /// The map as a text.
    pub fn text(&self) -> String {
        format!("{:?}", self.entry_set())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hashes_what_it_contains() {
        let (outer, inner) = (SynchronizedMap::new(), Arc::new(SynchronizedMap::new()));
        inner.put(1, 2);
        outer.put_map(&inner);
        assert_eq!((outer.hash_code(), outer.size()), (1 ^ 2, 1));
        outer.put_all(&inner);
        assert!(outer.equals(&inner) && outer.equals(&outer));
        assert_eq!((outer.put(1, 3), outer.get(1), outer.remove(7)), (Some(2), Some(3), false));
        outer.clear();
        assert!(outer.is_empty());
    }

    #[test]
    fn the_twin_hashes_alike() {
        let (outer, inner) = (SynchronizedMapFixed::new(), Arc::new(SynchronizedMapFixed::new()));
        inner.put(1, 2);
        outer.put_map(&inner);
        outer.put_all(&inner);
        assert_eq!(outer.hash_code(), 2 * (1 ^ 2));
        assert!(outer.equals(&inner) && outer.contains_key(1) && outer.contains_value(2));
        assert!(outer.remove(1) && !outer.remove(1));
    }

    #[test]
    #[should_panic(expected = "StackOverflowError")]
    fn cannot_hash_a_map_that_contains_itself() {
        let map = Arc::new(SynchronizedMap::new());
        map.put_map(&map);
        map.hash_code();
    }
}
