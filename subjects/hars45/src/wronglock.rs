//! Wronglock: two methods protect one value with two different locks.

use std::sync::atomic::{AtomicI32, Ordering::Relaxed};
use std::sync::{Arc, Mutex};
use std::thread;

#[derive(Default)]
struct Data {
    monitor: Mutex<()>,
    value: AtomicI32,
}

#[derive(Default)]
struct Wrapper {
    monitor: Mutex<()>,
    data: Data,
}

impl Wrapper {
    fn a(&self) {
        let _data = self.data.monitor.lock().unwrap();
        let before = self.data.value.load(Relaxed);
        self.data.value.store(self.data.value.load(Relaxed) + 1, Relaxed);
        let after = self.data.value.load(Relaxed);
        assert!(after == before + 1, "the value went from {before} to {after}");
    }

    fn b(&self) {
        let _wrapper = self.monitor.lock().unwrap();
        self.data.value.store(self.data.value.load(Relaxed) + 1, Relaxed);
    }

    fn b_with_the_right_lock(&self) {
        let _data = self.data.monitor.lock().unwrap();
        self.data.value.store(self.data.value.load(Relaxed) + 1, Relaxed);
    }
}

/// One thread increments a value under the value's lock and checks it; the other increments it under the lock of the
/// object around it. Nobody is joined.
///
/// *Shared*: the value. The first thread reads it, reads and writes it, and reads it again; the second reads and writes.
/// *Bug*: the locks differ, so the second thread's accesses fall inside the first one's section.
/// *Oracle*: the first thread panics unless the value has grown by one, in a thread that nobody joins.
pub fn wronglock() {
    let wrapper = Arc::new(Wrapper::default());
    let shared = Arc::clone(&wrapper);
    thread::spawn(move || shared.a());
    thread::spawn(move || wrapper.b());
}

/// [`wronglock`] with one lock for both methods; both threads are joined.
pub fn wronglock_fixed() {
    let wrapper = Arc::new(Wrapper::default());
    let shared = Arc::clone(&wrapper);
    let first = thread::spawn(move || shared.a());
    let second = thread::spawn(move || wrapper.b_with_the_right_lock());
    first.join().unwrap();
    second.join().unwrap();
}
