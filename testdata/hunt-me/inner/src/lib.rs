//! What another crate wraps, whose name says nothing of threads.

use std::sync::Mutex;

/// Keeps numbers.
#[derive(Debug, Default)]
pub struct Depot {
    goods: Mutex<Vec<u64>>,
}

impl Depot {
    /// Adds one.
    pub fn put(&self, thing: u64) {
        self.goods.lock().unwrap().push(thing);
    }

    /// Takes the last one.
    ///
    /// # Panics
    /// If there is none.
    pub fn take(&self) -> u64 {
        self.goods.lock().unwrap().pop().expect("there is something")
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.goods.lock().unwrap().len()
    }

    /// Whether there is nothing.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}
