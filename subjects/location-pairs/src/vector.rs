//! `java.util.Vector` of JDK 1.1.7 (Fig. 4): a search begins at a count that was read without the lock.

use crate::enter;
use std::sync::Mutex;
use std::sync::atomic::{AtomicI32, AtomicUsize, Ordering::Relaxed};

/// A vector of at most eight elements.
///
/// *Error*: [`last_index_of`](Vector::last_index_of) reads the count, [`add_element`](Vector::add_element) adds the element that is
/// looked for, and the search misses it.
/// *By hand*: l1 reads the count, l2 enters, l3 reads the elements and leaves. m1 enters, m2 reads the count, m3 writes the
/// element, m4 writes the count, m5 leaves. Pairs: l1 with m4; l2 with m1 and m5; l3 with m1, m3, m5: 12 targets. The lock leaves
/// l1-m4, m4-l1, m5-l2, l3-m1: 4. The error is l1-m4.
#[derive(Debug, Default)]
pub struct Vector {
    monitor: Mutex<()>,
    element_count: AtomicUsize,
    element_data: [AtomicI32; 8],
}

impl Vector {
    /// Adds an element; nothing if the vector is full.
    pub fn add_element(&self, element: i32) {
        let _monitor = enter(&self.monitor);
        let count = self.element_count.load(Relaxed);
        if count < 8 {
            self.element_data[count].store(element, Relaxed);
            self.element_count.store(count.saturating_add(1), Relaxed);
        }
    }

    /// Where an element is last.
    pub fn last_index_of(&self, element: i32) -> Option<usize> {
        let mut index = self.element_count.load(Relaxed);
        let _monitor = enter(&self.monitor);
        while index > 0 {
            index = index.saturating_sub(1);
            if self.element_data[index].load(Relaxed) == element {
                return Some(index);
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_the_last_of_equal_elements() {
        let vector = Vector::default();
        [3, 5, 3].into_iter().for_each(|element| vector.add_element(element));
        assert_eq!((vector.last_index_of(3), vector.last_index_of(4)), (Some(2), None));
    }
}
