//! V9, `java.util.Vector` of JDK 1.1.7: a search starts at a stale index.

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use crate::java::{enter, locked_twin};

/// A growable array whose methods hold its monitor.
///
/// *Shared*: the element array (its length is the capacity), `element_count` and `capacity_increment`.
/// *Locking*: every method is one critical section, except that
/// [`last_index_of`](Vector::last_index_of) reads the count before it enters the monitor; `size`, `capacity`,
/// `is_empty`, `contains` and `index_of` read one field or call one locked method.
/// *Bug*: while `last_index_of` holds a stale count, the vector is shortened and trimmed: the index lies beyond the array.
/// Or an element is appended, and the search misses it.
#[derive(Debug)]
pub struct Vector {
    element_data: Mutex<Vec<Option<i32>>>,
    element_count: AtomicUsize,
    capacity_increment: usize,
}

impl Vector {
    /// An empty vector that grows by `increment` slots, or doubles if that is 0.
    pub fn new(capacity: u8, increment: u8) -> Vector {
        Vector {
            element_data: Mutex::new(vec![None; capacity.into()]),
            element_count: AtomicUsize::new(0),
            capacity_increment: increment.into(),
        }
    }

    fn count(&self) -> usize {
        self.element_count.load(Relaxed)
    }

    fn check(&self, index: usize, limit: usize) {
        assert!(index < limit, "ArrayIndexOutOfBoundsException: {index} >= {limit}");
    }

    fn grow(&self, data: &mut Vec<Option<i32>>, needed: usize) {
        if needed > data.len() {
            let more = if self.capacity_increment > 0 { self.capacity_increment } else { data.len() };
            data.resize((data.len() + more).max(needed), None);
        }
    }

    /// Copies the elements into `target` and returns it, as long as it was; panics if it is too short.
    pub fn copy_into(&self, mut target: Vec<i32>) -> Vec<i32> {
        let data = enter(&self.element_data);
        for i in (0..self.count()).rev() {
            self.check(i, target.len());
            target[i] = data[i].unwrap_or(0);
        }
        target
    }

    /// Shortens the array to the elements.
    pub fn trim_to_size(&self) {
        let mut data = enter(&self.element_data);
        let count = self.count();
        if count < data.len() {
            data.truncate(count);
        }
    }

    /// Makes room for `needed` elements.
    pub fn ensure_capacity(&self, needed: u8) {
        self.grow(&mut enter(&self.element_data), needed.into());
    }

    /// Cuts the vector, or fills it up with nulls.
    pub fn set_size(&self, size: u8) {
        let mut data = enter(&self.element_data);
        let size = usize::from(size);
        if size > self.count() {
            self.grow(&mut data, size);
        } else {
            for i in size..self.count() {
                data[i] = None;
            }
        }
        self.element_count.store(size, Relaxed);
    }

    /// The length of the array.
    pub fn capacity(&self) -> usize {
        enter(&self.element_data).len()
    }

    /// The number of elements, read without the monitor.
    pub fn size(&self) -> usize {
        self.count()
    }

    /// Whether there is no element, read without the monitor.
    pub fn is_empty(&self) -> bool {
        self.count() == 0
    }

    /// A copy of the elements.
    pub fn elements(&self) -> Vec<Option<i32>> {
        let data = enter(&self.element_data);
        data[..self.count()].to_vec()
    }

    /// Whether an element occurs.
    pub fn contains(&self, element: i32) -> bool {
        self.index_of_from(element, 0).is_some()
    }

    /// The first occurrence.
    pub fn index_of(&self, element: i32) -> Option<usize> {
        self.index_of_from(element, 0)
    }

    /// The first occurrence at or after `index`.
    pub fn index_of_from(&self, element: i32, index: u8) -> Option<usize> {
        let data = enter(&self.element_data);
        (index.into()..self.count()).find(|&i| data[i] == Some(element))
    }

    /// The last occurrence. The count is read before the monitor is entered.
    pub fn last_index_of(&self, element: i32) -> Option<usize> {
        let count = self.count();
        self.last_index_below(element, count)
    }

    /// The last occurrence at or before `index`.
    pub fn last_index_of_from(&self, element: i32, index: u8) -> Option<usize> {
        self.last_index_below(element, usize::from(index) + 1)
    }

    fn last_index_below(&self, element: i32, end: usize) -> Option<usize> {
        let data = enter(&self.element_data);
        (0..end).rev().find(|&i| {
            self.check(i, data.len());
            data[i] == Some(element)
        })
    }

