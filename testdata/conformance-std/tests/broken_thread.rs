//! Threads, park and unpark used wrongly.

mod broken {
    use std::collections::HashMap;
    use std::sync::Arc;
    use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::SeqCst};
    use std::thread;

    #[test]
    fn panics_a_lost_update_of_two_threads() {
        let count = AtomicUsize::new(0);
        thread::scope(|s| {
            for _ in 0..2 {
                s.spawn(|| count.store(count.load(SeqCst) + 1, SeqCst));
            }
        });
        assert_eq!(count.into_inner(), 2);
    }

    /// The keys of a `HashMap` are random.
    #[test]
    fn panics_an_order_of_a_hash_map_believed_to_be_fixed() {
        let first = || *HashMap::from([(1, ()), (2, ())]).keys().next().unwrap();
        let (a, b) = thread::scope(|s| {
            let (a, b) = (s.spawn(first), s.spawn(first));
            (a.join().unwrap(), b.join().unwrap())
        });
        assert_eq!(a, b);
    }

    #[test]
    fn panics_a_setting_that_is_made_after_the_spawn() {
        let setting = Arc::new(AtomicUsize::new(0));
        let theirs = Arc::clone(&setting);
        let handle = thread::spawn(move || assert_eq!(theirs.load(SeqCst), 1));
        setting.store(1, SeqCst);
        handle.join().unwrap();
    }

    #[test]
    fn panics_a_new_thread_believed_not_to_have_finished_yet() {
        let handle = thread::spawn(|| ());
        let finished = handle.is_finished();
        handle.join().unwrap();
        assert!(!finished);
    }

    #[test]
    fn panics_a_park_without_a_loop_that_is_ended_by_someone_elses_unpark() {
        let ready = AtomicBool::new(false);
        thread::scope(|s| {
            let sleeper = s.spawn(|| {
                if !ready.load(SeqCst) {
                    thread::park();
                }
                assert!(ready.load(SeqCst));
            });
            let thread = sleeper.thread().clone();
            s.spawn(move || thread.unpark());
            ready.store(true, SeqCst);
            sleeper.thread().unpark();
        });
    }

    #[test]
    fn panics_two_threads_spawned_in_order_believed_to_run_in_order() {
        let next = AtomicUsize::new(0);
        thread::scope(|s| {
            for me in 0..2 {
                let next = &next;
                s.spawn(move || assert_eq!(next.fetch_add(1, SeqCst), me));
            }
        });
    }

    /// Two unparks before a park leave one token only.
    #[test]
    fn deadlocks_two_parks_that_expect_two_tokens() {
        let sleeper = thread::spawn(|| {
            thread::park();
            thread::park();
        });
        sleeper.thread().unpark();
        thread::spawn(|| ()).join().unwrap();
        sleeper.thread().unpark();
        sleeper.join().unwrap();
    }

    #[test]
    fn deadlocks_a_lost_wake_up_between_the_check_and_the_park() {
        let (ready, waiting) = (AtomicBool::new(false), AtomicBool::new(false));
        thread::scope(|s| {
            let sleeper = s.spawn(|| {
                while !ready.load(SeqCst) {
                    waiting.store(true, SeqCst);
                    thread::park();
                }
            });
            ready.store(true, SeqCst);
            if waiting.load(SeqCst) {
                sleeper.thread().unpark();
            }
        });
    }

    /// The wait in the loop can swallow both unparks as one token, and none is left for the park after it.
    #[test]
    fn deadlocks_a_token_that_was_used_up_by_another_wait() {
        let inner = AtomicBool::new(false);
        thread::scope(|s| {
            let sleeper = s.spawn(|| {
                while !inner.load(SeqCst) {
                    thread::park();
                }
                thread::park();
            });
            inner.store(true, SeqCst);
            sleeper.thread().unpark();
            let thread = sleeper.thread().clone();
            s.spawn(move || thread.unpark());
        });
    }
}
