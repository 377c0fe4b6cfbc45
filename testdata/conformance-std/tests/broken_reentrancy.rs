//! A lock for re-entry whose owner is recorded at the wrong moment.

mod broken {
    use conformance_std::Plain;
    use std::hint::spin_loop;
    use std::sync::atomic::{AtomicBool, AtomicU32, Ordering::*};
    use std::sync::{Mutex, OnceLock};
    use std::thread;

    /// The lock is given back before the owner is cleared, so the clearing can hit the next owner.
    #[test]
    fn livelocks_an_owner_that_is_erased_by_the_one_before() {
        let (locked, owner) = (AtomicBool::new(false), AtomicU32::new(0));
        let lock = |me: u32| {
            if owner.load(SeqCst) == me {
                return false;
            }
            while locked.swap(true, SeqCst) {
                spin_loop();
            }
            owner.store(me, SeqCst);
            true
        };
        let unlock = || {
            locked.store(false, SeqCst);
            owner.store(0, SeqCst);
        };
        thread::scope(|s| {
            for me in 1..3 {
                let (lock, unlock) = (&lock, &unlock);
                s.spawn(move || {
                    lock(me);
                    let outer = lock(me);
                    if outer {
                        unlock();
                    }
                    unlock();
                });
            }
        });
    }

    #[test]
    fn panics_an_owner_check_that_lets_a_second_thread_in() {
        let (owner, inside) = (AtomicU32::new(0), Plain::new(0));
        thread::scope(|s| {
            for me in 1..3 {
                let (owner, inside) = (&owner, &inside);
                s.spawn(move || {
                    while owner.load(SeqCst) != 0 && owner.load(SeqCst) != me {
                        spin_loop();
                    }
                    owner.store(me, SeqCst);
                    // SAFETY: none, this is the bug: both threads may have seen that nobody owns the lock.
                    unsafe { *inside.get() += 1 };
                    owner.store(0, SeqCst);
                });
            }
        });
        // SAFETY: the scope has ended.
        assert_eq!(unsafe { *inside.get() }, 2);
    }

    #[test]
    fn deadlocks_an_initialiser_whose_thread_needs_the_cell() {
        let (cell, wanted) = (OnceLock::new(), Mutex::new(false));
        thread::scope(|s| {
            s.spawn(|| {
                cell.get_or_init(|| {
                    let nested = *wanted.lock().unwrap();
                    if nested {
                        thread::scope(|t| *t.spawn(|| cell.get_or_init(|| 1)).join().unwrap())
                    } else {
                        2
                    }
                });
            });
            s.spawn(|| *wanted.lock().unwrap() = true);
        });
    }
}
