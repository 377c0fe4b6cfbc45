//! Tests that create no thread: there is no schedule to explore.

#[cfg(test)]
mod tests {
    use std::cell::Cell;
    use std::sync::Mutex;
    use std::sync::atomic::{AtomicU32, Ordering::SeqCst};

    #[test]
    fn arithmetic_needs_no_thread() {
        let total = Cell::new(0);
        (1..4).for_each(|n| total.set(total.get() + n));
        assert_eq!(total.get(), 6);
    }

    #[test]
    fn locks_and_atomics_used_by_one_thread_give_no_schedule() {
        let (lock, atomic) = (Mutex::new(1), AtomicU32::new(1));
        *lock.lock().unwrap() += atomic.fetch_add(1, SeqCst);
        assert_eq!((lock.into_inner().unwrap(), atomic.into_inner()), (2, 2));
    }

    #[test]
    #[ignore = "stays ignored"]
    fn an_ignored_test_is_not_run() {
        panic!("must not run");
    }
}
