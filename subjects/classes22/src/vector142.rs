//! V10, `java.util.Vector` of JDK 1.4.2: a call locks the vector, but not the collection that it is given.

use crate::java::{Inside, List, Monitor};

/// A growable array whose methods hold its monitor.
///
/// *Shared*: the elements, the element count and the modification counter.
/// *Locking*: every method of one vector is one critical section. Methods that take another vector hold only their own
/// monitor and call the other's locked methods one by one, or iterate it with a fail-fast iterator without a lock.
/// *Bugs*: [`copy_of`](Vector::copy_of) asks for the size and copies later: the new vector ends in nulls if the other has
/// changed. [`equals`](Vector::equals), [`contains_all`](Vector::contains_all), [`remove_all`](Vector::remove_all) and
/// [`retain_all`](Vector::retain_all) iterate the other, which panics if it is modified meanwhile.
/// [`add_all`](Vector::add_all) of two vectors to each other is a cycle of locks.
#[derive(Debug, Default)]
pub struct Vector {
    monitor: Monitor,
    list: List,
}

/// [`Vector`] with operations on two vectors that hold both monitors, entered in an order that all agree on.
#[derive(Debug, Default)]
pub struct VectorFixed {
    vector: Vector,
}

impl Vector {
    /// An empty vector.
    pub fn new() -> Vector {
        Vector::default()
    }

    /// A vector with the elements of another one: its size is asked for first.
    pub fn copy_of(other: &Vector) -> Vector {
        let count = other.size();
        let array = other.to_array();
        // An array that has become too short is replaced by a longer one, which nobody looks at.
        let array = if array.len() > count { vec![None; count] } else { array };
        let vector = Vector::default();
        for i in 0..count {
            vector.list.add(array.get(i).copied().flatten());
        }
        vector
    }

    /// The number of elements.
    pub fn size(&self) -> usize {
        let _own = self.monitor.enter();
        self.list.size()
    }

    /// Whether there is no element.
    pub fn is_empty(&self) -> bool {
        self.size() == 0
    }

    /// A copy of the elements.
    pub fn to_array(&self) -> Vec<Option<i32>> {
        let _own = self.monitor.enter();
        (0..self.list.size()).map(|i| self.list.get(i)).collect()
    }

    /// The element at an index.
    pub fn get(&self, index: u8) -> Option<i32> {
        let _own = self.monitor.enter();
        self.list.get(index.into())
    }

    /// The first element.
    pub fn first_element(&self) -> Option<i32> {
        let _own = self.monitor.enter();
        self.list.get(0)
    }

    /// The last element.
    pub fn last_element(&self) -> Option<i32> {
        let _own = self.monitor.enter();
        let size = self.list.size();
        assert!(size != 0, "NoSuchElementException");
        self.list.get(size - 1)
    }

    /// Appends.
    pub fn add(&self, element: i32) {
        let _own = self.monitor.enter();
        self.list.add(Some(element));
    }

    /// Inserts before the element at an index.
    pub fn insert(&self, index: u8, element: i32) {
        let _own = self.monitor.enter();
        self.list.insert(index.into(), Some(element));
    }

    /// Replaces the element at an index and returns the old one.
    pub fn set(&self, index: u8, element: i32) -> Option<i32> {
        let _own = self.monitor.enter();
        let old = self.list.get(index.into());
        self.list.set(index.into(), Some(element));
        old
    }

    /// Removes the element at an index and returns it.
    pub fn remove_at(&self, index: u8) -> Option<i32> {
        let _own = self.monitor.enter();
        self.list.remove(index.into())
    }

    /// Removes the first occurrence; `false` if there is none.
    pub fn remove(&self, element: i32) -> bool {
        let _own = self.monitor.enter();
        let found = self.list.index_of(Some(element));
        if let Some(index) = found {
            self.list.remove(index);
        }
        found.is_some()
    }

    /// Removes everything.
    pub fn clear(&self) {
        let _own = self.monitor.enter();
        self.list.clear();
    }

    /// Cuts the vector, or fills it up with nulls.
    pub fn set_size(&self, size: u8) {
        let _own = self.monitor.enter();
        while self.list.size() < size.into() {
            self.list.add(None);
        }
        while self.list.size() > size.into() {
            self.list.remove(self.list.size() - 1);
        }
    }

