//! Pipeline: the first value sent down the pipeline is the token that stops it.

use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Arc, Condvar, Mutex};
use std::thread;
use std::thread::JoinHandle;

const STAGES: usize = 6;
const EMPTY: i32 = -1;
const STOP: i32 = 0;

/// A queue with one slot. Adding overwrites what has not been taken.
struct Connector {
    slot: Mutex<i32>,
    added: Condvar,
}

impl Connector {
    fn add(&self, value: i32) {
        *self.slot.lock().unwrap() = value;
        self.added.notify_all();
    }

    fn take(&self) -> i32 {
        let mut slot = self.slot.lock().unwrap();
        while *slot == EMPTY {
            slot = self.added.wait(slot).unwrap();
        }
        std::mem::replace(&mut slot, EMPTY)
    }
}

struct Pipeline {
    connectors: Vec<Connector>,
    stop_called: AtomicBool,
}

impl Pipeline {
    fn start() -> (Arc<Pipeline>, Vec<JoinHandle<()>>) {
        let connector = |_| Connector { slot: Mutex::new(EMPTY), added: Condvar::new() };
        let connectors = (0..=STAGES).map(connector).collect();
        let pipeline = Arc::new(Pipeline { connectors, stop_called: AtomicBool::new(false) });
        let mut threads: Vec<_> = (0..STAGES)
            .map(|i| {
                let pipeline = Arc::clone(&pipeline);
                thread::spawn(move || pipeline.stage(i))
            })
            .collect();
        let shared = Arc::clone(&pipeline);
        threads.push(thread::spawn(move || while shared.connectors[STAGES].take() != STOP {}));
        (pipeline, threads)
    }

    /// Passes values on, each increased by one, until it takes the stop token.
    fn stage(&self, i: usize) {
        loop {
            let value = self.connectors[i].take();
            if value == STOP {
                break;
            }
            self.connectors[i + 1].add(value + 1);
        }
        assert!(self.stop_called.load(Relaxed), "stage {i} stops although nobody called stop");
        self.connectors[i + 1].add(STOP);
    }

    fn stop(&self) {
        self.stop_called.store(true, Relaxed);
        self.connectors[0].add(STOP);
    }
}

/// Six stages and a listener, connected by one-slot queues, which main feeds with two values; nobody is joined.
///
/// *Shared*: the slot of each queue, under the queue's monitor, and the unprotected flag `stop_called`. Main adds 0 and
/// 1, sets the flag and sends the stop token.
/// *Bug*: 0 is the stop token. If the first stage takes it before main overwrites it with 1, the stage stops, and its
/// assertion may come before main sets the flag.
/// *Oracle*: the assertion, in a thread that nobody joins.
pub fn pipeline() {
    let (pipeline, _) = Pipeline::start();
    for value in 0..2 {
        pipeline.connectors[0].add(value);
    }
    pipeline.stop();
}

/// [`pipeline`] fed with values that are not the stop token; the threads are joined.
pub fn pipeline_fixed() {
    let (pipeline, threads) = Pipeline::start();
    for value in 1..3 {
        pipeline.connectors[0].add(value);
    }
    pipeline.stop();
    for thread in threads {
        thread.join().unwrap();
    }
}
