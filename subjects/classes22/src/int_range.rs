//! C17, Commons Lang 2.4 `IntRange`: an immutable object whose cached hash code is built in place.

use std::sync::atomic::{AtomicI32, Ordering::Relaxed};

use crate::java::{Field, locked_twin};

/// Stands for the hash of the class.
const CLASS_HASH: i32 = 4711;

/// An immutable range of integers.
///
/// *Shared*: caches that are filled on demand: `hash_code` (0 while unset), the text, and the boxed bounds.
/// *Locking*: none.
/// *Bug*: the hash code is computed in the field, step by step: another caller returns a partial value, or both
/// computations mix and the wrong value stays. The failure is a wrong result, not a panic.
#[derive(Debug)]
pub struct IntRange {
    min: i32,
    max: i32,
    hash_code: AtomicI32,
    boxed_min: Field,
    boxed_max: Field,
    text: Field,
}

impl IntRange {
    /// The range between two numbers, in either order.
    pub fn new(one: i32, other: i32) -> IntRange {
        IntRange {
            min: one.min(other),
            max: one.max(other),
            hash_code: AtomicI32::new(0),
            boxed_min: Field::default(),
            boxed_max: Field::default(),
            text: Field::default(),
        }
    }

    /// The hash code, cached.
    pub fn hash_code(&self) -> i32 {
        if self.hash_code.load(Relaxed) == 0 {
            self.hash_code.store(17, Relaxed);
            for term in [CLASS_HASH, self.min, self.max] {
                let value = self.hash_code.load(Relaxed).wrapping_mul(37).wrapping_add(term);
                self.hash_code.store(value, Relaxed);
            }
        }
        self.hash_code.load(Relaxed)
    }

    /// The lower bound as an object, cached.
    pub fn minimum_number(&self) -> i32 {
        if self.boxed_min.get().is_none() {
            self.boxed_min.set(Some(self.min));
        }
        self.boxed_min.deref("minObject")
    }

    /// The upper bound as an object, cached.
    pub fn maximum_number(&self) -> i32 {
        if self.boxed_max.get().is_none() {
            self.boxed_max.set(Some(self.max));
        }
        self.boxed_max.deref("maxObject")
    }

    /// The lower bound.
    pub fn minimum_int(&self) -> i32 {
        self.min
    }

    /// The upper bound.
    pub fn maximum_int(&self) -> i32 {
        self.max
    }

    /// The lower bound, wide.
    pub fn minimum_long(&self) -> i64 {
        self.min.into()
    }

    /// The upper bound, wide.
    pub fn maximum_long(&self) -> i64 {
        self.max.into()
    }

    /// The lower bound, floating.
    pub fn minimum_double(&self) -> f64 {
        self.min.into()
    }

    /// The upper bound, floating.
    pub fn maximum_double(&self) -> f64 {
        self.max.into()
    }

    /// Whether a number lies inside.
    pub fn contains(&self, number: i32) -> bool {
        self.min <= number && number <= self.max
    }

    /// Whether a range lies inside.
    pub fn contains_range(&self, one: i32, other: i32) -> bool {
        self.contains(one) && self.contains(other)
    }

    /// Whether a range overlaps this one.
    pub fn overlaps_range(&self, one: i32, other: i32) -> bool {
        one.min(other) <= self.max && one.max(other) >= self.min
    }

    /// Whether a range is this one.
    pub fn equals(&self, one: i32, other: i32) -> bool {
        (one.min(other), one.max(other)) == (self.min, self.max)
    }

    /// The text, made once.
    pub fn text(&self) -> String {
        if self.text.get().is_none() {
            self.text.set(Some(1));
        }
        format!("Range[{},{}]", self.min, self.max)
    }

    /// The first few numbers of the range.
    pub fn to_array(&self) -> Vec<i32> {
        (self.min..=self.max).take(16).collect()
    }
}

locked_twin! {
    IntRangeFixed of IntRange, new(one: i32, other: i32) {
        fn hash_code(&self) -> i32;
        fn minimum_number(&self) -> i32;
        fn maximum_number(&self) -> i32;
        fn minimum_int(&self) -> i32;
        fn maximum_int(&self) -> i32;
        fn minimum_long(&self) -> i64;
        fn maximum_long(&self) -> i64;
        fn minimum_double(&self) -> f64;
        fn maximum_double(&self) -> f64;
        fn contains(&self, number: i32) -> bool;
        fn contains_range(&self, one: i32, other: i32) -> bool;
        fn overlaps_range(&self, one: i32, other: i32) -> bool;
        fn equals(&self, one: i32, other: i32) -> bool;
        fn text(&self) -> String;
        fn to_array(&self) -> Vec<i32>;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn caches_its_hash_code_and_knows_its_bounds() {
        let range = IntRange::new(5, 2);
        let hash = range.hash_code();
        assert_eq!(hash, ((17 * 37 + CLASS_HASH) * 37 + 2) * 37 + 5);
        assert_eq!(range.hash_code(), hash);
        assert_eq!((range.minimum_number(), range.maximum_number()), (2, 5));
        assert!(range.contains(2) && !range.contains(6) && range.overlaps_range(9, 5));
        assert_eq!(range.to_array(), [2, 3, 4, 5]);
        assert_eq!(range.text(), "Range[2,5]");
    }
}
