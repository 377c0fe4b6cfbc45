//! Nestedmonitors: waiting for a semaphore inside a buffer's monitor shuts everybody out.

use std::sync::{Arc, Condvar, Mutex};
use std::thread;

const CAPACITY: usize = 4;
const PER_THREAD: usize = 5;

struct Semaphore {
    value: Mutex<usize>,
    raised: Condvar,
}

impl Semaphore {
    fn new(value: usize) -> Semaphore {
        Semaphore { value: Mutex::new(value), raised: Condvar::new() }
    }

    fn up(&self) {
        *self.value.lock().unwrap() += 1;
        self.raised.notify_one();
    }

    fn down(&self) {
        let mut value = self.value.lock().unwrap();
        while *value == 0 {
            value = self.raised.wait(value).unwrap();
        }
        *value -= 1;
    }
}

struct Buffer {
    items: Mutex<Vec<usize>>,
    full: Semaphore,
    empty: Semaphore,
}

impl Buffer {
    fn new() -> Arc<Buffer> {
        Arc::new(Buffer {
            items: Mutex::new(Vec::new()),
            full: Semaphore::new(0),
            empty: Semaphore::new(CAPACITY),
        })
    }

    fn put(&self, item: usize) {
        let mut items = self.items.lock().unwrap();
        self.empty.down();
        items.push(item);
        self.full.up();
    }

    fn get(&self) -> usize {
        let mut items = self.items.lock().unwrap();
        self.full.down();
        let item = items.remove(0);
        self.empty.up();
        item
    }

    fn put_outside(&self, item: usize) {
        self.empty.down();
        self.items.lock().unwrap().push(item);
        self.full.up();
    }

    fn get_outside(&self) -> usize {
        self.full.down();
        let item = self.items.lock().unwrap().remove(0);
        self.empty.up();
        item
    }
}

/// Two producers put five items each, one consumer gets five, through a buffer of four.
///
/// *Shared*: the buffer, guarded by its own monitor, and inside it two semaphores with monitors of their own.
/// *Bug*: waiting for a semaphore releases the semaphore's monitor only, so nobody can enter the buffer to raise it.
/// Besides, ten puts against five gets and four slots block in every schedule.
/// *Oracle*: deadlock. Main joins the threads, which the original does not: the model checker behind the original reports
/// threads that wait for ever after main has returned, raddle those for which somebody waits.
pub fn nestedmonitors() {
    let buffer = Buffer::new();
    let producer = || {
        let buffer = Arc::clone(&buffer);
        thread::spawn(move || {
            for item in 0..PER_THREAD {
                buffer.put(item);
            }
        })
    };
    let producers = [producer(), producer()];
    let consumer = thread::spawn(move || {
        for _ in 0..PER_THREAD {
            buffer.get();
        }
    });
    producers.into_iter().chain([consumer]).for_each(|t| t.join().unwrap());
}

/// [`nestedmonitors`] with the semaphores waited for outside the buffer's monitor and as many gets as puts; the threads
/// are joined.
pub fn nestedmonitors_fixed() {
    let buffer = Buffer::new();
    let mut threads: Vec<_> = (0..2)
        .map(|_| {
            let buffer = Arc::clone(&buffer);
            thread::spawn(move || {
                for item in 0..PER_THREAD {
                    buffer.put_outside(item);
                }
            })
        })
        .collect();
    threads.push(thread::spawn(move || {
        for _ in 0..2 * PER_THREAD {
            buffer.get_outside();
        }
    }));
    for thread in threads {
        thread.join().unwrap();
    }
}
