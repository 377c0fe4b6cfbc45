//! Atomic operations of brisk executions (see [`brisk`](crate::brisk)) at return addresses that are well known: steps on data at
//! scheduling points, and mutexes taken and given back. What the hooks do for them otherwise, without what nobody looks at.

use super::atomic::Shape;
use crate::fiber::{Gate, HeldLock};
use crate::image::{self, Class, LockFamily, LockOp, LockStep};
use crate::memory;
use crate::progress;
use crate::runtime::{self, rt};
use crate::sync::words::{self, Change, Free};
use raddle_core::SiteId;

/// An operation that may happen now.
pub struct Step {
    site: SiteId,
    addr: usize,
    /// The kind of lock, for an operation on one.
    lock: Option<LockFamily>,
}

/// Whether operations of this class on something else than data are done here.
pub fn knows(class: Class) -> bool {
    matches!(class, Class::Lock { family, op: LockOp::Acquire | LockOp::Release, step: LockStep::Decides, .. }
        if matches!(family, LockFamily::StdMutex | LockFamily::ParkingLotMutex))
}

/// Announces an operation; returns when it may happen. If it is none of those, nothing has happened.
#[inline(always)]
pub fn announce(addr: usize, shape: Shape, pc: usize) -> Option<Step> {
    if !runtime::brisk() {
        return None;
    }
    let (site, class, bare) = super::hot(pc)?;
    let f = runtime::me();
    let lock = match class {
        Class::Lock { family, op: LockOp::Acquire, mode, .. } => {
            if f.acquiring == addr {
                return None;
            }
            let test = words::gate(family, image::mode(mode));
            let gate = Gate { addr, test, reader: false, writer: false };
            let free = Free::when(&gate)?;
            f.pending.site = site;
            f.may_go_bare(bare, pc);
            runtime::advance_to(gate, free);
            Some(family)
        }
        Class::Lock { family, .. } => {
            // Giving a lock back is a step only where somebody tries to take it.
            if rt().store.sites.locks_tried || f.raw >= f.raw_limit {
                return None;
            }
            Some(family)
        }
        _ => {
            // A thread that seems to spin is looked at.
            if !memory::owns(addr) || shape != Shape::Store && f.spin_count > 0 {
                return None;
            }
            f.pending.site = site;
            f.may_go_bare(bare, pc);
            runtime::advance();
            None
        }
    };
    runtime::me().anchor = site;
    Some(Step { site, addr, lock })
}

impl Step {
    /// It has happened: the word was `old` and is `new`.
    #[inline(always)]
    pub fn happened(&self, size: u8, old: u64, new: u64) {
        if old == new {
            return progress::saw(self.site, self.addr, size, old as u128);
        }
        progress::progressed();
        let Some(family) = self.lock else { return };
        let held = &mut runtime::me().held;
        match words::change(family, old, new) {
            Change::Taken(mode) => held.push(HeldLock { addr: self.addr, mode, site: self.site }),
            Change::Given(_) if held.last().is_some_and(|l| l.addr == self.addr) => {
                held.pop();
            }
            Change::Given(mode) => rt().released(self.addr, mode, self.site),
            Change::Turned(_) | Change::Nothing => {}
        }
    }
}
