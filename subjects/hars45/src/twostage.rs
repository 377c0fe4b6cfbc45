//! Twostage: two values that belong together are written in two critical sections, and read in two.

use std::sync::atomic::{AtomicI32, Ordering::Relaxed};
use std::sync::{Arc, Mutex};
use std::thread;

#[derive(Default)]
struct Data {
    monitor: Mutex<()>,
    value: AtomicI32,
}

#[derive(Default)]
struct Stages {
    data1: Data,
    data2: Data,
}

impl Stages {
    fn write(&self) {
        {
            let _first = self.data1.monitor.lock().unwrap();
            self.data1.value.store(1, Relaxed);
        }
        let _second = self.data2.monitor.lock().unwrap();
        self.data2.value.store(self.data1.value.load(Relaxed) + 1, Relaxed);
    }

    fn read(&self) {
        let first = {
            let _first = self.data1.monitor.lock().unwrap();
            self.data1.value.load(Relaxed)
        };
        if first == 0 {
            return;
        }
        let second = {
            let _second = self.data2.monitor.lock().unwrap();
            self.data2.value.load(Relaxed)
        };
        assert!(second == first + 1, "{second} does not belong to {first}");
    }
}

/// One thread writes the first value and derives the second from it; the other reads both. Nobody is joined.
///
/// *Shared*: the two values, each with a lock. The writer sets the first to 1 under the first lock; under the second
/// lock it reads the first and sets the second to one more. The reader takes the first under its lock and is done if it
/// is 0; else it takes the second under its lock.
/// *Bug*: both blocks of the reader fall between the two blocks of the writer, although each access is locked.
/// *Oracle*: the reader panics unless the second value is one more than the first, in a thread that nobody joins.
pub fn twostage() {
    let stages = Arc::new(Stages::default());
    let shared = Arc::clone(&stages);
    thread::spawn(move || shared.write());
    thread::spawn(move || stages.read());
}

/// [`twostage`] with one lock around each thread's two accesses; both threads are joined.
pub fn twostage_fixed() {
    let stages = Arc::new(Mutex::new(Stages::default()));
    let shared = Arc::clone(&stages);
    let writer = thread::spawn(move || shared.lock().unwrap().write());
    let reader = thread::spawn(move || stages.lock().unwrap().read());
    writer.join().unwrap();
    reader.join().unwrap();
}
