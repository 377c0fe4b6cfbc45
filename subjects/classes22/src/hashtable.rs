//! V5, `java.util.Hashtable` of JDK 1.6 as MAPTest altered it: rehashing is public and takes no lock.

use std::sync::Mutex;
use std::sync::atomic::{AtomicI32, AtomicUsize, Ordering::Relaxed};

use crate::java::{enter, locked_twin};

/// A reference to an entry or to a bucket array: a position in what has been allocated, 0 is null.
type Reference = usize;
const NULL: Reference = 0;

const ENTRIES: usize = 256;
const TABLES: usize = 32;
const MAX_BUCKETS: usize = 31;

#[derive(Debug, Default)]
struct Entry {
    key: AtomicI32,
    value: AtomicI32,
    next: AtomicUsize,
}

#[derive(Debug, Default)]
struct Table {
    length: AtomicUsize,
    buckets: [AtomicUsize; MAX_BUCKETS],
}

/// Objects that have been allocated; nothing is freed before the hash table is. The counters stand for the allocator.
#[derive(Debug)]
struct Heap {
    entries: Vec<Entry>,
    entries_made: AtomicUsize,
    tables: Vec<Table>,
    tables_made: AtomicUsize,
}

impl Heap {
    fn allocate(counter: &AtomicUsize, limit: usize) -> Reference {
        let reference = counter.fetch_add(1, Relaxed) + 1;
        assert!(reference < limit, "OutOfMemoryError: the re-creation holds {limit} objects");
        reference
    }

    fn new_table(&self, length: usize) -> Reference {
        let table = Heap::allocate(&self.tables_made, TABLES);
        self.tables[table].length.store(length, Relaxed);
        table
    }
}

/// A hash table from numbers to numbers, with chained buckets.
///
/// *Shared*: `table` (the reference to the bucket array), the buckets, each entry's `next`, `count`, `threshold` and the
/// modification counter.
/// *Locking*: every method holds the monitor, except [`rehash`](Hashtable::rehash), which the benchmark made public and
/// unsynchronised, and `put_all`, which calls `put`.
/// *Bugs*: rehashing writes the counter (an iteration that is under way gives up), publishes an empty array before it moves
/// the entries (a count that was read before does not fit: no such element), and relinks the entries (two rehashings lose
/// some or close a chain to a ring, in which a search never ends).
///
/// Bucket arrays grow from 3 to at most 31.
#[derive(Debug)]
pub struct Hashtable {
    monitor: Mutex<()>,
    heap: Heap,
    table: AtomicUsize,
    count: AtomicUsize,
    threshold: AtomicUsize,
    mod_count: AtomicI32,
}

/// An iterator as the original's enumerator: it walks the array that it found from the end.
struct Iter<'a> {
    hashtable: &'a Hashtable,
    table: &'a Table,
    index: usize,
    entry: Reference,
    expected: i32,
}

impl<'a> Iter<'a> {
    fn has_next(&mut self) -> bool {
        while self.entry == NULL && self.index > 0 {
            self.index -= 1;
            self.entry = self.table.buckets[self.index].load(Relaxed);
        }
        self.entry != NULL
    }

    fn advance(&mut self) -> &'a Entry {
        let found = self.hashtable.mod_count.load(Relaxed);
        assert!(found == self.expected, "ConcurrentModificationException");
        assert!(self.has_next(), "NoSuchElementException: Hashtable Enumerator");
        let entry = &self.hashtable.heap.entries[self.entry];
        self.entry = entry.next.load(Relaxed);
        entry
    }
}

impl Hashtable {
    /// An empty table.
    #[allow(clippy::new_without_default)]
    pub fn new() -> Hashtable {
        let heap = Heap {
            entries: (0..ENTRIES).map(|_| Entry::default()).collect(),
            entries_made: AtomicUsize::new(0),
            tables: (0..TABLES).map(|_| Table::default()).collect(),
            tables_made: AtomicUsize::new(0),
        };
        let table = heap.new_table(3);
        Hashtable {
            monitor: Mutex::new(()),
            heap,
            table: AtomicUsize::new(table),
            count: AtomicUsize::new(0),
            threshold: AtomicUsize::new(2),
            mod_count: AtomicI32::new(0),
        }
    }

    fn table(&self) -> &Table {
        &self.heap.tables[self.table.load(Relaxed)]
    }

