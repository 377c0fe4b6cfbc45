//! `crossbeam-epoch`.

mod correct {
    use crossbeam_epoch::{self as epoch, Atomic, Collector, Owned, Shared};
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering::*};
    use std::thread;

    struct Counts(usize, Arc<AtomicUsize>);

    impl Drop for Counts {
        fn drop(&mut self) {
            self.1.fetch_add(1, SeqCst);
        }
    }

    #[test]
    fn a_pinned_reader_can_use_what_a_writer_has_retired() {
        let slot = Atomic::new([1, 1]);
        thread::scope(|s| {
            s.spawn(|| {
                let guard = epoch::pin();
                let old = slot.swap(Owned::new([2, 2]), AcqRel, &guard);
                // SAFETY: `old` was unlinked by the swap, which no other thread can repeat.
                unsafe { guard.defer_destroy(old) };
            });
            s.spawn(|| {
                let guard = epoch::pin();
                // SAFETY: the slot is never null, and what it held is not freed while this thread is pinned.
                let seen = unsafe { slot.load(Acquire, &guard).deref() };
                assert_eq!(seen[0], seen[1]);
            });
        });
        // SAFETY: the scope has ended, so this is the only owner of the object.
        drop(unsafe { slot.into_owned() });
    }

    #[test]
    fn nothing_is_freed_twice_and_everything_in_the_end() {
        let drops = Arc::new(AtomicUsize::new(0));
        let collector = Collector::new();
        let slot = Atomic::new(Counts(0, Arc::clone(&drops)));
        thread::scope(|s| {
            for me in 1..3 {
                let (slot, drops, collector) = (&slot, &drops, &collector);
                s.spawn(move || {
                    let handle = collector.register();
                    let guard = handle.pin();
                    let old = slot.swap(Owned::new(Counts(me, Arc::clone(drops))), AcqRel, &guard);
                    // SAFETY: `old` was unlinked by the swap; the threads use one collector.
                    unsafe {
                        assert!(old.deref().0 < 3);
                        guard.defer_destroy(old);
                    }
                    guard.flush();
                });
            }
        });
        // SAFETY: the scope has ended, so this is the only owner of the object.
        drop(unsafe { slot.into_owned() });
        drop(collector);
        assert_eq!(drops.load(SeqCst), 3);
    }

    #[test]
    fn one_compare_exchange_wins_and_the_loser_keeps_its_object() {
        let slot = Atomic::<u32>::null();
        let wins = thread::scope(|s| {
            let handles = [1, 2].map(|me| {
                let slot = &slot;
                s.spawn(move || {
                    let guard = epoch::pin();
                    let result =
                        slot.compare_exchange(Shared::null(), Owned::new(me), AcqRel, Acquire, &guard);
                    match result {
                        Ok(_) => 1,
                        Err(error) => {
                            assert_eq!(*error.new, me);
                            0
                        }
                    }
                })
            });
            handles.map(|h| h.join().unwrap()).iter().sum::<u32>()
        });
        assert_eq!(wins, 1);
        // SAFETY: the scope has ended and one object was installed.
        drop(unsafe { slot.into_owned() });
    }

    #[test]
    fn a_guard_can_be_repinned_and_nested() {
        let collector = Collector::new();
        thread::scope(|s| {
            for _ in 0..2 {
                s.spawn(|| {
                    let handle = collector.register();
                    let mut outer = handle.pin();
                    drop(handle.pin());
                    outer.repin();
                    outer.repin_after(|| assert!(!handle.is_pinned()));
                    assert!(handle.is_pinned());
                });
            }
        });
    }
}
