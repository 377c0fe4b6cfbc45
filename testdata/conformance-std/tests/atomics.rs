//! Every atomic type and every operation on it.

macro_rules! integers {
    ($($module:ident $atomic:ident $int:ident;)*) => {$(
        mod $module {
            use std::sync::atomic::{$atomic, Ordering::*};
            use std::thread;

            /// Runs both closures concurrently and gives their results.
            fn both<A: Send, B: Send>(
                a: impl FnOnce() -> A + Send,
                b: impl FnOnce() -> B + Send,
            ) -> (A, B) {
                thread::scope(|s| {
                    let a = s.spawn(a);
                    let b = b();
                    (a.join().unwrap(), b)
                })
            }

            #[test]
            fn sums_lose_no_update_and_wrap_around() {
                let x = $atomic::new($int::MAX);
                let (a, b) = both(|| x.fetch_add(1, Relaxed), || x.fetch_add(1, AcqRel));
                assert!([(a, b), (b, a)].contains(&($int::MAX, $int::MIN)));
                let (a, b) = both(|| x.fetch_sub(1, SeqCst), || x.fetch_sub(1, Release));
                assert!([(a, b), (b, a)].contains(&($int::MIN + 1, $int::MIN)));
                assert_eq!(x.load(Acquire), $int::MAX);
            }

            #[test]
            fn bit_operations_are_atomic() {
                let x = $atomic::new(0);
                both(|| x.fetch_or(0b0011, AcqRel), || x.fetch_or(0b1100, Relaxed));
                assert_eq!(x.load(SeqCst), 0b1111);
                both(|| x.fetch_and(!0b0001, Relaxed), || x.fetch_and(!0b1000, SeqCst));
                assert_eq!(x.load(SeqCst), 0b0110);
                both(|| x.fetch_xor(0b0111, Acquire), || x.fetch_xor(0b1110, Release));
                assert_eq!(x.load(SeqCst), 0b1111);
                let (a, b) = both(|| x.fetch_nand(0b0101, AcqRel), || x.fetch_nand(0b0101, AcqRel));
                assert!([(a, b), (b, a)].contains(&(0b1111, !0b0101)));
                assert_eq!(x.load(SeqCst), !0);
            }

            #[test]
            fn max_and_min_keep_the_extremes() {
                let (high, low) = ($atomic::new($int::MIN), $atomic::new($int::MAX));
                both(
                    || (high.fetch_max(7, AcqRel), low.fetch_min(7, Relaxed)),
                    || (high.fetch_max(9, Relaxed), low.fetch_min(9, SeqCst)),
                );
                assert_eq!((high.load(SeqCst), low.load(SeqCst)), (9, 7));
            }

            #[test]
            fn one_exchange_wins() {
                let x = $atomic::new(0);
                let (a, b) = both(|| x.swap(1, AcqRel), || x.swap(2, SeqCst));
                let last = x.load(SeqCst);
                assert_eq!((a, b), if last == 1 { (2, 0) } else { (0, 1) });

                let x = $atomic::new(0);
                let (a, b) = both(
                    || x.compare_exchange(0, 1, AcqRel, Acquire),
                    || x.compare_exchange(0, 2, SeqCst, Relaxed),
                );
                assert!([(Ok(0), Err(1)), (Err(2), Ok(0))].contains(&(a, b)));
            }

            #[test]
            fn loops_of_compare_exchange_and_fetch_update_lose_nothing() {
                let x = $atomic::new(0);
                let weak = || {
                    let mut seen = x.load(Relaxed);
                    while let Err(now) = x.compare_exchange_weak(seen, seen + 3, Release, Relaxed) {
                        seen = now;
                    }
                };
                let (_, updated) = both(weak, || x.fetch_update(AcqRel, Acquire, |v| Some(v + 4)));
                assert!(updated == Ok(0) || updated == Ok(3));
                assert_eq!(x.fetch_update(SeqCst, SeqCst, |_| None), Err(7));
                assert_eq!(x.into_inner(), 7);
            }

            #[test]
            fn a_store_is_seen_whole() {
                let x = $atomic::new(0);
                let (_, seen) = both(|| x.store($int::MAX, Release), || x.load(Acquire));
                assert!(seen == 0 || seen == $int::MAX);
                assert_eq!(x.load(Relaxed), $int::MAX);
            }
        }
    )*};
}

mod correct {
    integers! {
        signed_8_bits AtomicI8 i8;
        signed_16_bits AtomicI16 i16;
        signed_32_bits AtomicI32 i32;
        signed_64_bits AtomicI64 i64;
        signed_pointer_size AtomicIsize isize;
        unsigned_8_bits AtomicU8 u8;
        unsigned_16_bits AtomicU16 u16;
        unsigned_32_bits AtomicU32 u32;
        unsigned_64_bits AtomicU64 u64;
        unsigned_pointer_size AtomicUsize usize;
    }

    mod booleans {
        use std::sync::atomic::{AtomicBool, Ordering::*};
        use std::thread;

        #[test]
        fn one_swap_of_a_flag_wins() {
            let flag = AtomicBool::new(false);
            let winners = thread::scope(|s| {
                let handles = [(); 3].map(|()| s.spawn(|| !flag.swap(true, AcqRel)));
                handles.map(|h| u8::from(h.join().unwrap())).iter().sum::<u8>()
            });
            assert_eq!(winners, 1);
        }

