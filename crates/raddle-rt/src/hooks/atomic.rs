//! Atomic accesses and fences.
//!
//! The operation itself is done here, at the moment the strategy lets it happen. Fibers share one
//! operating-system thread, so sequentially consistent hardware operations are only needed for memory that
//! is also used outside executions.

use super::{Verdict, filter, site, stand};
use crate::fiber::{Gate, State};
use crate::image::{self, AccessKind, Class, LockFamily, LockOp, LockStep};
use crate::runtime::{self, Inside, access, rt};
use crate::sync::words::{self, Change};
use raddle_core::{Access, LockMode, Op, Ordering, SiteId};
use std::arch::naked_asm;
use std::sync::atomic::{AtomicU8, AtomicU16, AtomicU32, AtomicU64, Ordering::SeqCst};

/// How an operation acts on its word.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Shape {
    /// Reads.
    Load,
    /// Writes.
    Store,
    /// Reads and writes.
    Rmw,
    /// Reads, and writes if the value is the expected one.
    Cas,
}

impl Shape {
    fn kind(self) -> AccessKind {
        match self {
            Shape::Load => AccessKind::AtomicLoad,
            Shape::Store => AccessKind::AtomicStore,
            Shape::Rmw | Shape::Cas => AccessKind::AtomicRmw,
        }
    }
}

/// The orderings of the C ABI, by number.
fn ordering(mo: i32) -> Ordering {
    match mo & 0xff {
        0 => Ordering::Relaxed,
        1 | 2 => Ordering::Acquire,
        3 => Ordering::Release,
        4 => Ordering::AcqRel,
        _ => Ordering::SeqCst,
    }
}

/// How an operation is to be recorded once it has happened.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Record {
    /// Not at all.
    No,
    /// As an access to the program's data.
    Data,
    /// As an operation on a word of a synchronisation primitive.
    Sync,
    /// As an operation on a lock, if it was one.
    Lock(LockFamily, LockOp, LockMode),
}

/// An operation in progress, between its announcement and its effect.
pub struct Pending {
    site: SiteId,
    record: Record,
    addr: usize,
    access: Access,
}

/// Announces an atomic operation; returns when it may happen.
pub fn announce(shape: Shape, addr: usize, size: usize, mo: i32, pc: usize) -> Pending {
    let r = rt();
    r.tick();
    let mut p =
        Pending { site: SiteId(0), record: Record::No, addr, access: access(Default::default(), size as u8) };
    if runtime::alone() {
        return p;
    }
    super::plain::settle_store();
    p.site = site(pc, shape.kind());
    p.access.ordering = Some(ordering(mo));
    match super::class(p.site) {
        Class::Data => visible(&mut p, shape, Record::Data),
        Class::Lock { family, op, mode, step } => lock(&mut p, family, op, image::mode(mode), step),
        Class::RefCountObserved => {
            let r = rt();
            r.store.learned |= !r.store.sites.counts_observed;
            r.store.sites.counts_observed = true;
            visible(&mut p, shape, Record::Sync);
        }
        Class::RefCount if rt().store.sites.counts_observed => visible(&mut p, shape, Record::Sync),
        Class::Channel | Class::Internal => visible(&mut p, shape, Record::Sync),
        // Their other side is precompiled, so that its accesses are not seen: each of these is a step.
        Class::Once if shape == Shape::Load && runtime::load(addr, 4) == ONCE_COMPLETE => {
            runtime::patience(p.site)
        }
        Class::Once | Class::Condvar | Class::Park => always_visible(&mut p, shape),
        Class::RefCount | Class::Poison | Class::Thread => runtime::patience(p.site),
    }
    p
}

