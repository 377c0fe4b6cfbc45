//! One-time initialisation done wrongly.

mod broken {
    use conformance_std::Plain;
    use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::*};
    use std::sync::{Once, OnceLock};
    use std::thread;

    #[test]
    fn panics_a_hand_made_once_that_runs_twice() {
        let (done, runs) = (AtomicBool::new(false), AtomicUsize::new(0));
        thread::scope(|s| {
            for _ in 0..2 {
                s.spawn(|| {
                    if !done.load(SeqCst) {
                        runs.fetch_add(1, SeqCst);
                        done.store(true, SeqCst);
                    }
                });
            }
        });
        assert_eq!(runs.into_inner(), 1);
    }

    #[test]
    fn panics_a_double_checked_flag_that_is_set_before_the_value() {
        let (lock, ready, value) = (std::sync::Mutex::new(()), AtomicBool::new(false), AtomicUsize::new(0));
        let get = || {
            if !ready.load(Acquire) {
                let _guard = lock.lock().unwrap();
                if !ready.load(Acquire) {
                    ready.store(true, Release);
                    value.store(7, Release);
                }
            }
            value.load(Acquire)
        };
        thread::scope(|s| {
            s.spawn(|| assert_eq!(get(), 7));
            s.spawn(|| assert_eq!(get(), 7));
        });
    }

    /// The loser of the exchange does not wait until the winner has built the value.
    #[test]
    fn panics_a_half_built_value_read_by_the_loser() {
        let (claimed, value) = (AtomicBool::new(false), Plain::new([0; 2]));
        let get = || {
            if !claimed.swap(true, AcqRel) {
                // SAFETY: none, this is the bug: the other thread may read at the same time.
                unsafe { *value.get() = [1, 2] };
            }
            // SAFETY: none, see above.
            unsafe { *value.get() }
        };
        thread::scope(|s| {
            s.spawn(|| assert_eq!(get(), [1, 2]));
            s.spawn(|| assert_eq!(get(), [1, 2]));
        });
    }

    #[test]
    fn panics_a_cell_that_is_looked_at_and_then_set() {
        let cell = OnceLock::new();
        thread::scope(|s| {
            for me in 0..2 {
                let cell = &cell;
                s.spawn(move || {
                    if cell.get().is_none() {
                        cell.set(me).unwrap();
                    }
                });
            }
        });
    }

    #[test]
    fn panics_a_cell_that_is_believed_to_be_filled() {
        let cell = OnceLock::new();
        thread::scope(|s| {
            s.spawn(|| assert_eq!(cell.get(), Some(&1)));
            cell.set(1).unwrap();
        });
    }

    #[test]
    fn panics_a_once_that_a_failed_initialiser_poisoned() {
        let once = Once::new();
        thread::scope(|s| {
            let failing = s.spawn(|| once.call_once(|| panic!("expected by the test, which ignores it")));
            once.call_once(|| ());
            assert!(failing.join().is_ok());
        });
    }

    #[test]
    fn deadlocks_two_initialisers_that_need_each_other() {
        let (a, b) = (OnceLock::new(), OnceLock::new());
        thread::scope(|s| {
            s.spawn(|| *a.get_or_init(|| *b.get_or_init(|| 1) + 1));
            s.spawn(|| *b.get_or_init(|| *a.get_or_init(|| 1) + 1));
        });
    }

    #[test]
    fn deadlocks_an_initialiser_that_takes_a_lock_held_by_a_user() {
        let (cell, lock) = (OnceLock::new(), std::sync::Mutex::new(3));
        thread::scope(|s| {
            s.spawn(|| *cell.get_or_init(|| *lock.lock().unwrap()));
            s.spawn(|| {
                let guard = lock.lock().unwrap();
                assert!(*cell.get_or_init(|| 4) <= 1 + *guard);
            });
        });
    }
}
