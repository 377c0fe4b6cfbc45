//! malloc and its relatives.

use super::here;
use crate::memory::{self, GRAIN, heap};
use crate::names::Place;
use crate::real::real;
use crate::runtime::{self, Inside, rt};
use crate::sites::Sites;
use crate::{learn, owners, progress};
use libc::{c_int, c_void, size_t};
use raddle_core::{Op, SiteId, VarId};
use raddle_sched::State;

/// The calls around an allocation.
fn place() -> u32 {
    if runtime::unseen() {
        return 0;
    }
    let r = rt();
    let mut place: Place = [0; 6];
    for (p, pc) in place.iter_mut().zip(r.execution.sched.threads[r.current()].chain(0)) {
        *p = pc;
    }
    r.store.places.intern(place)
}

#[inline(always)]
fn allocate(size: usize, align: usize) -> *mut c_void {
    let h = if runtime::unseen() { memory::heap_if_made() } else { None };
    let Some(h) = h else { return allocate_slowly(size, align) };
    match h.alloc_quickly(size, align) {
        Some(p) => p,
        None => allocate_slowly(size, align),
    }
}

/// Whatever has to be asked or made first.
#[inline(never)]
fn allocate_slowly(size: usize, align: usize) -> *mut c_void {
    let _inside = Inside::enter();
    let h = heap();
    let p = h.alloc(size, align, place());
    if h.bytes > h.noticed {
        grew();
    }
    p
}

/// How many bytes may be in use.
fn limit() -> usize {
    memory::limit(rt().store.job.memory_mb)
}

/// More bytes are in use than were noticed so far.
#[cold]
fn grew() {
    let _inside = Inside::enter();
    let h = heap();
    rt().store.heartbeat += 1;
    if runtime::calls_only()
        && let Some(grown) = h.on_growth
    {
        grown();
    }
    if h.bytes > limit() {
        crate::failure::out_of_memory();
    }
    h.noticed = if runtime::unrecorded() { (h.bytes + GRAIN).min(limit()) } else { h.bytes };
}

/// The running thread is about to free a block. That is a write to all of it, which conflicts with every access of others that
/// nothing orders before, and a scheduling point where such a conflict is known.
fn announce_release(addr: usize) {
    let _inside = Inside::enter();
    owners::dull();
    let site = here();
    let known = rt().store.sites.get(site);
    let (point, calm) = (known.point, runtime::calls_only());
    if point && !calm {
        let r = rt();
        let on = r.var(addr);
        runtime::step(r.event(site, Op::Sync { on, write: true }), State::Ready);
    } else {
        progress::patience(site);
    }
    // An unknown place stands for many.
    if runtime::unseen() || site == SiteId(0) || Sites::counts(site) {
        return;
    }
    let Some((_, block)) = heap().find(addr) else { return };
    learn::remember_end(site, addr, block.size, owners::freed(addr));
    let r = rt();
    if r.store.sites.get(site).point {
        r.store.sites.frees_matter = true;
        let mut touched = Vec::new();
        r.execution.shadow.each(addr, block.size, |a| touched.push(a.addr));
        touched.dedup();
        let touched: Vec<_> = touched.into_iter().map(|a| r.var(a)).collect();
        for on in touched.iter().copied().chain(wanted(addr, block.size, &touched)) {
            let e = r.event(site, Op::Sync { on, write: true });
            r.record(e);
        }
    }
}

/// Variables in a block that other threads are about to access, but for those in `known`: what they do there depends on whether the
/// block is there.
fn wanted(addr: usize, size: usize, known: &[VarId]) -> Vec<VarId> {
    let r = rt();
    let me = r.current();
    let ready = |s: State| matches!(s, State::Ready | State::Yielded(_));
    let others = r.execution.sched.threads.iter().filter(|f| f.id.0 as usize != me && ready(f.state));
    let inside = |v: &VarId| {
        r.execution.vars.addrs.get(v.0 as usize).is_some_and(|at| (addr..addr + size).contains(at))
            && !known.contains(v)
    };
    others.filter_map(|f| f.pending.object()).filter(inside).collect()
}

