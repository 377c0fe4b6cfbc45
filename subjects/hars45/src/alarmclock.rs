//! Alarmclock: clients look up the lock they sleep on while the clock removes it from the list.

use std::sync::atomic::{AtomicI32, AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, Condvar, Mutex};
use std::thread;

const CLIENTS: usize = 8;
const LAST_TICK: i32 = 5;
const INTERVAL: i32 = 2;
const LIST_CAPACITY: usize = 2;

/// The object on which the clients of one wake-up time sleep.
#[derive(Default)]
struct Entry {
    monitor: Mutex<()>,
    woken: Condvar,
}

/// A fixed-size list of references to entries.
///
/// A reference is the entry's wake-up time, 0 is null. A time is listed at most once and an entry that was removed never
/// comes back, because wake-up times lie two ticks ahead; so time and identity are the same thing.
#[derive(Default)]
struct List {
    slots: [AtomicI32; LIST_CAPACITY],
    size: AtomicUsize,
}

impl List {
    /// The wake-up time of the entry in a slot.
    fn time_at(&self, i: usize) -> i32 {
        let time = self.slots[i].load(Relaxed);
        assert!(time != 0, "NullPointerException: slot {i} is empty");
        time
    }

    /// Appends an entry for `time` unless there is one or the list is full.
    ///
    /// Times are handed out in ascending order, so the sorted insertion of the original is always an append.
    fn create(&self, time: i32) {
        let mut i = 0;
        while i < self.size.load(Relaxed) {
            if self.time_at(i) == time {
                return;
            }
            i += 1;
        }
        if self.size.load(Relaxed) != LIST_CAPACITY {
            self.slots[self.size.load(Relaxed)].store(time, Relaxed);
            self.size.store(self.size.load(Relaxed) + 1, Relaxed);
        }
    }

    /// The reference to the entry for `time`, read a second time after the match; `None` if there is no match.
    fn find(&self, time: i32) -> Option<i32> {
        let mut i = 0;
        while i < self.size.load(Relaxed) {
            if self.time_at(i) == time {
                return Some(self.slots[i].load(Relaxed));
            }
            i += 1;
        }
        None
    }

    fn remove_first(&self) {
        let mut i = 0;
        while i < self.size.load(Relaxed) - 1 {
            self.slots[i].store(self.slots[i + 1].load(Relaxed), Relaxed);
            i += 1;
        }
        self.slots[self.size.load(Relaxed) - 1].store(0, Relaxed);
        self.size.store(self.size.load(Relaxed) - 1, Relaxed);
    }
}

#[derive(Default)]
struct Clock {
    monitor: Mutex<()>,
    now: AtomicI32,
    list: List,
    entries: [Entry; LAST_TICK as usize + 1],
}

impl Clock {
    fn entry(&self, reference: i32) -> &Entry {
        assert!(reference != 0, "NullPointerException: no entry to sleep on");
        &self.entries[reference as usize]
    }

    fn tick(&self) {
        let _clock = self.monitor.lock().unwrap();
        self.now.store(self.now.load(Relaxed) + 1, Relaxed);
        if self.list.size.load(Relaxed) != 0 {
            let first = self.list.time_at(0);
            if first == self.now.load(Relaxed) {
                self.list.remove_first();
                let entry = self.entry(first);
                let _entry = entry.monitor.lock().unwrap();
                entry.woken.notify_all();
            }
        }
    }

    fn wake_me(&self, interval: i32) {
        let time = {
            let _clock = self.monitor.lock().unwrap();
            let time = self.now.load(Relaxed) + interval;
            if time > LAST_TICK {
                return;
            }
            self.list.create(time);
            time
        };
        let Some(to_lock) = self.list.find(time) else { return };
        let held = self.entry(to_lock).monitor.lock().unwrap();
        let Some(to_wait) = self.list.find(time) else { return };
        let sleeping_place = self.entry(to_wait);
        assert!(to_lock == to_wait, "IllegalMonitorStateException: waiting on an entry that is not locked");
        drop(sleeping_place.woken.wait(held).unwrap());
    }
}

/// A clock thread ticks five times; eight clients each ask to be woken two ticks later.
///
/// *Shared*: `now`, and a list of capacity 2 (`slots`, `size`) of the entries on which clients sleep. Ticking and
/// creating an entry hold the clock's monitor. A request that would be due after the last tick returns at once.
/// *Bug*: looking up the entry, once to lock it and once to wait on it, is done outside the clock's monitor. A tick
/// shifts the slots, writes null into the last one and only then decrements the size: the look-up meets the null.
/// That an entry is not found is accepted: the time has passed.
/// *Oracle*: null dereference in a client, or deadlock.
///
/// The clock's sleep between two ticks is a yield here. Main joins the threads, which the original does not, so that clients
/// that sleep for ever are seen.
pub fn alarmclock() {
    let clock = Arc::new(Clock::default());
    let ticking = Arc::clone(&clock);
    let ticker = thread::spawn(move || {
        while ticking.now.load(Relaxed) < LAST_TICK {
            ticking.tick();
            thread::yield_now();
        }
    });
    let clients: Vec<_> = (0..CLIENTS)
        .map(|_| {
            let clock = Arc::clone(&clock);
            // `Thread.start` is a synchronised method, hence a point at which others may go first.
            drop(Mutex::new(()).lock().unwrap());
            thread::spawn(move || clock.wake_me(INTERVAL))
        })
        .collect();
    clients.into_iter().chain([ticker]).for_each(|t| t.join().unwrap());
}

/// [`alarmclock`] with one monitor and one condition, on which a client sleeps until its time has come; all are joined.
pub fn alarmclock_fixed() {
    let clock = Arc::new((Mutex::new(0), Condvar::new()));
    let ticking = Arc::clone(&clock);
    let mut threads = vec![thread::spawn(move || {
        let (now, ticked) = &*ticking;
        for _ in 0..LAST_TICK {
            *now.lock().unwrap() += 1;
            ticked.notify_all();
            thread::yield_now();
        }
    })];
    threads.extend((0..CLIENTS).map(|_| {
        let clock = Arc::clone(&clock);
        thread::spawn(move || {
            let (now, ticked) = &*clock;
            let mut now = now.lock().unwrap();
            let time = *now + INTERVAL;
            while time <= LAST_TICK && *now < time {
                now = ticked.wait(now).unwrap();
            }
        })
    }));
    for thread in threads {
        thread.join().unwrap();
    }
}
