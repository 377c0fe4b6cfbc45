//! V18, log4j 1.2.13 `FileAppender`: options, writer and layout vanish between test and use.

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicI32, Ordering::Relaxed};

use crate::java::{Field, enter, locked_twin, properties};

const FILTERS: usize = 64;

/// An appender that writes to a file; file names, layouts, filters and writers are numbers, and nothing is written to disk.
///
/// *Shared*: `file_name`, `qw` (the writer), `layout`, `threshold`, the filter chain, `closed`, and plain options.
/// *Locking*: [`set_file`](FileAppender::set_file) with all arguments, [`close`](FileAppender::close),
/// [`set_writer`](FileAppender::set_writer), `set_error_handler` and `do_append` hold the monitor; the others do not.
/// *Bugs*: [`activate_options`](FileAppender::activate_options) tests the file name and reads it again, while `set_file`
/// resets it to null in between; [`append`](FileAppender::append) tests writer and layout and reads them again, while
/// closing resets the writer; the threshold and the filter chain as in `NullAppender`.
#[derive(Debug)]
pub struct FileAppender {
    monitor: Mutex<Vec<i32>>,
    file_name: Field,
    qw: Field,
    layout: Field,
    threshold: Field,
    head_filter: Field,
    tail_filter: Field,
    next: [Field; FILTERS],
    error_handler: Field,
    closed: AtomicBool,
    warnings: AtomicI32,
    properties: Properties,
}

impl FileAppender {
    /// An appender with neither file nor layout.
    #[allow(clippy::new_without_default)]
    pub fn new() -> FileAppender {
        FileAppender {
            monitor: Mutex::new(Vec::new()),
            file_name: Field::default(),
            qw: Field::default(),
            layout: Field::default(),
            threshold: Field::default(),
            head_filter: Field::default(),
            tail_filter: Field::default(),
            next: std::array::from_fn(|_| Field::default()),
            error_handler: Field::new(0),
            closed: AtomicBool::new(false),
            warnings: AtomicI32::new(0),
            properties: Properties::default(),
        }
    }

    fn warn(&self) {
        self.warnings.store(self.warnings.load(Relaxed).wrapping_add(1), Relaxed);
    }

    fn open(&self, file: Option<i32>) {
        self.reset();
        self.qw.set(Some(file.expect("NullPointerException: opening no file")));
        self.file_name.set(file);
    }

    fn reset(&self) {
        if self.qw.get().is_some() {
            self.qw.set(None);
        }
        self.file_name.set(None);
    }

    /// How many warnings were given.
    pub fn warnings(&self) -> i32 {
        self.warnings.load(Relaxed)
    }

    /// The file name.
    pub fn file(&self) -> Option<i32> {
        self.file_name.get()
    }

    /// Sets the file name; it is opened by [`activate_options`](FileAppender::activate_options).
    pub fn set_file_name(&self, file: Option<i32>) {
        self.file_name.set(file);
    }

    /// Opens a file.
    pub fn set_file(&self, file: i32) {
        let _written = enter(&self.monitor);
        self.open(Some(file));
    }

    /// Opens the file whose name has been set.
    pub fn activate_options(&self) {
        if self.file_name.get().is_some() {
            let file = self.file_name.get();
            let _written = enter(&self.monitor);
            self.open(file);
        } else {
            self.warn();
        }
    }

    /// Sets the writer.
    pub fn set_writer(&self, writer: i32) {
        let _written = enter(&self.monitor);
        self.reset();
        self.qw.set(Some(writer));
    }

    /// Writes an event, without the monitor, if the appender is open.
    pub fn append(&self, event: i32) -> bool {
        if !self.check_entry_conditions() {
            return false;
        }
        let formatted = event.wrapping_add(self.layout.deref("layout"));
        self.qw.deref("qw");
        enter(&self.monitor).push(formatted);
        if self.immediate_flush() == 0 {
            self.qw.deref("qw");
        }
        true
    }

    fn check_entry_conditions(&self) -> bool {
        let open = !self.closed.load(Relaxed) && self.qw.get().is_some() && self.layout.get().is_some();
        if !open {
            self.warn();
        }
        open
    }

    /// Says whether an event of a priority would be written.
    pub fn do_append(&self, priority: i32) -> bool {
        let _written = enter(&self.monitor);
        !self.closed.load(Relaxed) && self.is_as_severe_as_threshold(priority)
    }

