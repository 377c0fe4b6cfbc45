//! Locks that their owner may take again, and callbacks that come back.

mod correct {
    use conformance_std::Plain;
    use std::hint::spin_loop;
    use std::io::Write;
    use std::sync::atomic::{AtomicU64, Ordering::*};
    use std::sync::{Mutex, OnceLock};
    use std::thread;

    /// A distinct number for each thread; zero means nobody.
    fn me() -> u64 {
        static NEXT: AtomicU64 = AtomicU64::new(1);
        thread_local!(static ME: u64 = NEXT.fetch_add(1, Relaxed));
        ME.with(|me| *me)
    }

    #[derive(Default)]
    struct Reentrant {
        owner: AtomicU64,
        depth: Plain<u32>,
    }

    impl Reentrant {
        fn with<R>(&self, section: impl FnOnce() -> R) -> R {
            if self.owner.load(Relaxed) != me() {
                while self.owner.compare_exchange(0, me(), Acquire, Relaxed).is_err() {
                    spin_loop();
                }
            }
            // SAFETY: this thread owns the lock.
            unsafe { *self.depth.get() += 1 };
            let result = section();
            // SAFETY: this thread still owns the lock.
            let left = unsafe {
                *self.depth.get() -= 1;
                *self.depth.get()
            };
            if left == 0 {
                self.owner.store(0, Release);
            }
            result
        }
    }

    #[test]
    fn an_owner_may_enter_again_and_others_stay_out() {
        let (lock, count) = (Reentrant::default(), Plain::new(0));
        thread::scope(|s| {
            for _ in 0..2 {
                s.spawn(|| {
                    lock.with(|| {
                        // SAFETY: the lock is held.
                        unsafe { *count.get() += 1 };
                        lock.with(|| {
                            // SAFETY: the lock is held twice.
                            unsafe { *count.get() += 1 }
                        });
                    });
                });
            }
        });
        // SAFETY: the scope has ended.
        assert_eq!(unsafe { *count.get() }, 4);
    }

    #[test]
    fn the_lock_of_standard_error_may_be_taken_again_by_its_owner() {
        thread::scope(|s| {
            for _ in 0..2 {
                s.spawn(|| {
                    let mut outer = std::io::stderr().lock();
                    let mut inner = std::io::stderr().lock();
                    inner.write_all(b"").unwrap();
                    outer.write_all(b"").unwrap();
                });
            }
        });
    }

    #[test]
    fn a_callback_called_without_the_lock_may_take_it() {
        let total = Mutex::new(0);
        let add = |amount: u32, then: &dyn Fn()| {
            *total.lock().unwrap() += amount;
            then();
        };
        thread::scope(|s| {
            s.spawn(|| add(1, &|| *total.lock().unwrap() += 10));
            s.spawn(|| add(2, &|| *total.lock().unwrap() += 20));
        });
        assert_eq!(*total.lock().unwrap(), 33);
    }

    #[test]
    fn an_initialiser_may_spawn_and_join_a_thread() {
        let cell = OnceLock::new();
        thread::scope(|s| {
            for _ in 0..2 {
                s.spawn(|| assert_eq!(*cell.get_or_init(|| thread::spawn(|| 6).join().unwrap()), 6));
            }
        });
    }
}
