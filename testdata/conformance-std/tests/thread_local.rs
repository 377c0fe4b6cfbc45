//! `thread_local!`: per-thread values, lazy initialisation, destructors.

mod correct {
    use std::cell::{Cell, RefCell};
    use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
    use std::sync::{Arc, Mutex};
    use std::thread;

    /// Appends its text to a shared log when it is dropped.
    struct Note(&'static str, Arc<Mutex<Vec<&'static str>>>);

    impl Drop for Note {
        fn drop(&mut self) {
            self.1.lock().unwrap().push(self.0);
        }
    }

    #[test]
    fn each_thread_has_its_own_value() {
        thread_local!(static VALUE: Cell<u32> = const { Cell::new(1) });
        VALUE.set(10);
        thread::scope(|s| {
            for me in 2..4 {
                s.spawn(move || {
                    assert_eq!(VALUE.get(), 1);
                    VALUE.set(me);
                    thread::yield_now();
                    assert_eq!(VALUE.get(), me);
                });
            }
        });
        assert_eq!(VALUE.get(), 10);
    }

    #[test]
    fn a_value_is_initialised_lazily_and_once_per_thread() {
        static RUNS: AtomicUsize = AtomicUsize::new(0);
        thread_local!(static VALUE: usize = RUNS.fetch_add(1, SeqCst));
        thread::scope(|s| {
            s.spawn(|| ());
            for _ in 0..2 {
                s.spawn(|| assert_eq!(VALUE.with(|v| *v), VALUE.with(|v| *v)));
            }
        });
        assert_eq!(RUNS.load(SeqCst), 2);
    }

    #[test]
    fn a_reused_thread_starts_with_a_fresh_value() {
        thread_local!(static VALUE: RefCell<Vec<u32>> = const { RefCell::new(Vec::new()) });
        for round in 0..3 {
            thread::spawn(move || {
                VALUE.with_borrow_mut(|v| {
                    assert!(v.is_empty());
                    v.push(round);
                });
            })
            .join()
            .unwrap();
        }
    }

    #[test]
    fn the_destructor_runs_before_join_returns() {
        thread_local!(static NOTE: RefCell<Option<Note>> = const { RefCell::new(None) });
        let log = Arc::new(Mutex::new(Vec::new()));
        let handles = [(); 2].map(|()| {
            let log = Arc::clone(&log);
            thread::spawn(move || NOTE.set(Some(Note("gone", log))))
        });
        for (done, handle) in handles.into_iter().enumerate() {
            handle.join().unwrap();
            assert!(log.lock().unwrap().len() > done);
        }
        assert_eq!(*log.lock().unwrap(), ["gone", "gone"]);
    }

    #[test]
    fn a_value_that_was_never_touched_is_not_dropped() {
        static DROPS: AtomicUsize = AtomicUsize::new(0);
        struct Counted;
        impl Drop for Counted {
            fn drop(&mut self) {
                DROPS.fetch_add(1, SeqCst);
            }
        }
        thread_local!(static VALUE: Counted = const { Counted });
        let touching = thread::spawn(|| VALUE.with(|_| ()));
        let idle = thread::spawn(|| ());
        touching.join().unwrap();
        idle.join().unwrap();
        assert_eq!(DROPS.load(SeqCst), 1);
    }

    /// std promises no order; this is the order of its implementation, which a scheduler must not change.
    #[test]
    fn destructors_run_in_reverse_order_of_first_use() {
        thread_local! {
            static FIRST: RefCell<Option<Note>> = const { RefCell::new(None) };
            static SECOND: RefCell<Option<Note>> = const { RefCell::new(None) };
            static THIRD: RefCell<Option<Note>> = const { RefCell::new(None) };
        }
        let logs = [(); 2].map(|()| Arc::new(Mutex::new(Vec::new())));
        let handles = logs.each_ref().map(|log| {
            let log = Arc::clone(log);
            thread::spawn(move || {
                SECOND.set(Some(Note("second", log.clone())));
                FIRST.set(Some(Note("first", log.clone())));
                THIRD.set(Some(Note("third", log)));
            })
        });
        for (handle, log) in handles.into_iter().zip(logs) {
            handle.join().unwrap();
            assert_eq!(*log.lock().unwrap(), ["third", "first", "second"]);
        }
    }

