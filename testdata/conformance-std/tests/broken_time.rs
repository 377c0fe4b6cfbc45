//! Time taken for synchronisation.

mod broken {
    use std::sync::Mutex;
    use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::SeqCst};
    use std::thread;
    use std::time::Duration;

    const PAUSE: Duration = Duration::from_millis(30);

    /// Both sleeps end at the same time, so either thread may go first.
    #[test]
    fn panics_two_equal_sleeps_believed_to_end_in_order() {
        let order = Mutex::new(Vec::new());
        thread::scope(|s| {
            for me in 0..2 {
                let order = &order;
                s.spawn(move || {
                    thread::sleep(PAUSE);
                    order.lock().unwrap().push(me);
                });
            }
        });
        assert_eq!(order.into_inner().unwrap(), [0, 1]);
    }

    /// Needs a schedule in which a time-out comes before a thread that could run.
    #[test]
    fn panics_a_park_with_a_time_out_believed_to_end_by_unpark() {
        let ready = AtomicBool::new(false);
        thread::scope(|s| {
            let sleeper = s.spawn(|| {
                thread::park_timeout(PAUSE);
                assert!(ready.load(SeqCst));
            });
            ready.store(true, SeqCst);
            sleeper.thread().unpark();
        });
    }

    /// Needs a schedule in which the longer sleep ends before a thread that could run.
    #[test]
    fn panics_a_sleep_believed_to_outlast_what_another_thread_does() {
        let ready = AtomicBool::new(false);
        thread::scope(|s| {
            s.spawn(|| {
                thread::sleep(PAUSE / 10);
                ready.store(true, SeqCst);
            });
            thread::sleep(PAUSE);
            assert!(ready.load(SeqCst));
        });
    }

    /// The two sleepers wake together and both see the counter before either has raised it.
    #[test]
    fn panics_a_lost_update_after_a_common_sleep() {
        let count = AtomicUsize::new(0);
        thread::scope(|s| {
            for _ in 0..2 {
                s.spawn(|| {
                    thread::sleep(PAUSE);
                    count.store(count.load(SeqCst) + 1, SeqCst);
                });
            }
        });
        assert_eq!(count.into_inner(), 2);
    }
}
