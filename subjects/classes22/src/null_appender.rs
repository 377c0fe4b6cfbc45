//! V19, log4j 1.2.13 `NullAppender`: the threshold and the filter chain vanish between test and use.

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

use crate::java::{Field, enter, locked_twin};

/// Filters that may be chained; a reference is a number below this.
const FILTERS: usize = 64;

/// An appender that drops every event.
///
/// *Shared*: `threshold`, `head_filter` and `tail_filter` with each filter's `next`, `layout`, `name`, `error_handler`,
/// `closed`.
/// *Locking*: only [`set_error_handler`](NullAppender::set_error_handler) and `do_append` hold the monitor.
/// *Bugs*: [`is_as_severe_as_threshold`](NullAppender::is_as_severe_as_threshold) reads the threshold to test and again to
/// compare it, and it may be set to null in between. [`add_filter`](NullAppender::add_filter) finds a head;
/// [`clear_filters`](NullAppender::clear_filters) writes null to the tail first; the tail is dereferenced.
#[derive(Debug)]
pub struct NullAppender {
    monitor: Mutex<()>,
    threshold: Field,
    head_filter: Field,
    tail_filter: Field,
    next: [Field; FILTERS],
    layout: Field,
    name: Field,
    error_handler: Field,
    closed: AtomicBool,
}

impl NullAppender {
    /// An appender with an error handler and nothing else.
    #[allow(clippy::new_without_default)]
    pub fn new() -> NullAppender {
        NullAppender {
            monitor: Mutex::new(()),
            threshold: Field::default(),
            head_filter: Field::default(),
            tail_filter: Field::default(),
            next: std::array::from_fn(|_| Field::default()),
            layout: Field::default(),
            name: Field::default(),
            error_handler: Field::new(0),
            closed: AtomicBool::new(false),
        }
    }

    /// Does nothing.
    pub fn activate_options(&self) {}

    /// Appends a filter to the chain; which one is a number from 0 to 63.
    pub fn add_filter(&self, filter: u8) {
        let filter = usize::from(filter) % FILTERS;
        if self.head_filter.get().is_none() {
            self.tail_filter.set(Some(filter as i32));
            self.head_filter.set(Some(filter as i32));
        } else {
            let tail = self.tail_filter.deref("tailFilter");
            self.next[tail as usize].set(Some(filter as i32));
            self.tail_filter.set(Some(filter as i32));
        }
    }

    /// Drops the chain, tail first.
    pub fn clear_filters(&self) {
        self.tail_filter.set(None);
        self.head_filter.set(None);
    }

    /// The head of the chain.
    pub fn filter(&self) -> Option<i32> {
        self.head_filter.get()
    }

    /// The head of the chain.
    pub fn first_filter(&self) -> Option<i32> {
        self.head_filter.get()
    }

    /// Whether a priority reaches the threshold, if there is one.
    pub fn is_as_severe_as_threshold(&self, priority: i32) -> bool {
        self.threshold.get().is_none() || priority >= self.threshold.deref("threshold")
    }

    /// The threshold.
    pub fn threshold(&self) -> Option<i32> {
        self.threshold.get()
    }

    /// Sets or removes the threshold.
    pub fn set_threshold(&self, threshold: Option<i32>) {
        self.threshold.set(threshold);
    }

    /// Takes an event and drops it; says whether it passed the threshold.
    pub fn do_append(&self, priority: i32) -> bool {
        let _own = enter(&self.monitor);
        self.is_as_severe_as_threshold(priority)
    }

    /// Drops an event.
    pub fn append(&self, _priority: i32) {}

    /// The layout.
    pub fn layout(&self) -> Option<i32> {
        self.layout.get()
    }

    /// Sets or removes the layout.
    pub fn set_layout(&self, layout: Option<i32>) {
        self.layout.set(layout);
    }

    /// The name.
    pub fn name(&self) -> Option<i32> {
        self.name.get()
    }

    /// Sets or removes the name.
    pub fn set_name(&self, name: Option<i32>) {
        self.name.set(name);
    }

    /// The error handler.
    pub fn error_handler(&self) -> Option<i32> {
        self.error_handler.get()
    }

    /// Sets the error handler; null is ignored.
    pub fn set_error_handler(&self, handler: Option<i32>) {
        let _own = enter(&self.monitor);
        if handler.is_some() {
            self.error_handler.set(handler);
        }
    }

    /// Whether a layout is needed: no.
    pub fn requires_layout(&self) -> bool {
        false
    }

    /// Closes the appender.
    pub fn close(&self) {
        self.closed.store(true, Relaxed);
    }

    /// Closes the appender when nobody refers to it any more.
    pub fn finalize(&self) {
        if !self.closed.load(Relaxed) {
            self.close();
        }
    }
}

locked_twin! {
    NullAppenderFixed of NullAppender, new() {
        fn activate_options(&self);
        fn add_filter(&self, filter: u8);
        fn clear_filters(&self);
        fn filter(&self) -> Option<i32>;
        fn first_filter(&self) -> Option<i32>;
        fn is_as_severe_as_threshold(&self, priority: i32) -> bool;
        fn threshold(&self) -> Option<i32>;
        fn set_threshold(&self, threshold: Option<i32>);
        fn do_append(&self, priority: i32) -> bool;
        fn append(&self, priority: i32);
        fn layout(&self) -> Option<i32>;
        fn set_layout(&self, layout: Option<i32>);
        fn name(&self) -> Option<i32>;
        fn set_name(&self, name: Option<i32>);
        fn error_handler(&self) -> Option<i32>;
        fn set_error_handler(&self, handler: Option<i32>);
        fn requires_layout(&self) -> bool;
        fn close(&self);
        fn finalize(&self);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keeps_a_threshold_and_a_chain_of_filters() {
        let appender = NullAppender::new();
        assert!(appender.do_append(-1));
        appender.set_threshold(Some(5));
        assert!(appender.is_as_severe_as_threshold(5) && !appender.do_append(4));
        appender.add_filter(3);
        appender.add_filter(4);
        assert_eq!((appender.filter(), appender.next[3].get()), (Some(3), Some(4)));
        appender.clear_filters();
        assert_eq!(appender.first_filter(), None);
        appender.set_error_handler(None);
        assert_eq!(appender.error_handler(), Some(0));
    }
}
