//! The ThreadSanitizer ABI, implemented by us.
//!
//! The compiler's pass calls a hook before every plain access and in place of every atomic one. Each hook
//! starts with a test of one byte; outside an execution that is all it does, apart from the atomic operation
//! itself. The return address identifies the instruction, so the entry points are written in assembly and
//! jump to ordinary functions with the return address as an extra argument.
//!
//! Inside an execution a hook is a *raw event*: it is counted, whatever comes of it, because schedules count in those. Then it is asked
//! whether the access may matter ([`matters`]): whether there is anybody else, and what is known about the return address
//! ([`site_cache`]). What may matter is looked at: the site is found, and the filter ([`filter`]) says that the memory is private, that
//! the access is to be recorded, or that it is a scheduling point. Before a point the thread waits for its turn
//! ([`step`](crate::runtime::step)); an atomic operation is then done by the hook itself, at that moment, and recorded with the values that it
//! saw. All other accesses go into the shadow memory, from which [`learn`](crate::learn) learns which of them are points from now on.

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

mod annotations;
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
use crate::learn::remember;
use crate::memory;
use crate::progress;
use crate::runtime::{self, Inside, in_stack, rt};
use raddle_core::SiteId;
use raddle_sched::{Mode, State};

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
    } else if known.shared || r.execution.sched.mode == Mode::Replay {
        Verdict::Recorded
    } else {
        Verdict::Private
    }
}

/// Stands before a visible read or write until it is the thread's turn.
#[inline(always)]
pub fn stand(event: raddle_core::Event, write: bool) {
    let state = if write { State::Ready } else { progress::before_read() };
    runtime::step(event, state);
}
