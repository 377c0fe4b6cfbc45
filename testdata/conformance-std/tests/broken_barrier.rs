//! Barriers used or built wrongly.

mod broken {
    use std::hint::spin_loop;
    use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::SeqCst};
    use std::sync::{Barrier, Condvar, Mutex};
    use std::thread;

    #[test]
    fn panics_the_first_thread_believed_to_be_the_leader() {
        let barrier = Barrier::new(2);
        thread::scope(|s| {
            s.spawn(|| assert!(barrier.wait().is_leader()));
            barrier.wait();
        });
    }

    #[test]
    fn panics_work_that_goes_on_before_the_leader_has_finished() {
        let (barrier, result) = (Barrier::new(2), AtomicUsize::new(0));
        thread::scope(|s| {
            for _ in 0..2 {
                s.spawn(|| {
                    if barrier.wait().is_leader() {
                        result.store(1, SeqCst);
                    }
                    // A second wait is missing here.
                    assert_eq!(result.load(SeqCst), 1);
                });
            }
        });
    }

    #[test]
    fn deadlocks_a_participant_that_leaves_early() {
        let (barrier, failed) = (Barrier::new(2), AtomicBool::new(false));
        thread::scope(|s| {
            s.spawn(|| {
                failed.store(true, SeqCst);
                barrier.wait();
            });
            if !failed.load(SeqCst) {
                barrier.wait();
            }
        });
    }

    /// Without a generation, a fast thread can fill the next round before a slow one has left this one.
    #[test]
    fn deadlocks_a_hand_made_barrier_that_is_reused() {
        let (count, changed) = (Mutex::new(0), Condvar::new());
        let wait = || {
            let mut count = count.lock().unwrap();
            *count += 1;
            if *count == 2 {
                *count = 0;
                changed.notify_all();
            } else {
                while *count != 0 {
                    count = changed.wait(count).unwrap();
                }
            }
        };
        thread::scope(|s| {
            for _ in 0..2 {
                s.spawn(|| {
                    wait();
                    thread::yield_now();
                    wait();
                });
            }
        });
    }

    #[test]
    fn livelocks_a_spin_barrier_that_is_reused() {
        let count = AtomicUsize::new(0);
        let wait = || {
            if count.fetch_add(1, SeqCst) + 1 == 2 {
                count.store(0, SeqCst);
            } else {
                while count.load(SeqCst) != 0 {
                    spin_loop();
                }
            }
        };
        thread::scope(|s| {
            for _ in 0..2 {
                s.spawn(|| {
                    wait();
                    thread::yield_now();
                    wait();
                });
            }
        });
    }

    #[test]
    fn livelocks_a_spin_barrier_that_loses_an_arrival() {
        let arrived = AtomicUsize::new(0);
        thread::scope(|s| {
            for _ in 0..2 {
                s.spawn(|| {
                    arrived.store(arrived.load(SeqCst) + 1, SeqCst);
                    while arrived.load(SeqCst) != 2 {
                        spin_loop();
                    }
                });
            }
        });
    }
}
