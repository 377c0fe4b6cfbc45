//! `crossbeam-epoch` used wrongly.

mod broken {
    use crossbeam_epoch::{self as epoch, Atomic, Owned};
    use std::sync::Arc;
    use std::sync::atomic::{AtomicBool, Ordering::*};
    use std::thread;

    /// Tells through a flag that outlives it that it was dropped.
    struct Flagged(Arc<AtomicBool>);

    impl Drop for Flagged {
        fn drop(&mut self) {
            self.0.store(true, SeqCst);
        }
    }

    /// The old object is dropped at once instead of being deferred; the flag stands for its memory.
    #[test]
    fn panics_a_reader_whose_object_is_dropped_at_once() {
        let dropped = Arc::new(AtomicBool::new(false));
        let slot = Atomic::new(Flagged(Arc::clone(&dropped)));
        thread::scope(|s| {
            s.spawn(|| {
                let guard = epoch::pin();
                let old = slot.swap(Owned::new(Flagged(Arc::default())), AcqRel, &guard);
                if dropped.swap(true, SeqCst) {
                    unreachable!();
                }
                // SAFETY: only the flag is raised early; the memory itself is freed when no reader is left.
                unsafe { guard.defer_destroy(old) };
            });
            s.spawn(|| {
                let guard = epoch::pin();
                // SAFETY: the slot is never null and the memory is freed only after all readers have left.
                let seen = unsafe { slot.load(Acquire, &guard).deref() };
                assert!(!seen.0.load(SeqCst), "used after it was dropped");
            });
        });
        // SAFETY: the scope has ended, so this is the only owner of the object.
        drop(unsafe { slot.into_owned() });
    }

    #[test]
    fn panics_a_lost_update_by_load_and_swap() {
        let slot = Atomic::new(0);
        thread::scope(|s| {
            for _ in 0..2 {
                s.spawn(|| {
                    let guard = epoch::pin();
                    // SAFETY: the slot is never null and the object is protected by the guard.
                    let seen = unsafe { *slot.load(Acquire, &guard).deref() };
                    let old = slot.swap(Owned::new(seen + 1), AcqRel, &guard);
                    // SAFETY: the swap has unlinked the object.
                    unsafe { guard.defer_destroy(old) };
                });
            }
        });
        // SAFETY: the scope has ended, so this is the only owner of the object.
        assert_eq!(*unsafe { slot.into_owned() }.into_box(), 2);
    }
}
