//! Reader-writer locks used wrongly.

mod broken {
    use std::sync::RwLock;
    use std::thread;

    #[test]
    fn panics_an_upgrade_that_does_not_check_again() {
        let slot = RwLock::new(None);
        let initialised = thread::scope(|s| {
            let handles = [1, 2].map(|me| {
                let slot = &slot;
                s.spawn(move || {
                    if slot.read().unwrap().is_some() {
                        return 0;
                    }
                    *slot.write().unwrap() = Some(me);
                    1
                })
            });
            handles.map(|h| h.join().unwrap()).iter().sum::<u32>()
        });
        assert_eq!(initialised, 1);
    }

    #[test]
    fn panics_a_lost_update_between_the_read_and_the_write_lock() {
        let count = RwLock::new(0);
        thread::scope(|s| {
            for _ in 0..2 {
                s.spawn(|| {
                    let seen = *count.read().unwrap();
                    *count.write().unwrap() = seen + 1;
                });
            }
        });
        assert_eq!(count.into_inner().unwrap(), 2);
    }

    #[test]
    fn panics_a_try_write_that_is_believed_to_succeed() {
        let lock = RwLock::new(0);
        thread::scope(|s| {
            s.spawn(|| assert_eq!(*lock.read().unwrap(), 0));
            assert!(lock.try_write().is_ok());
        });
    }

    #[test]
    fn deadlocks_an_upgrade_that_keeps_its_read_guard() {
        let state = RwLock::new(0);
        thread::scope(|s| {
            s.spawn(|| *state.write().unwrap() = 1);
            let seen = state.read().unwrap();
            if *seen == 1 {
                *state.write().unwrap() = 2;
            }
        });
    }

    #[test]
    fn deadlocks_two_readers_that_wait_for_each_others_write_lock() {
        let (a, b) = (RwLock::new(1), RwLock::new(2));
        thread::scope(|s| {
            s.spawn(|| {
                let seen = a.read().unwrap();
                *b.write().unwrap() = *seen;
            });
            s.spawn(|| {
                let seen = b.read().unwrap();
                *a.write().unwrap() = *seen;
            });
        });
    }

    /// A writer that waits between the two reads keeps new readers out.
    #[test]
    fn deadlocks_a_second_read_by_the_same_thread_behind_a_waiting_writer() {
        let lock = RwLock::new(0);
        thread::scope(|s| {
            s.spawn(|| *lock.write().unwrap() = 1);
            let first = lock.read().unwrap();
            let second = lock.read().unwrap();
            assert_eq!(*first, *second);
        });
    }
}
