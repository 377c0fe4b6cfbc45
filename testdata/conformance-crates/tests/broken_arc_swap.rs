//! `arc-swap` used wrongly.

mod broken {
    use arc_swap::{ArcSwap, ArcSwapOption};
    use std::sync::Arc;
    use std::thread;

    #[test]
    fn panics_a_lost_update_by_load_and_store() {
        let shared = ArcSwap::from_pointee(0);
        thread::scope(|s| {
            for _ in 0..2 {
                s.spawn(|| shared.store(Arc::new(**shared.load() + 1)));
            }
        });
        assert_eq!(**shared.load(), 2);
    }

    #[test]
    fn panics_two_loads_believed_to_give_one_value() {
        let shared = ArcSwap::from_pointee((1, 1));
        thread::scope(|s| {
            s.spawn(|| shared.store(Arc::new((2, 2))));
            assert_eq!(shared.load().0, shared.load().1);
        });
    }

    #[test]
    fn panics_an_option_that_is_looked_at_and_then_taken() {
        let shared = ArcSwapOption::from_pointee(1);
        thread::scope(|s| {
            for _ in 0..2 {
                s.spawn(|| {
                    if shared.load().is_some() {
                        shared.swap(None).unwrap();
                    }
                });
            }
        });
    }

    /// The caller ignores that the exchange may have failed.
    #[test]
    fn panics_a_compare_and_swap_that_is_not_repeated() {
        let shared = ArcSwap::from_pointee(0);
        thread::scope(|s| {
            for _ in 0..2 {
                s.spawn(|| {
                    let seen = shared.load_full();
                    shared.compare_and_swap(&seen, Arc::new(*seen + 1));
                });
            }
        });
        assert_eq!(**shared.load(), 2);
    }
}
