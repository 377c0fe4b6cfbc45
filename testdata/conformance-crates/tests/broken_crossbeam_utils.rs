//! `crossbeam-utils` used wrongly.

mod broken {
    use crossbeam_utils::atomic::AtomicCell;
    use crossbeam_utils::sync::{Parker, WaitGroup};
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
    use std::thread;

    #[test]
    fn panics_a_lost_update_of_an_atomic_cell() {
        let cell = AtomicCell::new([0_u64; 3]);
        thread::scope(|s| {
            for me in 0..2 {
                let cell = &cell;
                s.spawn(move || {
                    let mut seen = cell.load();
                    seen[me] += 1;
                    cell.store(seen);
                });
            }
        });
        assert_eq!(cell.load(), [1, 1, 0]);
    }

    /// The thread leaves the group before it has done its work.
    #[test]
    fn panics_work_that_is_done_after_the_group_was_left() {
        let (group, done) = (WaitGroup::new(), Arc::new(AtomicUsize::new(0)));
        let (theirs, their_done) = (group.clone(), Arc::clone(&done));
        thread::spawn(move || {
            drop(theirs);
            their_done.store(1, SeqCst);
        });
        group.wait();
        assert_eq!(done.load(SeqCst), 1);
    }

    #[test]
    fn deadlocks_two_parks_that_expect_two_tokens() {
        let parker = Parker::new();
        let wakers = [(); 2].map(|()| {
            let unparker = parker.unparker().clone();
            thread::spawn(move || unparker.unpark())
        });
        parker.park();
        parker.park();
        wakers.into_iter().for_each(|w| w.join().unwrap());
    }
}