/// Whether a release may be a scheduling point or tell something new.
#[inline(always)]
fn matters() -> bool {
    !runtime::alone() && (!runtime::unseen() || rt().store.sites.frees_matter)
}

#[inline(always)]
fn release(addr: usize) {
    if runtime::controlled() {
        runtime::me().raw += 1;
        if matters() {
            announce_release(addr);
        }
    }
    if runtime::unseen() && heap().free_quickly(addr) {
        rt().process.frees += 1;
    } else {
        release_slowly(addr);
    }
}

#[inline(never)]
fn release_slowly(addr: usize) {
    let inside = Inside::enter();
    let freed = heap().free(addr);
    if let Some(size) = freed
        && runtime::installed()
    {
        if !runtime::unseen() {
            rt().execution.shadow.forget(addr, size);
        }
        rt().process.frees += 1;
    }
    drop(inside);
    if freed.is_none() && runtime::controlled() {
        crate::failure::bad_free();
    }
}

/// # Safety
/// As in C.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn malloc(size: size_t) -> *mut c_void {
    if runtime::controlled() {
        return allocate(size, 16);
    }
    // SAFETY: forwarded.
    unsafe { (real().malloc)(size) }
}

/// # Safety
/// As in C.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn calloc(n: size_t, size: size_t) -> *mut c_void {
    if runtime::controlled() {
        let Some(total) = n.checked_mul(size) else { return std::ptr::null_mut() };
        let p = allocate(total, 16);
        if !p.is_null() {
            // SAFETY: freshly allocated with this size.
            unsafe { p.write_bytes(0, total) };
        }
        return p;
    }
    // SAFETY: forwarded.
    unsafe { (real().calloc)(n, size) }
}

/// # Safety
/// As in C.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn free(p: *mut c_void) {
    if memory::owns(p as usize) {
        return release(p as usize);
    }
    // SAFETY: forwarded.
    unsafe { (real().free)(p) }
}

/// # Safety
/// As in C.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn realloc(p: *mut c_void, size: size_t) -> *mut c_void {
    let ours = memory::owns(p as usize);
    // SAFETY: both sides are valid for the bytes copied; forwarded otherwise.
    unsafe {
        let new_block = runtime::controlled() && p.is_null();
        if !ours && !new_block {
            return (real().realloc)(p, size);
        }
        if p.is_null() {
            return malloc(size);
        }
        let Some((_, old)) = heap().find(p as usize) else { crate::failure::bad_free() };
        let new = malloc(size);
        if !new.is_null() {
            std::ptr::copy_nonoverlapping(p as *const u8, new as *mut u8, old.size.min(size));
            free(p);
        }
        new
    }
}

/// # Safety
/// As in C.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn memalign(align: size_t, size: size_t) -> *mut c_void {
    if runtime::controlled() {
        return allocate(size, align.max(16));
    }
    // SAFETY: forwarded.
    unsafe { (real().memalign)(align, size) }
}

/// # Safety
/// As in C.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aligned_alloc(align: size_t, size: size_t) -> *mut c_void {
    // SAFETY: the same contract but for restrictions on the size.
    unsafe { memalign(align, size) }
}

/// # Safety
/// As in POSIX.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn posix_memalign(out: *mut *mut c_void, align: size_t, size: size_t) -> c_int {
    // SAFETY: `out` is valid by the caller's promise.
    unsafe {
        let p = memalign(align, size);
        if p.is_null() {
            return libc::ENOMEM;
        }
        *out = p;
        0
    }
}

/// # Safety
/// As in glibc.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn malloc_usable_size(p: *mut c_void) -> size_t {
    if memory::owns(p as usize) {
        let _inside = Inside::enter();
        return heap().find(p as usize).map_or(0, |(_, b)| b.size);
    }
    // SAFETY: forwarded.
    unsafe { (real().malloc_usable_size)(p) }
}
