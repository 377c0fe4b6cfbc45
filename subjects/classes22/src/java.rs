//! What the re-created classes have in common: monitors, nullable fields, an unsynchronised list.

use std::sync::atomic::{AtomicI64, AtomicUsize, Ordering::Relaxed};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{self, ThreadId};

/// Enters a monitor. An exception leaves a Java monitor and does no more, so poisoning is ignored.
pub(crate) fn enter<T>(monitor: &Mutex<T>) -> MutexGuard<'_, T> {
    monitor.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A monitor that its owner may enter again, for classes whose critical sections call each other through arguments.
#[derive(Debug, Default)]
pub(crate) struct Monitor {
    owner: Mutex<Owner>,
    left: Condvar,
}

#[derive(Debug, Default)]
struct Owner {
    thread: Option<ThreadId>,
    entries: usize,
}

/// Being inside a [`Monitor`].
pub(crate) struct Inside<'a>(&'a Monitor);

impl Monitor {
    pub(crate) fn enter(&self) -> Inside<'_> {
        let me = thread::current().id();
        let mut owner = enter(&self.owner);
        while owner.thread.is_some_and(|thread| thread != me) {
            owner = self.left.wait(owner).unwrap_or_else(PoisonError::into_inner);
        }
        owner.thread = Some(me);
        owner.entries += 1;
        Inside(self)
    }
}

impl Drop for Inside<'_> {
    fn drop(&mut self) {
        let mut owner = enter(&self.0.owner);
        owner.entries -= 1;
        if owner.entries == 0 {
            owner.thread = None;
            self.0.left.notify_one();
        }
    }
}

/// A field that holds a reference to an immutable object, or null: read and written as a whole, unprotected.
#[derive(Debug)]
pub(crate) struct Field(AtomicI64);

/// Outside the range of an `i32`.
const NULL: i64 = i64::MAX;

impl Default for Field {
    fn default() -> Field {
        Field(AtomicI64::new(NULL))
    }
}

impl Field {
    pub(crate) fn new(value: i32) -> Field {
        Field(AtomicI64::new(value.into()))
    }

    pub(crate) fn get(&self) -> Option<i32> {
        match self.0.load(Relaxed) {
            NULL => None,
            value => Some(value as i32),
        }
    }

    pub(crate) fn set(&self, value: Option<i32>) {
        self.0.store(value.map_or(NULL, i64::from), Relaxed);
    }

    /// Reads the field and uses the object it refers to.
    pub(crate) fn deref(&self, name: &str) -> i32 {
        self.get().unwrap_or_else(|| panic!("NullPointerException: {name}"))
    }
}

/// Room for elements in a [`List`]. The original's array grows; here a list that needs more panics.
pub(crate) const CAPACITY: usize = 64;

/// An unsynchronised array list: slots, size and modification counter, in the order in which the JDK accesses them.
#[derive(Debug)]
pub(crate) struct List {
    slots: [Field; CAPACITY],
    size: AtomicUsize,
    mod_count: AtomicUsize,
}

impl Default for List {
    fn default() -> List {
        List {
            slots: std::array::from_fn(|_| Field::default()),
            size: AtomicUsize::new(0),
            mod_count: AtomicUsize::new(0),
        }
    }
}

impl List {
    pub(crate) fn size(&self) -> usize {
        self.size.load(Relaxed)
    }

    fn modify(&self) {
        self.mod_count.store(self.mod_count.load(Relaxed) + 1, Relaxed);
    }

    fn check(&self, index: usize, limit: usize) {
        assert!(index < limit, "IndexOutOfBoundsException: index {index}, size {limit}");
    }

    pub(crate) fn get(&self, index: usize) -> Option<i32> {
        self.check(index, self.size());
        self.slots[index].get()
    }

    pub(crate) fn set(&self, index: usize, element: Option<i32>) {
        self.check(index, self.size());
        self.slots[index].set(element);
    }

    pub(crate) fn add(&self, element: Option<i32>) {
        self.modify();
        let index = self.size.load(Relaxed);
        self.size.store(index + 1, Relaxed);
        self.slots[index].set(element);
    }

    pub(crate) fn insert(&self, index: usize, element: Option<i32>) {
        self.check(index, self.size() + 1);
        self.modify();
        for i in (index..self.size()).rev() {
            self.slots[i + 1].set(self.slots[i].get());
        }
        self.slots[index].set(element);
        self.size.store(self.size.load(Relaxed) + 1, Relaxed);
    }

