//! Hooks of atomic operations on words of 8 to 64 bits.
//!
//! The operation itself is done here, at the moment the strategy lets it happen. Fibers share one
//! operating-system thread, so locked hardware operations are only needed outside executions.
//!
//! An operation has up to three functions. The *hook* is what the compiler calls. In brisk executions, where the call of a
//! hook is overwritten (see [`patch`](crate::patch)), there may be in its place the function that *just* does the operation, where
//! nobody has to know of it, or the *step*, which does it at its turn, knowing already what the hook would look up.

use super::atomic::{Pending, Shape, announce, happened};
use super::briskly::{self, Any, Data, Give, Kind, Spot, Steps, Take};
use super::{calm_down, matters};
use crate::runtime::{self, Inside};
use std::arch::naked_asm;
use std::sync::atomic::{AtomicU8, AtomicU16, AtomicU32, AtomicU64, Ordering::Relaxed, Ordering::SeqCst};

/// The three functions of operations that replace a value by one computed from it.
macro_rules! replacing {
    ($shape:ident $take:ident $give:ident: $($hook:ident $native:ident $just:ident $step:ident |$old:ident, $v:ident| $new:expr;)*) => { $(
        extern "C" fn $hook(addr: usize, v: Int, mo: i32, pc: usize) -> Int {
            if !runtime::controlled() {
                return at(addr).$native(v, SeqCst);
            }
            let steps = [$step::<Data> as *const (), $step::<$take> as *const (), $step::<$give> as *const ()];
            let how = How::new(Shape::$shape, $just as *const (), steps);
            rmw(addr, v, mo, pc, how, |$old, $v| $new)
        }

        extern "C" fn $just(addr: usize, v: Int) -> Int {
            act(addr, v, |$old, $v| $new).0
        }

        extern "C" fn $step<K: Kind>(addr: usize, v: Int, mo: i32, spot: &'static Spot) -> Int {
            step_rmw::<K>(addr, v, mo, spot, Shape::$shape, $hook, |$old, $v| $new)
        }
    )* };
}

/// What an operation is and the functions that may take its hook's place.
#[derive(Clone, Copy)]
struct How {
    shape: Shape,
    just: usize,
    steps: Steps,
}

impl How {
    #[inline(always)]
    fn new(shape: Shape, just: *const (), steps: [*const (); 3]) -> How {
        How { shape, just: just as usize, steps: addresses(steps) }
    }
}

/// Where functions are.
#[inline(always)]
fn addresses(steps: [*const (); 3]) -> Steps {
    steps.map(|f| f as usize)
}