/// A step that is visible if its memory is shared.
fn visible(p: &mut Pending, shape: Shape, record: Record) {
    let write = shape != Shape::Load;
    let size = p.access.size as usize;
    let verdict = filter(p.site, p.addr, size, write, true);
    if verdict == Verdict::Private {
        runtime::patience(p.site);
        return;
    }
    p.record = record;
    p.access.var = rt().var(p.addr);
    if verdict == Verdict::Point {
        let op = match (record, shape) {
            (Record::Sync, _) => Op::Sync { on: p.access.var, write },
            (_, Shape::Load) => Op::Read(p.access),
            (_, Shape::Store) => Op::Write(p.access),
            (_, Shape::Rmw | Shape::Cas) => Op::Rmw(p.access),
        };
        let e = rt().event(p.site, op);
        // A compare-exchange or swap may be the read of a spin loop.
        stand(e, shape == Shape::Store);
        filter(p.site, p.addr, size, write, false);
    } else {
        runtime::patience(p.site);
    }
}

/// The state of std's futex `Once` after its initialiser has run; it never changes again.
const ONCE_COMPLETE: u128 = 0;

/// A step that is visible whoever touches its memory.
fn always_visible(p: &mut Pending, shape: Shape) {
    p.record = Record::Sync;
    p.access.var = rt().var(p.addr);
    let write = shape != Shape::Load;
    let e = rt().event(p.site, Op::Sync { on: p.access.var, write });
    stand(e, write);
}

/// A step of an operation on a lock. The first access of an acquisition waits until the lock is free, so
/// that the slow paths of the lock are rarely entered; a second one of the same operation is no step of its
/// own.
fn lock(p: &mut Pending, family: LockFamily, op: LockOp, mode: LockMode, step: LockStep) {
    p.record = Record::Lock(family, op, mode);
    let r = rt();
    let addr = p.addr;
    let second_half = r.me().acquiring == addr && step == LockStep::Decides;
    let var = r.var(addr);
    p.access.var = var;
    let rwlock = matches!(family, LockFamily::StdRwLock | LockFamily::ParkingLotRwLock);
    let gate = Gate {
        addr,
        test: words::gate(family, mode),
        reader: rwlock && mode == LockMode::Shared,
        writer: rwlock && mode == LockMode::Exclusive,
    };
    match op {
        _ if second_half || step == LockStep::Contends => {
            r.me().acquiring = 0;
            runtime::patience(p.site);
        }
        LockOp::Acquire => {
            let e = r.event(p.site, Op::Acquire { lock: var, mode });
            runtime::step(e, State::Lock(gate));
            if step == LockStep::Observes {
                rt().me().acquiring = addr;
            }
        }
        LockOp::TryAcquire => {
            r.store.learned |= !r.store.sites.locks_tried;
            r.store.sites.locks_tried = true;
            let e = r.event(p.site, Op::TryAcquire { lock: var, mode });
            let state = runtime::before_read();
            runtime::step(e, state);
            let r = rt();
            if step == LockStep::Observes && r.open(gate) {
                r.me().acquiring = addr;
            } else if !r.open(gate) {
                r.record(e);
            }
        }
        LockOp::Release | LockOp::Downgrade if r.store.sites.locks_tried && step == LockStep::Decides => {
            let e = r.event(p.site, Op::Release { lock: var, mode });
            runtime::step(e, State::Ready);
        }
        _ => runtime::patience(p.site),
    }
}

/// Records an operation that has happened.
pub fn happened(p: &Pending, old: u128, read: bool, written: Option<u128>) {
    if p.record == Record::No {
        return;
    }
    note(p, old, read, written);
    runtime::after(p.site);
}

fn note(p: &Pending, old: u128, read: bool, written: Option<u128>) {
    match written {
        // A store of what was there already is no progress: `while lock.swap(true) {}` spins.
        Some(new) if !read || new != old => runtime::progressed(),
        _ => runtime::saw(p.site, p.addr, p.access.size, old),
    }
    let r = rt();
    match p.record {
        Record::No => {}
        Record::Data => {
            let a = Access { read: read.then_some(old), written, ..p.access };
            let op = match (read, written.is_some()) {
                (true, true) => Op::Rmw(a),
                (false, _) => Op::Write(a),
                (true, false) => Op::Read(a),
            };
            let e = r.event(p.site, op);
            r.record(e);
        }
        Record::Sync => {
            let e = r.event(p.site, Op::Sync { on: p.access.var, write: written.is_some() });
            r.record(e);
        }
        Record::Lock(family, ..) => {
            let Some(new) = written else { return };
            match words::change(family, old as u64, new as u64) {
                Change::Taken(mode) => r.acquired(p.addr, mode, p.site),
                Change::Given(mode) => r.released(p.addr, mode, p.site),
                Change::Turned(mode) => {
                    let before =
                        if mode == LockMode::Shared { LockMode::Exclusive } else { LockMode::Shared };
                    r.released(p.addr, before, p.site);
                    r.acquired(p.addr, mode, p.site);
                }
                Change::Nothing => {}
            }
        }
    }
}

