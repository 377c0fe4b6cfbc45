//! `std::sync::Condvar`.

mod correct {
    use std::collections::VecDeque;
    use std::sync::{Condvar, Mutex};
    use std::thread;
    use std::time::Duration;

    const SHORT: Duration = Duration::from_millis(2);

    #[test]
    fn a_wait_loop_ends_when_the_flag_is_set() {
        let (ready, changed) = (Mutex::new(false), Condvar::new());
        thread::scope(|s| {
            s.spawn(|| {
                *ready.lock().unwrap() = true;
                changed.notify_one();
            });
            let mut guard = ready.lock().unwrap();
            while !*guard {
                guard = changed.wait(guard).unwrap();
            }
        });
    }

    #[test]
    fn wait_while_ends_when_its_condition_turns_false() {
        let (left, changed) = (Mutex::new(2), Condvar::new());
        thread::scope(|s| {
            for _ in 0..2 {
                s.spawn(|| {
                    *left.lock().unwrap() -= 1;
                    changed.notify_one();
                });
            }
            let guard = changed.wait_while(left.lock().unwrap(), |left| *left > 0).unwrap();
            assert_eq!(*guard, 0);
        });
    }

    /// The documentation of std permits spurious wake-ups; the scheduler must not invent any.
    #[test]
    fn a_single_waiter_is_not_woken_before_the_only_notification() {
        let (ready, changed) = (Mutex::new(false), Condvar::new());
        thread::scope(|s| {
            s.spawn(|| {
                thread::yield_now();
                *ready.lock().unwrap() = true;
                changed.notify_one();
            });
            let mut guard = ready.lock().unwrap();
            if !*guard {
                guard = changed.wait(guard).unwrap();
            }
            assert!(*guard);
        });
    }

    #[test]
    fn wait_gives_the_mutex_back_and_takes_it_again() {
        let (turn, changed) = (Mutex::new(0), Condvar::new());
        thread::scope(|s| {
            s.spawn(|| {
                let mut turn = turn.lock().unwrap();
                *turn = 1;
                changed.notify_one();
                thread::yield_now();
                assert_eq!(*turn, 1);
            });
            let mut guard = turn.lock().unwrap();
            while *guard == 0 {
                guard = changed.wait(guard).unwrap();
            }
            *guard = 2;
        });
        assert_eq!(turn.into_inner().unwrap(), 2);
    }

    #[test]
    fn notify_all_wakes_every_waiter() {
        let (open, changed) = (Mutex::new(false), Condvar::new());
        thread::scope(|s| {
            for _ in 0..3 {
                s.spawn(|| drop(changed.wait_while(open.lock().unwrap(), |open| !*open).unwrap()));
            }
            *open.lock().unwrap() = true;
            changed.notify_all();
        });
    }

    #[test]
    fn one_notify_one_per_token_wakes_enough_waiters() {
        let (tokens, changed) = (Mutex::new(0), Condvar::new());
        thread::scope(|s| {
            for _ in 0..3 {
                s.spawn(|| *changed.wait_while(tokens.lock().unwrap(), |tokens| *tokens == 0).unwrap() -= 1);
            }
            for _ in 0..3 {
                *tokens.lock().unwrap() += 1;
                changed.notify_one();
            }
        });
        assert_eq!(tokens.into_inner().unwrap(), 0);
    }

    #[test]
    fn waiters_pass_the_baton_in_order() {
        let (next, changed) = (Mutex::new(0), Condvar::new());
        thread::scope(|s| {
            for me in 0..3 {
                let (next, changed) = (&next, &changed);
                s.spawn(move || {
                    let mut guard = changed.wait_while(next.lock().unwrap(), |next| *next != me).unwrap();
                    *guard += 1;
                    changed.notify_all();
                });
            }
        });
        assert_eq!(next.into_inner().unwrap(), 3);
    }

    #[test]
    fn a_notification_under_the_lock_is_not_lost() {
        let (ready, changed) = (Mutex::new(false), Condvar::new());
        thread::scope(|s| {
            s.spawn(|| {
                let mut guard = ready.lock().unwrap();
                *guard = true;
                changed.notify_one();
            });
            s.spawn(|| drop(changed.wait_while(ready.lock().unwrap(), |ready| !*ready).unwrap()));
        });
    }

