//! Hooks of atomic operations on words of 8 to 64 bits.
//!
//! The operation itself is done here, at the moment the strategy lets it happen. Fibers share one
//! operating-system thread, so locked hardware operations are only needed outside executions.

use super::atomic::{Pending, Shape, announce, happened};
use super::{matters, skip_from_now_on};
use crate::fast::{self, Functions};
use crate::runtime::{self, Inside};
use std::arch::naked_asm;
use std::sync::atomic::{AtomicU8, AtomicU16, AtomicU32, AtomicU64, Ordering::Relaxed, Ordering::SeqCst};

/// Hooks of operations that replace a value by one computed from it.
macro_rules! replacing {
    ($shape:ident: $($hook:ident $native:ident |$old:ident, $v:ident| $new:expr;)*) => { $(
        /// What the operation computes.
        pub mod $hook {
            use super::Int;

            #[inline(always)]
            pub fn of($old: Int, $v: Int) -> Int {
                $new
            }
        }

        pub extern "C" fn $hook(addr: usize, v: Int, mo: i32, pc: usize) -> Int {
            if !runtime::controlled() {
                return at(addr).$native(v, SeqCst);
            }
            rmw(addr, v, mo, pc, Shape::$shape, fast_ops::$hook::functions, $hook::of)
        }
    )* };
}

macro_rules! atomics {
    ($int:ident $atomic:ident $size:literal
     $load:ident $store:ident $exchange:ident $cas:ident $strong:ident $weak:ident
     $add:ident $sub:ident $and:ident $or:ident $xor:ident $nand:ident $module:ident) => {
        pub mod $module {
            use super::*;
            use fast::ops::$module as fast_ops;

            pub type Int = $int;
            pub const SIZE: u8 = $size;

            #[inline(always)]
            pub fn at(addr: usize) -> &'static $atomic {
                // SAFETY: instrumented code passes the address of a live, aligned word of this width.
                unsafe { &*(addr as *const $atomic) }
            }

            // Inside an execution one thread of the operating system does everything, so a plain instruction does.

            #[inline(always)]
            pub fn act(addr: usize, value: Int, f: impl Fn(Int, Int) -> Int) -> (Int, Int) {
                let old = at(addr).load(Relaxed);
                let new = f(old, value);
                at(addr).store(new, Relaxed);
                (old, new)
            }

            #[inline(always)]
            pub fn exchange_if(addr: usize, expected: Int, new: Int) -> Int {
                let old = at(addr).load(Relaxed);
                if old == expected {
                    at(addr).store(new, Relaxed);
                }
                old
            }

            pub extern "C" fn load(addr: usize, mo: i32, pc: usize) -> Int {
                if !runtime::controlled() {
                    return at(addr).load(SeqCst);
                }
                if !matters(pc) {
                    skip_from_now_on(pc, || fast_ops::load::functions().raw);
                    return at(addr).load(Relaxed);
                }
                controlled_load(addr, mo, pc)
            }

            #[inline(never)]
            fn controlled_load(addr: usize, mo: i32, pc: usize) -> Int {
                let _inside = Inside::enter();
                let act = || at(addr).load(Relaxed);
                if let Some(site) = fast::try_step(addr, Shape::Load, pc, Some(fast_ops::load::functions)) {
                    let v = act();
                    site.happened(addr, SIZE, Shape::Load, v as u64, v as u64);
                    return v;
                }
                let mut p = Pending::new(addr, SIZE, mo);
                announce(&mut p, Shape::Load, pc);
                let v = act();
                if p.counts() {
                    happened(&p, v as u128, true, false, 0);
                }
                v
            }

            // What does not matter ends before a frame is made.
            #[inline(always)]
            fn rmw(addr: usize, value: Int, mo: i32, pc: usize, shape: Shape, fast: Functions, f: impl Fn(Int, Int) -> Int) -> Int {
                if !matters(pc) {
                    skip_from_now_on(pc, || fast().raw);
                    return act(addr, value, f).0;
                }
                controlled_rmw(addr, value, mo, pc, shape, fast, f)
            }

            #[inline(never)]
            fn controlled_rmw(
                addr: usize,
                value: Int,
                mo: i32,
                pc: usize,
                shape: Shape,
                fast: Functions,
                f: impl Fn(Int, Int) -> Int,
            ) -> Int {
                let act = || act(addr, value, &f);
                let _inside = Inside::enter();
                if let Some(site) = fast::try_step(addr, shape, pc, Some(fast)) {
                    let (old, new) = act();
                    site.happened(addr, SIZE, shape, old as u64, new as u64);
                    return old;
                }
                let mut p = Pending::new(addr, SIZE, mo);
                announce(&mut p, shape, pc);
                let (old, new) = act();
                if p.counts() {
                    happened(&p, old as u128, shape != Shape::Store, true, new as u128);
                }
                old
            }

            replacing! { Rmw:
                exchange swap |_old, v| v;
                add fetch_add |old, v| old.wrapping_add(v);
                sub fetch_sub |old, v| old.wrapping_sub(v);
                and fetch_and |old, v| old & v;
                or fetch_or |old, v| old | v;
                xor fetch_xor |old, v| old ^ v;
                nand fetch_nand |old, v| !(old & v);
            }
            // What a store returns nobody looks at.
            replacing! { Store:
                store swap |_old, v| v;
            }

            #[inline(always)]
            fn cas(addr: usize, expected: Int, new: Int, mo: i32, pc: usize, fast: Functions) -> Int {
                if !runtime::controlled() {
                    return at(addr).compare_exchange(expected, new, SeqCst, SeqCst).unwrap_or_else(|old| old);
                }
                if matters(pc) {
                    return controlled_cas(addr, expected, new, mo, pc, Some(fast));
                }
                skip_from_now_on(pc, || fast().raw);
                exchange_if(addr, expected, new)
            }

            /// A compare-exchange that may matter.
            #[inline(never)]
            pub fn controlled_cas(addr: usize, expected: Int, new: Int, mo: i32, pc: usize, fast: Option<Functions>) -> Int {
                let act = || exchange_if(addr, expected, new);
                let _inside = Inside::enter();
                if let Some(site) = fast::try_step(addr, Shape::Cas, pc, fast) {
                    let old = act();
                    let now = if old == expected { new } else { old };
                    site.happened(addr, SIZE, Shape::Cas, old as u64, now as u64);
                    return old;
                }
                let mut p = Pending::new(addr, SIZE, mo);
                announce(&mut p, Shape::Cas, pc);
                let old = act();
                if p.counts() {
                    happened(&p, old as u128, true, old == expected, new as u128);
                }
                old
            }

            extern "C" fn cas_val(addr: usize, expected: Int, new: Int, mo: i32, _fail: i32, pc: usize) -> Int {
                cas(addr, expected, new, mo, pc, fast_ops::cas_val::functions)
            }

            /// A compare-exchange as the ABI has it with a flag for a result.
            ///
            /// # Safety
            /// `expected` points to the expected value, which receives the actual one.
            #[inline(always)]
            pub unsafe fn flagged(expected: *mut Int, act: impl FnOnce(Int) -> Int) -> i32 {
                // SAFETY: by the caller's promise.
                unsafe {
                    let wanted = *expected;
                    *expected = act(wanted);
                    (*expected == wanted) as i32
                }
            }

            extern "C" fn cas_flag(addr: usize, expected: *mut Int, new: Int, mo: i32, _fail: i32, pc: usize) -> i32 {
                // SAFETY: the ABI passes such a pointer.
                unsafe { flagged(expected, |wanted| cas(addr, wanted, new, mo, pc, fast_ops::cas_flag::functions)) }
            }

            entry! { "rdx" $load load; "rcx" $store store; "rcx" $exchange exchange; "rcx" $add add; "rcx" $sub sub;
                     "rcx" $and and; "rcx" $or or; "rcx" $xor xor; "rcx" $nand nand;
                     "r9" $cas cas_val; "r9" $strong cas_flag; "r9" $weak cas_flag; }
        }
    };
}

