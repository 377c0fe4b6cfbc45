//! Which accesses become scheduling points.

use closure::explore;
use raddle::Config;
use std::cell::UnsafeCell;
use std::sync::{Arc, Mutex};
use std::thread;

/// Two numbers that are always the same to whoever looks under the lock.
#[derive(Default)]
struct Pair {
    lock: Mutex<()>,
    numbers: UnsafeCell<(u64, u64)>,
}

// SAFETY: none; the tests want to see what happens without the lock.
unsafe impl Sync for Pair {}

impl Pair {
    fn add(&self) {
        let _guard = self.lock.lock().unwrap();
        let numbers = self.numbers.get();
        // SAFETY: none, see above.
        unsafe {
            (*numbers).0 += 1;
            (*numbers).1 += 1;
        }
    }

    fn look(&self) -> (u64, u64) {
        // SAFETY: none, see above.
        unsafe { self.numbers.get().read_volatile() }
    }
}

fn search(f: impl Fn() + Sync) -> raddle::Report {
    explore(Config::new().strategy("random"), 2_000, f)
}

#[test]
fn what_is_always_done_under_one_lock_has_no_points() {
    let report = search(|| {
        let pair = Arc::new(Pair::default());
        let threads = [(); 3].map(|()| {
            let pair = pair.clone();
            thread::spawn(move || (0..3).for_each(|_| pair.add()))
        });
        threads.into_iter().for_each(|t| t.join().unwrap());
        assert_eq!(pair.look(), (9, 9));
    });
    assert_eq!((report.stats.points, report.stats.failures), (0, 0), "{report:?}");
}

#[test]
fn writes_under_a_lock_are_points_once_somebody_reads_without_it() {
    let report = search(|| {
        let pair = Arc::new(Pair::default());
        let writers = [(); 2].map(|()| {
            let pair = pair.clone();
            thread::spawn(move || (0..2).for_each(|_| pair.add()))
        });
        let reader = {
            let pair = pair.clone();
            thread::spawn(move || pair.look())
        };
        let (a, b) = reader.join().unwrap();
        assert_eq!(a, b, "half of a change was seen");
        writers.into_iter().for_each(|t| t.join().unwrap());
    });
    assert!(report.failures.iter().any(|f| f.message.contains("half of a change")), "{report:?}");
}

#[test]
fn what_one_thread_had_for_itself_is_a_point_once_another_comes() {
    let report = search(|| {
        let pair = Arc::new(Pair::default());
        let add = |pair: &Pair| {
            // SAFETY: none, see above.
            (0..3).for_each(|_| unsafe { (*pair.numbers.get()).0 += 1 });
        };
        let other = pair.clone();
        let t = thread::spawn(move || add(&other));
        add(&pair);
        t.join().unwrap();
        assert_eq!(pair.look().0, 6);
    });
    assert_eq!(report.stats.failures, 1, "{report:?}");
}