        #[test]
        fn logical_operations_are_atomic() {
            let flag = AtomicBool::new(false);
            thread::scope(|s| {
                s.spawn(|| flag.fetch_not(SeqCst));
                s.spawn(|| flag.fetch_xor(true, AcqRel));
            });
            assert!(!flag.load(SeqCst));
            thread::scope(|s| {
                s.spawn(|| flag.fetch_or(true, Release));
                s.spawn(|| flag.fetch_or(false, Relaxed));
            });
            assert!(flag.load(SeqCst));
            thread::scope(|s| {
                s.spawn(|| flag.fetch_and(true, Acquire));
                s.spawn(|| flag.fetch_and(false, Relaxed));
            });
            assert!(!flag.load(SeqCst));
            thread::scope(|s| {
                s.spawn(|| flag.fetch_nand(true, AcqRel));
                s.spawn(|| flag.fetch_nand(true, SeqCst));
            });
            assert!(!flag.load(SeqCst));
        }

        #[test]
        fn one_compare_exchange_of_a_flag_wins() {
            let flag = AtomicBool::new(false);
            let take = || flag.compare_exchange(false, true, Acquire, Relaxed).is_ok();
            let (a, b) = thread::scope(|s| {
                let a = s.spawn(take);
                let b = take();
                (a.join().unwrap(), b)
            });
            assert!(a != b);
            assert_eq!(flag.fetch_update(SeqCst, SeqCst, |f| (!f).then_some(true)), Err(true));
        }
    }

    mod pointers {
        use std::ptr;
        use std::sync::atomic::{AtomicPtr, Ordering::*};
        use std::thread;

        #[test]
        fn a_published_object_is_seen_whole() {
            let slot = AtomicPtr::<[u32; 3]>::new(ptr::null_mut());
            thread::scope(|s| {
                s.spawn(|| slot.store(Box::into_raw(Box::new([1, 2, 3])), Release));
                s.spawn(|| {
                    let seen = slot.load(Acquire);
                    // SAFETY: a non-null pointer was published by Release after the object was built, and it is
                    // freed only after the scope.
                    assert!(seen.is_null() || unsafe { *seen } == [1, 2, 3]);
                });
            });
            // SAFETY: the scope has ended, so this is the only owner of the box.
            drop(unsafe { Box::from_raw(slot.into_inner()) });
        }

        #[test]
        fn one_compare_exchange_installs_its_object() {
            let slot = AtomicPtr::<u32>::new(ptr::null_mut());
            let install = |value| {
                let mine = Box::into_raw(Box::new(value));
                if slot.compare_exchange(ptr::null_mut(), mine, AcqRel, Acquire).is_err() {
                    // SAFETY: the pointer was never published.
                    drop(unsafe { Box::from_raw(mine) });
                    return 0;
                }
                1
            };
            let installed = thread::scope(|s| {
                let other = s.spawn(|| install(1));
                install(2) + other.join().unwrap()
            });
            assert_eq!(installed, 1);
            // SAFETY: exactly one object was installed and no thread uses it any more.
            assert!(matches!(*unsafe { Box::from_raw(slot.into_inner()) }, 1 | 2));
        }

        #[test]
        fn swapped_objects_are_all_freed_once() {
            let slot = AtomicPtr::new(Box::into_raw(Box::new(0)));
            let replace = |value| {
                let old = slot.swap(Box::into_raw(Box::new(value)), AcqRel);
                // SAFETY: swap gave this thread the only copy of the old pointer.
                *unsafe { Box::from_raw(old) }
            };
            let sum = thread::scope(|s| {
                let other = s.spawn(|| replace(1));
                replace(2) + other.join().unwrap()
            });
            // SAFETY: the scope has ended, so this is the only owner of the box.
            assert_eq!(sum + *unsafe { Box::from_raw(slot.into_inner()) }, 3);
        }

        #[test]
        fn pointer_arithmetic_loses_no_step() {
            let array = [0_u16; 8];
            let base = array.as_ptr().cast_mut();
            let cursor = AtomicPtr::new(base);
            thread::scope(|s| {
                s.spawn(|| _ = cursor.fetch_ptr_add(2, AcqRel));
                s.spawn(|| _ = cursor.fetch_byte_add(6, Relaxed));
                s.spawn(|| _ = cursor.fetch_ptr_sub(1, SeqCst));
            });
            assert_eq!(cursor.load(SeqCst), base.wrapping_add(4));
            thread::scope(|s| {
                s.spawn(|| _ = cursor.fetch_or(1, AcqRel));
                s.spawn(|| _ = cursor.fetch_byte_sub(2, Release));
            });
            assert_eq!(cursor.load(SeqCst).addr(), base.wrapping_add(3).addr() | 1);
            thread::scope(|s| {
                s.spawn(|| _ = cursor.fetch_and(!1, AcqRel));
                s.spawn(|| _ = cursor.fetch_xor(0, Acquire));
            });
            assert_eq!(cursor.load(SeqCst), base.wrapping_add(3));
            let moved = cursor.fetch_update(SeqCst, SeqCst, |p| (p != base).then_some(base));
            assert_eq!(moved, Ok(base.wrapping_add(3)));
        }
    }
}