macro_rules! atomics {
    ($bits:literal $int:ident $atomic:ident $size:literal
     $load:ident $store:ident $exchange:ident $cas:ident $strong:ident $weak:ident
     $add:ident $sub:ident $and:ident $or:ident $xor:ident $nand:ident $module:ident) => {
        mod $module {
            use super::*;

            fn at(addr: usize) -> &'static $atomic {
                // SAFETY: instrumented code passes the address of a live, aligned word of this width.
                unsafe { &*(addr as *const $atomic) }
            }

            extern "C" fn load(addr: usize, mo: i32, pc: usize) -> $int {
                if !runtime::controlled() {
                    return at(addr).load(SeqCst);
                }
                let _inside = Inside::enter();
                let p = announce(Shape::Load, addr, $size, mo, pc);
                let v = at(addr).load(SeqCst);
                happened(&p, v as u128, true, None);
                v
            }

            extern "C" fn store(addr: usize, value: $int, mo: i32, pc: usize) {
                if !runtime::controlled() {
                    return at(addr).store(value, SeqCst);
                }
                let _inside = Inside::enter();
                let p = announce(Shape::Store, addr, $size, mo, pc);
                let old = at(addr).swap(value, SeqCst);
                happened(&p, old as u128, false, Some(value as u128));
            }

            #[inline(always)]
            fn rmw(addr: usize, value: $int, mo: i32, pc: usize, f: impl Fn(&$atomic, $int) -> $int) -> $int {
                if !runtime::controlled() {
                    return f(at(addr), value);
                }
                let _inside = Inside::enter();
                let p = announce(Shape::Rmw, addr, $size, mo, pc);
                let old = f(at(addr), value);
                let new = at(addr).load(SeqCst);
                happened(&p, old as u128, true, Some(new as u128));
                old
            }

            extern "C" fn exchange(addr: usize, v: $int, mo: i32, pc: usize) -> $int {
                rmw(addr, v, mo, pc, |a, v| a.swap(v, SeqCst))
            }
            extern "C" fn add(addr: usize, v: $int, mo: i32, pc: usize) -> $int {
                rmw(addr, v, mo, pc, |a, v| a.fetch_add(v, SeqCst))
            }
            extern "C" fn sub(addr: usize, v: $int, mo: i32, pc: usize) -> $int {
                rmw(addr, v, mo, pc, |a, v| a.fetch_sub(v, SeqCst))
            }
            extern "C" fn and(addr: usize, v: $int, mo: i32, pc: usize) -> $int {
                rmw(addr, v, mo, pc, |a, v| a.fetch_and(v, SeqCst))
            }
            extern "C" fn or(addr: usize, v: $int, mo: i32, pc: usize) -> $int {
                rmw(addr, v, mo, pc, |a, v| a.fetch_or(v, SeqCst))
            }
            extern "C" fn xor(addr: usize, v: $int, mo: i32, pc: usize) -> $int {
                rmw(addr, v, mo, pc, |a, v| a.fetch_xor(v, SeqCst))
            }
            extern "C" fn nand(addr: usize, v: $int, mo: i32, pc: usize) -> $int {
                rmw(addr, v, mo, pc, |a, v| a.fetch_nand(v, SeqCst))
            }

            fn cas(addr: usize, expected: $int, new: $int, mo: i32, pc: usize) -> Result<$int, $int> {
                if !runtime::controlled() {
                    return at(addr).compare_exchange(expected, new, SeqCst, SeqCst);
                }
                let _inside = Inside::enter();
                let p = announce(Shape::Cas, addr, $size, mo, pc);
                let r = at(addr).compare_exchange(expected, new, SeqCst, SeqCst);
                match r {
                    Ok(old) => happened(&p, old as u128, true, Some(new as u128)),
                    Err(old) => happened(&p, old as u128, true, None),
                }
                r
            }

            extern "C" fn cas_val(addr: usize, expected: $int, new: $int, mo: i32, _fail: i32, pc: usize) -> $int {
                match cas(addr, expected, new, mo, pc) {
                    Ok(v) | Err(v) => v,
                }
            }

            extern "C" fn cas_flag(addr: usize, expected: *mut $int, new: $int, mo: i32, _fail: i32, pc: usize) -> i32 {
                // SAFETY: the ABI passes a pointer to the expected value, which receives the actual one.
                unsafe {
                    match cas(addr, *expected, new, mo, pc) {
                        Ok(_) => 1,
                        Err(v) => {
                            *expected = v;
                            0
                        }
                    }
                }
            }

            entry! { "rdx" $load load; "rcx" $store store; "rcx" $exchange exchange; "rcx" $add add; "rcx" $sub sub;
                     "rcx" $and and; "rcx" $or or; "rcx" $xor xor; "rcx" $nand nand;
                     "r9" $cas cas_val; "r9" $strong cas_flag; "r9" $weak cas_flag; }
        }
    };
}

