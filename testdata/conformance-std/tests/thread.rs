//! `std::thread`: spawn, scope, Builder, park, unpark, yield_now, current, is_finished.

mod correct {
    use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::SeqCst};
    use std::sync::{Arc, Mutex};
    use std::thread;
    use std::time::Duration;

    #[test]
    fn join_returns_the_value_of_the_closure() {
        let a = thread::spawn(|| 6);
        let b = thread::spawn(|| String::from("seven"));
        assert_eq!(b.join().unwrap(), "seven");
        assert_eq!(a.join().unwrap(), 6);
    }

    #[test]
    fn join_makes_the_writes_of_the_thread_visible() {
        let boxed = Box::new([0_u32; 4]);
        let handle = thread::spawn(move || {
            let mut boxed = boxed;
            for (i, slot) in boxed.iter_mut().enumerate() {
                *slot = i as u32 + 1;
            }
            boxed
        });
        assert_eq!(*handle.join().unwrap(), [1, 2, 3, 4]);
    }

    #[test]
    fn threads_joined_in_reverse_order_all_finish() {
        let count = Arc::new(AtomicUsize::new(0));
        let mut handles: Vec<_> = (0..4)
            .map(|_| {
                let count = Arc::clone(&count);
                thread::spawn(move || count.fetch_add(1, SeqCst))
            })
            .collect();
        let mut seen: Vec<usize> = std::iter::from_fn(|| handles.pop()).map(|h| h.join().unwrap()).collect();
        seen.sort_unstable();
        assert_eq!(seen, [0, 1, 2, 3]);
        assert_eq!(count.load(SeqCst), 4);
    }

    #[test]
    fn a_scope_joins_all_its_threads_before_it_returns() {
        let count = AtomicUsize::new(0);
        thread::scope(|s| {
            for _ in 0..3 {
                s.spawn(|| count.fetch_add(1, SeqCst));
            }
        });
        assert_eq!(count.load(SeqCst), 3);
    }

    #[test]
    fn scoped_threads_change_disjoint_parts_of_a_borrowed_array() {
        let mut values = [0_u8; 6];
        thread::scope(|s| {
            for (part, chunk) in values.chunks_mut(2).enumerate() {
                s.spawn(move || chunk.fill(part as u8 + 1));
            }
        });
        assert_eq!(values, [1, 1, 2, 2, 3, 3]);
    }

    #[test]
    fn a_scoped_handle_joined_early_gives_its_value() {
        let base = 40;
        let total = thread::scope(|s| {
            let a = s.spawn(|| base + 1);
            let b = s.spawn(|| base + 2);
            a.join().unwrap() + b.join().unwrap()
        });
        assert_eq!(total, 83);
    }

    #[test]
    fn a_scoped_thread_can_spawn_into_the_same_scope() {
        let count = AtomicUsize::new(0);
        thread::scope(|s| {
            s.spawn(|| {
                s.spawn(|| count.fetch_add(1, SeqCst));
                count.fetch_add(1, SeqCst);
            });
        });
        assert_eq!(count.load(SeqCst), 2);
    }

    #[test]
    fn scopes_can_be_nested() {
        let count = AtomicUsize::new(0);
        thread::scope(|outer| {
            outer.spawn(|| {
                thread::scope(|inner| {
                    inner.spawn(|| count.fetch_add(1, SeqCst));
                    inner.spawn(|| count.fetch_add(1, SeqCst));
                });
                assert_eq!(count.load(SeqCst), 2);
            });
        });
        assert_eq!(count.load(SeqCst), 2);
    }

    #[test]
    fn a_spawned_thread_can_spawn_and_join_another() {
        fn chain(depth: u32) -> u32 {
            if depth == 0 { 0 } else { 1 + thread::spawn(move || chain(depth - 1)).join().unwrap() }
        }
        assert_eq!(chain(5), 5);
    }

    #[test]
    fn a_thread_can_be_joined_by_a_thread_that_did_not_spawn_it() {
        let worker = thread::spawn(|| 5);
        let joiner = thread::spawn(move || worker.join().unwrap() + 1);
        assert_eq!(joiner.join().unwrap(), 6);
    }

    #[test]
    fn a_detached_thread_still_delivers_its_result() {
        let slot = Arc::new(AtomicUsize::new(0));
        let theirs = Arc::clone(&slot);
        let me = thread::current();
        drop(thread::spawn(move || {
            theirs.store(9, SeqCst);
            me.unpark();
        }));
        while slot.load(SeqCst) != 9 {
            thread::park();
        }
    }

    #[test]
    fn a_builder_gives_the_thread_its_name() {
        let named = thread::Builder::new().name("weaver".into()).spawn(|| {
            thread::yield_now();
            thread::current().name().map(String::from)
        });
        let other = thread::Builder::new().name("warper".into()).spawn(|| {
            thread::yield_now();
            thread::current().name().map(String::from)
        });
        let (named, other) = (named.unwrap(), other.unwrap());
        assert_eq!(named.thread().name(), Some("weaver"));
        assert_eq!(named.join().unwrap().as_deref(), Some("weaver"));
        assert_eq!(other.join().unwrap().as_deref(), Some("warper"));
    }

    #[test]
    fn a_scoped_builder_gives_the_thread_its_name() {
        thread::scope(|s| {
            let handle = thread::Builder::new()
                .name("scoped".into())
                .spawn_scoped(s, || thread::current().name() == Some("scoped"))
                .unwrap();
            assert!(handle.join().unwrap());
        });
    }

    #[test]
    fn a_thread_spawned_without_a_name_has_none() {
        assert!(thread::spawn(|| thread::current().name().is_none()).join().unwrap());
    }

    #[test]
    fn current_is_the_thread_that_the_handle_names() {
        let a = thread::spawn(|| thread::current().id());
        let b = thread::spawn(|| thread::current().id());
        let (id_a, id_b) = (a.thread().id(), b.thread().id());
        assert_ne!(id_a, id_b);
        assert_ne!(id_a, thread::current().id());
        assert_eq!(a.join().unwrap(), id_a);
        assert_eq!(b.join().unwrap(), id_b);
    }

    #[test]
    fn current_stays_the_same_across_switches() {
        thread::scope(|s| {
            for _ in 0..2 {
                s.spawn(|| {
                    let before = thread::current().id();
                    for _ in 0..3 {
                        thread::yield_now();
                        assert_eq!(thread::current().id(), before);
                    }
                });
            }
        });
    }

    #[test]
    fn is_finished_is_false_while_the_thread_cannot_have_ended() {
        let gate = Arc::new(Mutex::new(()));
        let closed = gate.lock().unwrap();
        let theirs = Arc::clone(&gate);
        let handle = thread::spawn(move || drop(theirs.lock().unwrap()));
        assert!(!handle.is_finished());
        drop(closed);
        handle.join().unwrap();
    }

    #[test]
    fn is_finished_becomes_true() {
        let handle = thread::spawn(|| 3);
        while !handle.is_finished() {
            thread::yield_now();
        }
        assert_eq!(handle.join().unwrap(), 3);
    }

    #[test]
    fn park_returns_once_another_thread_unparks() {
        let ready = AtomicBool::new(false);
        thread::scope(|s| {
            let sleeper = s.spawn(|| {
                while !ready.load(SeqCst) {
                    thread::park();
                }
            });
            ready.store(true, SeqCst);
            sleeper.thread().unpark();
        });
    }

    #[test]
    fn an_unpark_before_the_park_is_not_lost() {
        let me = thread::current();
        thread::spawn(move || me.unpark()).join().unwrap();
        thread::park();
    }

    #[test]
    fn a_single_unpark_ends_a_single_park_without_a_loop() {
        let sleeper = thread::spawn(thread::park);
        sleeper.thread().unpark();
        sleeper.join().unwrap();
    }

    #[test]
    fn a_clone_of_the_thread_handle_unparks_from_a_third_thread() {
        let sleeper = thread::spawn(thread::park);
        let handle = sleeper.thread().clone();
        let waker = thread::spawn(move || handle.unpark());
        sleeper.join().unwrap();
        waker.join().unwrap();
    }

    #[test]
    fn unparking_a_finished_thread_does_nothing() {
        let handle = thread::spawn(|| ());
        let thread = handle.thread().clone();
        handle.join().unwrap();
        thread.unpark();
    }

    #[test]
    fn two_threads_take_turns_by_parking() {
        let turn = AtomicUsize::new(0);
        let main = thread::current();
        thread::scope(|s| {
            let other = s.spawn(|| {
                for round in 0..3 {
                    while turn.load(SeqCst) != 2 * round + 1 {
                        thread::park();
                    }
                    turn.fetch_add(1, SeqCst);
                    main.unpark();
                }
            });
            for round in 0..3 {
                while turn.load(SeqCst) != 2 * round {
                    thread::park();
                }
                turn.fetch_add(1, SeqCst);
                other.thread().unpark();
            }
        });
        assert_eq!(turn.load(SeqCst), 6);
    }

    #[test]
    fn park_timeout_returns_without_an_unpark() {
        thread::scope(|s| {
            s.spawn(|| thread::park_timeout(Duration::from_millis(2)));
            s.spawn(|| thread::park_timeout(Duration::from_millis(1)));
        });
    }

    #[test]
    fn park_timeout_returns_whether_the_unpark_or_the_clock_comes_first() {
        let ready = AtomicBool::new(false);
        thread::scope(|s| {
            let sleeper = s.spawn(|| {
                let mut wakes = 0;
                while !ready.load(SeqCst) {
                    thread::park_timeout(Duration::from_millis(20));
                    wakes += 1;
                }
                wakes
            });
            ready.store(true, SeqCst);
            sleeper.thread().unpark();
            sleeper.join().unwrap();
        });
    }

    #[test]
    fn yield_now_lets_the_other_thread_finish() {
        let done = AtomicBool::new(false);
        thread::scope(|s| {
            s.spawn(|| done.store(true, SeqCst));
            while !done.load(SeqCst) {
                thread::yield_now();
            }
        });
    }
}
