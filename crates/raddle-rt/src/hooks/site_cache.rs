//! What is known about the return addresses of hooks, for their fast paths.
//!
//! Each access of the program asks here, so the entries of neighbouring instructions lie in one line of the processor's
//! cache: hook calls are hardly ever closer to each other than eight bytes, and each eight bytes of code have an entry. What
//! does not fit is looked up again.

use crate::controlled::Controlled;
use crate::fast::{self, AtomicOp, FastSite};
use crate::image::{AccessKind, Class};
use crate::recent::{RECENT, slots};
use crate::runtime::{self, rt};
use raddle_core::SiteId;

/// What is known about a return address.
#[derive(Clone, Copy)]
struct Known {
    /// The return address; with [`IRRELEVANT`], if the order of its accesses does not matter as things stand; with [`NOT_A_POINT`], if it
    /// is of no interest to an unrecorded execution, being no scheduling point.
    key: usize,
    /// Its site, if the address alone determines it.
    site: SiteId,
    class: Class,
}

/// No address has these bits.
const IRRELEVANT: usize = 1 << 63;
const NOT_A_POINT: usize = 1 << 62;
/// The address has several sites, one for each way to get there, and none of them is a scheduling point.
const MANY_SITES: usize = 1 << 61;
/// The address is that of an atomic access which [`fast::try_step`] knows.
const FAST: usize = 1 << 60;
/// The address is that of a fast atomic access after which code may run without a thread pointer.
const LAZY_TLS: usize = 1 << 59;

/// The table, on pages of its own.
#[repr(align(4096))]
struct Apart([Known; RECENT]);

const NONE: Known = Known { key: 0, site: SiteId(0), class: Class::Data };

static KNOWN: Controlled<Apart> = Controlled::new(Apart([NONE; RECENT]));

/// Whether an address is in this table of facts about the program's instructions: true in every execution, so that it
/// need not be put back after one.
pub fn caches(addr: usize) -> bool {
    addr.wrapping_sub(KNOWN.as_ptr() as usize) < size_of::<Apart>()
}

#[inline(always)]
fn entry(pc: usize) -> &'static mut Known {
    // SAFETY: INV-ONE-THREAD, INV-SHORT-REFS.
    unsafe {
        let known = KNOWN.as_ptr();
        &mut (*known).0[(pc >> 3) & (slots() - 1) & (RECENT - 1)]
    }
}

/// The site of the hook call that returns to `pc`, its class, and whether `pc` alone determines it.
#[inline(always)]
pub fn site(pc: usize, kind: AccessKind) -> (SiteId, Class, bool) {
    let known = entry(pc);
    if known.key & !(NOT_A_POINT | FAST | LAZY_TLS) == pc {
        (known.site, known.class, true)
    } else {
        look_up_site(pc, kind)
    }
}

#[inline(never)]
fn look_up_site(pc: usize, kind: AccessKind) -> (SiteId, Class, bool) {
    let store = &mut *rt().store;
    let (site, alone) = store.sites.at(pc, &runtime::me().calls, 1, kind, &mut store.image);
    let class = store.sites.get(site).class;
    if alone {
        *entry(pc) = Known { key: pc, site, class };
    }
    (site, class, alone)
}

/// Whether the access before this return address is known not to matter.
#[inline(always)]
pub fn is_irrelevant(pc: usize) -> bool {
    let key = entry(pc).key;
    key == pc | IRRELEVANT || key & !MANY_SITES == pc | NOT_A_POINT && runtime::unrecorded()
}

/// Remembers that the order of the accesses before this return address does not matter.
pub fn mark_irrelevant(pc: usize) {
    *entry(pc) = Known { key: pc | IRRELEVANT, ..NONE };
}

/// Remembers that the access before this return address, whose site has just been asked for, is no scheduling point.
pub fn mark_not_a_point(pc: usize) {
    let known = entry(pc);
    if known.key == pc {
        known.key |= NOT_A_POINT;
    } else if !rt().store.sites.have_point_at(pc) {
        *known = Known { key: pc | NOT_A_POINT | MANY_SITES, ..NONE };
    }
}

/// What is known of an atomic access that [`mark_fast_atomic`] was called for.
#[inline(always)]
pub fn fast_atomic(pc: usize) -> Option<FastSite> {
    let known = entry(pc);
    if known.key & !LAZY_TLS != pc | FAST {
        return None;
    }
    let hides = rt().store.sites.get(known.site).hides;
    let (task, bits) = AtomicOp::of(known.class)?;
    Some(FastSite::new(pc, task, bits, known.site, hides, known.key & LAZY_TLS != 0))
}

/// What follows accesses with certain return addresses needs the thread pointer.
pub fn restore_fs_after(which: impl Fn(usize) -> bool) {
    let all = KNOWN.as_ptr();
    // SAFETY: INV-ONE-THREAD, INV-SHORT-REFS: `which` looks at addresses only.
    for known in unsafe { &mut (*all).0 } {
        let pc = known.key & !(FAST | LAZY_TLS);
        if known.key == pc | FAST | LAZY_TLS && which(pc) {
            known.key = pc | FAST;
        }
    }
}

/// Remembers that the atomic access before this return address, whose site has just been asked for, is to data and a
/// scheduling point, or takes or gives back a mutex.
pub fn mark_fast_atomic(pc: usize) {
    let known = entry(pc);
    if known.key == pc {
        known.key |= FAST | if fast::unset_suffices(pc) { LAZY_TLS } else { 0 };
    }
}

/// Forgets everything about return addresses: something that did not matter now does.
pub fn invalidate_all() {
    fast::on_learned();
    // SAFETY: INV-ONE-THREAD, INV-SHORT-REFS.
    unsafe { (*KNOWN.as_ptr()).0 = [NONE; RECENT] };
}