    fn modify(&self) {
        self.mod_count.store(self.mod_count.load(Relaxed).wrapping_add(1), Relaxed);
    }

    fn iter(&self) -> Iter<'_> {
        let table = self.table();
        let index = table.length.load(Relaxed);
        Iter { hashtable: self, table, index, entry: NULL, expected: self.mod_count.load(Relaxed) }
    }

    /// All entries, as the iterator of a view gives them.
    fn entries(&self) -> Vec<(i32, i32)> {
        let mut entries = Vec::new();
        let mut iter = self.iter();
        while iter.has_next() {
            let entry = iter.advance();
            entries.push((entry.key.load(Relaxed), entry.value.load(Relaxed)));
        }
        entries
    }

    fn bucket(table: &Table, key: i32) -> &AtomicUsize {
        &table.buckets[key.rem_euclid(table.length.load(Relaxed) as i32) as usize]
    }

    fn find(&self, key: i32) -> Option<&Entry> {
        let mut reference = Hashtable::bucket(self.table(), key).load(Relaxed);
        while reference != NULL {
            let entry = &self.heap.entries[reference];
            if entry.key.load(Relaxed) == key {
                return Some(entry);
            }
            reference = entry.next.load(Relaxed);
        }
        None
    }

    /// Doubles the bucket array and moves all entries, without a lock.
    pub fn rehash(&self) {
        let old_length = self.table().length.load(Relaxed);
        let old = self.table();
        let length = (old_length * 2 + 1).min(MAX_BUCKETS);
        let new = self.heap.new_table(length);
        self.modify();
        self.threshold.store(length * 3 / 4, Relaxed);
        self.table.store(new, Relaxed);
        let new = &self.heap.tables[new];
        for i in (0..old_length).rev() {
            let mut old_entry = old.buckets[i].load(Relaxed);
            while old_entry != NULL {
                let entry = &self.heap.entries[old_entry];
                let reference = old_entry;
                old_entry = entry.next.load(Relaxed);
                let bucket = Hashtable::bucket(new, entry.key.load(Relaxed));
                entry.next.store(bucket.load(Relaxed), Relaxed);
                bucket.store(reference, Relaxed);
            }
        }
    }

    /// Sets the value of a key and returns the old one.
    pub fn put(&self, key: i32, value: i32) -> Option<i32> {
        let _own = enter(&self.monitor);
        if let Some(entry) = self.find(key) {
            let old = entry.value.load(Relaxed);
            entry.value.store(value, Relaxed);
            return Some(old);
        }
        self.modify();
        if self.count.load(Relaxed) >= self.threshold.load(Relaxed)
            && self.table().length.load(Relaxed) < MAX_BUCKETS
        {
            self.rehash();
        }
        let bucket = Hashtable::bucket(self.table(), key);
        let reference = Heap::allocate(&self.heap.entries_made, ENTRIES);
        let entry = &self.heap.entries[reference];
        entry.key.store(key, Relaxed);
        entry.value.store(value, Relaxed);
        entry.next.store(bucket.load(Relaxed), Relaxed);
        bucket.store(reference, Relaxed);
        self.count.store(self.count.load(Relaxed) + 1, Relaxed);
        None
    }

    /// Sets the values of several keys, one by one.
    pub fn put_all(&self, entries: Vec<(i32, i32)>) {
        for (key, value) in entries {
            self.put(key, value);
        }
    }

    /// The value of a key.
    pub fn get(&self, key: i32) -> Option<i32> {
        let _own = enter(&self.monitor);
        self.find(key).map(|entry| entry.value.load(Relaxed))
    }

    /// Removes a key and returns its value.
    pub fn remove(&self, key: i32) -> Option<i32> {
        let _own = enter(&self.monitor);
        let mut link = Hashtable::bucket(self.table(), key);
        loop {
            let reference = link.load(Relaxed);
            if reference == NULL {
                return None;
            }
            let entry = &self.heap.entries[reference];
            if entry.key.load(Relaxed) == key {
                self.modify();
                link.store(entry.next.load(Relaxed), Relaxed);
                self.count.store(self.count.load(Relaxed).wrapping_sub(1), Relaxed);
                return Some(entry.value.load(Relaxed));
            }
            link = &entry.next;
        }
    }

    /// Removes everything.
    pub fn clear(&self) {
        let _own = enter(&self.monitor);
        let table = self.table();
        self.modify();
        for i in (0..table.length.load(Relaxed)).rev() {
            table.buckets[i].store(NULL, Relaxed);
        }
        self.count.store(0, Relaxed);
    }

    /// The number of keys.
    pub fn size(&self) -> usize {
        let _own = enter(&self.monitor);
        self.count.load(Relaxed)
    }

    /// Whether there is no key.
    pub fn is_empty(&self) -> bool {
        self.size() == 0
    }

    /// Whether a key is there.
    pub fn contains_key(&self, key: i32) -> bool {
        let _own = enter(&self.monitor);
        self.find(key).is_some()
    }

    /// Whether a value is there.
    pub fn contains(&self, value: i32) -> bool {
        let _own = enter(&self.monitor);
        self.entries().iter().any(|entry| entry.1 == value)
    }

    /// Whether a value is there.
    pub fn contains_value(&self, value: i32) -> bool {
        self.contains(value)
    }

    /// The keys.
    pub fn key_set(&self) -> Vec<i32> {
        let _own = enter(&self.monitor);
        self.entries().into_iter().map(|entry| entry.0).collect()
    }

    /// The values.
    pub fn values(&self) -> Vec<i32> {
        let _own = enter(&self.monitor);
        self.entries().into_iter().map(|entry| entry.1).collect()
    }

    /// The keys with their values.
    pub fn entry_set(&self) -> Vec<(i32, i32)> {
        let _own = enter(&self.monitor);
        self.entries()
    }

    /// The hash code.
    pub fn hash_code(&self) -> i32 {
        let _own = enter(&self.monitor);
        if self.count.load(Relaxed) == 0 {
            return 0;
        }
        self.entries().iter().fold(0, |hash, (key, value)| hash.wrapping_add(key ^ value))
    }

    /// Whether the table has just these entries.
    pub fn equals(&self, entries: Vec<(i32, i32)>) -> bool {
        let _own = enter(&self.monitor);
        entries.len() == self.count.load(Relaxed)
            && self.entries().iter().all(|entry| entries.contains(entry))
    }

    /// The table as a text. As many entries are asked for as were counted at the beginning.
    pub fn text(&self) -> String {
        let _own = enter(&self.monitor);
        let count = self.count.load(Relaxed);
        let mut iter = self.iter();
        let entries: Vec<String> = (0..count)
            .map(|_| {
                let entry = iter.advance();
                format!("{}={}", entry.key.load(Relaxed), entry.value.load(Relaxed))
            })
            .collect();
        format!("{{{}}}", entries.join(", "))
    }
}

