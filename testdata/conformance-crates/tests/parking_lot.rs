//! `parking_lot`.

mod correct {
    use parking_lot::{
        Condvar, FairMutex, Mutex, MutexGuard, Once, OnceState, RecursiveRwLock, ReentrantMutex, RwLock,
        RwLockUpgradableReadGuard, RwLockWriteGuard,
    };
    use std::cell::Cell;
    use std::sync::Barrier;
    use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::SeqCst};
    use std::thread;
    use std::time::Duration;

    const SHORT: Duration = Duration::from_millis(2);

    #[test]
    fn no_update_under_the_mutex_is_lost() {
        let count = Mutex::new(0);
        thread::scope(|s| {
            for _ in 0..3 {
                s.spawn(|| {
                    for _ in 0..2 {
                        *count.lock() += 1;
                    }
                });
            }
        });
        assert_eq!(count.into_inner(), 6);
    }

    #[test]
    fn a_panic_under_the_mutex_does_not_poison_it() {
        let count = Mutex::new(0);
        thread::scope(|s| {
            let failing = s.spawn(|| {
                *count.lock() += 1;
                let _guard = count.lock();
                panic!("on purpose");
            });
            s.spawn(|| *count.lock() += 1);
            assert!(failing.join().is_err());
        });
        assert_eq!(*count.lock(), 2);
    }

    #[test]
    fn try_lock_fails_under_another_holder() {
        let lock = Mutex::new(());
        let guard = lock.lock();
        thread::scope(|s| {
            s.spawn(|| {
                assert!(lock.try_lock().is_none());
                assert!(lock.is_locked());
                assert!(lock.try_lock_for(SHORT).is_none());
            });
        });
        drop(guard);
        assert!(!lock.is_locked());
    }

    #[test]
    fn try_lock_for_gets_the_lock_or_times_out() {
        let count = Mutex::new(0);
        let taken = thread::scope(|s| {
            let handles = [(); 2].map(|()| {
                s.spawn(|| match count.try_lock_for(SHORT) {
                    Some(mut guard) => {
                        *guard += 1;
                        1
                    }
                    None => 0,
                })
            });
            handles.map(|h| h.join().unwrap()).iter().sum::<u32>()
        });
        assert!(taken >= 1);
        assert_eq!(count.into_inner(), taken);
    }

    #[test]
    fn a_fair_mutex_and_a_fair_unlock_pass_the_lock_on() {
        let (fair, plain) = (FairMutex::new(0), Mutex::new(0));
        thread::scope(|s| {
            for _ in 0..3 {
                s.spawn(|| {
                    *fair.lock() += 1;
                    let mut guard = plain.lock();
                    *guard += 1;
                    MutexGuard::unlock_fair(guard);
                });
            }
        });
        assert_eq!((fair.into_inner(), plain.into_inner()), (3, 3));
    }

    #[test]
    fn unlocked_lets_the_others_in_and_takes_the_lock_again() {
        let lock = Mutex::new(0);
        thread::scope(|s| {
            for _ in 0..2 {
                s.spawn(|| {
                    let mut guard = lock.lock();
                    MutexGuard::unlocked(&mut guard, || *lock.lock() += 1);
                    *guard += 1;
                });
            }
        });
        assert_eq!(lock.into_inner(), 4);
    }

    #[test]
    fn a_reentrant_mutex_lets_its_owner_in_again() {
        let lock = ReentrantMutex::new(Cell::new(0));
        thread::scope(|s| {
            for _ in 0..2 {
                s.spawn(|| {
                    let outer = lock.lock();
                    let inner = lock.lock();
                    inner.set(outer.get() + 1);
                });
            }
        });
        assert_eq!(lock.into_inner().get(), 2);
    }

    #[test]
    fn readers_share_and_writers_exclude() {
        let (lock, writing) = (RwLock::new(0), AtomicBool::new(false));
        thread::scope(|s| {
            for _ in 0..2 {
                s.spawn(|| {
                    let mut guard = lock.write();
                    assert!(!writing.swap(true, SeqCst));
                    *guard += 1;
                    writing.store(false, SeqCst);
                });
                s.spawn(|| {
                    let _guard = lock.read();
                    assert!(!writing.load(SeqCst));
                });
            }
        });
        assert_eq!(lock.into_inner(), 2);
    }

    #[test]
    fn two_readers_can_be_inside_together() {
        let (lock, inside) = (RwLock::new(()), Barrier::new(2));
        thread::scope(|s| {
            for _ in 0..2 {
                s.spawn(|| {
                    let _guard = lock.read();
                    inside.wait();
                });
            }
        });
    }

    #[test]
    fn a_recursive_read_passes_a_waiting_writer() {
        let lock = RecursiveRwLock::new(0);
        thread::scope(|s| {
            s.spawn(|| *lock.write() = 1);
            let first = lock.read();
            let second = lock.read();
            assert_eq!(*first, *second);
        });
    }

    #[test]
    fn an_upgradable_reader_loses_no_update() {
        let count = RwLock::new(0);
        thread::scope(|s| {
            for _ in 0..3 {
                s.spawn(|| {
                    let guard = count.upgradable_read();
                    let seen = *guard;
                    *RwLockUpgradableReadGuard::upgrade(guard) = seen + 1;
                });
            }
            s.spawn(|| assert!(*count.read() <= 3));
        });
        assert_eq!(count.into_inner(), 3);
    }

    #[test]
    fn a_downgraded_writer_lets_nobody_write_in_between() {
        let lock = RwLock::new(0);
        thread::scope(|s| {
            for me in 1..3 {
                let lock = &lock;
                s.spawn(move || {
                    let mut guard = lock.write();
                    *guard = me;
                    assert_eq!(*RwLockWriteGuard::downgrade(guard), me);
                });
            }
        });
    }

    #[test]
    fn a_condition_variable_wakes_its_waiter() {
        let (ready, changed) = (Mutex::new(false), Condvar::new());
        thread::scope(|s| {
            s.spawn(|| {
                *ready.lock() = true;
                changed.notify_one();
            });
            let mut guard = ready.lock();
            while !*guard {
                changed.wait(&mut guard);
            }
        });
    }

    #[test]
    fn notify_one_tells_whether_it_woke_a_thread() {
        let (waiting, changed) = (Mutex::new(false), Condvar::new());
        thread::scope(|s| {
            s.spawn(|| {
                let mut guard = waiting.lock();
                *guard = true;
                changed.wait(&mut guard);
            });
            loop {
                let guard = waiting.lock();
                if *guard {
                    assert!(changed.notify_one());
                    assert!(!changed.notify_one());
                    break;
                }
                drop(guard);
                thread::yield_now();
            }
        });
    }

    #[test]
    fn notify_all_wakes_every_waiter() {
        let (open, changed) = (Mutex::new(false), Condvar::new());
        thread::scope(|s| {
            for _ in 0..3 {
                s.spawn(|| changed.wait_while(&mut open.lock(), |open| !*open));
            }
            *open.lock() = true;
            changed.notify_all();
        });
    }

    #[test]
    fn wait_for_times_out_or_is_notified() {
        let (ready, changed) = (Mutex::new(false), Condvar::new());
        thread::scope(|s| {
            s.spawn(|| {
                *ready.lock() = true;
                changed.notify_one();
            });
            let mut guard = ready.lock();
            if !*guard {
                let result = changed.wait_for(&mut guard, SHORT);
                assert!(*guard || result.timed_out());
            }
        });
    }

    #[test]
    fn call_once_runs_the_closure_once() {
        let (once, runs) = (Once::new(), AtomicUsize::new(0));
        thread::scope(|s| {
            for _ in 0..3 {
                s.spawn(|| {
                    once.call_once(|| _ = runs.fetch_add(1, SeqCst));
                    assert_eq!(runs.load(SeqCst), 1);
                });
            }
        });
        assert_eq!(once.state(), OnceState::Done);
    }
}
