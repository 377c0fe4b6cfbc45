//! Stack sizes asked for through `thread::Builder`, and recursion that uses them.

mod correct {
    use std::hint::black_box;
    use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
    use std::thread::{self, Builder};

    /// Uses at least a kilobyte of stack per level.
    fn descend(levels: usize, shared: &AtomicUsize) -> usize {
        let mut frame = [0_u8; 1024];
        black_box(&mut frame)[levels % 1024] = 1;
        if levels.is_multiple_of(256) {
            shared.fetch_add(1, SeqCst);
        }
        let below = if levels == 0 { 0 } else { descend(levels - 1, shared) };
        below + usize::from(black_box(&frame)[levels % 1024])
    }

    #[test]
    fn deep_recursion_fits_the_stack_that_was_asked_for() {
        let shared = AtomicUsize::new(0);
        thread::scope(|s| {
            let deep = Builder::new().stack_size(16 << 20).spawn_scoped(s, || descend(4 << 10, &shared));
            assert_eq!(deep.unwrap().join().unwrap(), (4 << 10) + 1);
        });
        assert_eq!(shared.load(SeqCst), 17);
    }

    #[test]
    fn two_deep_recursions_interleave_on_their_own_stacks() {
        let shared = AtomicUsize::new(0);
        thread::scope(|s| {
            for _ in 0..2 {
                Builder::new()
                    .stack_size(8 << 20)
                    .spawn_scoped(s, || assert_eq!(descend(1 << 10, &shared), (1 << 10) + 1))
                    .unwrap();
            }
        });
        assert_eq!(shared.load(SeqCst), 10);
    }

    #[test]
    fn the_default_stack_holds_a_megabyte() {
        let shared = AtomicUsize::new(0);
        thread::scope(|s| {
            s.spawn(|| assert_eq!(descend(512, &shared), 513));
            s.spawn(|| assert_eq!(descend(512, &shared), 513));
        });
        assert_eq!(shared.load(SeqCst), 6);
    }

    #[test]
    fn a_small_stack_is_enough_for_a_small_thread() {
        let shared = AtomicUsize::new(0);
        thread::scope(|s| {
            for _ in 0..3 {
                Builder::new().stack_size(32 << 10).spawn_scoped(s, || shared.fetch_add(1, SeqCst)).unwrap();
            }
        });
        assert_eq!(shared.load(SeqCst), 3);
    }

    #[test]
    fn locals_keep_their_values_across_switches() {
        let shared = AtomicUsize::new(0);
        thread::scope(|s| {
            for mark in 1..4_u64 {
                let shared = &shared;
                s.spawn(move || {
                    let locals = [mark; 8];
                    let float = mark as f64 / 3.0;
                    for _ in 0..3 {
                        shared.fetch_add(1, SeqCst);
                        thread::yield_now();
                        assert_eq!(black_box(&locals), &[mark; 8]);
                        assert_eq!(black_box(float), mark as f64 / 3.0);
                    }
                });
            }
        });
        assert_eq!(shared.load(SeqCst), 9);
    }
}