    #[test]
    fn wait_timeout_times_out_when_nobody_notifies() {
        let (lock, changed) = (Mutex::new(()), Condvar::new());
        thread::scope(|s| {
            for _ in 0..2 {
                s.spawn(|| {
                    let (_guard, result) =
                        changed.wait_timeout_while(lock.lock().unwrap(), SHORT, |()| true).unwrap();
                    assert!(result.timed_out());
                });
            }
        });
    }

    #[test]
    fn wait_timeout_ends_either_way() {
        let (ready, changed) = (Mutex::new(false), Condvar::new());
        thread::scope(|s| {
            s.spawn(|| {
                *ready.lock().unwrap() = true;
                changed.notify_one();
            });
            let guard = ready.lock().unwrap();
            if !*guard {
                let (guard, result) = changed.wait_timeout(guard, SHORT).unwrap();
                // A time-out says nothing about the flag: it may have been set while the lock was retaken.
                assert!(*guard || result.timed_out());
            }
        });
    }

    #[test]
    fn wait_timeout_while_reports_a_time_out_only_if_the_condition_still_holds() {
        let (ready, changed) = (Mutex::new(false), Condvar::new());
        thread::scope(|s| {
            s.spawn(|| {
                *ready.lock().unwrap() = true;
                changed.notify_all();
            });
            let (guard, result) =
                changed.wait_timeout_while(ready.lock().unwrap(), SHORT, |ready| !*ready).unwrap();
            assert_eq!(result.timed_out(), !*guard);
        });
    }

    #[test]
    fn a_waiter_that_timed_out_does_not_swallow_a_later_notification() {
        let (state, changed) = (Mutex::new(0), Condvar::new());
        thread::scope(|s| {
            s.spawn(|| drop(changed.wait_timeout(state.lock().unwrap(), SHORT).unwrap()));
            s.spawn(|| drop(changed.wait_while(state.lock().unwrap(), |state| *state == 0).unwrap()));
            *state.lock().unwrap() = 1;
            changed.notify_all();
        });
    }

    #[test]
    fn a_bounded_buffer_delivers_everything_in_order() {
        let buffer = Mutex::new(VecDeque::new());
        let (not_empty, not_full) = (Condvar::new(), Condvar::new());
        thread::scope(|s| {
            s.spawn(|| {
                for item in 0..4 {
                    let mut guard = not_full.wait_while(buffer.lock().unwrap(), |b| b.len() == 1).unwrap();
                    guard.push_back(item);
                    not_empty.notify_one();
                }
            });
            for expected in 0..4 {
                let mut guard = not_empty.wait_while(buffer.lock().unwrap(), |b| b.is_empty()).unwrap();
                assert_eq!(guard.pop_front(), Some(expected));
                not_full.notify_one();
            }
        });
    }

    #[test]
    fn two_threads_take_turns() {
        let (turn, changed) = (Mutex::new(0), Condvar::new());
        thread::scope(|s| {
            for me in 0..2 {
                let (turn, changed) = (&turn, &changed);
                s.spawn(move || {
                    for round in 0..2 {
                        let mine = 2 * round + me;
                        let mut guard =
                            changed.wait_while(turn.lock().unwrap(), |turn| *turn != mine).unwrap();
                        *guard += 1;
                        changed.notify_one();
                    }
                });
            }
        });
        assert_eq!(turn.into_inner().unwrap(), 4);
    }

    #[test]
    fn a_waiter_learns_of_the_poison() {
        let (ready, changed) = (Mutex::new(false), Condvar::new());
        thread::scope(|s| {
            let panicking = s.spawn(|| {
                let mut guard = ready.lock().unwrap();
                *guard = true;
                changed.notify_one();
                panic!("on purpose");
            });
            let waiter = s.spawn(|| {
                let Ok(mut guard) = ready.lock() else { return };
                while !*guard {
                    match changed.wait(guard) {
                        Ok(again) => guard = again,
                        Err(poisoned) => {
                            assert!(*poisoned.into_inner());
                            return;
                        }
                    }
                }
                panic!("the flag was set but the lock was not poisoned");
            });
            assert!(panicking.join().is_err());
            waiter.join().unwrap();
        });
    }
}
