//! Spin locks, tickets and classical algorithms with a step missing or in the wrong place.

mod broken {
    use conformance_std::Plain;
    use std::hint::spin_loop;
    use std::sync::atomic::{AtomicBool, AtomicU32, AtomicUsize, Ordering::*};
    use std::thread;

    /// Increments a plain counter in two threads between `enter` and `leave` and checks that nothing was lost.
    fn two_threads(enter: impl Fn(usize) + Sync, leave: impl Fn(usize) + Sync) {
        let count = Plain::new(0);
        thread::scope(|s| {
            for me in 0..2 {
                let (count, enter, leave) = (&count, &enter, &leave);
                s.spawn(move || {
                    enter(me);
                    // SAFETY: none, the lock under test is broken.
                    unsafe { *count.get() += 1 };
                    leave(me);
                });
            }
        });
        // SAFETY: the scope has ended.
        assert_eq!(unsafe { *count.get() }, 2);
    }

    #[test]
    fn panics_a_spin_lock_taken_by_a_load_and_a_store() {
        let locked = AtomicBool::new(false);
        two_threads(
            |_| {
                while locked.load(Acquire) {
                    spin_loop();
                }
                locked.store(true, Release);
            },
            |_| locked.store(false, Release),
        );
    }

    #[test]
    fn panics_a_ticket_lock_that_gives_a_ticket_twice() {
        let (next, serving) = (AtomicUsize::new(0), AtomicUsize::new(0));
        two_threads(
            |_| {
                let mine = next.load(SeqCst);
                next.store(mine + 1, SeqCst);
                while serving.load(SeqCst) < mine {
                    spin_loop();
                }
            },
            |_| _ = serving.fetch_add(1, SeqCst),
        );
    }

    #[test]
    fn panics_petersons_algorithm_with_the_turn_before_the_wish() {
        let (wants, turn) = ([const { AtomicBool::new(false) }; 2], AtomicUsize::new(0));
        two_threads(
            |me| {
                turn.store(1 - me, SeqCst);
                wants[me].store(true, SeqCst);
                while wants[1 - me].load(SeqCst) && turn.load(SeqCst) == 1 - me {
                    spin_loop();
                }
            },
            |me| wants[me].store(false, SeqCst),
        );
    }

    #[test]
    fn panics_a_seqlock_reader_that_does_not_look_at_the_version_again() {
        let (version, data) = (AtomicU32::new(0), [const { AtomicU32::new(0) }; 2]);
        thread::scope(|s| {
            s.spawn(|| {
                version.fetch_add(1, AcqRel);
                data[0].store(1, Relaxed);
                data[1].store(1, Relaxed);
                version.fetch_add(1, Release);
            });
            while version.load(Acquire) % 2 == 1 {
                spin_loop();
            }
            assert_eq!(data[0].load(Relaxed), data[1].load(Relaxed));
        });
    }

    #[test]
    fn panics_a_seqlock_with_two_writers() {
        let (version, data) = (AtomicU32::new(0), [const { AtomicU32::new(0) }; 2]);
        thread::scope(|s| {
            for value in 1..3 {
                let (version, data) = (&version, &data);
                s.spawn(move || {
                    version.fetch_add(1, AcqRel);
                    data[0].store(value, Relaxed);
                    data[1].store(value, Relaxed);
                    version.fetch_add(1, Release);
                });
            }
        });
        assert_eq!(data[0].load(Relaxed), data[1].load(Relaxed));
    }

    #[test]
    fn livelocks_two_spin_locks_in_opposite_orders() {
        let locks = [const { AtomicBool::new(false) }; 2];
        let take = |lock: &AtomicBool| {
            while lock.swap(true, Acquire) {
                spin_loop();
            }
        };
        thread::scope(|s| {
            for order in [[0, 1], [1, 0]] {
                let (locks, take) = (&locks, &take);
                s.spawn(move || {
                    order.iter().for_each(|&i| take(&locks[i]));
                    order.iter().for_each(|&i| locks[i].store(false, Release));
                });
            }
        });
    }

    #[test]
    fn livelocks_wishes_without_a_turn() {
        let wants = [const { AtomicBool::new(false) }; 2];
        two_threads(
            |me| {
                wants[me].store(true, SeqCst);
                while wants[1 - me].load(SeqCst) {
                    thread::yield_now();
                }
            },
            |me| wants[me].store(false, SeqCst),
        );
    }

    #[test]
    fn livelocks_a_bare_loop_that_misses_a_short_state() {
        let state = AtomicU32::new(0);
        thread::scope(|s| {
            s.spawn(|| {
                while state.load(SeqCst) == 0 {}
                state.store(2, SeqCst);
            });
            s.spawn(|| while state.load(SeqCst) != 1 {});
            state.store(1, SeqCst);
        });
    }

    #[test]
    fn livelocks_a_stop_flag_that_is_overwritten() {
        let stop = AtomicBool::new(false);
        thread::scope(|s| {
            s.spawn(|| {
                stop.store(false, SeqCst);
                while !stop.load(SeqCst) {
                    thread::yield_now();
                }
            });
            s.spawn(|| stop.store(true, SeqCst));
        });
    }
}
