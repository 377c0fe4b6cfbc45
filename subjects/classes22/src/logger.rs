//! V6, `java.util.logging.Logger` of JDK 1.4.1: the filter vanishes between its test and its use.

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicI32, Ordering::Relaxed};

use crate::java::{Field, List, enter, locked_twin};

/// The levels of the original that have a method of their own, by weight.
const SEVERE: i32 = 1000;
const WARNING: i32 = 900;
const INFO: i32 = 800;
const CONFIG: i32 = 700;
const FINE: i32 = 500;
const FINER: i32 = 400;
const FINEST: i32 = 300;

/// A logger with a level, a filter and handlers. A filter is a number: it lets records through whose message is not it.
///
/// *Shared*: `filter` and `level`, unprotected; the handlers and what they have published, under the monitor.
/// *Locking*: [`log`](Logger::log), into which all logging methods funnel, holds the monitor while it tests and calls the
/// filter; [`set_filter`](Logger::set_filter) writes the field without it.
/// *Bug*: the filter is found, another thread removes it, and null is called.
///
/// The benchmark widened the window with a sleep of 200 ms between test and call; here the two reads are adjacent.
#[derive(Debug)]
pub struct Logger {
    name: i32,
    monitor: Mutex<Vec<i32>>,
    filter: Field,
    level: Field,
    use_parent_handlers: AtomicBool,
    bundle: AtomicI32,
    handlers: List,
}

impl Logger {
    /// A logger with a name, without filter and level.
    pub fn new(name: i32) -> Logger {
        Logger {
            name,
            monitor: Mutex::new(Vec::new()),
            filter: Field::default(),
            level: Field::default(),
            use_parent_handlers: AtomicBool::new(true),
            bundle: AtomicI32::new(0),
            handlers: List::default(),
        }
    }

    /// The name.
    pub fn name(&self) -> i32 {
        self.name
    }

    /// The filter.
    pub fn filter(&self) -> Option<i32> {
        self.filter.get()
    }

    /// Sets or removes the filter, without the monitor.
    pub fn set_filter(&self, filter: Option<i32>) {
        self.filter.set(filter);
    }

    /// The level.
    pub fn level(&self) -> Option<i32> {
        self.level.get()
    }

    /// Sets or removes the level.
    pub fn set_level(&self, level: Option<i32>) {
        let _published = enter(&self.monitor);
        self.level.set(level);
    }

    /// Whether a record of a level would be logged.
    pub fn is_loggable(&self, level: i32) -> bool {
        level >= self.level.get().unwrap_or(INFO)
    }

    /// Whether the handlers of the parent are used.
    pub fn uses_parent_handlers(&self) -> bool {
        self.use_parent_handlers.load(Relaxed)
    }

    /// Says whether the handlers of the parent are used.
    pub fn set_use_parent_handlers(&self, used: bool) {
        self.use_parent_handlers.store(used, Relaxed);
    }

    /// The resource bundle.
    pub fn resource_bundle(&self) -> i32 {
        self.bundle.load(Relaxed)
    }

    /// Sets the resource bundle.
    pub fn set_resource_bundle(&self, bundle: i32) {
        self.bundle.store(bundle, Relaxed);
    }

    /// Adds a handler.
    pub fn add_handler(&self, handler: i32) {
        let _published = enter(&self.monitor);
        self.handlers.add(Some(handler));
    }

    /// Removes a handler, if it is there.
    pub fn remove_handler(&self, handler: i32) {
        let _published = enter(&self.monitor);
        if let Some(index) = self.handlers.index_of(Some(handler)) {
            self.handlers.remove(index);
        }
    }

    /// The number of handlers.
    pub fn handlers(&self) -> usize {
        let _published = enter(&self.monitor);
        self.handlers.size()
    }

    /// What the handlers have published.
    pub fn published(&self) -> Vec<i32> {
        enter(&self.monitor).clone()
    }

    /// Logs a message at a level.
    pub fn log(&self, level: i32, message: i32) {
        if !self.is_loggable(level) {
            return;
        }
        let mut published = enter(&self.monitor);
        if self.filter.get().is_some() && self.filter.deref("filter") == message {
            return;
        }
        for _handler in self.handlers.iter() {
            published.push(message);
        }
    }

    /// Logs a message with its source.
    pub fn logp(&self, level: i32, source: i32, message: i32) {
        self.log(level, message.wrapping_add(source));
    }

    /// Logs a message with its source and bundle.
    pub fn logrb(&self, level: i32, source: i32, bundle: i32, message: i32) {
        self.logp(level, source, message.wrapping_add(bundle));
    }

    /// Logs the entry into a method.
    pub fn entering(&self, method: i32) {
        self.log(FINER, method);
    }

    /// Logs the exit from a method.
    pub fn exiting(&self, method: i32) {
        self.log(FINER, method);
    }

    /// Logs that a method throws.
    pub fn throwing(&self, method: i32) {
        self.log(FINER, method);
    }

    /// Logs at level severe.
    pub fn severe(&self, message: i32) {
        self.log(SEVERE, message);
    }

    /// Logs at level warning.
    pub fn warning(&self, message: i32) {
        self.log(WARNING, message);
    }

    /// Logs at level info.
    pub fn info(&self, message: i32) {
        self.log(INFO, message);
    }

    /// Logs at level config.
    pub fn config(&self, message: i32) {
        self.log(CONFIG, message);
    }

    /// Logs at level fine.
    pub fn fine(&self, message: i32) {
        self.log(FINE, message);
    }

    /// Logs at level finer.
    pub fn finer(&self, message: i32) {
        self.log(FINER, message);
    }

    /// Logs at level finest.
    pub fn finest(&self, message: i32) {
        self.log(FINEST, message);
    }
}

locked_twin! {
    LoggerFixed of Logger, new(name: i32) {
        fn name(&self) -> i32;
        fn filter(&self) -> Option<i32>;
        fn set_filter(&self, filter: Option<i32>);
        fn level(&self) -> Option<i32>;
        fn set_level(&self, level: Option<i32>);
        fn is_loggable(&self, level: i32) -> bool;
        fn uses_parent_handlers(&self) -> bool;
        fn set_use_parent_handlers(&self, used: bool);
        fn resource_bundle(&self) -> i32;
        fn set_resource_bundle(&self, bundle: i32);
        fn add_handler(&self, handler: i32);
        fn remove_handler(&self, handler: i32);
        fn handlers(&self) -> usize;
        fn published(&self) -> Vec<i32>;
        fn log(&self, level: i32, message: i32);
        fn logp(&self, level: i32, source: i32, message: i32);
        fn logrb(&self, level: i32, source: i32, bundle: i32, message: i32);
        fn entering(&self, method: i32);
        fn exiting(&self, method: i32);
        fn throwing(&self, method: i32);
        fn severe(&self, message: i32);
        fn warning(&self, message: i32);
        fn info(&self, message: i32);
        fn config(&self, message: i32);
        fn fine(&self, message: i32);
        fn finer(&self, message: i32);
        fn finest(&self, message: i32);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn logs_what_level_and_filter_let_through() {
        let logger = Logger::new(1);
        logger.add_handler(7);
        logger.info(1);
        logger.fine(2);
        logger.set_filter(Some(3));
        logger.severe(3);
        logger.set_filter(None);
        logger.set_level(Some(0));
        logger.finest(3);
        assert_eq!(logger.published(), [1, 3]);
    }
}
