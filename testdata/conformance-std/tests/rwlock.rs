//! `std::sync::RwLock`.

mod correct {
    use std::sync::atomic::{AtomicBool, Ordering::SeqCst};
    use std::sync::{Arc, Barrier, RwLock, RwLockWriteGuard, TryLockError};
    use std::thread;

    #[test]
    fn no_update_under_the_write_lock_is_lost() {
        let counter = RwLock::new(0);
        thread::scope(|s| {
            for _ in 0..3 {
                s.spawn(|| {
                    for _ in 0..2 {
                        *counter.write().unwrap() += 1;
                    }
                });
            }
        });
        assert_eq!(counter.into_inner().unwrap(), 6);
    }

    #[test]
    fn a_reader_never_sees_half_an_update() {
        let pair = RwLock::new((0, 0));
        thread::scope(|s| {
            s.spawn(|| {
                for _ in 0..2 {
                    let mut pair = pair.write().unwrap();
                    pair.0 += 1;
                    pair.1 += 1;
                }
            });
            for _ in 0..2 {
                s.spawn(|| {
                    for _ in 0..2 {
                        let pair = pair.read().unwrap();
                        assert_eq!(pair.0, pair.1);
                    }
                });
            }
        });
    }

    #[test]
    fn two_readers_can_be_inside_together() {
        let lock = RwLock::new(3);
        let inside = Barrier::new(2);
        thread::scope(|s| {
            for _ in 0..2 {
                s.spawn(|| {
                    let guard = lock.read().unwrap();
                    inside.wait();
                    assert_eq!(*guard, 3);
                });
            }
        });
    }

    #[test]
    fn a_writer_is_alone_inside() {
        let lock = RwLock::new(());
        let writing = AtomicBool::new(false);
        thread::scope(|s| {
            for _ in 0..2 {
                s.spawn(|| {
                    let _guard = lock.write().unwrap();
                    assert!(!writing.swap(true, SeqCst));
                    thread::yield_now();
                    writing.store(false, SeqCst);
                });
                s.spawn(|| {
                    let _guard = lock.read().unwrap();
                    assert!(!writing.load(SeqCst));
                });
            }
        });
    }

    #[test]
    fn writers_and_readers_that_wait_are_all_woken() {
        let lock = RwLock::new(0);
        let closed = lock.write().unwrap();
        thread::scope(|s| {
            for _ in 0..2 {
                s.spawn(|| *lock.write().unwrap() += 1);
                s.spawn(|| assert!(*lock.read().unwrap() <= 2));
            }
            drop(closed);
        });
        assert_eq!(lock.into_inner().unwrap(), 2);
    }

    #[test]
    fn try_read_and_try_write_fail_under_a_writer() {
        let lock = RwLock::new(());
        let guard = lock.write().unwrap();
        thread::scope(|s| {
            s.spawn(|| {
                assert!(matches!(lock.try_read(), Err(TryLockError::WouldBlock)));
                assert!(matches!(lock.try_write(), Err(TryLockError::WouldBlock)));
            });
        });
        drop(guard);
    }

    #[test]
    fn try_read_succeeds_and_try_write_fails_under_a_reader() {
        let lock = RwLock::new(4);
        let guard = lock.read().unwrap();
        thread::scope(|s| {
            s.spawn(|| {
                assert_eq!(*lock.try_read().unwrap(), 4);
                assert!(matches!(lock.try_write(), Err(TryLockError::WouldBlock)));
            });
        });
        drop(guard);
    }

    #[test]
    fn a_panicking_writer_poisons_the_lock() {
        let lock = Arc::new(RwLock::new(0));
        let theirs = Arc::clone(&lock);
        let writer = thread::spawn(move || {
            *theirs.write().unwrap() = 1;
            let _guard = theirs.write().unwrap();
            panic!("on purpose");
        });
        assert!(writer.join().is_err());
        assert!(lock.is_poisoned());
        assert_eq!(*lock.read().unwrap_err().into_inner(), 1);
        lock.clear_poison();
        assert_eq!(*lock.read().unwrap(), 1);
    }

    #[test]
    fn a_panicking_reader_does_not_poison_the_lock() {
        let lock = Arc::new(RwLock::new(0));
        let theirs = Arc::clone(&lock);
        let reader = thread::spawn(move || {
            let _guard = theirs.read().unwrap();
            panic!("on purpose");
        });
        *lock.write().unwrap() += 1;
        assert!(reader.join().is_err());
        assert_eq!(*lock.write().unwrap(), 1);
    }

    #[test]
    fn a_downgraded_writer_lets_nobody_write_in_between() {
        let lock = RwLock::new(0);
        thread::scope(|s| {
            for me in 1..3 {
                let lock = &lock;
                s.spawn(move || {
                    let mut guard = lock.write().unwrap();
                    *guard = me;
                    let guard = RwLockWriteGuard::downgrade(guard);
                    thread::yield_now();
                    assert_eq!(*guard, me);
                });
            }
        });
    }

    #[test]
    fn a_read_then_a_write_that_checks_again_initialises_once() {
        let lock = RwLock::new(None);
        let initialised = thread::scope(|s| {
            let handles: Vec<_> = (0..2)
                .map(|me| {
                    let lock = &lock;
                    s.spawn(move || {
                        if lock.read().unwrap().is_some() {
                            return 0;
                        }
                        let mut guard = lock.write().unwrap();
                        if guard.is_some() {
                            return 0;
                        }
                        *guard = Some(me);
                        1
                    })
                })
                .collect();
            handles.into_iter().map(|h| h.join().unwrap()).sum::<i32>()
        });
        assert_eq!(initialised, 1);
    }
}