macro_rules! atomics {
    ($int:ident $atomic:ident $size:literal
     $load:ident $store:ident $exchange:ident $cas:ident $strong:ident $weak:ident
     $add:ident $sub:ident $and:ident $or:ident $xor:ident $nand:ident $module:ident) => {
        mod $module {
            use super::*;

            type Int = $int;
            const SIZE: u8 = $size;

            #[inline(always)]
            fn at(addr: usize) -> &'static $atomic {
                // SAFETY: instrumented code passes the address of a live, aligned word of this width.
                unsafe { &*(addr as *const $atomic) }
            }

            // Inside an execution one thread of the operating system does everything, so a plain instruction does.

            #[inline(always)]
            fn act(addr: usize, value: Int, f: impl Fn(Int, Int) -> Int) -> (Int, Int) {
                let old = at(addr).load(Relaxed);
                let new = f(old, value);
                at(addr).store(new, Relaxed);
                (old, new)
            }

            #[inline(always)]
            fn exchange_if(addr: usize, expected: Int, new: Int) -> Int {
                let old = at(addr).load(Relaxed);
                if old == expected {
                    at(addr).store(new, Relaxed);
                }
                old
            }

            extern "C" fn load(addr: usize, mo: i32, pc: usize) -> Int {
                if !runtime::controlled() {
                    return at(addr).load(SeqCst);
                }
                if !matters(pc) {
                    calm_down(pc, just_load as *const () as usize);
                    return just_load(addr);
                }
                controlled_load(addr, mo, pc)
            }

            extern "C" fn just_load(addr: usize) -> Int {
                at(addr).load(Relaxed)
            }

            #[inline(never)]
            fn controlled_load(addr: usize, mo: i32, pc: usize) -> Int {
                let _inside = Inside::enter();
                let any = step_load::<Any> as *const ();
                let steps = addresses([step_load::<Data> as *const (), any, any]);
                if let Some(spot) = briskly::announce(addr, Shape::Load, pc, Some(steps)) {
                    let v = at(addr).load(Relaxed);
                    spot.happened::<Any>(addr, SIZE, v as u64, v as u64);
                    return v;
                }
                let mut p = Pending::new(addr, SIZE, mo);
                announce(&mut p, Shape::Load, pc);
                let v = at(addr).load(Relaxed);
                if p.counts() {
                    happened(&p, v as u128, true, false, 0);
                }
                v
            }

            extern "C" fn step_load<K: Kind>(addr: usize, mo: i32, spot: &'static Spot) -> Int {
                if !briskly::run_on::<K>(addr, || just_load(addr) as u64, Shape::Load, spot) {
                    return walk_load(addr, mo, spot);
                }
                let v = at(addr).load(Relaxed);
                spot.happened::<K>(addr, SIZE, v as u64, v as u64);
                v
            }

            #[inline(never)]
            fn walk_load(addr: usize, mo: i32, spot: &'static Spot) -> Int {
                if runtime::alone() {
                    return just_load(addr);
                }
                let inside = Inside::enter();
                if !briskly::take_turn(addr, Shape::Load, spot) {
                    drop(inside);
                    return load(addr, mo, spot.pc);
                }
                let v = at(addr).load(Relaxed);
                spot.happened::<Any>(addr, SIZE, v as u64, v as u64);
                v
            }

            // What does not matter ends before a frame is made.
            #[inline(always)]
            fn rmw(addr: usize, value: Int, mo: i32, pc: usize, how: How, f: impl Fn(Int, Int) -> Int) -> Int {
                if !matters(pc) {
                    calm_down(pc, how.just);
                    return act(addr, value, f).0;
                }
                controlled_rmw(addr, value, mo, pc, how, f)
            }

            #[inline(never)]
            fn controlled_rmw(addr: usize, value: Int, mo: i32, pc: usize, how: How, f: impl Fn(Int, Int) -> Int) -> Int {
                let act = || act(addr, value, &f);
                let _inside = Inside::enter();
                if let Some(spot) = briskly::announce(addr, how.shape, pc, Some(how.steps)) {
                    let (old, new) = act();
                    spot.happened::<Any>(addr, SIZE, seen(how.shape, old, new), new as u64);
                    return old;
                }
                let mut p = Pending::new(addr, SIZE, mo);
                announce(&mut p, how.shape, pc);
                let (old, new) = act();
                if p.counts() {
                    happened(&p, old as u128, how.shape != Shape::Store, true, new as u128);
                }
                old
            }

            #[inline(always)]
            fn step_rmw<K: Kind>(
                addr: usize,
                value: Int,
                mo: i32,
                spot: &'static Spot,
                shape: Shape,
                hook: extern "C" fn(usize, Int, i32, usize) -> Int,
                f: impl Fn(Int, Int) -> Int,
            ) -> Int {
                if !briskly::run_on::<K>(addr, || just_load(addr) as u64, shape, spot) {
                    return walk_rmw(addr, value, mo, spot, shape, hook, f);
                }
                let (old, new) = act(addr, value, f);
                spot.happened::<K>(addr, SIZE, seen(shape, old, new), new as u64);
                old
            }

            #[inline(never)]
            fn walk_rmw(
                addr: usize,
                value: Int,
                mo: i32,
                spot: &'static Spot,
                shape: Shape,
                hook: extern "C" fn(usize, Int, i32, usize) -> Int,
                f: impl Fn(Int, Int) -> Int,
            ) -> Int {
                if runtime::alone() {
                    return act(addr, value, f).0;
                }
                let inside = Inside::enter();
                if !briskly::take_turn(addr, shape, spot) {
                    drop(inside);
                    return hook(addr, value, mo, spot.pc);
                }
                let (old, new) = act(addr, value, f);
                spot.happened::<Any>(addr, SIZE, seen(shape, old, new), new as u64);
                old
            }

            /// What an operation saw that wrote `new`. A store is progress, whatever was there.
            #[inline(always)]
            fn seen(shape: Shape, old: Int, new: Int) -> u64 {
                if shape == Shape::Store { !(new as u64) } else { old as u64 }
            }

            replacing! { Rmw Take Give:
                exchange swap just_exchange step_exchange |_old, v| v;
            }
            replacing! { Rmw Any Any:
                add fetch_add just_add step_add |old, v| old.wrapping_add(v);
                sub fetch_sub just_sub step_sub |old, v| old.wrapping_sub(v);
                and fetch_and just_and step_and |old, v| old & v;
                or fetch_or just_or step_or |old, v| old | v;
                xor fetch_xor just_xor step_xor |old, v| old ^ v;
                nand fetch_nand just_nand step_nand |old, v| !(old & v);
            }
            // What a store returns nobody looks at.
            replacing! { Store Any Any:
                store swap just_store step_store |_old, v| v;
            }

            #[inline(always)]
            fn cas(addr: usize, expected: Int, new: Int, mo: i32, pc: usize, how: How) -> Int {
                if !runtime::controlled() {
                    return at(addr).compare_exchange(expected, new, SeqCst, SeqCst).unwrap_or_else(|old| old);
                }
                if matters(pc) {
                    return controlled_cas(addr, expected, new, mo, pc, Some(how.steps));
                }
                calm_down(pc, how.just);
                exchange_if(addr, expected, new)
            }

            #[inline(never)]
            fn controlled_cas(addr: usize, expected: Int, new: Int, mo: i32, pc: usize, steps: Option<Steps>) -> Int {
                let act = || exchange_if(addr, expected, new);
                let _inside = Inside::enter();
                if let Some(spot) = briskly::announce(addr, Shape::Cas, pc, steps) {
                    let old = act();
                    spot.happened::<Any>(addr, SIZE, old as u64, if old == expected { new as u64 } else { old as u64 });
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

            #[inline(always)]
            fn step_cas<K: Kind>(addr: usize, expected: Int, new: Int, mo: i32, spot: &'static Spot) -> Int {
                if !briskly::run_on::<K>(addr, || just_load(addr) as u64, Shape::Cas, spot) {
                    return walk_cas(addr, expected, new, mo, spot);
                }
                let old = exchange_if(addr, expected, new);
                spot.happened::<K>(addr, SIZE, old as u64, if old == expected { new as u64 } else { old as u64 });
                old
            }

            #[inline(never)]
            fn walk_cas(addr: usize, expected: Int, new: Int, mo: i32, spot: &'static Spot) -> Int {
                if runtime::alone() {
                    return exchange_if(addr, expected, new);
                }
                let inside = Inside::enter();
                if !briskly::take_turn(addr, Shape::Cas, spot) {
                    drop(inside);
                    return controlled_cas(addr, expected, new, mo, spot.pc, None);
                }
                let old = exchange_if(addr, expected, new);
                spot.happened::<Any>(addr, SIZE, old as u64, if old == expected { new as u64 } else { old as u64 });
                old
            }

            extern "C" fn cas_val(addr: usize, expected: Int, new: Int, mo: i32, _fail: i32, pc: usize) -> Int {
                let how = How::new(Shape::Cas, just_cas_val as *const (), [
                    step_cas_val::<Data> as *const (),
                    step_cas_val::<Take> as *const (),
                    step_cas_val::<Give> as *const (),
                ]);
                cas(addr, expected, new, mo, pc, how)
            }

            extern "C" fn just_cas_val(addr: usize, expected: Int, new: Int) -> Int {
                exchange_if(addr, expected, new)
            }

            extern "C" fn step_cas_val<K: Kind>(
                addr: usize,
                expected: Int,
                new: Int,
                mo: i32,
                _fail: i32,
                spot: &'static Spot,
            ) -> Int {
                step_cas::<K>(addr, expected, new, mo, spot)
            }

            /// A compare-exchange as the ABI has it with a flag for a result.
            ///
            /// # Safety
            /// `expected` points to the expected value, which receives the actual one.
            #[inline(always)]
            unsafe fn flagged(expected: *mut Int, act: impl FnOnce(Int) -> Int) -> i32 {
                // SAFETY: by the caller's promise.
                unsafe {
                    let wanted = *expected;
                    *expected = act(wanted);
                    (*expected == wanted) as i32
                }
            }

            extern "C" fn cas_flag(addr: usize, expected: *mut Int, new: Int, mo: i32, _fail: i32, pc: usize) -> i32 {
                let how = How::new(Shape::Cas, just_cas_flag as *const (), [
                    step_cas_flag::<Data> as *const (),
                    step_cas_flag::<Take> as *const (),
                    step_cas_flag::<Give> as *const (),
                ]);
                // SAFETY: the ABI passes such a pointer.
                unsafe { flagged(expected, |wanted| cas(addr, wanted, new, mo, pc, how)) }
            }

            extern "C" fn just_cas_flag(addr: usize, expected: *mut Int, new: Int) -> i32 {
                // SAFETY: as in `cas_flag`.
                unsafe { flagged(expected, |wanted| exchange_if(addr, wanted, new)) }
            }

            extern "C" fn step_cas_flag<K: Kind>(
                addr: usize,
                expected: *mut Int,
                new: Int,
                mo: i32,
                _fail: i32,
                spot: &'static Spot,
            ) -> i32 {
                // SAFETY: as in `cas_flag`.
                unsafe { flagged(expected, |wanted| step_cas::<K>(addr, wanted, new, mo, spot)) }
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
