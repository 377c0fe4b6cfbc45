//! `std::sync::Barrier`.

mod correct {
    use std::sync::Barrier;
    use std::sync::atomic::{AtomicUsize, Ordering::Relaxed, Ordering::SeqCst};
    use std::thread;

    #[test]
    fn nobody_passes_before_everybody_has_arrived() {
        let (barrier, arrived) = (Barrier::new(3), AtomicUsize::new(0));
        thread::scope(|s| {
            for _ in 0..3 {
                s.spawn(|| {
                    arrived.fetch_add(1, Relaxed);
                    barrier.wait();
                    assert_eq!(arrived.load(Relaxed), 3);
                });
            }
        });
    }

    #[test]
    fn exactly_one_thread_is_the_leader_in_each_round() {
        let barrier = Barrier::new(3);
        let leaders = [const { AtomicUsize::new(0) }; 3];
        thread::scope(|s| {
            for _ in 0..3 {
                s.spawn(|| {
                    for round in &leaders {
                        if barrier.wait().is_leader() {
                            round.fetch_add(1, SeqCst);
                        }
                    }
                });
            }
        });
        assert_eq!(leaders.map(AtomicUsize::into_inner), [1, 1, 1]);
    }

    #[test]
    fn rounds_do_not_mix() {
        let (barrier, total) = (Barrier::new(2), AtomicUsize::new(0));
        thread::scope(|s| {
            for _ in 0..2 {
                s.spawn(|| {
                    for round in 1..4 {
                        total.fetch_add(1, SeqCst);
                        barrier.wait();
                        assert_eq!(total.load(SeqCst), 2 * round);
                        barrier.wait();
                    }
                });
            }
        });
    }

    #[test]
    fn a_barrier_of_one_or_none_never_blocks() {
        let (one, none) = (Barrier::new(1), Barrier::new(0));
        thread::scope(|s| {
            for _ in 0..2 {
                s.spawn(|| {
                    assert!(one.wait().is_leader());
                    assert!(none.wait().is_leader());
                });
            }
        });
    }

    #[test]
    fn four_threads_pass_a_barrier_of_two_in_pairs() {
        let (barrier, leaders) = (Barrier::new(2), AtomicUsize::new(0));
        thread::scope(|s| {
            for _ in 0..4 {
                s.spawn(|| leaders.fetch_add(usize::from(barrier.wait().is_leader()), SeqCst));
            }
        });
        assert_eq!(leaders.into_inner(), 2);
    }
}
