//! Small lock-free structures.

mod correct {
    use conformance_std::Plain;
    use std::sync::atomic::{AtomicU32, AtomicU64, AtomicUsize, Ordering::*};
    use std::thread;

    /// A stack of indices into `next`; the upper half of the head counts changes, which rules out ABA.
    struct TaggedStack {
        head: AtomicU64,
        next: [AtomicU32; 4],
    }

    const NONE: u32 = u32::MAX;

    impl TaggedStack {
        fn new() -> Self {
            let empty = u64::from(NONE);
            TaggedStack { head: AtomicU64::new(empty), next: [const { AtomicU32::new(NONE) }; 4] }
        }

        fn swing(&self, head: u64, to: u32) -> bool {
            let tagged = ((head >> 32) + 1) << 32 | u64::from(to);
            self.head.compare_exchange(head, tagged, AcqRel, Relaxed).is_ok()
        }

        fn push(&self, index: u32) {
            loop {
                let head = self.head.load(Acquire);
                self.next[index as usize].store(head as u32, Relaxed);
                if self.swing(head, index) {
                    return;
                }
            }
        }

        fn pop(&self) -> Option<u32> {
            loop {
                let head = self.head.load(Acquire);
                let top = head as u32;
                if top == NONE {
                    return None;
                }
                if self.swing(head, self.next[top as usize].load(Relaxed)) {
                    return Some(top);
                }
            }
        }
    }

    #[test]
    fn a_stack_with_tags_loses_no_index() {
        let stack = TaggedStack::new();
        (0..3).for_each(|i| stack.push(i));
        thread::scope(|s| {
            s.spawn(|| {
                let (a, b) = (stack.pop().unwrap(), stack.pop().unwrap());
                stack.push(a);
                stack.push(b);
            });
            s.spawn(|| {
                let a = stack.pop().unwrap();
                stack.push(a);
            });
        });
        let mut left: Vec<u32> = std::iter::from_fn(|| stack.pop()).collect();
        left.sort_unstable();
        assert_eq!(left, [0, 1, 2]);
    }

    #[test]
    fn a_ring_for_one_producer_and_one_consumer_keeps_the_order() {
        let (head, tail) = (AtomicUsize::new(0), AtomicUsize::new(0));
        let slots = [const { Plain::new(0) }; 2];
        thread::scope(|s| {
            s.spawn(|| {
                for item in 1..5 {
                    let at = tail.load(Relaxed);
                    while at - head.load(Acquire) == slots.len() {
                        thread::yield_now();
                    }
                    // SAFETY: the slot is free until the tail moves on.
                    unsafe { *slots[at % 2].get() = item };
                    tail.store(at + 1, Release);
                }
            });
            for expected in 1..5 {
                let at = head.load(Relaxed);
                while tail.load(Acquire) == at {
                    thread::yield_now();
                }
                // SAFETY: the slot is full until the head moves on.
                assert_eq!(unsafe { *slots[at % 2].get() }, expected);
                head.store(at + 1, Release);
            }
        });
    }

    #[test]
    fn a_claim_by_fetch_add_gives_every_slot_to_one_thread() {
        let (next, slots) = (AtomicUsize::new(0), [const { Plain::new(0) }; 4]);
        thread::scope(|s| {
            for me in 1..3 {
                let (next, slots) = (&next, &slots);
                s.spawn(move || {
                    for _ in 0..2 {
                        // SAFETY: fetch_add gives each index once.
                        unsafe { *slots[next.fetch_add(1, Relaxed)].get() += me };
                    }
                });
            }
        });
        // SAFETY: the scope has ended.
        let sum: i32 = slots.iter().map(|slot| unsafe { *slot.get() }).sum();
        assert_eq!(sum, 6);
    }
}