    /// The first occurrence.
    pub fn index_of(&self, element: i32) -> Option<usize> {
        let _own = self.monitor.enter();
        self.list.index_of(Some(element))
    }

    /// The last occurrence.
    pub fn last_index_of(&self, element: i32) -> Option<usize> {
        let _own = self.monitor.enter();
        (0..self.list.size()).rev().find(|&i| self.list.get(i) == Some(element))
    }

    /// Whether an element occurs.
    pub fn contains(&self, element: i32) -> bool {
        self.index_of(element).is_some()
    }

    /// A copy of the elements from one index up to another.
    pub fn sub_list(&self, start: u8, end: u8) -> Vec<Option<i32>> {
        let _own = self.monitor.enter();
        (start.into()..end.into()).map(|i| self.list.get(i)).collect()
    }

    /// The hash code.
    pub fn hash_code(&self) -> i32 {
        let _own = self.monitor.enter();
        self.list.iter().fold(1, |hash, element| hash.wrapping_mul(31).wrapping_add(element.unwrap_or(0)))
    }

    /// The elements as a text.
    pub fn text(&self) -> String {
        format!("{:?}", self.to_array())
    }

    /// Appends the elements of another vector.
    pub fn add_all(&self, other: &Vector) {
        let _own = self.monitor.enter();
        for element in other.to_array() {
            self.list.add(element);
        }
    }

    /// Whether another vector has the same elements, iterated without its monitor.
    pub fn equals(&self, other: &Vector) -> bool {
        let _own = self.monitor.enter();
        std::ptr::eq(self, other) || self.list.iter().eq(other.list.iter())
    }

    /// Whether all elements of another vector occur, iterated without its monitor.
    pub fn contains_all(&self, other: &Vector) -> bool {
        let _own = self.monitor.enter();
        other.list.iter().all(|element| self.list.index_of(element).is_some())
    }

    /// Removes all elements that occur in another vector, iterated without its monitor.
    pub fn remove_all(&self, other: &Vector) {
        self.keep(other, false);
    }

    /// Removes all elements that do not occur in another vector, iterated without its monitor.
    pub fn retain_all(&self, other: &Vector) {
        self.keep(other, true);
    }

    fn keep(&self, other: &Vector, if_found: bool) {
        let _own = self.monitor.enter();
        let mut i = 0;
        while i < self.list.size() {
            let element = self.list.get(i);
            if other.list.iter().any(|candidate| candidate == element) == if_found {
                i += 1;
            } else {
                self.list.remove(i);
            }
        }
    }
}

impl VectorFixed {
    /// An empty vector.
    pub fn new() -> VectorFixed {
        VectorFixed::default()
    }

    /// A vector with the elements of another one.
    pub fn copy_of(other: &VectorFixed) -> VectorFixed {
        let copy = VectorFixed::default();
        copy.add_all(other);
        copy
    }

