//! `fence` and `compiler_fence` with relaxed atomics and with plain memory.

mod correct {
    use conformance_std::Plain;
    use std::hint::spin_loop;
    use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::*, compiler_fence, fence};
    use std::thread;

    #[test]
    fn release_and_acquire_fences_publish_relaxed_data() {
        let (data, ready) = (AtomicUsize::new(0), AtomicBool::new(false));
        thread::scope(|s| {
            s.spawn(|| {
                data.store(5, Relaxed);
                fence(Release);
                ready.store(true, Relaxed);
            });
            s.spawn(|| {
                if ready.load(Relaxed) {
                    fence(Acquire);
                    assert_eq!(data.load(Relaxed), 5);
                }
            });
        });
    }

    #[test]
    fn fences_publish_plain_data() {
        let (data, ready) = (Plain::new([0; 2]), AtomicBool::new(false));
        thread::scope(|s| {
            s.spawn(|| {
                // SAFETY: nobody reads before the flag is set.
                unsafe { *data.get() = [3, 4] };
                fence(Release);
                ready.store(true, Relaxed);
            });
            while !ready.load(Relaxed) {
                spin_loop();
            }
            fence(Acquire);
            // SAFETY: the flag was seen, and the fences order the write before this read.
            assert_eq!(unsafe { *data.get() }, [3, 4]);
        });
    }

    #[test]
    fn sequentially_consistent_fences_let_at_least_one_thread_see_the_other() {
        let (x, y) = (AtomicBool::new(false), AtomicBool::new(false));
        let (saw_y, saw_x) = thread::scope(|s| {
            let other = s.spawn(|| {
                x.store(true, Relaxed);
                fence(SeqCst);
                y.load(Relaxed)
            });
            y.store(true, Relaxed);
            fence(SeqCst);
            let saw_x = x.load(Relaxed);
            (other.join().unwrap(), saw_x)
        });
        assert!(saw_x || saw_y);
    }

    #[test]
    fn an_acquire_release_fence_carries_data_through_a_third_thread() {
        let (data, first, second) = (AtomicUsize::new(0), AtomicBool::new(false), AtomicBool::new(false));
        thread::scope(|s| {
            s.spawn(|| {
                data.store(1, Relaxed);
                first.store(true, Release);
            });
            s.spawn(|| {
                if first.load(Relaxed) {
                    fence(AcqRel);
                    second.store(true, Relaxed);
                }
            });
            s.spawn(|| {
                if second.load(Acquire) {
                    assert_eq!(data.load(Relaxed), 1);
                }
            });
        });
    }

    #[test]
    fn a_compiler_fence_changes_nothing_for_other_threads() {
        let count = AtomicUsize::new(0);
        thread::scope(|s| {
            for _ in 0..2 {
                s.spawn(|| {
                    count.fetch_add(1, Relaxed);
                    compiler_fence(SeqCst);
                    count.fetch_add(1, Relaxed);
                });
            }
        });
        assert_eq!(count.into_inner(), 4);
    }

    #[test]
    fn a_reference_count_with_an_acquire_fence_frees_once() {
        let (count, freed) = (AtomicUsize::new(3), Plain::new(0));
        thread::scope(|s| {
            for _ in 0..3 {
                s.spawn(|| {
                    if count.fetch_sub(1, Release) == 1 {
                        fence(Acquire);
                        // SAFETY: only the thread that took the last count comes here.
                        unsafe { *freed.get() += 1 };
                    }
                });
            }
        });
        // SAFETY: the scope has ended.
        assert_eq!(unsafe { *freed.get() }, 1);
    }
}
