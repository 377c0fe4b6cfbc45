//! `parking_lot` used wrongly.

mod broken {
    use parking_lot::{Condvar, Mutex, RwLock, RwLockUpgradableReadGuard};
    use std::thread;

    #[test]
    fn panics_a_lost_update_between_two_critical_sections() {
        let count = Mutex::new(0);
        thread::scope(|s| {
            for _ in 0..2 {
                s.spawn(|| {
                    let seen = *count.lock();
                    *count.lock() = seen + 1;
                });
            }
        });
        assert_eq!(count.into_inner(), 2);
    }

    #[test]
    fn panics_a_try_lock_that_is_believed_to_succeed() {
        let count = Mutex::new(0);
        thread::scope(|s| {
            for _ in 0..2 {
                s.spawn(|| *count.try_lock().unwrap() += 1);
            }
        });
    }

    #[test]
    fn panics_half_an_update_left_by_a_panic() {
        let pair = Mutex::new((0, 0));
        thread::scope(|s| {
            let failing = s.spawn(|| {
                let mut pair = pair.lock();
                pair.0 = 1;
                panic!("expected by the test, which ignores it");
            });
            let (a, b) = *pair.lock();
            assert!(failing.join().is_err());
            assert_eq!(a, b);
        });
    }

    #[test]
    fn deadlocks_two_locks_in_opposite_orders() {
        let (a, b) = (Mutex::new(1), Mutex::new(2));
        thread::scope(|s| {
            s.spawn(|| {
                let a = a.lock();
                assert_eq!(*a + *b.lock(), 3);
            });
            s.spawn(|| {
                let b = b.lock();
                assert_eq!(*b + *a.lock(), 3);
            });
        });
    }

    #[test]
    fn deadlocks_a_notification_before_the_wait() {
        let (lock, changed) = (Mutex::new(()), Condvar::new());
        thread::scope(|s| {
            s.spawn(|| changed.notify_one());
            changed.wait(&mut lock.lock());
        });
    }

    #[test]
    fn deadlocks_a_second_read_behind_a_waiting_writer() {
        let lock = RwLock::new(0);
        thread::scope(|s| {
            s.spawn(|| *lock.write() = 1);
            let first = lock.read();
            let second = lock.read();
            assert_eq!(*first, *second);
        });
    }

    /// The upgrade waits for a reader that waits for another lock held by the upgrading thread.
    #[test]
    fn deadlocks_an_upgrade_that_waits_for_a_blocked_reader() {
        let (state, other) = (RwLock::new(0), Mutex::new(0));
        thread::scope(|s| {
            s.spawn(|| {
                let _other = other.lock();
                *RwLockUpgradableReadGuard::upgrade(state.upgradable_read()) = 1;
            });
            s.spawn(|| {
                let seen = state.read();
                *other.lock() = *seen;
            });
        });
    }
}
