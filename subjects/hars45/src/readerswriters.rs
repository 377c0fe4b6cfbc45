//! Readerswriters: a reader is admitted if no writer is active *or* none waits.

use std::sync::atomic::{AtomicI32, Ordering::Relaxed};
use std::sync::{Arc, Condvar, Mutex, MutexGuard};
use std::thread;

const ROUNDS: usize = 3;

/// The object on which one waiting writer sleeps.
#[derive(Default)]
struct WriterMonitor {
    monitor: Mutex<()>,
    admitted: Condvar,
}

#[derive(Default)]
struct State {
    active_readers: i32,
    active_writers: i32,
    waiting_readers: i32,
    waiting_writers: Vec<Arc<WriterMonitor>>,
}

impl State {
    fn allows_reader(&self) -> bool {
        self.active_writers == 0 || self.waiting_writers.is_empty()
    }

    fn allows_writer(&self) -> bool {
        self.waiting_writers.is_empty() && self.active_readers == 0 && self.active_writers == 0
    }

    fn notify_writer(&mut self) {
        if !self.waiting_writers.is_empty() {
            let oldest = self.waiting_writers.remove(0);
            let _oldest = oldest.monitor.lock().unwrap();
            oldest.admitted.notify_one();
            self.active_writers += 1;
        }
    }
}

/// Waiting readers sleep on the monitor itself, which the original enters a second time to test the state.
#[derive(Default)]
struct Printer {
    state: Mutex<State>,
    readers_admitted: Condvar,
    num_write: AtomicI32,
}

impl Printer {
    fn read(&self) {
        self.before_read();
        assert!(self.num_write.load(Relaxed) == 0, "a reader meets a writer");
        self.after_read();
    }

    fn write(&self) {
        self.before_write();
        self.num_write.store(self.num_write.load(Relaxed) + 1, Relaxed);
        self.num_write.store(self.num_write.load(Relaxed) - 1, Relaxed);
        self.after_write();
    }

    fn before_read(&self) {
        let mut state = self.state.lock().unwrap();
        if state.allows_reader() {
            state.active_readers += 1;
        } else {
            state.waiting_readers += 1;
            drop(self.readers_admitted.wait(state).unwrap());
        }
    }

    fn before_write(&self) {
        let own = Arc::new(WriterMonitor::default());
        let held = own.monitor.lock().unwrap();
        {
            let mut state = self.state.lock().unwrap();
            if state.allows_writer() {
                state.active_writers += 1;
                return;
            }
            state.waiting_writers.push(Arc::clone(&own));
        }
        drop(own.admitted.wait(held).unwrap());
    }

    fn after_read(&self) {
        let mut state = self.state.lock().unwrap();
        state.active_readers -= 1;
        if state.active_readers == 0 {
            state.notify_writer();
        }
    }

    fn after_write(&self) {
        let mut state = self.state.lock().unwrap();
        state.active_writers -= 1;
        if state.waiting_readers > 0 {
            self.notify_readers(state);
        } else {
            state.notify_writer();
        }
    }

    fn notify_readers(&self, mut state: MutexGuard<'_, State>) {
        self.readers_admitted.notify_all();
        state.active_readers = state.waiting_readers;
        state.waiting_readers = 0;
    }
}

/// Two writers and a reader use a printer three times each, under a readers-writers monitor; nobody is joined.
///
/// *Shared*: the monitor's counts and its list of waiting writers, each of which sleeps on an object of its own; and
/// `num_write`, which a writer increments and decrements and a reader asserts to be 0.
/// *Bug*: the admission test for readers says *or* where it should say *and*: while a writer is active and none waits, a
/// reader is admitted. Counts go wrong after that, so notifications may be missed as well.
/// *Oracle*: the reader's assertion, or deadlock, in threads that nobody joins.
pub fn readerswriters() {
    let printer = Arc::new(Printer::default());
    for is_writer in [true, false, true] {
        let printer = Arc::clone(&printer);
        thread::spawn(move || {
            for _ in 0..ROUNDS {
                if is_writer { printer.write() } else { printer.read() }
            }
        });
    }
}

/// [`readerswriters`] with readers admitted only while no writer is active, and waits in loops; the threads are joined.
pub fn readerswriters_fixed() {
    #[derive(Default)]
    struct Active {
        readers: i32,
        writers: i32,
    }
    let printer = Arc::new((Mutex::new(Active::default()), Condvar::new(), AtomicI32::new(0)));
    let threads = [true, false, true].map(|is_writer| {
        let printer = Arc::clone(&printer);
        thread::spawn(move || {
            let (active, changed, num_write) = &*printer;
            for _ in 0..ROUNDS {
                let mut state = active.lock().unwrap();
                while state.writers > 0 || (is_writer && state.readers > 0) {
                    state = changed.wait(state).unwrap();
                }
                if is_writer {
                    state.writers += 1;
                    drop(state);
                    num_write.store(num_write.load(Relaxed) + 1, Relaxed);
                    num_write.store(num_write.load(Relaxed) - 1, Relaxed);
                    active.lock().unwrap().writers -= 1;
                } else {
                    state.readers += 1;
                    drop(state);
                    assert!(num_write.load(Relaxed) == 0, "a reader meets a writer");
                    active.lock().unwrap().readers -= 1;
                }
                changed.notify_all();
            }
        })
    });
    for thread in threads {
        thread.join().unwrap();
    }
}