locked_twin! {
    HashtableFixed of Hashtable, new() {
        fn rehash(&self);
        fn put(&self, key: i32, value: i32) -> Option<i32>;
        fn put_all(&self, entries: Vec<(i32, i32)>);
        fn get(&self, key: i32) -> Option<i32>;
        fn remove(&self, key: i32) -> Option<i32>;
        fn clear(&self);
        fn size(&self) -> usize;
        fn is_empty(&self) -> bool;
        fn contains_key(&self, key: i32) -> bool;
        fn contains(&self, value: i32) -> bool;
        fn contains_value(&self, value: i32) -> bool;
        fn key_set(&self) -> Vec<i32>;
        fn values(&self) -> Vec<i32>;
        fn entry_set(&self) -> Vec<(i32, i32)>;
        fn hash_code(&self) -> i32;
        fn equals(&self, entries: Vec<(i32, i32)>) -> bool;
        fn text(&self) -> String;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_what_was_put_in_after_any_number_of_rehashings() {
        let table = Hashtable::new();
        for key in -5..15 {
            assert_eq!(table.put(key, key * 2), None);
        }
        for _ in 0..6 {
            table.rehash();
        }
        assert_eq!(
            (table.size(), table.get(-5), table.get(14), table.get(15)),
            (20, Some(-10), Some(28), None)
        );
        assert_eq!(table.put(3, 1), Some(6));
        assert!(table.contains_value(1) && table.contains_key(3));
        for key in -5..14 {
            assert!(table.remove(key).is_some());
        }
        assert_eq!(table.text(), "{14=28}");
        assert!(table.equals(vec![(14, 28)]));
        table.clear();
        assert!(table.is_empty() && table.key_set().is_empty());
    }
}