atomics!(u8 AtomicU8 1 __tsan_atomic8_load __tsan_atomic8_store __tsan_atomic8_exchange
    __tsan_atomic8_compare_exchange_val __tsan_atomic8_compare_exchange_strong __tsan_atomic8_compare_exchange_weak
    __tsan_atomic8_fetch_add __tsan_atomic8_fetch_sub __tsan_atomic8_fetch_and __tsan_atomic8_fetch_or
    __tsan_atomic8_fetch_xor __tsan_atomic8_fetch_nand w8);
atomics!(u16 AtomicU16 2 __tsan_atomic16_load __tsan_atomic16_store __tsan_atomic16_exchange
    __tsan_atomic16_compare_exchange_val __tsan_atomic16_compare_exchange_strong __tsan_atomic16_compare_exchange_weak
    __tsan_atomic16_fetch_add __tsan_atomic16_fetch_sub __tsan_atomic16_fetch_and __tsan_atomic16_fetch_or
    __tsan_atomic16_fetch_xor __tsan_atomic16_fetch_nand w16);
atomics!(u32 AtomicU32 4 __tsan_atomic32_load __tsan_atomic32_store __tsan_atomic32_exchange
    __tsan_atomic32_compare_exchange_val __tsan_atomic32_compare_exchange_strong __tsan_atomic32_compare_exchange_weak
    __tsan_atomic32_fetch_add __tsan_atomic32_fetch_sub __tsan_atomic32_fetch_and __tsan_atomic32_fetch_or
    __tsan_atomic32_fetch_xor __tsan_atomic32_fetch_nand w32);
atomics!(u64 AtomicU64 8 __tsan_atomic64_load __tsan_atomic64_store __tsan_atomic64_exchange
    __tsan_atomic64_compare_exchange_val __tsan_atomic64_compare_exchange_strong __tsan_atomic64_compare_exchange_weak
    __tsan_atomic64_fetch_add __tsan_atomic64_fetch_sub __tsan_atomic64_fetch_and __tsan_atomic64_fetch_or
    __tsan_atomic64_fetch_xor __tsan_atomic64_fetch_nand w64);
