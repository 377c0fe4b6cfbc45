//! `dashmap` used wrongly.

mod broken {
    use dashmap::DashMap;
    use std::collections::hash_map::DefaultHasher;
    use std::hash::BuildHasherDefault;
    use std::thread;

    type Map = DashMap<u32, u32, BuildHasherDefault<DefaultHasher>>;

    fn map() -> Map {
        DashMap::with_hasher_and_shard_amount(BuildHasherDefault::new(), 2)
    }

    #[test]
    fn panics_a_key_that_is_looked_for_and_then_inserted() {
        let map = map();
        thread::scope(|s| {
            for me in 0..2 {
                let map = &map;
                s.spawn(move || {
                    if !map.contains_key(&1) {
                        assert_eq!(map.insert(1, me), None);
                    }
                });
            }
        });
    }

    #[test]
    fn panics_a_key_that_is_believed_to_be_there_still() {
        let map = map();
        map.insert(1, 5);
        thread::scope(|s| {
            s.spawn(|| map.remove(&1));
            if map.contains_key(&1) {
                assert_eq!(*map.get(&1).unwrap(), 5);
            }
        });
    }

    #[test]
    fn panics_a_lost_update_between_get_and_insert() {
        let map = map();
        map.insert(1, 0);
        thread::scope(|s| {
            for _ in 0..2 {
                s.spawn(|| {
                    let seen = *map.get(&1).unwrap();
                    map.insert(1, seen + 1);
                });
            }
        });
        assert_eq!(*map.get(&1).unwrap(), 2);
    }

    /// Two keys in different shards, one of them locked while the other is wanted.
    #[test]
    fn deadlocks_two_entries_in_opposite_orders() {
        let map = map();
        (0..8).for_each(|i| _ = map.insert(i, 0));
        let (a, b) = {
            let held = map.get_mut(&0).unwrap();
            let other = (1..8).find(|key| map.try_get_mut(key).is_present()).unwrap();
            (*held.key(), other)
        };
        thread::scope(|s| {
            for (first, second) in [(a, b), (b, a)] {
                let map = &map;
                s.spawn(move || {
                    let from = map.get_mut(&first).unwrap();
                    *map.get_mut(&second).unwrap() += *from;
                });
            }
        });
    }
}
