//! `rayon`, in pools of two or three threads.

mod correct {
    use rayon::prelude::*;
    use rayon::{ThreadPool, ThreadPoolBuilder};
    use std::panic::{AssertUnwindSafe, catch_unwind};
    use std::sync::Mutex;
    use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};

    fn pool(threads: usize) -> ThreadPool {
        ThreadPoolBuilder::new().num_threads(threads).build().unwrap()
    }

    #[test]
    fn join_runs_both_closures() {
        assert_eq!(pool(2).install(|| rayon::join(|| 1, || 2)), (1, 2));
    }

    #[test]
    fn nested_joins_give_the_right_sum() {
        fn fib(n: u32) -> u32 {
            if n < 2 {
                return n;
            }
            let (a, b) = rayon::join(|| fib(n - 1), || fib(n - 2));
            a + b
        }
        assert_eq!(pool(2).install(|| fib(5)), 5);
    }

    #[test]
    fn a_parallel_map_keeps_the_order() {
        let doubled: Vec<u32> = pool(2).install(|| (0..6_u32).into_par_iter().map(|n| n * 2).collect());
        assert_eq!(doubled, [0, 2, 4, 6, 8, 10]);
    }

    #[test]
    fn a_parallel_sum_visits_everything_once() {
        let count = AtomicUsize::new(0);
        let sum: usize = pool(3)
            .install(|| (0..6_usize).into_par_iter().inspect(|_| _ = count.fetch_add(1, SeqCst)).sum());
        assert_eq!((sum, count.into_inner()), (15, 6));
    }

    #[test]
    fn for_each_under_a_mutex_loses_nothing() {
        let seen = Mutex::new(Vec::new());
        pool(2).install(|| (0..4).into_par_iter().for_each(|n| seen.lock().unwrap().push(n)));
        let mut seen = seen.into_inner().unwrap();
        seen.sort_unstable();
        assert_eq!(seen, [0, 1, 2, 3]);
    }

    #[test]
    fn a_scope_waits_for_everything_spawned_in_it() {
        let count = AtomicUsize::new(0);
        pool(2).scope(|s| {
            for _ in 0..2 {
                s.spawn(|s| {
                    s.spawn(|_| _ = count.fetch_add(1, SeqCst));
                    count.fetch_add(1, SeqCst);
                });
            }
        });
        assert_eq!(count.into_inner(), 4);
    }

    #[test]
    fn a_panic_in_a_join_reaches_the_caller() {
        let pool = pool(2);
        let result =
            catch_unwind(AssertUnwindSafe(|| pool.install(|| rayon::join(|| 1, || panic!("on purpose")))));
        assert!(result.is_err());
        assert_eq!(pool.install(|| 3), 3);
    }

    #[test]
    fn a_parallel_sort_sorts() {
        let mut values = [5, 3, 9, 1, 7];
        pool(2).install(|| values.par_sort_unstable());
        assert_eq!(values, [1, 3, 5, 7, 9]);
    }

    #[test]
    fn broadcast_runs_once_in_every_thread() {
        assert_eq!(pool(3).broadcast(|context| context.index()), [0, 1, 2]);
    }

    #[test]
    fn a_scoped_pool_ends_with_its_threads_joined() {
        let count = AtomicUsize::new(0);
        ThreadPoolBuilder::new()
            .num_threads(2)
            .build_scoped(
                |thread| thread.run(),
                |pool| pool.install(|| (0..4).into_par_iter().for_each(|_| _ = count.fetch_add(1, SeqCst))),
            )
            .unwrap();
        assert_eq!(count.into_inner(), 4);
    }
}
