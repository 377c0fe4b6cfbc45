//! The ThreadSanitizer ABI, implemented by us.
//!
//! The compiler's pass calls a hook before every plain access and in place of every atomic one. Each hook
//! starts with a test of one byte; outside an execution that is all it does, apart from the atomic operation
//! itself. The return address identifies the instruction, so the entry points are written in assembly and
//! jump to ordinary functions with the return address as an extra argument.

/// Entry points: the return address goes into the register of the argument after the ABI's last.
macro_rules! entry {
    ($($reg:literal $name:ident $to:ident;)*) => { $(
        /// Hook of the ThreadSanitizer ABI, in place of an atomic operation.
        ///
        /// # Safety
        /// Called by instrumented code with a valid address.
        #[unsafe(naked)]
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $name() {
            naked_asm!(concat!("mov ", $reg, ", [rsp]"), "jmp {}", sym $to)
        }
    )* };
}

pub mod atomic;
pub mod atomic128;
pub mod calls;
pub mod plain;
mod site_cache;
pub mod width;

pub use atomic::Shape;
pub use site_cache::{
    caches, fast_atomic, invalidate_all, is_irrelevant, mark_fast_atomic, mark_irrelevant, mark_not_a_point,
    restore_fs_after, site,
};

use crate::fast;
use crate::fiber::State;
use crate::memory;
use crate::progress;
use crate::runtime::{self, Inside, Mode, in_stack, rt};
use crate::shadow::{Clash, POINT, Touch};
use raddle_core::{SiteId, ThreadId};

/// What the filter says about an access.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Verdict {
    /// Nobody else touches this memory, as far as is known.
    Private,
    /// Shared but not worth a decision: recorded only.
    Recorded,
    /// A scheduling point.
    Point,
}

/// Size of the small tables that remember what was just looked up.
pub const RECENT: usize = 1024;
/// How much of them is used, a power of two.
static mut SLOTS: usize = RECENT;

/// How much of the small tables is used.
#[inline(always)]
pub fn slots() -> usize {
    // SAFETY: one controlled thread.
    unsafe { SLOTS }
}

/// Uses little of the small tables: a child that lives for one execution pays for each page that it writes to.
pub fn remember_little() {
    const FEW: usize = 64;
    // SAFETY: one controlled thread.
    unsafe { SLOTS = FEW };
}

/// Uses them fully again: the child lives on.
pub fn remember_much() {
    // SAFETY: one controlled thread.
    unsafe { SLOTS = RECENT };
}

/// Begins a raw event of the running thread, the access before the return address `pc`; tells whether the access may
/// matter. In a replay every event is looked at.
#[inline(always)]
pub fn matters(pc: usize) -> bool {
    let me = runtime::me();
    me.raw += 1;
    !(runtime::alone() || me.raw < me.raw_limit && is_irrelevant(pc))
}

/// An operation that a hook does in place of the program does not matter here, as things stand: in unrecorded executions the function
/// that `raw` names, which does nothing else, is called from now on.
#[inline(always)]
fn skip_from_now_on(pc: usize, raw: impl FnOnce() -> usize) {
    if !runtime::alone() && fast::first_visit(pc) && !rt().store.sites.have_point_at(pc) {
        let _inside = Inside::enter();
        visit(pc);
        fast::replace(pc, raw());
    }
}

/// An unrecorded execution comes to a hook for the first time: if nobody has ever asked about the access before the return address `pc`, it
/// is repeated and recorded.
fn visit(pc: usize) {
    if !runtime::alone() && !rt().store.sites.know(pc) {
        fast::saw_unknown_code();
    }
}

/// Says what to do about an access; remembers it in the shadow memory unless it is a scheduling point.
#[inline]
pub fn filter(site: SiteId, addr: usize, size: usize, write: bool) -> Verdict {
    let r = rt();
    let point = r.store.sites.get(site).point;
    if point && memory::owns(addr) {
        return Verdict::Point;
    }
    if !point && runtime::unrecorded() {
        return Verdict::Private;
    }
    if !memory::owns(addr) {
        if in_stack(runtime::me().private, addr + size - 1) {
            return Verdict::Private;
        }
        r.reach(addr);
    }
    if point || r.store.job.every_access {
        return Verdict::Point;
    }
    remember(site, addr, size, write);
    let r = rt();
    let known = r.store.sites.get(site);
    if known.point {
        Verdict::Point
    } else if known.shared || r.mode == Mode::Replay {
        Verdict::Recorded
    } else {
        Verdict::Private
    }
}

/// Remembers an access in the shadow memory and learns from clashes.
#[inline(always)]
pub fn remember(site: SiteId, addr: usize, size: usize, write: bool) {
    if !runtime::unrecorded() {
        touch_shadow(site, addr, size, write);
    }
}

/// Remembers a write without comparing it with others.
pub fn note_write(site: SiteId, addr: usize, size: usize) {
    let touch = touch_by(site, true);
    let r = rt();
    r.shadow.touch(addr, size, touch, |_, _| true, |a, b| r.locksets.exclude(a, b), |_| {});
}

/// What was at an address comes to an end by what the running thread does at `site`: learns from all accesses to it by others that nothing
/// orders before, but for those of threads that are `excused`.
pub fn remember_end(site: SiteId, addr: usize, size: usize, excused: impl Fn(ThreadId) -> bool) {
    let mine = touch_by(site, true);
    let mut unordered = Vec::new();
    rt().shadow.each(addr, size, |a| {
        let seen = runtime::me().clock.get(a.thread.0 as usize).is_some_and(|&c| c >= a.clock);
        if a.thread != mine.thread && !seen {
            unordered.push(a);
        }
    });
    unordered.retain(|a| !excused(a.thread));
    let r = rt();
    let mut learned = false;
    for a in &unordered {
        let unprotected = !r.locksets.exclude(a.locks, mine.locks) && !r.store.repeats;
        for site in [a.site, mine.site] {
            learned |= site != POINT && r.store.sites.learn(site, unprotected);
        }
    }
    if learned {
        r.store.learned = true;
        invalidate_all();
    }
}

fn touch_by(site: SiteId, write: bool) -> Touch {
    let r = rt();
    let (me, f, known) = (r.current(), runtime::me(), r.store.sites.get(site));
    let (thread, clock, shared) = (ThreadId(me as u32), f.clock[me], known.shared);
    let site = if known.point { POINT } else { site };
    Touch { thread, clock, site, shared, locks: f.lockset, write }
}

#[inline(never)]
fn touch_shadow(site: SiteId, addr: usize, size: usize, write: bool) {
    let r = rt();
    let f = runtime::me();
    let touch = touch_by(site, write);
    let sites = &mut r.store.sites;
    let locksets = &r.locksets;
    let mut learned = false;
    let repeats = r.store.repeats;
    r.shadow.touch(
        addr,
        size.min(256),
        touch,
        |t, c| f.clock.get(t.0 as usize).is_some_and(|&seen| seen >= c),
        |a, b| locksets.exclude(a, b),
        |clash: Clash| {
            for site in [clash.site, touch.site] {
                learned |= site != POINT && sites.learn(site, clash.unprotected && !repeats);
            }
        },
    );
    if learned {
        r.store.learned = true;
        invalidate_all();
    }
}

/// Stands before a visible read or write until it is the thread's turn.
#[inline(always)]
pub fn stand(event: raddle_core::Event, write: bool) {
    let state = if write { State::Ready } else { progress::before_read() };
    runtime::step(event, state);
}
