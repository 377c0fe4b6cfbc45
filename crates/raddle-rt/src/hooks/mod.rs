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
use crate::progress;
use crate::runtime::{self, Mode, in_stack, rt};
use crate::shadow::{Clash, Touch};
use crate::table::mix;
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
/// The same for touches, which are larger: they have to stay in the processor's nearest cache.
pub const TOUCHES: usize = 256;
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

/// What is known about a return address that alone determines its site.
#[derive(Clone, Copy)]
struct Known {
    pc: usize,
    site: SiteId,
    class: Class,
}

/// On pages of its own.
#[repr(align(4096))]
struct Apart<T>(T);

impl<T> Apart<T> {
    fn holds(this: *const Self, addr: usize) -> bool {
        addr.wrapping_sub(this as usize) < size_of::<Self>()
    }
}

static mut KNOWN: Apart<[Known; RECENT]> =
    Apart([Known { pc: 0, site: SiteId(0), class: Class::Data }; RECENT]);

/// Whether an address is in tables of facts about the program's instructions: true in every execution, so that they
/// need not be put back after one.
pub fn caches(addr: usize) -> bool {
    Apart::holds(&raw const KNOWN, addr) || Apart::holds(&raw const QUIET, addr)
}

/// The site of the hook call that returns to `pc`, its class, and whether `pc` alone determines it.
#[inline(always)]
pub fn site(pc: usize, kind: AccessKind) -> (SiteId, Class, bool) {
    // SAFETY: one controlled thread.
    let known = unsafe { KNOWN.0[(pc >> 1) & (slots() - 1) & (RECENT - 1)] };
    if known.pc == pc { (known.site, known.class, true) } else { look_up_site(pc, kind) }
}

#[inline(never)]
fn look_up_site(pc: usize, kind: AccessKind) -> (SiteId, Class, bool) {
    let store = &mut *rt().store;
    let (site, alone) = store.sites.at(pc, runtime::me(), 1, kind, &mut store.image);
    let class = store.sites.get(site).class;
    if alone {
        // SAFETY: one controlled thread.
        unsafe { KNOWN.0[(pc >> 1) & (slots() - 1) & (RECENT - 1)] = Known { pc, site, class } };
    }
    (site, class, alone)
}

/// Return addresses of accesses to words whose order does not matter, as things stand.
static mut QUIET: Apart<[usize; QUIETS]> = Apart([0; QUIETS]);
const QUIETS: usize = 2 * RECENT;

/// Whether the access before this return address is known not to matter.
#[inline(always)]
pub fn quiet(pc: usize) -> bool {
    // SAFETY: one controlled thread; the index is in range.
    unsafe { QUIET.0[pc & (2 * SLOTS - 1) & (QUIETS - 1)] == pc }
}

/// Remembers that.
pub fn hush(pc: usize) {
    // SAFETY: as above.
    unsafe { QUIET.0[pc & (2 * SLOTS - 1) & (QUIETS - 1)] = pc };
}

/// Forgets all that: something that did not matter now does.
pub fn listen_again() {
    // SAFETY: as above.
    unsafe { QUIET.0 = [0; QUIETS] };
}

/// Begins a raw event of the running thread, the access before the return address `pc`; tells whether the access may
/// matter. In a replay every event is looked at.
#[inline(always)]
pub fn matters(pc: usize) -> bool {
    let me = runtime::me();
    me.raw += 1;
    !(runtime::alone() || me.raw < me.raw_limit && quiet(pc))
}

/// Says what to do about an access; remembers it in the shadow memory unless it is a scheduling point.
#[inline]
pub fn filter(site: SiteId, addr: usize, size: usize, write: bool) -> Verdict {
    let r = rt();
    let point = r.store.sites.get(site).point;
    if point && memory::owns(addr) {
        return Verdict::Point;
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
#[inline(never)]
pub fn remember(site: SiteId, addr: usize, size: usize, write: bool) {
    let r = rt();
    let me = r.current;
    let f = runtime::me();
    let touch = Touch { thread: ThreadId(me as u32), clock: f.clock[me], site, locks: f.lockset, write };
    let slot = mix(addr as u64 >> 3 ^ u64::from(site.0) << 40 ^ (me as u64) << 56) >> (64 - TOUCHES.ilog2());
    let recent = &mut r.recent_touches[slot as usize & (slots() - 1) & (TOUCHES - 1)];
    let same = (addr, size, touch, r.frees);
    if *recent != same {
        *recent = same;
        touch_shadow(addr, size, touch);
    }
}

/// The same for an access that is likely to be the one that the thread made before.
#[inline(always)]
pub fn remember_again(site: SiteId, addr: usize, size: usize, write: bool) {
    let f = runtime::me();
    let this = (addr, rt().frees, site, f.lockset, size as u32, write);
    if f.remembered != this {
        f.remembered = this;
        remember(site, addr, size, write);
    }
}

fn touch_shadow(addr: usize, size: usize, touch: Touch) {
    let r = rt();
    let f = runtime::me();
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
            learned |= sites.learn(touch.site, clash.unprotected);
        },
    );
    if learned {
        r.store.learned = true;
    }
}

/// Stands before a visible read or write until it is the thread's turn.
#[inline(always)]
pub fn stand(event: raddle_core::Event, write: bool) {
    let state = if write { State::Ready } else { progress::before_read() };
    runtime::step(event, state);
}
