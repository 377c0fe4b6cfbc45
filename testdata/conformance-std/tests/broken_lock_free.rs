//! Lock-free structures with a classical mistake.

mod broken {
    use conformance_std::Plain;
    use std::sync::atomic::{AtomicPtr, AtomicU32, AtomicUsize, Ordering::*};
    use std::thread;

    const NONE: u32 = u32::MAX;

    /// A stack of indices without a tag: an index that was popped and pushed again looks unchanged.
    struct Stack {
        head: AtomicU32,
        next: [AtomicU32; 3],
    }

    impl Stack {
        fn full() -> Self {
            let next = [AtomicU32::new(1), AtomicU32::new(2), AtomicU32::new(NONE)];
            Stack { head: AtomicU32::new(0), next }
        }

        fn push(&self, index: u32) {
            loop {
                let head = self.head.load(Acquire);
                self.next[index as usize].store(head, Relaxed);
                if self.head.compare_exchange(head, index, AcqRel, Relaxed).is_ok() {
                    return;
                }
            }
        }

        fn pop(&self) -> Option<u32> {
            loop {
                let head = self.head.load(Acquire);
                if head == NONE {
                    return None;
                }
                let next = self.next[head as usize].load(Relaxed);
                if self.head.compare_exchange(head, next, AcqRel, Relaxed).is_ok() {
                    return Some(head);
                }
            }
        }
    }

    #[test]
    fn panics_a_block_that_is_freed_between_the_load_of_its_address_and_the_read() {
        let head = AtomicPtr::new(Box::into_raw(Box::new([7_u64; 4])));
        thread::scope(|s| {
            s.spawn(|| {
                let block = head.load(SeqCst);
                if !block.is_null() {
                    // SAFETY: none, the other thread may have freed it.
                    assert_eq!(unsafe { (*block)[1] }, 7);
                }
            });
            // SAFETY: the block is from a box, and nobody else takes it.
            s.spawn(|| drop(unsafe { Box::from_raw(head.swap(std::ptr::null_mut(), SeqCst)) }));
        });
    }

    #[test]
    fn panics_the_aba_problem_of_a_stack_with_reused_indices() {
        let stack = Stack::full();
        let owned = [const { AtomicUsize::new(0) }; 3];
        let take = || {
            let index = stack.pop()?;
            assert_eq!(owned[index as usize].fetch_add(1, SeqCst), 0, "index {index} has two owners");
            Some(index)
        };
        let give = |index: u32| {
            owned[index as usize].fetch_sub(1, SeqCst);
            stack.push(index);
        };
        thread::scope(|s| {
            s.spawn(|| {
                take();
                take();
            });
            s.spawn(|| {
                let first = take();
                take();
                first.map(give);
            });
        });
    }

    #[test]
    fn panics_a_stack_whose_head_is_moved_by_a_store() {
        let stack = Stack::full();
        let pop = || {
            let head = stack.head.load(Acquire);
            stack.head.store(stack.next[head as usize].load(Relaxed), Release);
            head
        };
        let (a, b) = thread::scope(|s| {
            let a = s.spawn(pop);
            let b = s.spawn(pop);
            (a.join().unwrap(), b.join().unwrap())
        });
        assert_ne!(a, b);
    }

    #[test]
    fn panics_a_ring_for_one_producer_that_is_given_two() {
        let (tail, slots) = (AtomicUsize::new(0), [const { Plain::new(0) }; 2]);
        thread::scope(|s| {
            for item in 1..3 {
                let (tail, slots) = (&tail, &slots);
                s.spawn(move || {
                    let at = tail.load(Acquire);
                    // SAFETY: none, this is the bug: the other producer may have read the same tail.
                    unsafe { *slots[at].get() = item };
                    tail.store(at + 1, Release);
                });
            }
        });
        // SAFETY: the scope has ended.
        let sum: i32 = slots.iter().map(|slot| unsafe { *slot.get() }).sum();
        assert_eq!(sum, 3);
    }

    #[test]
    fn panics_a_ring_whose_tail_moves_before_the_slot_is_written() {
        let (tail, slot) = (AtomicUsize::new(0), Plain::new(0));
        thread::scope(|s| {
            s.spawn(|| {
                tail.store(1, Release);
                // SAFETY: none, this is the bug: the consumer may read already.
                unsafe { *slot.get() = 7 };
            });
            if tail.load(Acquire) == 1 {
                // SAFETY: none, see above.
                assert_eq!(unsafe { *slot.get() }, 7);
            }
        });
    }
}
