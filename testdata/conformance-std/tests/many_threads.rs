//! A thousand threads, alive at once or one after another.

mod correct {
    use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
    use std::sync::{Arc, Barrier};
    use std::thread::{self, Builder};

    const THREADS: usize = 1000;

    fn small() -> Builder {
        Builder::new().stack_size(64 << 10)
    }

    #[test]
    fn a_thousand_threads_meet_at_one_barrier() {
        let barrier = Barrier::new(THREADS);
        let leaders = AtomicUsize::new(0);
        thread::scope(|s| {
            for _ in 0..THREADS {
                small()
                    .spawn_scoped(s, || {
                        if barrier.wait().is_leader() {
                            leaders.fetch_add(1, SeqCst);
                        }
                    })
                    .unwrap();
            }
        });
        assert_eq!(leaders.load(SeqCst), 1);
    }

    #[test]
    fn a_thousand_parked_threads_are_unparked_one_by_one() {
        let handles: Vec<_> = (0..THREADS)
            .map(|i| {
                small()
                    .spawn(move || {
                        thread::park();
                        i
                    })
                    .unwrap()
            })
            .collect();
        for handle in &handles {
            handle.thread().unpark();
        }
        let total: usize = handles.into_iter().map(|h| h.join().unwrap()).sum();
        assert_eq!(total, THREADS * (THREADS - 1) / 2);
    }

    #[test]
    fn a_thousand_threads_one_after_another_leave_nothing_behind() {
        let token = Arc::new(());
        for _ in 0..THREADS {
            let theirs = Arc::clone(&token);
            small().spawn(move || drop(theirs)).unwrap().join().unwrap();
        }
        assert_eq!(Arc::strong_count(&token), 1);
    }
}
