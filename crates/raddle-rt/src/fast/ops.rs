//! Functions that take the place of hooks of atomic operations in unrecorded executions (see [`patch`](super::patch)).
//!
//! A *raw* one only does the operation, where nobody has to know of it. A *batched* one does it at its turn, as a step of a batch if
//! that can be, knowing already what the hook would look up; its last argument, the [`FastSite`], comes from the jump
//! that leads there. What can be no step of a batch is *unbatched*, and what cannot even be that is left to the hook.

use super::site::{self, Any, Data, FastSite, Give, Kind, Take};
use crate::hooks::{Shape, width};
use crate::runtime::{self, Inside};
use std::sync::atomic::Ordering::Relaxed;

/// The functions of one operation.
#[derive(Clone, Copy)]
pub struct Replacements {
    /// The raw one.
    pub raw: usize,
    /// The batched ones, by what is done ([`AtomicOp`](super::AtomicOp)).
    pub batched: [usize; 3],
}

/// Names them where they are needed, which is once for each place in the program.
pub type Functions = fn() -> Replacements;

macro_rules! functions {
    ($take:ident $give:ident) => {
        /// The functions of this operation.
        pub fn functions() -> Replacements {
            let batched =
                [batched::<Data> as *const (), batched::<$take> as *const (), batched::<$give> as *const ()];
            Replacements { raw: raw as *const () as usize, batched: batched.map(|f| f as usize) }
        }
    };
}

/// Operations that replace a value by one computed from it.
macro_rules! replacing {
    ($($op:ident $shape:ident $take:ident $give:ident;)*) => { $(
        pub mod $op {
            use super::*;

            extern "C" fn raw(addr: usize, v: Int) -> Int {
                act(addr, v, hook::$op::of).0
            }

            extern "C" fn batched<K: Kind>(addr: usize, v: Int, mo: i32, site: &'static FastSite) -> Int {
                rmw_batched::<K>(addr, v, mo, site, Shape::$shape, hook::$op, hook::$op::of)
            }

            functions! { $take $give }
        }
    )* };
}

macro_rules! operations {
    ($($module:ident)*) => { $(
        pub mod $module {
            use super::*;
            use width::$module as hook;
            use hook::{Int, SIZE, act, at, exchange_if, flagged};

            pub mod load {
                use super::*;

                extern "C" fn raw(addr: usize) -> Int {
                    at(addr).load(Relaxed)
                }

                extern "C" fn batched<K: Kind>(addr: usize, mo: i32, site: &'static FastSite) -> Int {
                    if !site::take_turn_batched::<K>(addr, || raw(addr) as u64, Shape::Load, site) {
                        return unbatched(addr, mo, site);
                    }
                    let v = raw(addr);
                    site.happened_as::<K>(addr, SIZE, Shape::Load, v as u64, v as u64);
                    v
                }

                #[inline(never)]
                fn unbatched(addr: usize, mo: i32, site: &'static FastSite) -> Int {
                    if runtime::alone() {
                        return raw(addr);
                    }
                    let inside = Inside::enter();
                    if !site::take_turn(addr, Shape::Load, site) {
                        drop(inside);
                        return hook::load(addr, mo, site.pc);
                    }
                    let v = raw(addr);
                    site.happened(addr, SIZE, Shape::Load, v as u64, v as u64);
                    v
                }

                functions! { Any Any }
            }

            #[inline(always)]
            fn rmw_batched<K: Kind>(
                addr: usize,
                value: Int,
                mo: i32,
                site: &'static FastSite,
                shape: Shape,
                hook: extern "C" fn(usize, Int, i32, usize) -> Int,
                f: impl Fn(Int, Int) -> Int,
            ) -> Int {
                if !site::take_turn_batched::<K>(addr, || at(addr).load(Relaxed) as u64, shape, site) {
                    return rmw_unbatched(addr, value, mo, site, shape, hook, f);
                }
                let (old, new) = act(addr, value, f);
                site.happened_as::<K>(addr, SIZE, shape, old as u64, new as u64);
                old
            }

            #[inline(never)]
            fn rmw_unbatched(
                addr: usize,
                value: Int,
                mo: i32,
                site: &'static FastSite,
                shape: Shape,
                hook: extern "C" fn(usize, Int, i32, usize) -> Int,
                f: impl Fn(Int, Int) -> Int,
            ) -> Int {
                if runtime::alone() {
                    return act(addr, value, f).0;
                }
                let inside = Inside::enter();
                if !site::take_turn(addr, shape, site) {
                    drop(inside);
                    return hook(addr, value, mo, site.pc);
                }
                let (old, new) = act(addr, value, f);
                site.happened(addr, SIZE, shape, old as u64, new as u64);
                old
            }

            replacing! {
                exchange Rmw Take Give;
                add Rmw Any Any;
                sub Rmw Any Any;
                and Rmw Any Any;
                or Rmw Any Any;
                xor Rmw Any Any;
                nand Rmw Any Any;
                store Store Any Any;
            }

            #[inline(always)]
            fn cas_batched<K: Kind>(addr: usize, expected: Int, new: Int, mo: i32, site: &'static FastSite) -> Int {
                if !site::take_turn_batched::<K>(addr, || at(addr).load(Relaxed) as u64, Shape::Cas, site) {
                    return cas_unbatched(addr, expected, new, mo, site);
                }
                let old = exchange_if(addr, expected, new);
                let now = if old == expected { new } else { old };
                site.happened_as::<K>(addr, SIZE, Shape::Cas, old as u64, now as u64);
                old
            }

            #[inline(never)]
            fn cas_unbatched(addr: usize, expected: Int, new: Int, mo: i32, site: &'static FastSite) -> Int {
                if runtime::alone() {
                    return exchange_if(addr, expected, new);
                }
                let inside = Inside::enter();
                if !site::take_turn(addr, Shape::Cas, site) {
                    drop(inside);
                    return hook::controlled_cas(addr, expected, new, mo, site.pc, None);
                }
                let old = exchange_if(addr, expected, new);
                let now = if old == expected { new } else { old };
                site.happened(addr, SIZE, Shape::Cas, old as u64, now as u64);
                old
            }

            pub mod cas_val {
                use super::*;

                extern "C" fn raw(addr: usize, expected: Int, new: Int) -> Int {
                    exchange_if(addr, expected, new)
                }

                extern "C" fn batched<K: Kind>(
                    addr: usize,
                    expected: Int,
                    new: Int,
                    mo: i32,
                    _fail: i32,
                    site: &'static FastSite,
                ) -> Int {
                    cas_batched::<K>(addr, expected, new, mo, site)
                }

                functions! { Take Give }
            }

            pub mod cas_flag {
                use super::*;

                extern "C" fn raw(addr: usize, expected: *mut Int, new: Int) -> i32 {
                    // SAFETY: the ABI passes a pointer to the expected value, which receives the actual one.
                    unsafe { flagged(expected, |wanted| exchange_if(addr, wanted, new)) }
                }

                extern "C" fn batched<K: Kind>(
                    addr: usize,
                    expected: *mut Int,
                    new: Int,
                    mo: i32,
                    _fail: i32,
                    site: &'static FastSite,
                ) -> i32 {
                    // SAFETY: the ABI passes a pointer to the expected value, which receives the actual one.
                    unsafe { flagged(expected, |wanted| cas_batched::<K>(addr, wanted, new, mo, site)) }
                }

                functions! { Take Give }
            }
        }
    )* };
}

operations! { w8 w16 w32 w64 }