    #[test]
    fn a_destructor_may_use_another_thread_local() {
        struct UsesOther(Arc<Mutex<Vec<&'static str>>>);
        impl Drop for UsesOther {
            fn drop(&mut self) {
                OTHER.set(Some(Note("other", self.0.clone())));
                self.0.lock().unwrap().push("user");
            }
        }
        thread_local! {
            static USER: RefCell<Option<UsesOther>> = const { RefCell::new(None) };
            static OTHER: RefCell<Option<Note>> = const { RefCell::new(None) };
        }
        let log = Arc::new(Mutex::new(Vec::new()));
        let handles = [(); 2].map(|()| {
            let log = Arc::clone(&log);
            thread::spawn(move || USER.set(Some(UsesOther(log))))
        });
        handles.into_iter().for_each(|h| h.join().unwrap());
        let mut log = log.lock().unwrap().clone();
        log.sort_unstable();
        assert_eq!(log, ["other", "other", "user", "user"]);
    }

    #[test]
    fn a_destructor_that_touches_its_own_variable_gets_an_error() {
        static ERRORS: AtomicUsize = AtomicUsize::new(0);
        struct TouchesItself;
        impl Drop for TouchesItself {
            fn drop(&mut self) {
                ERRORS.fetch_add(usize::from(ITSELF.try_with(|_| ()).is_err()), SeqCst);
            }
        }
        thread_local!(static ITSELF: TouchesItself = const { TouchesItself });
        let handles = [(); 2].map(|()| thread::spawn(|| ITSELF.with(|_| ())));
        handles.into_iter().for_each(|h| h.join().unwrap());
        assert_eq!(ERRORS.load(SeqCst), 2);
    }

    #[test]
    fn destructors_run_when_the_thread_panics() {
        thread_local!(static NOTE: RefCell<Option<Note>> = const { RefCell::new(None) });
        let log = Arc::new(Mutex::new(Vec::new()));
        let theirs = Arc::clone(&log);
        let result = thread::spawn(move || {
            NOTE.set(Some(Note("gone", theirs)));
            panic!("on purpose");
        });
        assert!(result.join().is_err());
        assert_eq!(*log.lock().unwrap(), ["gone"]);
    }

    #[test]
    fn a_destructor_may_block_on_a_lock_that_others_use() {
        struct Adds(Arc<Mutex<u32>>);
        impl Drop for Adds {
            fn drop(&mut self) {
                let mut total = self.0.lock().unwrap();
                let seen = *total;
                thread::yield_now();
                *total = seen + 1;
            }
        }
        thread_local!(static ADDS: RefCell<Option<Adds>> = const { RefCell::new(None) });
        let total = Arc::new(Mutex::new(0));
        let handles = [(); 3].map(|()| {
            let total = Arc::clone(&total);
            thread::spawn(move || ADDS.set(Some(Adds(total))))
        });
        handles.into_iter().for_each(|h| h.join().unwrap());
        assert_eq!(*total.lock().unwrap(), 3);
    }

    #[test]
    fn the_current_thread_is_known_inside_a_destructor() {
        struct Names(Arc<Mutex<Option<thread::ThreadId>>>);
        impl Drop for Names {
            fn drop(&mut self) {
                *self.0.lock().unwrap() = Some(thread::current().id());
            }
        }
        thread_local!(static NAMES: RefCell<Option<Names>> = const { RefCell::new(None) });
        let seen = Arc::new(Mutex::new(None));
        let theirs = Arc::clone(&seen);
        let handle = thread::spawn(move || NAMES.set(Some(Names(theirs))));
        let id = handle.thread().id();
        handle.join().unwrap();
        assert_eq!(*seen.lock().unwrap(), Some(id));
    }

    #[test]
    fn an_initialiser_may_use_another_thread_local() {
        thread_local! {
            static BASE: Cell<u32> = const { Cell::new(5) };
            static DOUBLE: u32 = BASE.get() * 2;
        }
        thread::scope(|s| {
            for me in 1..3 {
                s.spawn(move || {
                    BASE.set(me);
                    thread::yield_now();
                    assert_eq!(DOUBLE.with(|d| *d), 2 * me);
                });
            }
        });
    }
}
