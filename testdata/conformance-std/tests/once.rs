//! `Once`, `OnceLock` and `LazyLock`.

mod correct {
    use std::panic::{AssertUnwindSafe, catch_unwind};
    use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed, Ordering::SeqCst};
    use std::sync::{LazyLock, Once, OnceLock};
    use std::thread;

    #[test]
    fn call_once_runs_the_closure_once() {
        let (once, runs) = (Once::new(), AtomicUsize::new(0));
        thread::scope(|s| {
            for _ in 0..3 {
                s.spawn(|| {
                    once.call_once(|| {
                        runs.fetch_add(1, SeqCst);
                    });
                    assert_eq!(runs.load(SeqCst), 1);
                    assert!(once.is_completed());
                });
            }
        });
    }

    #[test]
    fn call_once_returns_only_after_the_winner_has_finished() {
        let (once, done) = (Once::new(), AtomicBool::new(false));
        thread::scope(|s| {
            for _ in 0..2 {
                s.spawn(|| {
                    once.call_once(|| {
                        thread::yield_now();
                        done.store(true, Relaxed);
                    });
                    assert!(done.load(Relaxed));
                });
            }
        });
    }

    #[test]
    fn is_completed_implies_that_the_effects_are_visible() {
        let (once, value) = (Once::new(), AtomicUsize::new(0));
        thread::scope(|s| {
            s.spawn(|| once.call_once(|| value.store(5, Relaxed)));
            s.spawn(|| {
                if once.is_completed() {
                    assert_eq!(value.load(Relaxed), 5);
                }
            });
        });
    }

    #[test]
    fn wait_on_a_once_returns_after_it_completed() {
        let (once, value) = (Once::new(), AtomicUsize::new(0));
        thread::scope(|s| {
            s.spawn(|| once.call_once(|| value.store(5, Relaxed)));
            once.wait();
            assert_eq!(value.load(Relaxed), 5);
        });
    }

    #[test]
    fn a_panic_in_call_once_poisons_it_until_it_is_forced() {
        let once = Once::new();
        thread::scope(|s| {
            assert!(s.spawn(|| once.call_once(|| panic!("on purpose"))).join().is_err());
            assert!(s.spawn(|| once.call_once(|| ())).join().is_err());
            s.spawn(|| once.call_once_force(|state| assert!(state.is_poisoned()))).join().unwrap();
        });
        assert!(once.is_completed());
    }

    #[test]
    fn forced_calls_run_exactly_one_successful_closure() {
        let (once, runs) = (Once::new(), AtomicUsize::new(0));
        thread::scope(|s| {
            for fails in [true, false] {
                let (once, runs) = (&once, &runs);
                s.spawn(move || {
                    let result = catch_unwind(AssertUnwindSafe(|| {
                        once.call_once_force(|_| {
                            assert!(!fails, "on purpose");
                            runs.fetch_add(1, SeqCst);
                        });
                    }));
                    assert!(fails || result.is_ok());
                });
            }
        });
        assert_eq!(runs.load(SeqCst), 1);
    }

    #[test]
    fn get_or_init_gives_all_threads_one_value() {
        let (cell, runs) = (OnceLock::new(), AtomicUsize::new(0));
        let seen = thread::scope(|s| {
            let handles: Vec<_> = (0..3)
                .map(|me| {
                    let (cell, runs) = (&cell, &runs);
                    s.spawn(move || {
                        *cell.get_or_init(|| {
                            runs.fetch_add(1, SeqCst);
                            me
                        })
                    })
                })
                .collect();
            handles.into_iter().map(|h| h.join().unwrap()).collect::<Vec<_>>()
        });
        assert_eq!(runs.load(SeqCst), 1);
        assert!(seen.iter().all(|v| Some(v) == cell.get()));
    }

    #[test]
    fn only_one_set_succeeds_and_the_loser_gets_its_value_back() {
        let cell = OnceLock::new();
        let results = thread::scope(|s| {
            let handles = [1, 2].map(|me| {
                let cell = &cell;
                s.spawn(move || cell.set(me))
            });
            handles.map(|h| h.join().unwrap())
        });
        match results {
            [Ok(()), Err(2)] => assert_eq!(cell.get(), Some(&1)),
            [Err(1), Ok(())] => assert_eq!(cell.get(), Some(&2)),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn get_shows_nothing_or_the_whole_value() {
        let cell = OnceLock::new();
        thread::scope(|s| {
            s.spawn(|| cell.set(vec![1, 2, 3]).unwrap());
            s.spawn(|| assert!(cell.get().is_none_or(|v| *v == [1, 2, 3])));
        });
    }

    #[test]
    fn a_panicking_initialiser_leaves_the_cell_empty_for_the_next() {
        let cell = OnceLock::new();
        thread::scope(|s| {
            let fails = s.spawn(|| *cell.get_or_init(|| panic!("on purpose")));
            let works = s.spawn(|| *cell.get_or_init(|| 4));
            assert_eq!(works.join().unwrap(), 4);
            // It ran its panicking closure first, or found the value of the other.
            assert!(fails.join().is_ok_and(|v| v == 4) || cell.get() == Some(&4));
        });
    }

    #[test]
    fn wait_on_a_cell_returns_its_value() {
        let cell = OnceLock::new();
        thread::scope(|s| {
            s.spawn(|| assert_eq!(*cell.wait(), 8));
            s.spawn(|| assert_eq!(*cell.wait(), 8));
            cell.set(8).unwrap();
        });
    }

    #[test]
    fn a_static_lazy_lock_is_initialised_once() {
        static RUNS: AtomicUsize = AtomicUsize::new(0);
        static TABLE: LazyLock<Vec<u8>> = LazyLock::new(|| {
            RUNS.fetch_add(1, SeqCst);
            vec![1, 2, 3]
        });
        let handles: Vec<_> = (0..3).map(|i| thread::spawn(move || TABLE[i])).collect();
        let sum: u8 = handles.into_iter().map(|h| h.join().unwrap()).sum();
        assert_eq!((sum, RUNS.load(SeqCst)), (6, 1));
    }

    #[test]
    fn a_lazy_lock_is_not_initialised_before_it_is_used() {
        let runs = AtomicUsize::new(0);
        let lazy = LazyLock::new(|| runs.fetch_add(1, SeqCst) + 1);
        thread::scope(|s| {
            s.spawn(|| assert_eq!(*LazyLock::force(&lazy), 1));
            s.spawn(|| assert!(runs.load(SeqCst) <= 1));
        });
        assert_eq!(*lazy, 1);
    }

    #[test]
    fn a_lazy_lock_whose_initialiser_panicked_panics_for_everyone() {
        let lazy: LazyLock<u32> = LazyLock::new(|| panic!("on purpose"));
        thread::scope(|s| {
            let a = s.spawn(|| *lazy);
            let b = s.spawn(|| *lazy);
            assert!(a.join().is_err());
            assert!(b.join().is_err());
        });
    }

    #[test]
    fn lazy_locks_may_use_each_other_in_one_direction() {
        static BASE: LazyLock<u32> = LazyLock::new(|| 20);
        static TWICE: LazyLock<u32> = LazyLock::new(|| *BASE * 2);
        thread::scope(|s| {
            s.spawn(|| assert_eq!(*TWICE, 40));
            s.spawn(|| assert_eq!(*BASE, 20));
        });
    }
}