atomics!(8 u8 AtomicU8 1 __tsan_atomic8_load __tsan_atomic8_store __tsan_atomic8_exchange
    __tsan_atomic8_compare_exchange_val __tsan_atomic8_compare_exchange_strong __tsan_atomic8_compare_exchange_weak
    __tsan_atomic8_fetch_add __tsan_atomic8_fetch_sub __tsan_atomic8_fetch_and __tsan_atomic8_fetch_or
    __tsan_atomic8_fetch_xor __tsan_atomic8_fetch_nand w8);
atomics!(16 u16 AtomicU16 2 __tsan_atomic16_load __tsan_atomic16_store __tsan_atomic16_exchange
    __tsan_atomic16_compare_exchange_val __tsan_atomic16_compare_exchange_strong __tsan_atomic16_compare_exchange_weak
    __tsan_atomic16_fetch_add __tsan_atomic16_fetch_sub __tsan_atomic16_fetch_and __tsan_atomic16_fetch_or
    __tsan_atomic16_fetch_xor __tsan_atomic16_fetch_nand w16);
atomics!(32 u32 AtomicU32 4 __tsan_atomic32_load __tsan_atomic32_store __tsan_atomic32_exchange
    __tsan_atomic32_compare_exchange_val __tsan_atomic32_compare_exchange_strong __tsan_atomic32_compare_exchange_weak
    __tsan_atomic32_fetch_add __tsan_atomic32_fetch_sub __tsan_atomic32_fetch_and __tsan_atomic32_fetch_or
    __tsan_atomic32_fetch_xor __tsan_atomic32_fetch_nand w32);
atomics!(64 u64 AtomicU64 8 __tsan_atomic64_load __tsan_atomic64_store __tsan_atomic64_exchange
    __tsan_atomic64_compare_exchange_val __tsan_atomic64_compare_exchange_strong __tsan_atomic64_compare_exchange_weak
    __tsan_atomic64_fetch_add __tsan_atomic64_fetch_sub __tsan_atomic64_fetch_and __tsan_atomic64_fetch_or
    __tsan_atomic64_fetch_xor __tsan_atomic64_fetch_nand w64);

extern "C" fn fence(mo: i32, pc: usize) {
    if !runtime::controlled() {
        std::sync::atomic::fence(SeqCst);
        return;
    }
    let _inside = Inside::enter();
    let r = rt();
    r.tick();
    let s = site(pc, AccessKind::Fence);
    runtime::patience(s);
    let e = r.event(s, Op::Fence(ordering(mo)));
    if !runtime::alone() && super::class(s) == Class::Data {
        r.record(e);
    }
}

entry! { "rsi" __tsan_atomic_thread_fence fence; }

/// Hook: a fence against signal handlers only.
#[unsafe(no_mangle)]
pub extern "C" fn __tsan_atomic_signal_fence(_mo: i32) {}