    pub(crate) fn remove(&self, index: usize) -> Option<i32> {
        self.check(index, self.size());
        self.modify();
        let removed = self.slots[index].get();
        for i in index + 1..self.size() {
            self.slots[i - 1].set(self.slots[i].get());
        }
        let last = self.size.load(Relaxed).checked_sub(1).expect("ArrayIndexOutOfBoundsException: -1");
        self.size.store(last, Relaxed);
        self.slots[last].set(None);
        removed
    }

    pub(crate) fn index_of(&self, element: Option<i32>) -> Option<usize> {
        (0..self.size()).find(|&i| self.slots[i].get() == element)
    }

    pub(crate) fn clear(&self) {
        self.modify();
        for i in 0..self.size() {
            self.slots[i].set(None);
        }
        self.size.store(0, Relaxed);
    }

    /// A fail-fast iterator.
    pub(crate) fn iter(&self) -> ListIter<'_> {
        ListIter { list: self, expected: self.mod_count.load(Relaxed), cursor: 0 }
    }
}

/// An iterator that panics when it finds the list modified.
pub(crate) struct ListIter<'a> {
    list: &'a List,
    expected: usize,
    cursor: usize,
}

impl Iterator for ListIter<'_> {
    type Item = Option<i32>;

    fn next(&mut self) -> Option<Option<i32>> {
        if self.cursor == self.list.size() {
            return None;
        }
        let found = self.list.mod_count.load(Relaxed);
        assert!(found == self.expected, "ConcurrentModificationException");
        self.cursor += 1;
        Some(self.list.get(self.cursor - 1))
    }
}

/// An unsynchronised sorted map from numbers to numbers, with a modification counter that is written last.
#[derive(Debug)]
pub(crate) struct SortedMap {
    keys: [Field; CAPACITY],
    values: [Field; CAPACITY],
    size: AtomicUsize,
    mod_count: AtomicUsize,
}

impl Default for SortedMap {
    fn default() -> SortedMap {
        SortedMap {
            keys: std::array::from_fn(|_| Field::default()),
            values: std::array::from_fn(|_| Field::default()),
            size: AtomicUsize::new(0),
            mod_count: AtomicUsize::new(0),
        }
    }
}

impl SortedMap {
    pub(crate) fn size(&self) -> usize {
        self.size.load(Relaxed)
    }

    pub(crate) fn get(&self, key: i32) -> Option<i32> {
        let index = (0..self.size()).find(|&i| self.keys[i].get() == Some(key))?;
        self.values[index].get()
    }

    pub(crate) fn put(&self, key: i32, value: i32) {
        let size = self.size();
        let index = (0..size).find(|&i| self.keys[i].get().is_none_or(|other| other >= key)).unwrap_or(size);
        if index == size || self.keys[index].get() != Some(key) {
            for i in (index..size).rev() {
                self.keys[i + 1].set(self.keys[i].get());
                self.values[i + 1].set(self.values[i].get());
            }
            self.keys[index].set(Some(key));
            self.values[index].set(Some(value));
            self.size.store(self.size.load(Relaxed) + 1, Relaxed);
            self.mod_count.store(self.mod_count.load(Relaxed) + 1, Relaxed);
        } else {
            self.values[index].set(Some(value));
        }
    }

    pub(crate) fn clear(&self) {
        self.mod_count.store(self.mod_count.load(Relaxed) + 1, Relaxed);
        self.size.store(0, Relaxed);
    }

    /// Copies as many entries as there are at the beginning, through a fail-fast iterator.
    pub(crate) fn entries(&self) -> Vec<(Option<i32>, Option<i32>)> {
        let size = self.size.load(Relaxed);
        let expected = self.mod_count.load(Relaxed);
        let entry = |i: usize| {
            let found = self.mod_count.load(Relaxed);
            assert!(found == expected, "ConcurrentModificationException");
            (self.keys[i].get(), self.values[i].get())
        };
        (0..size).map(entry).collect()
    }
}

