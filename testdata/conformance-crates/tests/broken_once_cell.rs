//! `once_cell` used wrongly.

mod broken {
    use once_cell::race::OnceNonZeroUsize;
    use once_cell::sync::OnceCell;
    use std::num::NonZeroUsize;
    use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
    use std::thread;

    #[test]
    fn panics_a_cell_that_is_looked_at_and_then_set() {
        let cell = OnceCell::new();
        thread::scope(|s| {
            for me in 0..2 {
                let cell = &cell;
                s.spawn(move || {
                    if cell.get().is_none() {
                        cell.set(me).unwrap();
                    }
                });
            }
        });
    }

    /// A racing cell may run the closure in each thread.
    #[test]
    fn panics_a_racing_initialiser_believed_to_run_once() {
        let (cell, runs) = (OnceNonZeroUsize::new(), AtomicUsize::new(0));
        thread::scope(|s| {
            for _ in 0..2 {
                s.spawn(|| cell.get_or_init(|| NonZeroUsize::new(1 + runs.fetch_add(1, SeqCst)).unwrap()));
            }
        });
        assert_eq!(runs.into_inner(), 1);
    }

    #[test]
    fn deadlocks_two_initialisers_that_need_each_other() {
        let (a, b) = (OnceCell::new(), OnceCell::new());
        thread::scope(|s| {
            s.spawn(|| *a.get_or_init(|| *b.get_or_init(|| 1) + 1));
            s.spawn(|| *b.get_or_init(|| *a.get_or_init(|| 1) + 1));
        });
    }
}
