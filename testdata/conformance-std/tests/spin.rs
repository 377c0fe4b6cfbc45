//! Spin loops with `spin_loop`, with `yield_now` and bare; locks made of them.

mod correct {
    use conformance_std::Plain;
    use std::hint::spin_loop;
    use std::sync::atomic::{AtomicBool, AtomicU32, AtomicUsize, Ordering::*};
    use std::thread;

    #[test]
    fn a_loop_with_spin_loop_sees_the_flag() {
        let ready = AtomicBool::new(false);
        thread::scope(|s| {
            s.spawn(|| {
                while !ready.load(Acquire) {
                    spin_loop();
                }
            });
            ready.store(true, Release);
        });
    }

    #[test]
    fn a_loop_with_yield_now_sees_the_flag() {
        let ready = AtomicBool::new(false);
        thread::scope(|s| {
            s.spawn(|| {
                while !ready.load(Acquire) {
                    thread::yield_now();
                }
            });
            ready.store(true, Release);
        });
    }

    #[test]
    #[expect(clippy::missing_spin_loop, reason = "the bare loop is what is tested")]
    fn a_bare_loop_sees_the_flag() {
        let ready = AtomicBool::new(false);
        thread::scope(|s| {
            s.spawn(|| while !ready.load(Relaxed) {});
            ready.store(true, Relaxed);
        });
    }

    #[test]
    fn bare_loops_in_three_threads_do_not_starve_the_one_that_writes() {
        let ready = AtomicUsize::new(0);
        thread::scope(|s| {
            for me in 1..4 {
                let ready = &ready;
                s.spawn(move || {
                    while ready.load(SeqCst) != me {}
                    ready.store(me + 1, SeqCst);
                });
            }
            ready.store(1, SeqCst);
        });
        assert_eq!(ready.into_inner(), 4);
    }

    #[test]
    fn a_loop_over_two_flags_sees_either() {
        let (a, b) = (AtomicBool::new(false), AtomicBool::new(false));
        thread::scope(|s| {
            s.spawn(|| {
                while !(a.load(Acquire) && b.load(Acquire)) {
                    spin_loop();
                }
            });
            s.spawn(|| a.store(true, Release));
            s.spawn(|| b.store(true, Release));
        });
    }

    #[test]
    fn a_loop_of_failing_compare_exchanges_gets_its_turn() {
        let state = AtomicU32::new(0);
        thread::scope(|s| {
            s.spawn(|| while state.compare_exchange(1, 2, AcqRel, Relaxed).is_err() {});
            state.store(1, Release);
        });
        assert_eq!(state.into_inner(), 2);
    }

    #[test]
    fn two_threads_spin_for_each_other_in_turn() {
        let turn = AtomicUsize::new(0);
        thread::scope(|s| {
            for me in 0..2 {
                let turn = &turn;
                s.spawn(move || {
                    for round in 0..3 {
                        while turn.load(Acquire) != 2 * round + me {
                            spin_loop();
                        }
                        turn.fetch_add(1, AcqRel);
                    }
                });
            }
        });
        assert_eq!(turn.into_inner(), 6);
    }

    /// A loop that counts its own turns changes memory, though not memory that anyone else waits for.
    #[test]
    fn a_loop_that_counts_its_turns_ends() {
        let (ready, turns) = (AtomicBool::new(false), AtomicUsize::new(0));
        thread::scope(|s| {
            s.spawn(|| {
                while !ready.load(Acquire) {
                    turns.fetch_add(1, Relaxed);
                    spin_loop();
                }
            });
            ready.store(true, Release);
        });
    }

    #[test]
    fn a_bounded_spin_that_falls_back_to_park_ends() {
        let ready = AtomicBool::new(false);
        thread::scope(|s| {
            let waiter = s.spawn(|| {
                for _ in 0..10 {
                    if ready.load(Acquire) {
                        return;
                    }
                    spin_loop();
                }
                while !ready.load(Acquire) {
                    thread::park();
                }
            });
            ready.store(true, Release);
            waiter.thread().unpark();
        });
    }

    #[test]
    fn a_test_and_set_lock_protects_plain_memory() {
        let (locked, count) = (AtomicBool::new(false), Plain::new(0));
        thread::scope(|s| {
            for _ in 0..3 {
                s.spawn(|| {
                    for _ in 0..2 {
                        while locked.swap(true, Acquire) {
                            spin_loop();
                        }
                        // SAFETY: the lock is held.
                        unsafe { *count.get() += 1 };
                        locked.store(false, Release);
                    }
                });
            }
        });
        // SAFETY: the scope has ended.
        assert_eq!(unsafe { *count.get() }, 6);
    }

    #[test]
    fn a_test_and_test_and_set_lock_protects_plain_memory() {
        let (locked, count) = (AtomicBool::new(false), Plain::new(0));
        thread::scope(|s| {
            for _ in 0..3 {
                s.spawn(|| {
                    while locked.compare_exchange_weak(false, true, Acquire, Relaxed).is_err() {
                        while locked.load(Relaxed) {
                            thread::yield_now();
                        }
                    }
                    // SAFETY: the lock is held.
                    unsafe { *count.get() += 1 };
                    locked.store(false, Release);
                });
            }
        });
        // SAFETY: the scope has ended.
        assert_eq!(unsafe { *count.get() }, 3);
    }

    #[test]
    fn a_ticket_lock_serves_in_the_order_of_the_tickets() {
        let (next, serving, log) = (AtomicUsize::new(0), AtomicUsize::new(0), Plain::new(Vec::new()));
        thread::scope(|s| {
            for _ in 0..3 {
                s.spawn(|| {
                    let mine = next.fetch_add(1, Relaxed);
                    while serving.load(Acquire) != mine {
                        spin_loop();
                    }
                    // SAFETY: only the thread being served comes here.
                    unsafe { (*log.get()).push(mine) };
                    serving.store(mine + 1, Release);
                });
            }
        });
        // SAFETY: the scope has ended.
        assert_eq!(unsafe { &*log.get() }, &[0, 1, 2]);
    }

    #[test]
    fn a_spin_barrier_with_a_sense_can_be_reused() {
        let (count, sense, total) = (AtomicUsize::new(2), AtomicBool::new(false), AtomicUsize::new(0));
        thread::scope(|s| {
            for _ in 0..2 {
                s.spawn(|| {
                    let mut mine = false;
                    for round in 1..3 {
                        total.fetch_add(1, SeqCst);
                        for _ in 0..2 {
                            mine = !mine;
                            if count.fetch_sub(1, AcqRel) == 1 {
                                count.store(2, Release);
                                sense.store(mine, Release);
                            } else {
                                while sense.load(Acquire) != mine {
                                    spin_loop();
                                }
                            }
                            assert!(total.load(SeqCst) >= 2 * round);
                        }
                    }
                });
            }
        });
    }
}
