//! Condition variables used wrongly.

mod broken {
    use std::sync::atomic::{AtomicBool, Ordering::SeqCst};
    use std::sync::{Condvar, Mutex};
    use std::thread;
    use std::time::Duration;

    #[test]
    fn panics_an_if_instead_of_a_while() {
        let (items, changed) = (Mutex::new(vec![]), Condvar::new());
        thread::scope(|s| {
            for _ in 0..2 {
                s.spawn(|| {
                    let mut guard = items.lock().unwrap();
                    if guard.is_empty() {
                        guard = changed.wait(guard).unwrap();
                    }
                    guard.pop().unwrap();
                });
            }
            for item in 0..2 {
                items.lock().unwrap().push(item);
                changed.notify_all();
            }
        });
    }

    #[test]
    fn panics_a_time_out_taken_for_a_notification() {
        let (ready, changed) = (Mutex::new(false), Condvar::new());
        thread::scope(|s| {
            s.spawn(|| {
                *ready.lock().unwrap() = true;
                changed.notify_one();
            });
            let mut guard = ready.lock().unwrap();
            if !*guard {
                guard = changed.wait_timeout(guard, Duration::from_millis(50)).unwrap().0;
            }
            assert!(*guard);
        });
    }

    #[test]
    fn deadlocks_a_notification_before_the_wait() {
        let (lock, changed) = (Mutex::new(()), Condvar::new());
        thread::scope(|s| {
            s.spawn(|| changed.notify_one());
            drop(changed.wait(lock.lock().unwrap()).unwrap());
        });
    }

    #[test]
    fn deadlocks_a_flag_that_is_set_without_the_lock() {
        let (lock, changed, ready) = (Mutex::new(()), Condvar::new(), AtomicBool::new(false));
        thread::scope(|s| {
            s.spawn(|| {
                ready.store(true, SeqCst);
                changed.notify_one();
            });
            let mut guard = lock.lock().unwrap();
            while !ready.load(SeqCst) {
                guard = changed.wait(guard).unwrap();
            }
            drop(guard);
        });
    }

    #[test]
    fn deadlocks_one_notification_for_two_waiters() {
        let (open, changed) = (Mutex::new(false), Condvar::new());
        thread::scope(|s| {
            s.spawn(|| {
                *open.lock().unwrap() = true;
                changed.notify_one();
            });
            for _ in 0..2 {
                s.spawn(|| drop(changed.wait_while(open.lock().unwrap(), |open| !*open).unwrap()));
            }
        });
    }

    /// The only notification may wake the waiter that cannot use it.
    #[test]
    fn deadlocks_waiters_for_different_things_on_one_condition_variable() {
        let (turn, changed) = (Mutex::new(0), Condvar::new());
        thread::scope(|s| {
            for me in 0..3 {
                let (turn, changed) = (&turn, &changed);
                s.spawn(move || {
                    let mut guard = changed.wait_while(turn.lock().unwrap(), |turn| *turn != me).unwrap();
                    *guard += 1;
                    changed.notify_one();
                });
            }
        });
    }

    #[test]
    fn deadlocks_a_condition_checked_before_the_lock_is_taken() {
        let (ready, changed) = (Mutex::new(false), Condvar::new());
        thread::scope(|s| {
            s.spawn(|| {
                *ready.lock().unwrap() = true;
                changed.notify_all();
            });
            if !*ready.lock().unwrap() {
                drop(changed.wait(ready.lock().unwrap()).unwrap());
            }
        });
    }
}
