//! V17, log4j 1.2.13 `AppenderAttachableImpl`: a list that may be null, tested and used without a lock.

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use crate::java::{enter, locked_twin};

/// Vectors that have been made, one after the other; a reference is a position, 0 is null.
const VECTORS: usize = 64;

/// A set of appenders, each of which is a number.
///
/// *Shared*: `appender_list`, a reference to a vector (which has a monitor of its own), null until the first appender is
/// added and again after all have been removed.
/// *Locking*: none.
/// *Bug*: the reference is read to test it and again to use it; [`remove_all_appenders`](AppenderAttachable::remove_all_appenders)
/// writes null in between. Likewise the size is read, an element is removed, and the last index lies beyond the end.
#[derive(Debug)]
pub struct AppenderAttachable {
    appender_list: AtomicUsize,
    vectors: [Mutex<Vec<i32>>; VECTORS],
    made: AtomicUsize,
}

impl AppenderAttachable {
    /// No appenders.
    #[allow(clippy::new_without_default)]
    pub fn new() -> AppenderAttachable {
        AppenderAttachable {
            appender_list: AtomicUsize::new(0),
            vectors: [const { Mutex::new(Vec::new()) }; VECTORS],
            made: AtomicUsize::new(0),
        }
    }

    fn is_null(&self) -> bool {
        self.appender_list.load(Relaxed) == 0
    }

    /// Reads the reference and enters the vector's monitor.
    fn list(&self) -> std::sync::MutexGuard<'_, Vec<i32>> {
        let reference = self.appender_list.load(Relaxed);
        assert!(reference != 0, "NullPointerException: appenderList");
        enter(&self.vectors[reference])
    }

    fn size(&self) -> usize {
        self.list().len()
    }

    fn element_at(&self, index: usize) -> i32 {
        let list = self.list();
        assert!(index < list.len(), "ArrayIndexOutOfBoundsException: {index} >= {}", list.len());
        list[index]
    }

    /// Adds an appender, once.
    pub fn add_appender(&self, appender: i32) {
        if self.is_null() {
            // A new object each time: the counter only stands for the allocator.
            let new = self.made.fetch_add(1, Relaxed) + 1;
            assert!(new < VECTORS, "the re-creation has no more vectors");
            self.appender_list.store(new, Relaxed);
        }
        if !self.list().contains(&appender) {
            self.list().push(appender);
        }
    }

    /// Calls every appender and says how many there were.
    pub fn append_loop_on_appenders(&self) -> usize {
        let mut size = 0;
        if !self.is_null() {
            size = self.size();
            for i in 0..size {
                self.element_at(i);
            }
        }
        size
    }

    /// All appenders, or nothing if there is no list.
    pub fn all_appenders(&self) -> Option<Vec<i32>> {
        if self.is_null() { None } else { Some(self.list().clone()) }
    }

    /// The appender with a name, which is the number itself.
    pub fn appender(&self, name: i32) -> Option<i32> {
        if self.is_null() {
            return None;
        }
        (0..self.size()).map(|i| self.element_at(i)).find(|&appender| appender == name)
    }

    /// Whether an appender is there.
    pub fn is_attached(&self, appender: i32) -> bool {
        if self.is_null() {
            return false;
        }
        let size = self.size();
        (0..size).any(|i| self.element_at(i) == appender)
    }

    /// Closes and removes all appenders.
    pub fn remove_all_appenders(&self) {
        if !self.is_null() {
            let length = self.size();
            for i in 0..length {
                self.element_at(i);
            }
            self.list().clear();
            self.appender_list.store(0, Relaxed);
        }
    }

    /// Removes an appender.
    pub fn remove_appender(&self, appender: i32) {
        if self.is_null() {
            return;
        }
        self.list().retain(|&other| other != appender);
    }

    /// Removes the appender with a name.
    pub fn remove_appender_by_name(&self, name: i32) {
        if self.is_null() {
            return;
        }
        for i in 0..self.size() {
            if self.element_at(i) == name {
                let mut list = self.list();
                assert!(i < list.len(), "ArrayIndexOutOfBoundsException: {i}");
                list.remove(i);
                break;
            }
        }
    }
}

locked_twin! {
    AppenderAttachableFixed of AppenderAttachable, new() {
        fn add_appender(&self, appender: i32);
        fn append_loop_on_appenders(&self) -> usize;
        fn all_appenders(&self) -> Option<Vec<i32>>;
        fn appender(&self, name: i32) -> Option<i32>;
        fn is_attached(&self, appender: i32) -> bool;
        fn remove_all_appenders(&self);
        fn remove_appender(&self, appender: i32);
        fn remove_appender_by_name(&self, name: i32);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn attaches_and_detaches_appenders() {
        let appenders = AppenderAttachable::new();
        assert_eq!(appenders.all_appenders(), None);
        for appender in [1, 2, 2, 3] {
            appenders.add_appender(appender);
        }
        assert_eq!(appenders.append_loop_on_appenders(), 3);
        appenders.remove_appender(2);
        appenders.remove_appender_by_name(1);
        assert_eq!(appenders.all_appenders(), Some(vec![3]));
        assert_eq!((appenders.appender(3), appenders.is_attached(1)), (Some(3), false));
        appenders.remove_all_appenders();
        assert_eq!(appenders.append_loop_on_appenders(), 0);
    }
}
