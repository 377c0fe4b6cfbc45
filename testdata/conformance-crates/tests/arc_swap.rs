//! `arc-swap`.

mod correct {
    use arc_swap::{ArcSwap, ArcSwapOption, Cache};
    use std::sync::Arc;
    use std::thread;

    #[test]
    fn a_reader_sees_a_whole_value() {
        let shared = ArcSwap::from_pointee([1, 1]);
        thread::scope(|s| {
            s.spawn(|| shared.store(Arc::new([2, 2])));
            s.spawn(|| {
                let seen = shared.load();
                assert_eq!(seen[0], seen[1]);
            });
        });
    }

    #[test]
    fn a_guard_keeps_its_value_alive_across_a_store() {
        let shared = ArcSwap::from_pointee(1);
        thread::scope(|s| {
            s.spawn(|| {
                let guard = shared.load();
                let first = **guard;
                thread::yield_now();
                assert_eq!(**guard, first);
            });
            s.spawn(|| shared.store(Arc::new(2)));
        });
        assert_eq!(**shared.load(), 2);
    }

    #[test]
    fn rcu_loses_no_update() {
        let shared = ArcSwap::from_pointee(0);
        thread::scope(|s| {
            for _ in 0..2 {
                s.spawn(|| shared.rcu(|v| **v + 1));
            }
        });
        assert_eq!(**shared.load(), 2);
    }

    #[test]
    fn swapped_values_are_handed_out_once_and_freed() {
        let first = Arc::new(0);
        let shared = ArcSwap::new(Arc::clone(&first));
        let sum = thread::scope(|s| {
            let handles = [1, 2].map(|me| {
                let shared = &shared;
                s.spawn(move || *shared.swap(Arc::new(me)))
            });
            s.spawn(|| assert!(*shared.load_full() <= 2));
            handles.map(|h| h.join().unwrap()).iter().sum::<i32>()
        });
        assert_eq!(sum + **shared.load(), 3);
        assert_eq!(Arc::strong_count(&first), 1);
    }

    #[test]
    fn one_compare_and_swap_wins() {
        let shared = ArcSwapOption::<u32>::empty();
        let wins = thread::scope(|s| {
            let handles = [1, 2].map(|me| {
                let shared = &shared;
                s.spawn(move || {
                    let before = shared.compare_and_swap(&None::<Arc<u32>>, Some(Arc::new(me)));
                    u32::from(before.is_none())
                })
            });
            handles.map(|h| h.join().unwrap()).iter().sum::<u32>()
        });
        assert_eq!(wins, 1);
    }

    #[test]
    fn a_cache_sees_new_values_in_order() {
        let shared = Arc::new(ArcSwap::from_pointee(0));
        let theirs = Arc::clone(&shared);
        let reader = thread::spawn(move || {
            let mut cache = Cache::new(theirs);
            let seen = [(); 3].map(|()| **cache.load());
            assert!(seen.is_sorted());
        });
        shared.store(Arc::new(1));
        shared.store(Arc::new(2));
        reader.join().unwrap();
    }
}
