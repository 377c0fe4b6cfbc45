//! Panics that only some schedules bring about or bring to light.

mod broken {
    use std::process::ExitCode;
    use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
    use std::sync::{Arc, Mutex, PoisonError};
    use std::thread;

    #[test]
    fn panics_half_an_update_seen_by_a_thread_that_ignores_the_poison() {
        let pair = Arc::new(Mutex::new((0, 0)));
        let theirs = Arc::clone(&pair);
        let failing = thread::spawn(move || {
            let mut pair = theirs.lock().unwrap();
            pair.0 = 1;
            panic!("expected by the test, which ignores it");
        });
        let (a, b) = *pair.lock().unwrap_or_else(PoisonError::into_inner);
        assert!(failing.join().is_err());
        assert_eq!(a, b);
    }

    #[test]
    fn panics_a_division_by_a_value_that_another_thread_resets() {
        let divisor = AtomicUsize::new(2);
        thread::scope(|s| {
            s.spawn(|| divisor.store(0, SeqCst));
            if divisor.load(SeqCst) != 0 {
                assert!(10 / divisor.load(SeqCst) <= 10);
            }
        });
    }

    #[test]
    fn panics_an_index_that_another_thread_made_stale() {
        let items = Mutex::new(vec![1, 2, 3]);
        thread::scope(|s| {
            s.spawn(|| items.lock().unwrap().truncate(1));
            let last = items.lock().unwrap().len() - 1;
            assert!(items.lock().unwrap()[last] > 0);
        });
    }

    #[test]
    fn panics_a_failure_in_a_thread_of_a_scope() {
        let stage = AtomicUsize::new(0);
        thread::scope(|s| {
            s.spawn(|| {
                stage.store(1, SeqCst);
                stage.store(2, SeqCst);
            });
            s.spawn(|| assert_ne!(stage.load(SeqCst), 1));
        });
    }

    /// Nobody hears of it: the test returns in peace while the thread is dead.
    #[test]
    fn panics_in_a_thread_that_nobody_joins() {
        let stage = Arc::new(AtomicUsize::new(0));
        let theirs = Arc::clone(&stage);
        drop(thread::spawn(move || assert_eq!(theirs.load(SeqCst), 0)));
        stage.store(1, SeqCst);
        thread::sleep(std::time::Duration::from_secs(1));
    }

    /// Nothing panics and nothing is printed: the status says it all.
    #[test]
    fn panics_not_but_returns_the_exit_code_of_a_failure() -> ExitCode {
        let count = AtomicUsize::new(0);
        let add = || count.store(count.load(SeqCst) + 1, SeqCst);
        thread::scope(|s| {
            s.spawn(add);
            add();
        });
        if count.into_inner() == 2 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
    }
}
