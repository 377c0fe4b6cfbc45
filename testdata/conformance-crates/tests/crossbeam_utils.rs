//! `crossbeam-utils`.

mod correct {
    use crossbeam_utils::atomic::AtomicCell;
    use crossbeam_utils::sync::{Parker, ShardedLock, WaitGroup};
    use crossbeam_utils::{Backoff, CachePadded, thread as scoped};
    use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
    use std::thread;
    use std::time::Duration;

    #[test]
    fn a_small_atomic_cell_loses_no_update() {
        let cell = AtomicCell::new(0_u32);
        thread::scope(|s| {
            for _ in 0..3 {
                s.spawn(|| cell.fetch_add(1));
            }
        });
        assert_eq!(cell.into_inner(), 3);
    }

    #[test]
    fn a_large_atomic_cell_is_seen_whole() {
        let cell = AtomicCell::new([0_u64; 4]);
        thread::scope(|s| {
            s.spawn(|| cell.store([1; 4]));
            s.spawn(|| cell.swap([2; 4]));
            let seen = cell.load();
            assert!(seen.iter().all(|v| *v == seen[0]));
        });
    }

    #[test]
    fn an_atomic_cell_exchanges_once() {
        let cell = AtomicCell::new((0_u8, 0_u8));
        let take = |to| cell.compare_exchange((0, 0), to).is_ok();
        let wins = thread::scope(|s| {
            let other = s.spawn(|| take((1, 1)));
            u8::from(take((2, 2))) + u8::from(other.join().unwrap())
        });
        assert_eq!(wins, 1);
    }

    #[test]
    fn a_parker_keeps_a_token_for_later() {
        let parker = Parker::new();
        let unparker = parker.unparker().clone();
        let waker = thread::spawn(move || unparker.unpark());
        parker.park();
        parker.park_timeout(Duration::from_millis(2));
        waker.join().unwrap();
    }

    #[test]
    fn a_wait_group_waits_for_all_its_clones() {
        let (group, done) = (WaitGroup::new(), std::sync::Arc::new(AtomicUsize::new(0)));
        for _ in 0..3 {
            let (group, done) = (group.clone(), done.clone());
            thread::spawn(move || {
                done.fetch_add(1, SeqCst);
                drop(group);
            });
        }
        group.wait();
        assert_eq!(done.load(SeqCst), 3);
    }

    #[test]
    fn a_sharded_lock_excludes_writers() {
        let pair = ShardedLock::new((0, 0));
        thread::scope(|s| {
            s.spawn(|| {
                let mut pair = pair.write().unwrap();
                pair.0 += 1;
                pair.1 += 1;
            });
            s.spawn(|| {
                let pair = pair.read().unwrap();
                assert_eq!(pair.0, pair.1);
            });
        });
    }

    #[test]
    fn a_loop_with_backoff_ends() {
        let ready = CachePadded::new(AtomicUsize::new(0));
        thread::scope(|s| {
            s.spawn(|| {
                let backoff = Backoff::new();
                while ready.load(SeqCst) == 0 {
                    backoff.snooze();
                }
            });
            ready.store(1, SeqCst);
        });
    }

    #[test]
    fn the_scope_of_crossbeam_returns_the_panics_of_its_threads() {
        let result = scoped::scope(|s| {
            s.spawn(|_| panic!("on purpose"));
            s.spawn(|_| 1);
        });
        assert!(result.is_err());
    }
}
