//! Boundedbuffer: more is put into a one-slot buffer than is ever taken out.

use std::sync::{Arc, Condvar, Mutex};
use std::thread;

const CAPACITY: usize = 1;

#[derive(Default)]
struct Buffer {
    items: Mutex<Vec<i32>>,
    changed: Condvar,
}

impl Buffer {
    fn put(&self, item: i32) {
        let mut items = self.items.lock().unwrap();
        while items.len() == CAPACITY {
            items = self.changed.wait(items).unwrap();
        }
        items.push(item);
        self.changed.notify_one();
    }

    fn get(&self) -> i32 {
        let mut items = self.items.lock().unwrap();
        while items.is_empty() {
            items = self.changed.wait(items).unwrap();
        }
        let item = items.remove(0);
        self.changed.notify_one();
        item
    }
}

/// Two producers put twice each, one consumer gets twice, through a buffer with a single slot.
///
/// *Shared*: the slot, under one monitor whose only condition is signalled with a single notification.
/// *Bug*: four puts against two gets and one slot: some producer blocks for ever in every schedule. (That one
/// notification may wake the wrong kind of waiter is a second flaw, not needed here.)
/// *Oracle*: deadlock. Main joins the threads, which the original does not: the model checker behind the original reports
/// threads that wait for ever after main has returned, raddle those for which somebody waits.
pub fn boundedbuffer() {
    let buffer = Arc::new(Buffer::default());
    let producer = |producer| {
        let buffer = Arc::clone(&buffer);
        thread::spawn(move || {
            for item in 0..2 {
                buffer.put(2 * producer + item);
            }
        })
    };
    let producers = [producer(0), producer(1)];
    let consumer = thread::spawn(move || {
        for _ in 0..2 {
            buffer.get();
        }
    });
    producers.into_iter().chain([consumer]).for_each(|t| t.join().unwrap());
}

/// [`boundedbuffer`] with as many gets as puts and a condition for each kind of waiter; all threads are joined.
pub fn boundedbuffer_fixed() {
    let buffer = Arc::new((Mutex::new(Vec::new()), Condvar::new(), Condvar::new()));
    let mut threads: Vec<_> = (0..2)
        .map(|producer| {
            let buffer = Arc::clone(&buffer);
            thread::spawn(move || {
                let (items, not_full, not_empty) = &*buffer;
                for item in 0..2 {
                    let mut items = items.lock().unwrap();
                    while items.len() == CAPACITY {
                        items = not_full.wait(items).unwrap();
                    }
                    items.push(2 * producer + item);
                    not_empty.notify_one();
                }
            })
        })
        .collect();
    threads.push(thread::spawn(move || {
        let (items, not_full, not_empty) = &*buffer;
        for _ in 0..4 {
            let mut items = items.lock().unwrap();
            while items.is_empty() {
                items = not_empty.wait(items).unwrap();
            }
            items.remove(0);
            not_full.notify_one();
        }
    }));
    for thread in threads {
        thread.join().unwrap();
    }
}
