//! `once_cell`.

mod correct {
    use once_cell::race::{OnceBox, OnceNonZeroUsize};
    use once_cell::sync::{Lazy, OnceCell};
    use std::num::NonZeroUsize;
    use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
    use std::thread;

    #[test]
    fn get_or_init_runs_one_closure() {
        let (cell, runs) = (OnceCell::new(), AtomicUsize::new(0));
        thread::scope(|s| {
            for _ in 0..3 {
                s.spawn(|| assert_eq!(*cell.get_or_init(|| runs.fetch_add(1, SeqCst) + 5), 5));
            }
        });
        assert_eq!(runs.into_inner(), 1);
    }

    #[test]
    fn a_failed_initialiser_leaves_the_cell_to_the_next() {
        let cell = OnceCell::new();
        thread::scope(|s| {
            let fails = s.spawn(|| cell.get_or_try_init(|| Err(())).copied());
            let works = s.spawn(|| cell.get_or_try_init(|| Ok::<_, ()>(4)).copied());
            assert_eq!(works.join().unwrap(), Ok(4));
            assert!(matches!(fails.join().unwrap(), Err(()) | Ok(4)));
        });
    }

    #[test]
    fn a_panicking_initialiser_leaves_the_cell_to_the_next() {
        let cell = OnceCell::new();
        thread::scope(|s| {
            let fails = s.spawn(|| *cell.get_or_init(|| panic!("on purpose")));
            assert_eq!(*cell.get_or_init(|| 4), 4);
            assert!(fails.join().is_ok_and(|v| v == 4) || cell.get() == Some(&4));
        });
    }

    #[test]
    fn one_set_succeeds() {
        let cell = OnceCell::new();
        let wins = thread::scope(|s| {
            let handles = [1, 2].map(|me| {
                let cell = &cell;
                s.spawn(move || cell.set(me).is_ok())
            });
            handles.map(|h| u8::from(h.join().unwrap())).iter().sum::<u8>()
        });
        assert_eq!(wins, 1);
    }

    #[test]
    fn wait_returns_the_value() {
        let cell = OnceCell::new();
        thread::scope(|s| {
            s.spawn(|| assert_eq!(*cell.wait(), 8));
            s.spawn(|| cell.set(8).unwrap());
        });
    }

    #[test]
    fn a_static_lazy_is_initialised_once() {
        static RUNS: AtomicUsize = AtomicUsize::new(0);
        static LAZY: Lazy<usize> = Lazy::new(|| RUNS.fetch_add(1, SeqCst) + 1);
        let handles = [(); 3].map(|()| thread::spawn(|| *LAZY));
        assert_eq!(handles.map(|h| h.join().unwrap()), [1, 1, 1]);
    }

    #[test]
    fn racing_cells_agree_on_one_value() {
        let (number, boxed) = (OnceNonZeroUsize::new(), OnceBox::new());
        let seen = thread::scope(|s| {
            let handles = [1, 2].map(|me| {
                let (number, boxed) = (&number, &boxed);
                s.spawn(move || {
                    let n = number.get_or_init(|| NonZeroUsize::new(me).unwrap());
                    (n, *boxed.get_or_init(|| Box::new(me)))
                })
            });
            handles.map(|h| h.join().unwrap())
        });
        assert_eq!(seen[0], seen[1]);
    }
}
