//! Atomics used as if several operations were one.

mod broken {
    use std::ptr;
    use std::sync::atomic::{
        AtomicBool, AtomicI32, AtomicPtr, AtomicU8, AtomicU64, AtomicUsize, Ordering::*,
    };
    use std::thread;

    #[test]
    fn panics_a_lost_update_of_a_byte() {
        let count = AtomicU8::new(0);
        thread::scope(|s| {
            s.spawn(|| count.store(count.load(Relaxed) + 1, Relaxed));
            s.spawn(|| count.fetch_add(1, SeqCst));
        });
        assert_eq!(count.into_inner(), 2);
    }

    #[test]
    fn panics_a_flag_that_is_tested_and_then_set() {
        let (taken, owners) = (AtomicBool::new(false), AtomicUsize::new(0));
        thread::scope(|s| {
            for _ in 0..2 {
                s.spawn(|| {
                    if !taken.load(SeqCst) {
                        taken.store(true, SeqCst);
                        owners.fetch_add(1, SeqCst);
                    }
                });
            }
        });
        assert_eq!(owners.into_inner(), 1);
    }

    #[test]
    fn panics_a_failed_compare_exchange_that_is_not_repeated() {
        let count = AtomicU64::new(0);
        thread::scope(|s| {
            for _ in 0..2 {
                s.spawn(|| {
                    let seen = count.load(Relaxed);
                    let _ = count.compare_exchange(seen, seen + 1, AcqRel, Relaxed);
                });
            }
        });
        assert_eq!(count.into_inner(), 2);
    }

    #[test]
    fn panics_a_maximum_made_of_a_load_and_a_store() {
        let highest = AtomicI32::new(0);
        thread::scope(|s| {
            for mine in [5, 9] {
                let highest = &highest;
                s.spawn(move || {
                    if highest.load(SeqCst) < mine {
                        highest.store(mine, SeqCst);
                    }
                });
            }
        });
        assert_eq!(highest.into_inner(), 9);
    }

    #[test]
    fn panics_an_invariant_over_two_variables() {
        let (low, high) = (AtomicUsize::new(0), AtomicUsize::new(0));
        thread::scope(|s| {
            s.spawn(|| {
                low.store(1, Relaxed);
                high.store(1, Relaxed);
            });
            let (h, l) = (high.load(Relaxed), low.load(Relaxed));
            assert_eq!(h, l);
        });
    }

    #[test]
    fn panics_a_limit_that_is_checked_before_it_is_used() {
        let used = AtomicUsize::new(0);
        thread::scope(|s| {
            for _ in 0..3 {
                s.spawn(|| {
                    if used.load(SeqCst) < 2 {
                        assert!(used.fetch_add(1, SeqCst) < 2);
                    }
                });
            }
        });
    }

    #[test]
    fn panics_an_object_that_is_published_before_it_is_filled() {
        let object = [const { AtomicUsize::new(0) }; 2];
        let slot = AtomicPtr::new(ptr::null_mut());
        thread::scope(|s| {
            s.spawn(|| {
                slot.store((&raw const object).cast_mut(), Release);
                object[0].store(1, Release);
                object[1].store(2, Release);
            });
            let seen = slot.load(Acquire);
            if !seen.is_null() {
                // SAFETY: a pointer that is not null points to `object`, which outlives the scope.
                let seen = unsafe { &*seen };
                assert_eq!([seen[0].load(Acquire), seen[1].load(Acquire)], [1, 2]);
            }
        });
    }

    #[test]
    fn panics_a_reference_count_that_is_read_after_it_was_lowered() {
        let (count, frees) = (AtomicUsize::new(2), AtomicUsize::new(0));
        thread::scope(|s| {
            for _ in 0..2 {
                s.spawn(|| {
                    count.fetch_sub(1, AcqRel);
                    if count.load(Acquire) == 0 {
                        frees.fetch_add(1, SeqCst);
                    }
                });
            }
        });
        assert_eq!(frees.into_inner(), 1);
    }

    #[test]
    fn panics_an_operation_undone_too_late() {
        let stock = AtomicI32::new(1);
        thread::scope(|s| {
            for _ in 0..2 {
                s.spawn(|| {
                    if stock.fetch_sub(1, SeqCst) <= 0 {
                        stock.fetch_add(1, SeqCst);
                    }
                });
            }
            assert!(stock.load(SeqCst) >= 0);
        });
    }
}
