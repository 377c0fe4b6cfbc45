//! The registry of data sources that V1 and V2 share, a static map in Commons DBCP 1.4.

use std::sync::Mutex;

use crate::java::{List, enter};

/// The keys of all registered data sources.
///
/// Registering holds the class's monitor while it iterates all keys to find the highest, and inserts the next. Leaving takes
/// no lock, so it modifies the map under the iterator.
#[derive(Debug, Default)]
pub struct InstanceKeys {
    class_monitor: Mutex<()>,
    keys: List,
}

impl InstanceKeys {
    /// An empty registry.
    pub fn new() -> InstanceKeys {
        InstanceKeys::default()
    }

    /// The number of registered data sources.
    pub fn len(&self) -> usize {
        self.keys.size()
    }

    /// Whether no data source is registered.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    pub(crate) fn register(&self) -> i32 {
        let _class = enter(&self.class_monitor);
        let highest = self.keys.iter().map(|key| key.expect("NullPointerException: key")).max();
        let key = highest.unwrap_or(0) + 1;
        self.keys.add(Some(key));
        key
    }

    pub(crate) fn remove(&self, key: i32) {
        if let Some(index) = self.keys.index_of(Some(key)) {
            self.keys.remove(index);
        }
    }

    /// What [`remove`](InstanceKeys::remove) should have been.
    pub(crate) fn remove_locked(&self, key: i32) {
        let _class = enter(&self.class_monitor);
        self.remove(key);
    }
}
