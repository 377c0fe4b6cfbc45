//! `std::sync::Mutex`.

mod correct {
    use std::panic::{AssertUnwindSafe, catch_unwind};
    use std::sync::atomic::{AtomicBool, Ordering::SeqCst};
    use std::sync::{Arc, Mutex, TryLockError};
    use std::thread;

    #[test]
    fn no_update_under_the_lock_is_lost() {
        let counter = Mutex::new(0);
        thread::scope(|s| {
            for _ in 0..3 {
                s.spawn(|| {
                    for _ in 0..3 {
                        *counter.lock().unwrap() += 1;
                    }
                });
            }
        });
        assert_eq!(counter.into_inner().unwrap(), 9);
    }

    #[test]
    fn critical_sections_do_not_overlap() {
        let lock = Mutex::new(());
        let inside = AtomicBool::new(false);
        thread::scope(|s| {
            for _ in 0..3 {
                s.spawn(|| {
                    let _guard = lock.lock().unwrap();
                    assert!(!inside.swap(true, SeqCst));
                    thread::yield_now();
                    assert!(inside.swap(false, SeqCst));
                });
            }
        });
    }

    #[test]
    fn a_reader_never_sees_half_an_update() {
        let pair = Mutex::new((0, 0));
        thread::scope(|s| {
            s.spawn(|| {
                for _ in 0..3 {
                    let mut pair = pair.lock().unwrap();
                    pair.0 += 1;
                    pair.1 += 1;
                }
            });
            for _ in 0..3 {
                let pair = pair.lock().unwrap();
                assert_eq!(pair.0, pair.1);
            }
        });
    }

    #[test]
    fn two_locks_taken_in_one_order_never_deadlock() {
        let accounts = [Mutex::new(10), Mutex::new(10)];
        thread::scope(|s| {
            for amount in [3, -5] {
                let accounts = &accounts;
                s.spawn(move || {
                    let mut from = accounts[0].lock().unwrap();
                    let mut to = accounts[1].lock().unwrap();
                    *from -= amount;
                    *to += amount;
                });
            }
        });
        assert_eq!(accounts.map(|a| a.into_inner().unwrap()), [12, 8]);
    }

    #[test]
    fn all_pushes_arrive_and_each_thread_keeps_its_order() {
        let log = Mutex::new(Vec::new());
        thread::scope(|s| {
            for id in 0..2 {
                let log = &log;
                s.spawn(move || {
                    for step in 0..3 {
                        log.lock().unwrap().push((id, step));
                    }
                });
            }
        });
        let log = log.into_inner().unwrap();
        for id in 0..2 {
            let steps: Vec<_> = log.iter().filter(|e| e.0 == id).map(|e| e.1).collect();
            assert_eq!(steps, [0, 1, 2]);
        }
    }

    #[test]
    fn try_lock_fails_while_another_thread_holds_the_lock() {
        let lock = Mutex::new(1);
        let guard = lock.lock().unwrap();
        thread::scope(|s| {
            s.spawn(|| assert!(matches!(lock.try_lock(), Err(TryLockError::WouldBlock)))).join().unwrap();
        });
        drop(guard);
        assert_eq!(*lock.try_lock().unwrap(), 1);
    }

    #[test]
    fn try_lock_that_succeeds_excludes_the_others() {
        let counter = Mutex::new(0);
        let successes = thread::scope(|s| {
            let handles: Vec<_> = (0..3)
                .map(|_| {
                    s.spawn(|| match counter.try_lock() {
                        Ok(mut guard) => {
                            *guard += 1;
                            1
                        }
                        Err(TryLockError::WouldBlock) => 0,
                        Err(TryLockError::Poisoned(_)) => unreachable!(),
                    })
                })
                .collect();
            handles.into_iter().map(|h| h.join().unwrap()).sum::<i32>()
        });
        assert!(successes >= 1);
        assert_eq!(counter.into_inner().unwrap(), successes);
    }

    #[test]
    fn a_try_lock_loop_gets_the_lock_in_the_end() {
        let lock = Mutex::new(0);
        thread::scope(|s| {
            for _ in 0..2 {
                s.spawn(|| {
                    loop {
                        if let Ok(mut guard) = lock.try_lock() {
                            *guard += 1;
                            break;
                        }
                        thread::yield_now();
                    }
                });
            }
        });
        assert_eq!(lock.into_inner().unwrap(), 2);
    }

