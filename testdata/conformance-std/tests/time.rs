//! `sleep`, `Instant` and time-outs, as far as they hold with any clock.

mod correct {
    use std::sync::mpsc::{RecvTimeoutError, channel};
    use std::sync::{Arc, Condvar, Mutex};
    use std::thread;
    use std::time::{Duration, Instant, SystemTime};

    const SHORT: Duration = Duration::from_millis(3);

    #[test]
    fn sleep_lasts_at_least_as_long_as_asked() {
        thread::scope(|s| {
            for factor in 1..4 {
                s.spawn(move || {
                    let start = Instant::now();
                    thread::sleep(SHORT * factor);
                    assert!(start.elapsed() >= SHORT * factor);
                });
            }
        });
    }

    #[test]
    fn a_sleep_of_nothing_returns() {
        thread::scope(|s| {
            s.spawn(|| thread::sleep(Duration::ZERO));
            s.spawn(|| thread::sleep(Duration::from_nanos(1)));
        });
    }

    #[test]
    fn instants_never_go_back_within_or_between_threads() {
        let last = Mutex::new(Instant::now());
        thread::scope(|s| {
            for _ in 0..3 {
                s.spawn(|| {
                    for _ in 0..3 {
                        let mut last = last.lock().unwrap();
                        let now = Instant::now();
                        assert!(now >= *last);
                        *last = now;
                    }
                });
            }
        });
    }

    #[test]
    fn an_instant_taken_after_join_is_not_earlier_than_one_inside_the_thread() {
        let before = Instant::now();
        let inside = thread::spawn(|| {
            thread::sleep(SHORT);
            Instant::now()
        });
        let inside = inside.join().unwrap();
        assert!(before + SHORT <= inside);
        assert!(inside <= Instant::now());
    }

    #[test]
    fn the_time_of_day_is_after_1970_and_advances_with_sleep() {
        let handles = [(); 2].map(|()| {
            thread::spawn(|| {
                let start = SystemTime::now();
                thread::sleep(SHORT);
                assert!(start > SystemTime::UNIX_EPOCH);
                start
            })
        });
        handles.into_iter().for_each(|h| _ = h.join().unwrap());
    }

    #[test]
    fn park_timeout_without_an_unpark_lasts_until_its_time() {
        let sleeper = thread::spawn(|| {
            let start = Instant::now();
            while start.elapsed() < SHORT {
                thread::park_timeout(SHORT.saturating_sub(start.elapsed()));
            }
        });
        sleeper.join().unwrap();
    }

    #[test]
    fn recv_timeout_that_times_out_has_waited_long_enough() {
        let (tx, rx) = channel::<u8>();
        let waiting = thread::spawn(move || {
            let start = Instant::now();
            (rx.recv_timeout(SHORT), start.elapsed())
        });
        let (result, waited) = waiting.join().unwrap();
        assert_eq!(result, Err(RecvTimeoutError::Timeout));
        assert!(waited >= SHORT);
        drop(tx);
    }

    /// The pool waits for a worker that only has to run: half a minute is not the time that this takes.
    #[test]
    fn a_pool_hands_out_a_connection_long_before_half_a_minute_is_over() {
        let pool = Arc::new((Mutex::new(Vec::new()), Condvar::new()));
        let worker = Arc::clone(&pool);
        let connecting = thread::spawn(move || {
            worker.0.lock().unwrap().push("connection");
            worker.1.notify_one();
        });
        let idle = pool.0.lock().unwrap();
        let half_a_minute = Duration::from_secs(30);
        let (mut idle, _) =
            pool.1.wait_timeout_while(idle, half_a_minute, |idle| idle.is_empty()).unwrap();
        assert_eq!(idle.pop(), Some("connection"), "timed out");
        drop(idle);
        connecting.join().unwrap();
    }

    #[test]
    fn a_loop_that_polls_the_clock_ends() {
        thread::scope(|s| {
            s.spawn(|| {
                let start = Instant::now();
                while start.elapsed() < SHORT {
                    thread::sleep(SHORT / 3);
                }
            });
            s.spawn(|| {
                let deadline = Instant::now() + SHORT;
                while Instant::now() < deadline {
                    thread::yield_now();
                }
            });
        });
    }
}