    /// What has been written.
    pub fn written(&self) -> Vec<i32> {
        enter(&self.monitor).clone()
    }

    /// Closes the appender.
    pub fn close(&self) {
        let _written = enter(&self.monitor);
        if !self.closed.load(Relaxed) {
            self.closed.store(true, Relaxed);
            self.reset();
        }
    }

    /// Closes the appender when nobody refers to it any more.
    pub fn finalize(&self) {
        if !self.closed.load(Relaxed) {
            self.close();
        }
    }

    /// Whether a layout is needed: yes.
    pub fn requires_layout(&self) -> bool {
        true
    }

    /// The layout.
    pub fn layout(&self) -> Option<i32> {
        self.layout.get()
    }

    /// Sets or removes the layout.
    pub fn set_layout(&self, layout: Option<i32>) {
        self.layout.set(layout);
    }

    /// The threshold.
    pub fn threshold(&self) -> Option<i32> {
        self.threshold.get()
    }

    /// Sets or removes the threshold.
    pub fn set_threshold(&self, threshold: Option<i32>) {
        self.threshold.set(threshold);
    }

    /// Whether a priority reaches the threshold, if there is one.
    pub fn is_as_severe_as_threshold(&self, priority: i32) -> bool {
        self.threshold.get().is_none() || priority >= self.threshold.deref("threshold")
    }

    /// Appends a filter to the chain; which one is a number from 0 to 63.
    pub fn add_filter(&self, filter: u8) {
        let filter = (usize::from(filter) % FILTERS) as i32;
        if self.head_filter.get().is_none() {
            self.tail_filter.set(Some(filter));
            self.head_filter.set(Some(filter));
        } else {
            self.next[self.tail_filter.deref("tailFilter") as usize].set(Some(filter));
            self.tail_filter.set(Some(filter));
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

    /// The error handler.
    pub fn error_handler(&self) -> Option<i32> {
        self.error_handler.get()
    }

    /// Sets the error handler; null is ignored, with a warning.
    pub fn set_error_handler(&self, handler: Option<i32>) {
        let _written = enter(&self.monitor);
        match handler {
            Some(_) => self.error_handler.set(handler),
            None => self.warn(),
        }
    }
}

locked_twin! {
    FileAppenderFixed of FileAppender, new() {
        fn warnings(&self) -> i32;
        fn file(&self) -> Option<i32>;
        fn set_file_name(&self, file: Option<i32>);
        fn set_file(&self, file: i32);
        fn activate_options(&self);
        fn set_writer(&self, writer: i32);
        fn append(&self, event: i32) -> bool;
        fn do_append(&self, priority: i32) -> bool;
        fn written(&self) -> Vec<i32>;
        fn close(&self);
        fn finalize(&self);
        fn requires_layout(&self) -> bool;
        fn layout(&self) -> Option<i32>;
        fn set_layout(&self, layout: Option<i32>);
        fn threshold(&self) -> Option<i32>;
        fn set_threshold(&self, threshold: Option<i32>);
        fn is_as_severe_as_threshold(&self, priority: i32) -> bool;
        fn add_filter(&self, filter: u8);
        fn clear_filters(&self);
        fn filter(&self) -> Option<i32>;
        fn error_handler(&self) -> Option<i32>;
        fn set_error_handler(&self, handler: Option<i32>);
    }
}

properties! {
    Properties of FileAppender and FileAppenderFixed {
        buffer_size/set_buffer_size,
        buffered_io/set_buffered_io,
        encoding/set_encoding,
        file_append/set_append,
        immediate_flush/set_immediate_flush,
        name/set_name,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn writes_only_while_it_is_open() {
        let appender = FileAppender::new();
        assert!(!appender.append(1));
        appender.set_layout(Some(100));
        appender.set_file_name(Some(7));
        appender.activate_options();
        assert!(appender.append(2));
        assert_eq!((appender.file(), appender.written()), (Some(7), vec![102]));
        appender.set_threshold(Some(3));
        assert!(appender.do_append(3) && !appender.do_append(2));
        appender.close();
        assert!(!appender.append(3));
        assert_eq!((appender.file(), appender.warnings()), (None, 2));
    }
}