    #[test]
    fn the_holder_itself_cannot_try_lock_again() {
        let lock = Mutex::new(());
        thread::scope(|s| {
            for _ in 0..2 {
                s.spawn(|| {
                    let _guard = lock.lock().unwrap();
                    assert!(matches!(lock.try_lock(), Err(TryLockError::WouldBlock)));
                });
            }
        });
    }

    #[test]
    fn a_panic_under_the_lock_poisons_it_for_the_others() {
        let lock = Arc::new(Mutex::new(1));
        let theirs = Arc::clone(&lock);
        let result = thread::spawn(move || {
            let mut guard = theirs.lock().unwrap();
            *guard = 2;
            panic!("on purpose");
        })
        .join();
        assert!(result.is_err());
        assert!(lock.is_poisoned());
        assert!(matches!(lock.try_lock(), Err(TryLockError::Poisoned(_))));
        assert_eq!(*lock.lock().unwrap_err().into_inner(), 2);
    }

    #[test]
    fn a_waiting_thread_sees_the_poison_or_came_first() {
        let lock = Mutex::new(0);
        thread::scope(|s| {
            s.spawn(|| {
                let panicked = catch_unwind(AssertUnwindSafe(|| {
                    let mut guard = lock.lock().unwrap();
                    *guard = 1;
                    panic!("on purpose");
                }));
                assert!(panicked.is_err());
            });
            s.spawn(|| match lock.lock() {
                Ok(guard) => assert_eq!(*guard, 0),
                Err(poisoned) => assert_eq!(*poisoned.into_inner(), 1),
            });
        });
        assert!(lock.is_poisoned());
    }

    #[test]
    fn clear_poison_makes_the_lock_usable_again() {
        let lock = Arc::new(Mutex::new(0));
        let theirs = Arc::clone(&lock);
        let broken = thread::spawn(move || {
            let _guard = theirs.lock().unwrap();
            panic!("on purpose");
        });
        assert!(broken.join().is_err());
        lock.clear_poison();
        thread::scope(|s| {
            s.spawn(|| *lock.lock().unwrap() += 1);
            s.spawn(|| *lock.lock().unwrap() += 1);
        });
        assert_eq!(*lock.lock().unwrap(), 2);
    }

    #[test]
    fn a_panic_after_the_guard_was_dropped_does_not_poison() {
        let lock = Arc::new(Mutex::new(0));
        let theirs = Arc::clone(&lock);
        let result = thread::spawn(move || {
            *theirs.lock().unwrap() += 1;
            panic!("on purpose");
        });
        *lock.lock().unwrap() += 1;
        assert!(result.join().is_err());
        assert_eq!(*lock.lock().unwrap(), 2);
    }

    #[test]
    fn into_inner_of_a_poisoned_lock_still_gives_the_value() {
        let lock = Arc::new(Mutex::new(7));
        let theirs = Arc::clone(&lock);
        let result = thread::spawn(move || {
            let _guard = theirs.lock().unwrap();
            panic!("on purpose");
        });
        assert!(result.join().is_err());
        let lock = Arc::into_inner(lock).unwrap();
        assert_eq!(lock.into_inner().unwrap_err().into_inner(), 7);
    }

    #[test]
    fn a_static_lock_is_shared_by_all_threads() {
        static TOTAL: Mutex<u32> = Mutex::new(0);
        let handles: Vec<_> = (1..4).map(|n| thread::spawn(move || *TOTAL.lock().unwrap() += n)).collect();
        for handle in handles {
            handle.join().unwrap();
        }
        assert_eq!(*TOTAL.lock().unwrap(), 6);
    }

    #[test]
    fn a_value_moved_through_a_lock_is_taken_by_one_thread_only() {
        let slot = Mutex::new(Some(Box::new(5)));
        let takers = thread::scope(|s| {
            let handles: Vec<_> = (0..3).map(|_| s.spawn(|| slot.lock().unwrap().take())).collect();
            handles.into_iter().filter_map(|h| h.join().unwrap()).collect::<Vec<_>>()
        });
        assert_eq!(takers, [Box::new(5)]);
    }
}