    /// Enters both monitors, that of the vector at the lower address first.
    fn enter_both<'a>(&'a self, other: &'a VectorFixed) -> [Inside<'a>; 2] {
        let in_order = std::ptr::from_ref(self) < std::ptr::from_ref(other);
        let (first, second) = if in_order { (self, other) } else { (other, self) };
        [first.vector.monitor.enter(), second.vector.monitor.enter()]
    }

    /// Appends the elements of another vector.
    pub fn add_all(&self, other: &VectorFixed) {
        let _both = self.enter_both(other);
        for element in other.vector.to_array() {
            self.vector.list.add(element);
        }
    }

    /// Whether another vector has the same elements.
    pub fn equals(&self, other: &VectorFixed) -> bool {
        let _both = self.enter_both(other);
        self.vector.to_array() == other.vector.to_array()
    }

    /// Whether all elements of another vector occur.
    pub fn contains_all(&self, other: &VectorFixed) -> bool {
        let _both = self.enter_both(other);
        other.vector.to_array().iter().all(|&element| self.vector.list.index_of(element).is_some())
    }

    /// Removes all elements that occur in another vector.
    pub fn remove_all(&self, other: &VectorFixed) {
        self.keep(other, false);
    }

    /// Removes all elements that do not occur in another vector.
    pub fn retain_all(&self, other: &VectorFixed) {
        self.keep(other, true);
    }

    fn keep(&self, other: &VectorFixed, if_found: bool) {
        let _both = self.enter_both(other);
        let elements = other.vector.to_array();
        for i in (0..self.vector.list.size()).rev() {
            if elements.contains(&self.vector.list.get(i)) != if_found {
                self.vector.list.remove(i);
            }
        }
    }

    /// See [`Vector::size`].
    pub fn size(&self) -> usize {
        self.vector.size()
    }

    /// See [`Vector::to_array`].
    pub fn to_array(&self) -> Vec<Option<i32>> {
        self.vector.to_array()
    }

    /// See [`Vector::get`].
    pub fn get(&self, index: u8) -> Option<i32> {
        self.vector.get(index)
    }

    /// See [`Vector::add`].
    pub fn add(&self, element: i32) {
        self.vector.add(element);
    }

    /// See [`Vector::insert`].
    pub fn insert(&self, index: u8, element: i32) {
        self.vector.insert(index, element);
    }

    /// See [`Vector::remove`].
    pub fn remove(&self, element: i32) -> bool {
        self.vector.remove(element)
    }

    /// See [`Vector::clear`].
    pub fn clear(&self) {
        self.vector.clear();
    }

    /// See [`Vector::set_size`].
    pub fn set_size(&self, size: u8) {
        self.vector.set_size(size);
    }

    /// See [`Vector::last_index_of`].
    pub fn last_index_of(&self, element: i32) -> Option<usize> {
        self.vector.last_index_of(element)
    }

    /// See [`Vector::hash_code`].
    pub fn hash_code(&self) -> i32 {
        self.vector.hash_code()
    }

    /// See [`Vector::is_empty`].
    pub fn is_empty(&self) -> bool {
        self.vector.is_empty()
    }

    /// See [`Vector::first_element`].
    pub fn first_element(&self) -> Option<i32> {
        self.vector.first_element()
    }

    /// See [`Vector::last_element`].
    pub fn last_element(&self) -> Option<i32> {
        self.vector.last_element()
    }

    /// See [`Vector::set`].
    pub fn set(&self, index: u8, element: i32) -> Option<i32> {
        self.vector.set(index, element)
    }

    /// See [`Vector::remove_at`].
    pub fn remove_at(&self, index: u8) -> Option<i32> {
        self.vector.remove_at(index)
    }

    /// See [`Vector::index_of`].
    pub fn index_of(&self, element: i32) -> Option<usize> {
        self.vector.index_of(element)
    }

    /// See [`Vector::contains`].
    pub fn contains(&self, element: i32) -> bool {
        self.vector.contains(element)
    }

    /// See [`Vector::sub_list`].
    pub fn sub_list(&self, start: u8, end: u8) -> Vec<Option<i32>> {
        self.vector.sub_list(start, end)
    }

    /// See [`Vector::text`].
    pub fn text(&self) -> String {
        self.vector.text()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn copies_compares_and_combines_vectors() {
        let (one, other) = (Vector::new(), Vector::new());
        for element in [1, 2, 3] {
            one.add(element);
        }
        other.add(2);
        assert!(one.contains_all(&other) && !one.equals(&other) && one.equals(&Vector::copy_of(&one)));
        other.add_all(&one);
        assert_eq!((other.to_array().len(), other.last_index_of(2)), (4, Some(2)));
        one.remove_all(&other);
        assert!(one.is_empty());
        other.add_all(&other);
        assert_eq!(other.size(), 8);
        other.set_size(1);
        assert_eq!(other.text(), "[Some(2)]");
    }

    #[test]
    fn the_twin_combines_vectors_alike() {
        let (one, other) = (VectorFixed::new(), VectorFixed::new());
        for element in [1, 2, 3] {
            one.add(element);
        }
        other.add(2);
        assert!(one.contains_all(&other) && one.equals(&VectorFixed::copy_of(&one)));
        one.retain_all(&other);
        assert_eq!(one.to_array(), [Some(2)]);
        one.remove_all(&other);
        assert_eq!(one.size(), 0);
    }
}
