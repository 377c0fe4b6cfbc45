//! Thread-locals used wrongly.

mod broken {
    use std::cell::{Cell, RefCell};
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
    use std::thread;

    struct Adds(Arc<AtomicUsize>);

    impl Drop for Adds {
        fn drop(&mut self) {
            self.0.fetch_add(1, SeqCst);
        }
    }

    /// A scope waits until the closures have returned, not until the destructors of thread-locals have run.
    #[test]
    fn panics_a_scope_that_ends_before_the_destructor() {
        thread_local!(static ADDS: RefCell<Option<Adds>> = const { RefCell::new(None) });
        let drops = Arc::new(AtomicUsize::new(0));
        thread::scope(|s| {
            let drops = Arc::clone(&drops);
            s.spawn(move || ADDS.set(Some(Adds(drops))));
        });
        assert_eq!(drops.load(SeqCst), 1);
    }

    #[test]
    fn panics_per_thread_totals_that_are_added_without_atomicity() {
        static TOTAL: AtomicUsize = AtomicUsize::new(0);
        struct Local(Cell<usize>);
        impl Drop for Local {
            fn drop(&mut self) {
                TOTAL.store(TOTAL.load(SeqCst) + self.0.get(), SeqCst);
            }
        }
        thread_local!(static LOCAL: Local = const { Local(Cell::new(0)) });
        let handles = [1, 2].map(|n| thread::spawn(move || LOCAL.with(|local| local.0.set(n))));
        handles.into_iter().for_each(|h| h.join().unwrap());
        assert_eq!(TOTAL.load(SeqCst), 3);
    }

    #[test]
    fn panics_thread_numbers_that_are_given_out_twice() {
        static NEXT: AtomicUsize = AtomicUsize::new(0);
        thread_local!(static NUMBER: usize = {
            let mine = NEXT.load(SeqCst);
            NEXT.store(mine + 1, SeqCst);
            mine
        });
        let handles = [(); 2].map(|()| thread::spawn(|| NUMBER.with(|n| *n)));
        let [a, b] = handles.map(|h| h.join().unwrap());
        assert_ne!(a, b);
    }

    #[test]
    fn panics_a_destructor_believed_to_have_run_when_the_thread_is_finished() {
        thread_local!(static ADDS: RefCell<Option<Adds>> = const { RefCell::new(None) });
        let drops = Arc::new(AtomicUsize::new(0));
        let theirs = Arc::clone(&drops);
        let handle = thread::spawn(move || ADDS.set(Some(Adds(theirs))));
        while !handle.is_finished() {
            thread::yield_now();
        }
        let seen = drops.load(SeqCst);
        handle.join().unwrap();
        assert_eq!(seen, 1);
    }
}