/// Declares the twin of a type whose methods exclude each other, by one lock around each of them.
///
/// Only for types whose methods do not call back into another instance of the twin.
macro_rules! locked_twin {
    ($twin:ident of $type:ident, new($($arg:ident: $arg_type:ty),*) {
        $(fn $name:ident(&self $(, $param:ident: $param_type:ty)*) $(-> $result:ty)?;)*
    }) => {
        #[doc = concat!("[`", stringify!($type), "`] with one lock around each method.")]
        #[derive(Debug)]
        pub struct $twin {
            lock: std::sync::Mutex<()>,
            inner: $type,
        }

        impl $twin {
            #[doc = concat!("See [`", stringify!($type), "::new`].")]
            #[allow(clippy::new_without_default)]
            pub fn new($($arg: $arg_type),*) -> $twin {
                $twin { lock: std::sync::Mutex::new(()), inner: $type::new($($arg),*) }
            }

            $(
                #[doc = concat!("See [`", stringify!($type), "::", stringify!($name), "`].")]
                pub fn $name(&self $(, $param: $param_type)*) $(-> $result)? {
                    let _alone = $crate::java::enter(&self.lock);
                    self.inner.$name($($param),*)
                }
            )*
        }
    };
}
pub(crate) use locked_twin;

/// Gives a type and its twin plain properties: unprotected numbers with a getter and a setter each, as most of the many
/// methods of the larger classes are. They are kept in a struct that the type holds as `properties`.
macro_rules! properties {
    ($properties:ident of $type:ident and $twin:ident { $($get:ident / $set:ident),* $(,)? }) => {
        #[derive(Debug, Default)]
        struct $properties {
            $($get: std::sync::atomic::AtomicI32,)*
        }

        impl $type {
            $(
                #[doc = concat!("The property `", stringify!($get), "`.")]
                pub fn $get(&self) -> i32 {
                    self.properties.$get.load(std::sync::atomic::Ordering::Relaxed)
                }

                #[doc = concat!("Sets the property `", stringify!($get), "`.")]
                pub fn $set(&self, value: i32) {
                    self.properties.$get.store(value, std::sync::atomic::Ordering::Relaxed);
                }
            )*
        }

        impl $twin {
            $(
                #[doc = concat!("The property `", stringify!($get), "`.")]
                pub fn $get(&self) -> i32 {
                    let _alone = $crate::java::enter(&self.lock);
                    self.inner.$get()
                }

                #[doc = concat!("Sets the property `", stringify!($get), "`.")]
                pub fn $set(&self, value: i32) {
                    let _alone = $crate::java::enter(&self.lock);
                    self.inner.$set(value);
                }
            )*
        }
    };
}
pub(crate) use properties;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_keeps_its_order_under_insertion_and_removal() {
        let list = List::default();
        for i in [1, 2, 4] {
            list.add(Some(i));
        }
        list.insert(2, Some(3));
        list.insert(0, None);
        assert_eq!(list.iter().collect::<Vec<_>>(), [None, Some(1), Some(2), Some(3), Some(4)]);
        assert_eq!(list.remove(1), Some(1));
        assert_eq!(list.index_of(Some(3)), Some(2));
        assert_eq!(list.size(), 4);
        list.clear();
        assert_eq!(list.iter().count(), 0);
    }

    #[test]
    #[should_panic(expected = "ConcurrentModificationException")]
    fn an_iterator_gives_up_on_a_modified_list() {
        let list = List::default();
        list.add(Some(1));
        for _ in list.iter() {
            list.add(Some(2));
        }
    }

    #[test]
    fn a_sorted_map_keeps_one_value_per_key_in_order() {
        let map = SortedMap::default();
        for (key, value) in [(5, 1), (2, 2), (9, 3), (2, 4)] {
            map.put(key, value);
        }
        let entry = |key, value| (Some(key), Some(value));
        assert_eq!(map.entries(), [entry(2, 4), entry(5, 1), entry(9, 3)]);
        assert_eq!((map.get(9), map.get(3)), (Some(3), None));
        map.clear();
        assert_eq!(map.size(), 0);
    }

    #[test]
    fn a_monitor_lets_its_owner_in_again_and_others_only_after_the_last_exit() {
        let monitor = Monitor::default();
        let entered = AtomicUsize::new(0);
        thread::scope(|scope| {
            let outer = monitor.enter();
            let inner = monitor.enter();
            scope.spawn(|| {
                let _inside = monitor.enter();
                entered.store(1, Relaxed);
            });
            drop(inner);
            thread::yield_now();
            assert_eq!(entered.load(Relaxed), 0);
            drop(outer);
        });
        assert_eq!(entered.load(Relaxed), 1);
    }

    #[test]
    #[should_panic(expected = "NullPointerException")]
    fn a_null_field_cannot_be_dereferenced() {
        Field::default().deref("field");
    }
}
