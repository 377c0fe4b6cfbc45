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

use crate::fiber::State;
use crate::image::{AccessKind, Class};
use crate::memory;
use crate::runtime::{self, Mode, rt};
use crate::shadow::{Clash, Touch};
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
pub const RECENT: usize = 512;

/// The site of the hook call that returns to `pc`.
#[inline]
pub fn site(pc: usize, kind: AccessKind) -> SiteId {
    let r = rt();
    let slot = &mut r.recent_sites[(pc >> 2) % RECENT];
    if slot.0 == pc {
        return slot.1;
    }
    let store = &mut *r.store;
    let (site, alone) = store.sites.at(pc, &r.fibers[r.current], 1, kind, &mut store.image);
    if alone {
        *slot = (pc, site);
    }
    site
}

/// Return addresses of plain accesses to words that are none of the program's data.
static mut INDIFFERENT: [usize; RECENT] = [0; RECENT];

/// Whether the access before this return address is known not to be one of the program's data.
#[inline(always)]
pub fn indifferent(pc: usize) -> bool {
    // SAFETY: one controlled thread; the index is in range.
    unsafe { INDIFFERENT[(pc >> 2) % RECENT] == pc }
}

/// Remembers that.
pub fn remember_indifferent(pc: usize) {
    // SAFETY: as above.
    unsafe { INDIFFERENT[(pc >> 2) % RECENT] = pc };
}

/// Remembers the access in the shadow memory, learns from clashes, and says what to do about it.
#[inline]
pub fn filter(site: SiteId, addr: usize, size: usize, write: bool, decide: bool) -> Verdict {
    let r = rt();
    let me = r.current;
    let f = &r.fibers[me];
    let known = r.store.sites.get(site);
    if !known.point && !r.store.stacks_shared && in_own_stack(f.stack_range, addr) {
        return Verdict::Private;
    }
    // Whoever reaches into another thread's stack makes stacks worth watching, from the next execution on
    // from its first access.
    if !r.store.stacks_shared
        && !memory::owns(addr)
        && r.fibers.iter().any(|o| o.id != f.id && in_own_stack(o.stack_range, addr))
    {
        r.store.stacks_shared = true;
        r.store.learned = true;
        runtime::watch_stacks(true);
    }
    if decide && (known.point || r.store.job.every_access) {
        return Verdict::Point;
    }
    let touch = Touch { thread: ThreadId(me as u32), clock: f.clock[me], site, locks: f.lockset, write };
    let recent = &mut r.recent_touches[((addr >> 3) ^ (me * 61) ^ (site.0 as usize * 7)) % RECENT];
    let same = (addr, size, touch, r.frees);
    if *recent == same {
        let known = r.store.sites.get(site);
        return if known.shared || r.mode == Mode::Replay { Verdict::Recorded } else { Verdict::Private };
    }
    *recent = same;
    let sites = &mut r.store.sites;
    let locksets = &r.locksets;
    let mut learned = false;
    r.shadow.touch(
        addr,
        size.min(256),
        touch,
        |t, c| f.clock.get(t.0 as usize).is_some_and(|&seen| seen >= c),
        |a, b| locksets.exclude(a, b),
        |clash: Clash| {
            learned |= sites.learn(clash.site, clash.unprotected);
            learned |= sites.learn(site, clash.unprotected);
        },
    );
    if learned {
        r.store.learned = true;
    }
    let known = r.store.sites.get(site);
    if decide && known.point {
        Verdict::Point
    } else if known.shared || r.mode == Mode::Replay {
        Verdict::Recorded
    } else {
        Verdict::Private
    }
}

/// Whether an address lies in a stack.
#[inline]
pub fn in_own_stack((low, high): (usize, usize), addr: usize) -> bool {
    addr.wrapping_sub(low) < high - low
}

/// The class of a site.
#[inline]
pub fn class(site: SiteId) -> Class {
    rt().store.sites.get(site).class
}

/// Stands before a visible read or write until it is the thread's turn.
#[inline]
pub fn stand(event: raddle_core::Event, write: bool) {
    let state = if write { State::Ready } else { runtime::before_read() };
    runtime::step(event, state);
}
