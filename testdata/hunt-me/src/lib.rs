//! Types for `cargo raddle hunt`: one with a bug, one without, and some that cannot be hunted.

mod family;

pub use family::*;

use std::cell::Cell;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::SeqCst};
use std::sync::{Condvar, Mutex};
use std::time::{Duration, Instant};

/// Counts, and loses what is counted at the same time.
#[derive(Debug, Default)]
pub struct Tally {
    count: AtomicUsize,
}

impl Tally {
    /// Nothing counted yet.
    pub fn new() -> Self {
        Tally::default()
    }

    /// Counts one more; gives the sum.
    pub fn count(&self) -> usize {
        let sum = self.count.load(SeqCst) + 1;
        self.count.store(sum, SeqCst);
        sum
    }

    /// The sum.
    pub fn sum(&self) -> usize {
        self.count.load(SeqCst)
    }

    /// Back to zero.
    pub fn reset(&self) {
        self.count.store(0, SeqCst);
    }
}

/// The same with a lock.
#[derive(Debug, Default)]
pub struct Ledger {
    count: Mutex<usize>,
}

impl Ledger {
    /// Nothing counted yet.
    pub fn new() -> Self {
        Ledger::default()
    }

    /// Counts one more; gives the sum.
    pub fn count(&self) -> usize {
        let mut count = self.count.lock().unwrap();
        *count += 1;
        *count
    }

    /// The sum.
    pub fn sum(&self) -> usize {
        *self.count.lock().unwrap()
    }
}

/// Not for threads.
#[derive(Debug, Default)]
pub struct Lonely {
    count: Cell<usize>,
}

impl Lonely {
    /// Counts one more.
    pub fn count(&self) {
        self.count.set(self.count.get() + 1);
    }
}

/// Nobody can make one.
#[derive(Debug)]
pub struct Unmade {
    count: AtomicUsize,
}

impl Unmade {
    /// Counts one more.
    pub fn count(&self) -> usize {
        self.count.fetch_add(1, SeqCst)
    }
}

/// Makes what it keeps when it is first asked for, and loses what two threads make at the same time.
#[derive(Debug, Default)]
pub struct Late {
    made: AtomicBool,
    kept: Mutex<Option<Box<[u8; 100]>>>,
}

impl Late {
    /// Nothing made yet.
    pub fn new() -> Self {
        Late::default()
    }

    /// The size of what it keeps.
    pub fn size(&self) -> usize {
        if !self.made.load(SeqCst) {
            let before = self.kept.lock().unwrap().replace(Box::new([0; 100]));
            // There was nothing, or so it believes.
            std::mem::forget(before);
            self.made.store(true, SeqCst);
        }
        self.kept.lock().unwrap().as_ref().map_or(0, |kept| kept.len())
    }

    /// Whether there is anything.
    pub fn is_made(&self) -> bool {
        self.made.load(SeqCst)
    }
}

/// Whoever finds somebody inside waits for a sign that nobody gives.
#[derive(Debug, Default)]
pub struct Turnstile {
    inside: AtomicUsize,
    sign: AtomicBool,
}

impl Turnstile {
    /// Nobody inside.
    pub fn new() -> Self {
        Turnstile::default()
    }

    /// Goes through.
    pub fn pass(&self) {
        if self.inside.fetch_add(1, SeqCst) > 0 {
            while !self.sign.load(SeqCst) {
                std::hint::spin_loop();
            }
        }
        self.inside.fetch_sub(1, SeqCst);
    }

    /// How many are inside.
    pub fn inside(&self) -> usize {
        self.inside.load(SeqCst)
    }
}

/// What a [`Dial`] shows.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Level {
    /// Nothing.
    Low,
    /// So much.
    High(u8),
}

/// Looks twice, and panics if it was turned down in between: found only by who can turn it up.
#[derive(Debug, Default)]
pub struct Dial {
    value: Mutex<Option<u8>>,
}

impl Dial {
    /// Turns it.
    pub fn set(&self, level: Level) {
        let value = match level {
            Level::Low => None,
            Level::High(value) => Some(value),
        };
        *self.value.lock().unwrap() = value;
    }

    /// What it shows.
    pub fn level(&self) -> Level {
        if self.value.lock().unwrap().is_none() {
            return Level::Low;
        }
        Level::High(self.value.lock().unwrap().unwrap())
    }
}

/// Loses changes that are made at the same time, which shows only if they depend on what was there.
#[derive(Debug, Default)]
pub struct Gauge {
    value: AtomicUsize,
}

impl Gauge {
    /// Changes the value.
    pub fn update(&self, change: impl FnOnce(usize) -> usize) {
        self.value.store(change(self.value.load(SeqCst)), SeqCst);
    }

    /// The value.
    pub fn get(&self) -> usize {
        self.value.load(SeqCst)
    }
}

/// Hands items over to who is there to take them.
#[derive(Debug, Default)]
pub struct Meeting {
    /// Whether somebody wants an item, and the item.
    place: Mutex<Option<Option<u8>>>,
    given: Condvar,
}

impl Meeting {
    /// Hands an item over; whether there was anybody.
    pub fn give(&self, item: u8) -> bool {
        let mut place = self.place.lock().unwrap();
        let wanted = *place == Some(None);
        if wanted {
            *place = Some(Some(item));
            self.given.notify_all();
        }
        wanted
    }

    /// Takes an item, if one is given within this time and nobody else wants it.
    pub fn take(&self, within: Duration) -> Option<u8> {
        let until = Instant::now() + within;
        let mut place = self.place.lock().unwrap();
        if place.is_some() {
            return None;
        }
        *place = Some(None);
        drop(place);
        let mut place = self.place.lock().unwrap();
        while *place == Some(None) {
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                break;
            }
            place = self.given.wait_timeout(place, left).unwrap().0;
        }
        place.take().flatten()
    }
}

/// A crate may forbid what is no fault of it: what some compiler warns of.
#[cfg(feature = "forbids")]
mod forbids {
    #![deny(warnings)]
    fn nobody_calls() {}
}
