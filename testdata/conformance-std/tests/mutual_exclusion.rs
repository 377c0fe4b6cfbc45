//! Classical algorithms from loads and stores: Peterson, Dekker, bakery, seqlock.

mod correct {
    use conformance_std::Plain;
    use std::hint::spin_loop;
    use std::sync::atomic::{AtomicBool, AtomicU32, AtomicUsize, Ordering::*, fence};
    use std::thread;

    /// Increments a plain counter in two threads between `enter` and `leave` and checks that nothing was lost.
    fn two_threads(enter: impl Fn(usize) + Sync, leave: impl Fn(usize) + Sync) {
        let count = Plain::new(0);
        thread::scope(|s| {
            for me in 0..2 {
                let (count, enter, leave) = (&count, &enter, &leave);
                s.spawn(move || {
                    for _ in 0..2 {
                        enter(me);
                        // SAFETY: the algorithm under test lets one thread in at a time.
                        unsafe { *count.get() += 1 };
                        leave(me);
                    }
                });
            }
        });
        // SAFETY: the scope has ended.
        assert_eq!(unsafe { *count.get() }, 4);
    }

    #[test]
    fn petersons_algorithm_excludes() {
        let (wants, turn) = ([const { AtomicBool::new(false) }; 2], AtomicUsize::new(0));
        two_threads(
            |me| {
                wants[me].store(true, SeqCst);
                turn.store(1 - me, SeqCst);
                while wants[1 - me].load(SeqCst) && turn.load(SeqCst) == 1 - me {
                    spin_loop();
                }
            },
            |me| wants[me].store(false, SeqCst),
        );
    }

    #[test]
    fn dekkers_algorithm_excludes() {
        let (wants, turn) = ([const { AtomicBool::new(false) }; 2], AtomicUsize::new(0));
        two_threads(
            |me| {
                wants[me].store(true, SeqCst);
                while wants[1 - me].load(SeqCst) {
                    if turn.load(SeqCst) != me {
                        wants[me].store(false, SeqCst);
                        while turn.load(SeqCst) != me {
                            spin_loop();
                        }
                        wants[me].store(true, SeqCst);
                    }
                }
            },
            |me| {
                turn.store(1 - me, SeqCst);
                wants[me].store(false, SeqCst);
            },
        );
    }

    #[test]
    fn lamports_bakery_excludes() {
        let choosing = [const { AtomicBool::new(false) }; 2];
        let number = [const { AtomicUsize::new(0) }; 2];
        two_threads(
            |me| {
                let other = 1 - me;
                choosing[me].store(true, SeqCst);
                number[me].store(1 + number[other].load(SeqCst), SeqCst);
                choosing[me].store(false, SeqCst);
                while choosing[other].load(SeqCst) {
                    spin_loop();
                }
                loop {
                    let theirs = number[other].load(SeqCst);
                    if theirs == 0 || (number[me].load(SeqCst), me) < (theirs, other) {
                        break;
                    }
                    spin_loop();
                }
            },
            |me| number[me].store(0, SeqCst),
        );
    }

    #[test]
    fn store_buffering_is_ruled_out_by_sequential_consistency() {
        let (x, y) = (AtomicBool::new(false), AtomicBool::new(false));
        let (saw_x, saw_y) = thread::scope(|s| {
            let other = s.spawn(|| {
                x.store(true, SeqCst);
                y.load(SeqCst)
            });
            y.store(true, SeqCst);
            let saw_x = x.load(SeqCst);
            (saw_x, other.join().unwrap())
        });
        assert!(saw_x || saw_y);
    }

    #[test]
    fn independent_readers_agree_on_the_order_of_two_writes() {
        let (x, y) = (AtomicBool::new(false), AtomicBool::new(false));
        let (a, b) = thread::scope(|s| {
            s.spawn(|| x.store(true, SeqCst));
            s.spawn(|| y.store(true, SeqCst));
            let a = s.spawn(|| (x.load(SeqCst), y.load(SeqCst)));
            let b = s.spawn(|| (y.load(SeqCst), x.load(SeqCst)));
            (a.join().unwrap(), b.join().unwrap())
        });
        assert!(!(a == (true, false) && b == (true, false)));
    }

    #[test]
    fn a_seqlock_reader_never_returns_half_an_update() {
        let (version, data) = (AtomicU32::new(0), [const { AtomicU32::new(0) }; 2]);
        thread::scope(|s| {
            s.spawn(|| {
                for value in 1..3 {
                    version.fetch_add(1, Acquire);
                    fence(Release);
                    data[0].store(value, Relaxed);
                    data[1].store(value, Relaxed);
                    version.fetch_add(1, Release);
                }
            });
            let (a, b) = loop {
                let before = version.load(Acquire);
                if before % 2 == 0 {
                    let seen = (data[0].load(Relaxed), data[1].load(Relaxed));
                    fence(Acquire);
                    if version.load(Relaxed) == before {
                        break seen;
                    }
                }
                spin_loop();
            };
            assert_eq!(a, b);
        });
    }
}
