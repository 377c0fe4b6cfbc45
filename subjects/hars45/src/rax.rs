//! Rax: two tasks of a space craft's agent look at an event's counter and then sleep through the event.

use std::sync::atomic::{AtomicU32, Ordering::Relaxed};
use std::sync::{Arc, Condvar, Mutex};
use std::thread;

const ROUNDS: usize = 3;

#[derive(Default)]
struct Event {
    monitor: Mutex<()>,
    signalled: Condvar,
    count: AtomicU32,
}

impl Event {
    fn wait(&self) {
        let held = self.monitor.lock().unwrap();
        drop(self.signalled.wait(held).unwrap());
    }

    fn signal(&self) {
        let _own = self.monitor.lock().unwrap();
        self.count.store(self.count.load(Relaxed) + 1, Relaxed);
        self.signalled.notify_all();
    }

    /// Waits until the counter differs from `seen`, tested under the monitor; returns the counter.
    fn wait_for_change(&self, seen: u32) -> u32 {
        let mut held = self.monitor.lock().unwrap();
        while self.count.load(Relaxed) == seen {
            held = self.signalled.wait(held).unwrap();
        }
        self.count.load(Relaxed)
    }
}

/// Two tasks wait for each other's events three times.
///
/// *Shared*: two events with a counter each. A task waits for an event if its counter is still the one remembered, and
/// then remembers the new one. The first task waits for event 1 and signals event 2; the second signals event 1 and
/// waits for event 2.
/// *Bug*: the counter is tested outside the monitor in which the task then waits: a signal in between is lost, and both
/// tasks wait. The first task also remembers a signal that came before it started, and may wait once too often.
/// *Oracle*: deadlock. Main joins the threads, which the original does not: the model checker behind the original reports
/// threads that wait for ever after main has returned, raddle those for which somebody waits.
pub fn rax() {
    let events = Arc::new((Event::default(), Event::default()));
    let shared = Arc::clone(&events);
    let first = thread::spawn(move || {
        let (event1, event2) = &*shared;
        let mut count = event1.count.load(Relaxed);
        for _ in 0..ROUNDS {
            if count == event1.count.load(Relaxed) {
                event1.wait();
            }
            count = event1.count.load(Relaxed);
            event2.signal();
        }
    });
    let second = thread::spawn(move || {
        let (event1, event2) = &*events;
        let mut count = event2.count.load(Relaxed);
        for _ in 0..ROUNDS {
            event1.signal();
            if count == event2.count.load(Relaxed) {
                event2.wait();
            }
            count = event2.count.load(Relaxed);
        }
    });
    first.join().unwrap();
    second.join().unwrap();
}

/// [`rax`] with the counter tested under the monitor and remembered as 0 at first; both threads are joined.
pub fn rax_fixed() {
    let events = Arc::new((Event::default(), Event::default()));
    let shared = Arc::clone(&events);
    let first = thread::spawn(move || {
        let (event1, event2) = &*shared;
        let mut count = 0;
        for _ in 0..ROUNDS {
            count = event1.wait_for_change(count);
            event2.signal();
        }
    });
    let second = thread::spawn(move || {
        let (event1, event2) = &*events;
        let mut count = 0;
        for _ in 0..ROUNDS {
            event1.signal();
            count = event2.wait_for_change(count);
        }
    });
    first.join().unwrap();
    second.join().unwrap();
}
