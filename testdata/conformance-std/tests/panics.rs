//! Panics that cross `join`, poison locks and pass through scopes.

mod correct {
    use std::hint::black_box;
    use std::panic::{AssertUnwindSafe, catch_unwind, panic_any, resume_unwind};
    use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
    use std::sync::mpsc::channel;
    use std::sync::{Arc, Mutex};
    use std::thread;

    #[test]
    fn join_gives_the_message_of_the_panic() {
        let plain = thread::spawn(|| panic!("on purpose"));
        let formatted = thread::spawn(|| panic!("on purpose {}", black_box(2)));
        assert_eq!(*plain.join().unwrap_err().downcast::<&str>().unwrap(), "on purpose");
        assert_eq!(*formatted.join().unwrap_err().downcast::<String>().unwrap(), "on purpose 2");
    }

    #[test]
    fn join_gives_a_payload_of_any_type() {
        #[derive(Debug, PartialEq)]
        struct Payload(u32);
        let a = thread::spawn(|| panic_any(Payload(1)));
        let b = thread::spawn(|| resume_unwind(Box::new(Payload(2))));
        let payload = |result: thread::Result<()>| *result.unwrap_err().downcast::<Payload>().unwrap();
        assert_eq!(payload(a.join()), Payload(1));
        assert_eq!(payload(b.join()), Payload(2));
    }

    #[test]
    fn a_panic_in_one_thread_leaves_the_others_alone() {
        let count = Arc::new(AtomicUsize::new(0));
        let handles: Vec<_> = (0..3)
            .map(|me| {
                let count = Arc::clone(&count);
                thread::spawn(move || {
                    assert_ne!(me, 1, "on purpose");
                    count.fetch_add(1, SeqCst);
                })
            })
            .collect();
        let failed: Vec<bool> = handles.into_iter().map(|h| h.join().is_err()).collect();
        assert_eq!(failed, [false, true, false]);
        assert_eq!(count.load(SeqCst), 2);
    }

    #[test]
    fn a_scope_panics_if_a_thread_of_it_panicked_and_was_not_joined() {
        let finished = AtomicUsize::new(0);
        let result = catch_unwind(AssertUnwindSafe(|| {
            thread::scope(|s| {
                s.spawn(|| panic!("on purpose"));
                s.spawn(|| finished.fetch_add(1, SeqCst));
            });
        }));
        assert_eq!(*result.unwrap_err().downcast::<&str>().unwrap(), "a scoped thread panicked");
        assert_eq!(finished.load(SeqCst), 1);
    }

    #[test]
    fn a_scope_does_not_panic_if_the_panicked_thread_was_joined() {
        let result = thread::scope(|s| s.spawn(|| panic!("on purpose")).join());
        assert!(result.is_err());
    }

    #[test]
    fn a_scope_whose_own_closure_panics_still_joins_its_threads() {
        let finished = AtomicUsize::new(0);
        let result = catch_unwind(AssertUnwindSafe(|| {
            thread::scope(|s| {
                s.spawn(|| finished.fetch_add(1, SeqCst));
                panic!("on purpose");
            })
        }));
        assert!(result.is_err());
        assert_eq!(finished.load(SeqCst), 1);
    }

    #[test]
    fn a_panic_caught_inside_the_thread_does_not_reach_join() {
        let handles = [1, 2].map(|me| {
            thread::spawn(move || {
                let caught = catch_unwind(|| {
                    thread::yield_now();
                    panic!("on purpose");
                });
                assert!(caught.is_err());
                assert!(!thread::panicking());
                me
            })
        });
        assert_eq!(handles.map(|h| h.join().unwrap()), [1, 2]);
    }

    #[test]
    fn unwinding_drops_the_locals_of_the_thread() {
        let token = Arc::new(());
        let handles = [(); 2].map(|()| {
            let token = Arc::clone(&token);
            thread::spawn(move || {
                let _kept = token;
                thread::yield_now();
                panic!("on purpose");
            })
        });
        handles.into_iter().for_each(|h| assert!(h.join().is_err()));
        assert_eq!(Arc::strong_count(&token), 1);
    }

    #[test]
    fn panicking_is_true_only_in_the_thread_that_unwinds() {
        struct Looks(Arc<AtomicUsize>);
        impl Drop for Looks {
            fn drop(&mut self) {
                thread::yield_now();
                self.0.fetch_add(usize::from(thread::panicking()), SeqCst);
            }
        }
        let seen = Arc::new(AtomicUsize::new(0));
        let (a, b) = (Looks(Arc::clone(&seen)), Looks(Arc::clone(&seen)));
        let unwinding = thread::spawn(move || {
            let _a = a;
            panic!("on purpose");
        });
        let calm = thread::spawn(move || drop(b));
        assert!(unwinding.join().is_err());
        calm.join().unwrap();
        assert_eq!(seen.load(SeqCst), 1);
    }

    #[test]
    fn a_destructor_may_lock_while_the_thread_unwinds() {
        struct Pushes(Arc<Mutex<Vec<u32>>>, u32);
        impl Drop for Pushes {
            fn drop(&mut self) {
                self.0.lock().unwrap().push(self.1);
            }
        }
        let log = Arc::new(Mutex::new(Vec::new()));
        let handles = [1, 2].map(|me| {
            let pushes = Pushes(Arc::clone(&log), me);
            thread::spawn(move || {
                let _pushes = pushes;
                panic!("on purpose");
            })
        });
        handles.into_iter().for_each(|h| assert!(h.join().is_err()));
        // A guard taken and dropped while already unwinding does not poison.
        let mut log = log.lock().unwrap().clone();
        log.sort_unstable();
        assert_eq!(log, [1, 2]);
    }

    #[test]
    fn a_payload_passed_on_by_the_joining_thread_is_kept() {
        let outer = thread::spawn(|| {
            let inner = thread::spawn(|| panic_any(7_u8));
            let Err(payload) = inner.join();
            resume_unwind(payload);
        });
        assert_eq!(*outer.join().unwrap_err().downcast::<u8>().unwrap(), 7);
    }

    #[test]
    #[should_panic(expected = "passed on to the test")]
    fn a_test_that_should_panic_may_get_its_panic_from_a_thread() {
        let handle = thread::spawn(|| panic!("passed on to the test"));
        let Err(payload) = handle.join();
        resume_unwind(payload);
    }

    /// The test knows and goes on; run natively, it always passes.
    #[test]
    fn a_worker_that_nobody_joins_may_panic_if_it_does_so_whatever_the_schedule() {
        let (sender, receiver) = channel();
        let count = Arc::new(AtomicUsize::new(0));
        for me in 0..2 {
            let (sender, count) = (sender.clone(), Arc::clone(&count));
            thread::spawn(move || {
                count.fetch_add(1, SeqCst);
                sender.send(me).unwrap();
                panic!("on purpose");
            });
        }
        drop(sender);
        assert_eq!(receiver.iter().sum::<usize>(), 1);
        assert_eq!(count.load(SeqCst), 2);
    }

    /// Who comes second has not necessarily got to its panic when the test is over.
    #[test]
    fn a_worker_may_panic_now_during_the_test_and_now_after_it() {
        let (sender, receiver) = channel();
        let go = Arc::new(AtomicUsize::new(0));
        let theirs = Arc::clone(&go);
        thread::spawn(move || {
            sender.send(()).unwrap();
            theirs.store(1, SeqCst);
            panic!("on purpose");
        });
        receiver.recv().unwrap();
        go.load(SeqCst);
    }
}
