//! Mutexes used wrongly.

mod broken {
    use std::sync::{Arc, Mutex};
    use std::thread;

    #[test]
    fn panics_a_lost_update_between_two_critical_sections() {
        let count = Mutex::new(0);
        thread::scope(|s| {
            for _ in 0..2 {
                s.spawn(|| {
                    let seen = *count.lock().unwrap();
                    *count.lock().unwrap() = seen + 1;
                });
            }
        });
        assert_eq!(count.into_inner().unwrap(), 2);
    }

    #[test]
    fn panics_a_check_that_no_longer_holds_when_it_is_acted_on() {
        let stack = Mutex::new(vec![1]);
        thread::scope(|s| {
            for _ in 0..2 {
                s.spawn(|| {
                    if !stack.lock().unwrap().is_empty() {
                        stack.lock().unwrap().pop().unwrap();
                    }
                });
            }
        });
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
    fn panics_two_locks_for_one_invariant() {
        let (a, b) = (Mutex::new(5), Mutex::new(5));
        thread::scope(|s| {
            s.spawn(|| {
                *a.lock().unwrap() -= 1;
                *b.lock().unwrap() += 1;
            });
            let sum = *a.lock().unwrap() + *b.lock().unwrap();
            assert_eq!(sum, 10);
        });
    }

    #[test]
    fn panics_a_lock_that_a_failed_thread_left_poisoned() {
        let total = Arc::new(Mutex::new(0));
        let theirs = Arc::clone(&total);
        let failing = thread::spawn(move || {
            let _guard = theirs.lock().unwrap();
            panic!("expected by the test, which ignores it");
        });
        *total.lock().unwrap() += 1;
        assert!(failing.join().is_err());
    }

    #[test]
    fn deadlocks_two_locks_in_opposite_orders() {
        let (a, b) = (Mutex::new(1), Mutex::new(2));
        thread::scope(|s| {
            s.spawn(|| {
                let a = a.lock().unwrap();
                assert_eq!(*a + *b.lock().unwrap(), 3);
            });
            s.spawn(|| {
                let b = b.lock().unwrap();
                assert_eq!(*b + *a.lock().unwrap(), 3);
            });
        });
    }

    #[test]
    fn deadlocks_three_philosophers() {
        let forks = [const { Mutex::new(()) }; 3];
        thread::scope(|s| {
            for me in 0..3 {
                let forks = &forks;
                s.spawn(move || {
                    let _left = forks[me].lock().unwrap();
                    let _right = forks[(me + 1) % 3].lock().unwrap();
                });
            }
        });
    }

    #[test]
    fn deadlocks_a_guard_that_is_held_across_a_join() {
        let lock = Arc::new(Mutex::new(0));
        let theirs = Arc::clone(&lock);
        let worker = thread::spawn(move || *theirs.lock().unwrap() += 1);
        let joiner = thread::spawn(move || {
            let _guard = lock.lock().unwrap();
            worker.join().unwrap();
        });
        joiner.join().unwrap();
    }

    /// One thread reports under the lock if it comes second, and the report takes the lock again.
    #[test]
    fn deadlocks_a_callback_that_comes_back_under_the_lock() {
        let total = Mutex::new(0);
        let report = || drop(total.lock().unwrap());
        thread::scope(|s| {
            for (amount, reports_under_the_lock) in [(2, true), (1, false)] {
                let (total, report) = (&total, &report);
                s.spawn(move || {
                    let mut guard = total.lock().unwrap();
                    *guard += amount;
                    if *guard > 2 && reports_under_the_lock {
                        report();
                    }
                });
            }
        });
    }
}
