//! Log4j: the lines of a stack trace are published as an empty array and filled afterwards.

use std::sync::atomic::{AtomicI32, AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, Mutex};
use std::thread;

const THREADS: usize = 4;
const LINES: usize = 1;
const NULL: usize = 0;

/// The event that all threads log: two texts that are made when they are first asked for, and the stack trace.
///
/// References are numbers and 0 is null. Each thread can make one array of lines, so an array is named by its maker.
#[derive(Default)]
struct LoggingEvent {
    thread_name: AtomicUsize,
    rendered_message: AtomicUsize,
    rep: AtomicUsize,
    arrays: [[AtomicI32; LINES]; THREADS + 1],
}

impl LoggingEvent {
    fn text(field: &AtomicUsize, maker: usize) -> usize {
        if field.load(Relaxed) == NULL {
            field.store(maker, Relaxed);
        }
        field.load(Relaxed)
    }

    fn lines(&self, maker: usize) -> Vec<i32> {
        let mut rep = self.rep.load(Relaxed);
        if rep == NULL {
            rep = maker;
            self.rep.store(rep, Relaxed);
            for (i, line) in self.arrays[rep].iter().enumerate() {
                line.store(i as i32 + 1, Relaxed);
            }
        }
        self.arrays[rep].iter().map(|line| line.load(Relaxed)).collect()
    }
}

/// An appender has a lock of its own, which does not protect the event.
#[derive(Default)]
struct Appender {
    written: Mutex<Vec<i32>>,
}

impl Appender {
    fn append(&self, event: &LoggingEvent, me: usize) {
        let mut written = self.written.lock().unwrap();
        LoggingEvent::text(&event.thread_name, me);
        LoggingEvent::text(&event.rendered_message, me);
        for line in event.lines(me) {
            assert!(line != 0, "NullPointerException: a line that is null is written");
            written.push(line);
        }
    }
}

/// Four threads send one logging event through four appenders; nobody is joined.
///
/// *Shared*: inside the event, the reference `rep` to the lazily made array of stack-trace lines, and its elements; and
/// two lazily made texts, whose races are harmless.
/// *Bug*: the array is published before it is filled: a thread that reads `rep` in between copies nulls.
/// *Oracle*: writing a null line panics, in a thread that nobody joins.
///
/// The appenders' own locks, the two texts and a trace of one line stand for the large context of the original.
pub fn log4j() {
    let event = Arc::new(LoggingEvent::default());
    for me in 1..=THREADS {
        let event = Arc::clone(&event);
        thread::spawn(move || Appender::default().append(&event, me));
    }
}

/// [`log4j`] with the event used in a critical section; the threads are joined.
pub fn log4j_fixed() {
    let event = Arc::new(Mutex::new(LoggingEvent::default()));
    let threads = [1, 2, 3, 4].map(|me| {
        let event = Arc::clone(&event);
        thread::spawn(move || Appender::default().append(&event.lock().unwrap(), me))
    });
    for thread in threads {
        thread.join().unwrap();
    }
}
