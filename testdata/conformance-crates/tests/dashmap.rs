//! `dashmap`.

mod correct {
    use dashmap::mapref::entry::Entry;
    use dashmap::{DashMap, DashSet};
    use std::collections::hash_map::RandomState;
    use std::thread;

    /// Few shards keep the number of locks that an iteration takes small.
    fn map() -> DashMap<u32, u32> {
        DashMap::with_hasher_and_shard_amount(RandomState::new(), 2)
    }

    #[test]
    fn an_entry_loses_no_update() {
        let map = map();
        thread::scope(|s| {
            for _ in 0..3 {
                s.spawn(|| *map.entry(1).or_insert(0) += 1);
            }
        });
        assert_eq!(*map.get(&1).unwrap(), 3);
    }

    #[test]
    fn alter_loses_no_update() {
        let map = map();
        map.insert(1, 0);
        thread::scope(|s| {
            s.spawn(|| map.alter(&1, |_, v| v + 1));
            s.spawn(|| *map.get_mut(&1).unwrap() += 1);
        });
        assert_eq!(map.remove(&1), Some((1, 2)));
    }

    #[test]
    fn one_insert_finds_the_key_vacant() {
        let map = map();
        let vacant = thread::scope(|s| {
            let handles = [1, 2].map(|me| {
                let map = &map;
                s.spawn(move || match map.entry(7) {
                    Entry::Vacant(slot) => {
                        slot.insert(me);
                        1
                    }
                    Entry::Occupied(_) => 0,
                })
            });
            handles.map(|h| h.join().unwrap()).iter().sum::<u32>()
        });
        assert_eq!(vacant, 1);
    }

    #[test]
    fn one_remove_gets_the_value() {
        let map = map();
        map.insert(1, 5);
        let removed = thread::scope(|s| {
            let handles = [(); 2].map(|()| s.spawn(|| map.remove(&1)));
            handles.into_iter().filter_map(|h| h.join().unwrap()).collect::<Vec<_>>()
        });
        assert_eq!(removed, [(1, 5)]);
        assert!(map.is_empty());
    }

    #[test]
    fn inserts_of_different_keys_all_stay() {
        let map = map();
        thread::scope(|s| {
            for me in 0..3 {
                let map = &map;
                s.spawn(move || map.insert(me, me * 10));
            }
        });
        assert_eq!(map.len(), 3);
        assert_eq!(map.iter().map(|e| *e.value()).sum::<u32>(), 30);
    }

    #[test]
    fn iteration_runs_beside_inserts() {
        let map = map();
        map.insert(1, 1);
        thread::scope(|s| {
            s.spawn(|| map.insert(2, 1));
            let seen = map.iter().count();
            assert!(seen == 1 || seen == 2);
        });
    }

    #[test]
    fn retain_and_remove_if_take_each_entry_once() {
        let map = map();
        (0..4).for_each(|i| _ = map.insert(i, i));
        let removed = thread::scope(|s| {
            s.spawn(|| map.retain(|_, v| *v % 2 == 0));
            s.spawn(|| map.remove_if(&2, |_, v| *v == 2).is_some()).join().unwrap()
        });
        assert!(removed);
        assert_eq!(map.len(), 1);
    }

    #[test]
    fn one_insert_into_a_set_is_new() {
        let set = DashSet::new();
        let new = thread::scope(|s| {
            let handles = [(); 2].map(|()| s.spawn(|| set.insert(3)));
            handles.map(|h| u8::from(h.join().unwrap())).iter().sum::<u8>()
        });
        assert_eq!(new, 1);
    }
}
