//! Fences in the wrong place: these fail under sequential consistency already.

mod broken {
    use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::*, fence};
    use std::thread;

    #[test]
    fn panics_a_flag_that_is_set_on_the_wrong_side_of_the_fence() {
        let (data, ready) = (AtomicUsize::new(0), AtomicBool::new(false));
        thread::scope(|s| {
            s.spawn(|| {
                ready.store(true, Relaxed);
                fence(Release);
                data.store(5, Relaxed);
            });
            if ready.load(Relaxed) {
                fence(Acquire);
                assert_eq!(data.load(Relaxed), 5);
            }
        });
    }

    #[test]
    fn panics_data_that_is_read_before_the_flag() {
        let (data, ready) = (AtomicUsize::new(0), AtomicBool::new(false));
        thread::scope(|s| {
            s.spawn(|| {
                data.store(5, Relaxed);
                fence(Release);
                ready.store(true, Relaxed);
            });
            let seen = data.load(Relaxed);
            fence(SeqCst);
            if ready.load(Relaxed) {
                assert_eq!(seen, 5);
            }
        });
    }

    #[test]
    fn panics_a_load_before_the_own_store_of_a_handshake() {
        let (x, y) = (AtomicBool::new(false), AtomicBool::new(false));
        let (saw_x, saw_y) = thread::scope(|s| {
            let other = s.spawn(|| {
                let saw_y = y.load(Relaxed);
                fence(SeqCst);
                x.store(true, Relaxed);
                saw_y
            });
            let saw_x = x.load(Relaxed);
            fence(SeqCst);
            y.store(true, Relaxed);
            (saw_x, other.join().unwrap())
        });
        assert!(saw_x || saw_y);
    }
}