    /// The element at an index.
    pub fn element_at(&self, index: u8) -> Option<i32> {
        let data = enter(&self.element_data);
        self.check(index.into(), self.count());
        data[usize::from(index)]
    }

    /// The first element.
    pub fn first_element(&self) -> Option<i32> {
        let data = enter(&self.element_data);
        assert!(self.count() != 0, "NoSuchElementException");
        data[0]
    }

    /// The last element.
    pub fn last_element(&self) -> Option<i32> {
        let data = enter(&self.element_data);
        let count = self.count();
        assert!(count != 0, "NoSuchElementException");
        data[count - 1]
    }

    /// Replaces an element.
    pub fn set_element_at(&self, element: i32, index: u8) {
        let mut data = enter(&self.element_data);
        self.check(index.into(), self.count());
        data[usize::from(index)] = Some(element);
    }

    /// Removes the element at an index.
    pub fn remove_element_at(&self, index: u8) {
        let mut data = enter(&self.element_data);
        self.remove_at(&mut data, index.into());
    }

    fn remove_at(&self, data: &mut [Option<i32>], index: usize) {
        let count = self.count();
        self.check(index, count);
        data.copy_within(index + 1..count, index);
        self.element_count.store(count - 1, Relaxed);
        data[count - 1] = None;
    }

    /// Inserts before the element at an index.
    pub fn insert_element_at(&self, element: i32, index: u8) {
        let mut data = enter(&self.element_data);
        let (index, count) = (usize::from(index), self.count());
        self.check(index, count + 1);
        self.grow(&mut data, count + 1);
        data.copy_within(index..count, index + 1);
        data[index] = Some(element);
        self.element_count.store(count + 1, Relaxed);
    }

    /// Appends.
    pub fn add_element(&self, element: i32) {
        let mut data = enter(&self.element_data);
        let count = self.count();
        self.grow(&mut data, count + 1);
        self.element_count.store(count + 1, Relaxed);
        data[count] = Some(element);
    }

    /// Removes the first occurrence; `false` if there is none.
    pub fn remove_element(&self, element: i32) -> bool {
        let mut data = enter(&self.element_data);
        let found = (0..self.count()).find(|&i| data[i] == Some(element));
        if let Some(index) = found {
            self.remove_at(&mut data, index);
        }
        found.is_some()
    }

    /// Removes everything.
    pub fn remove_all_elements(&self) {
        let mut data = enter(&self.element_data);
        for i in 0..self.count() {
            data[i] = None;
        }
        self.element_count.store(0, Relaxed);
    }
}

locked_twin! {
    VectorFixed of Vector, new(capacity: u8, increment: u8) {
        fn copy_into(&self, target: Vec<i32>) -> Vec<i32>;
        fn trim_to_size(&self);
        fn ensure_capacity(&self, needed: u8);
        fn set_size(&self, size: u8);
        fn capacity(&self) -> usize;
        fn size(&self) -> usize;
        fn is_empty(&self) -> bool;
        fn elements(&self) -> Vec<Option<i32>>;
        fn contains(&self, element: i32) -> bool;
        fn index_of(&self, element: i32) -> Option<usize>;
        fn index_of_from(&self, element: i32, index: u8) -> Option<usize>;
        fn last_index_of(&self, element: i32) -> Option<usize>;
        fn last_index_of_from(&self, element: i32, index: u8) -> Option<usize>;
        fn element_at(&self, index: u8) -> Option<i32>;
        fn first_element(&self) -> Option<i32>;
        fn last_element(&self) -> Option<i32>;
        fn set_element_at(&self, element: i32, index: u8);
        fn remove_element_at(&self, index: u8);
        fn insert_element_at(&self, element: i32, index: u8);
        fn add_element(&self, element: i32);
        fn remove_element(&self, element: i32) -> bool;
        fn remove_all_elements(&self);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keeps_searches_and_trims_its_elements() {
        let vector = Vector::new(1, 0);
        for element in [1, 2, 1, 3] {
            vector.add_element(element);
        }
        vector.insert_element_at(9, 1);
        assert_eq!(vector.elements(), [1, 9, 2, 1, 3].map(Some));
        assert_eq!(vector.last_index_of(1), Some(3));
        assert_eq!(vector.index_of(1), Some(0));
        assert!(vector.remove_element(9) && !vector.contains(9));
        vector.set_size(2);
        vector.trim_to_size();
        assert_eq!((vector.capacity(), vector.last_element()), (2, Some(2)));
        assert_eq!(vector.last_index_of(3), None);
        vector.remove_all_elements();
        assert!(vector.is_empty());
    }
}
