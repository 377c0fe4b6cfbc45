//! Sleeps and time-outs of hours. Natively these take hours as well: they are meant for virtual time, which
//! advances only when no thread can run.

mod correct {
    use std::sync::atomic::{AtomicBool, Ordering::SeqCst};
    use std::sync::mpsc::channel;
    use std::sync::{Condvar, Mutex};
    use std::thread;
    use std::time::{Duration, Instant};

    const HOUR: Duration = Duration::from_secs(3600);

    #[test]
    fn a_sleep_of_an_hour_costs_nothing() {
        let start = Instant::now();
        thread::scope(|s| {
            s.spawn(|| thread::sleep(HOUR));
            s.spawn(|| thread::sleep(HOUR));
        });
        assert!(start.elapsed() >= HOUR);
    }

    #[test]
    fn the_counter_of_the_processor_counts_the_time_that_passes() {
        // SAFETY: every processor of this architecture has it.
        let counter = || unsafe { std::arch::x86_64::_rdtsc() };
        let start = counter();
        thread::scope(|s| {
            s.spawn(|| thread::sleep(HOUR));
            s.spawn(|| thread::sleep(HOUR));
        });
        assert!(counter() - start >= HOUR.as_nanos() as u64);
    }

    #[test]
    fn shorter_sleeps_end_first_when_nothing_else_runs() {
        let order = Mutex::new(Vec::new());
        thread::scope(|s| {
            for hours in [3, 1, 2] {
                let order = &order;
                s.spawn(move || {
                    thread::sleep(HOUR * hours);
                    order.lock().unwrap().push(hours);
                });
            }
        });
        assert_eq!(*order.lock().unwrap(), [1, 2, 3]);
    }

    #[test]
    fn sleeps_in_two_threads_overlap() {
        let start = Instant::now();
        thread::scope(|s| {
            for _ in 0..4 {
                s.spawn(|| thread::sleep(HOUR));
            }
        });
        assert!(start.elapsed() < HOUR * 2);
    }

    #[test]
    fn sleeps_in_one_thread_add_up() {
        let start = Instant::now();
        thread::scope(|s| {
            s.spawn(|| {
                for _ in 0..3 {
                    thread::sleep(HOUR);
                }
                assert!(start.elapsed() >= HOUR * 3);
            });
        });
    }

    #[test]
    fn a_wait_of_an_hour_times_out_at_once_when_nothing_can_run() {
        let (lock, changed) = (Mutex::new(()), Condvar::new());
        thread::scope(|s| {
            s.spawn(|| {
                let start = Instant::now();
                let guard = lock.lock().unwrap();
                let (_guard, result) = changed.wait_timeout_while(guard, HOUR, |()| true).unwrap();
                assert!(result.timed_out());
                assert!(start.elapsed() >= HOUR);
            });
        });
    }

    #[test]
    fn a_message_after_an_hour_beats_a_time_out_of_a_day() {
        let (tx, rx) = channel();
        thread::spawn(move || {
            thread::sleep(HOUR);
            tx.send(1).unwrap();
        });
        assert_eq!(rx.recv_timeout(HOUR * 24), Ok(1));
    }

    #[test]
    fn an_unpark_after_an_hour_ends_a_park_of_a_day() {
        let ready = AtomicBool::new(false);
        thread::scope(|s| {
            let sleeper = s.spawn(|| {
                let start = Instant::now();
                while !ready.load(SeqCst) && start.elapsed() < HOUR * 24 {
                    thread::park_timeout(HOUR * 24);
                }
                assert!(ready.load(SeqCst));
            });
            thread::sleep(HOUR);
            ready.store(true, SeqCst);
            sleeper.thread().unpark();
        });
    }

    #[test]
    fn a_periodic_thread_ticks_until_it_is_stopped() {
        let stop = AtomicBool::new(false);
        thread::scope(|s| {
            let ticker = s.spawn(|| {
                let mut ticks = 0;
                while !stop.load(SeqCst) {
                    thread::sleep(HOUR);
                    ticks += 1;
                }
                ticks
            });
            thread::sleep(HOUR * 3 + HOUR / 2);
            stop.store(true, SeqCst);
            assert_eq!(ticker.join().unwrap(), 4);
        });
    }
}
