//! `rayon` used wrongly.

mod broken {
    use rayon::prelude::*;
    use rayon::{ThreadPool, ThreadPoolBuilder};
    use std::sync::Mutex;
    use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};

    fn pool(threads: usize) -> ThreadPool {
        ThreadPoolBuilder::new().num_threads(threads).build().unwrap()
    }

    #[test]
    fn panics_a_shared_counter_that_is_loaded_and_stored() {
        let count = AtomicUsize::new(0);
        let add = || count.store(count.load(SeqCst) + 1, SeqCst);
        pool(2).install(|| rayon::join(add, add));
        assert_eq!(count.into_inner(), 2);
    }

    #[test]
    fn panics_a_parallel_loop_believed_to_run_in_order() {
        let log = Mutex::new(Vec::new());
        pool(2).install(|| (0..2).into_par_iter().for_each(|n| log.lock().unwrap().push(n)));
        assert_eq!(log.into_inner().unwrap(), [0, 1]);
    }

    #[test]
    fn deadlocks_two_locks_in_opposite_orders() {
        let (a, b) = (Mutex::new(1), Mutex::new(2));
        pool(2).install(|| {
            rayon::join(
                || *a.lock().unwrap() + *b.lock().unwrap(),
                || {
                    let b = b.lock().unwrap();
                    *b + *a.lock().unwrap()
                },
            )
        });
    }
}
