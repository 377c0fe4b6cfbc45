//! Producerconsumer: the buffer is right, but its end is declared too early and the total is locked wrongly.

use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, Condvar, Mutex};
use std::thread;

const CAPACITY: usize = 5;
const PRODUCERS: usize = 3;
const ITEMS_PER_PRODUCER: usize = 8;
const CONSUMERS: usize = 4;
const ITEMS_PER_CONSUMER: usize = 10;
const ITEMS: usize = PRODUCERS * ITEMS_PER_PRODUCER;

struct State {
    count: usize,
    producers: usize,
}

struct Buffer {
    state: Mutex<State>,
    changed: Condvar,
}

impl Buffer {
    /// A buffer that counts as halted once `producers` producers have finished.
    fn new(producers: usize) -> Arc<Buffer> {
        Arc::new(Buffer { state: Mutex::new(State { count: 0, producers }), changed: Condvar::new() })
    }

    /// Waiters are notified only when the buffer stops being empty.
    fn enter(&self) {
        let mut state = self.state.lock().unwrap();
        while state.count == CAPACITY {
            state = self.changed.wait(state).unwrap();
        }
        state.count += 1;
        if state.count == 1 {
            self.changed.notify_all();
        }
    }

    /// Takes an item; `false` if there is none and the buffer is halted. Waiters are notified only when the buffer stops
    /// being full.
    fn get(&self) -> bool {
        let mut state = self.state.lock().unwrap();
        while state.count == 0 {
            if state.producers == 0 {
                return false;
            }
            state = self.changed.wait(state).unwrap();
        }
        state.count -= 1;
        if state.count == CAPACITY - 1 {
            self.changed.notify_all();
        }
        true
    }

    fn producer_is_done(&self) {
        let mut state = self.state.lock().unwrap();
        state.producers = state.producers.saturating_sub(1);
        self.changed.notify_all();
    }
}

fn produce(buffer: &Buffer) {
    for _ in 0..ITEMS_PER_PRODUCER {
        buffer.enter();
    }
    buffer.producer_is_done();
}

/// Three producers of eight items and four consumers of up to ten share a buffer of five; main joins the consumers.
///
/// *Shared*: the buffer, properly locked, and `total`, the number of items consumed.
/// *Bug*: `total` is read and written under a monitor of the consumer, a different one for each, so counts are lost; and
/// the first producer to finish halts the buffer, so a consumer that finds it empty for a moment quits early.
/// *Oracle*: main panics if the total is not 24. Producers that are left with a full buffer and no consumer deadlock
/// after that.
pub fn producerconsumer() {
    let buffer = Buffer::new(1);
    let total = Arc::new(AtomicUsize::new(0));
    for _ in 0..PRODUCERS {
        let buffer = Arc::clone(&buffer);
        thread::spawn(move || produce(&buffer));
    }
    let consumers = [(); CONSUMERS].map(|()| {
        let (buffer, total) = (Arc::clone(&buffer), Arc::clone(&total));
        thread::spawn(move || {
            let own_monitor = Mutex::new(());
            for _ in 0..ITEMS_PER_CONSUMER {
                if !buffer.get() {
                    break;
                }
                let _own = own_monitor.lock().unwrap();
                total.store(total.load(Relaxed) + 1, Relaxed);
            }
        })
    });
    for consumer in consumers {
        consumer.join().unwrap();
    }
    let total = total.load(Relaxed);
    assert!(total == ITEMS, "{total} items consumed instead of {ITEMS}");
}

/// [`producerconsumer`] with one lock for the total and a buffer that is halted by its last producer; all threads are
/// joined.
pub fn producerconsumer_fixed() {
    let buffer = Buffer::new(PRODUCERS);
    let total = Arc::new(Mutex::new(0));
    let producers = [(); PRODUCERS].map(|()| {
        let buffer = Arc::clone(&buffer);
        thread::spawn(move || produce(&buffer))
    });
    let consumers = [(); CONSUMERS].map(|()| {
        let (buffer, total) = (Arc::clone(&buffer), Arc::clone(&total));
        thread::spawn(move || {
            for _ in 0..ITEMS_PER_CONSUMER {
                if !buffer.get() {
                    break;
                }
                *total.lock().unwrap() += 1;
            }
        })
    });
    for thread in producers.into_iter().chain(consumers) {
        thread.join().unwrap();
    }
    let total = *total.lock().unwrap();
    assert!(total == ITEMS, "{total} items consumed instead of {ITEMS}");
}
