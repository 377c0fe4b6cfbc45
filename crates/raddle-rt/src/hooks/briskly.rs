//! Atomic operations of brisk executions (see [`brisk`](crate::brisk)) at return addresses that are well known: steps on data at
//! scheduling points, and mutexes taken and given back. What the hooks do for them otherwise, without what nobody looks at.

use super::atomic::Shape;
use crate::fiber::{Gate, HeldLock};
use crate::image::{self, Class, LockFamily, LockOp, LockStep};
use crate::memory;
use crate::patch;
use crate::progress;
use crate::runtime::{self, rt};
use crate::sync::words::{self, Change, Free};
use raddle_core::SiteId;
use std::cell::Cell;

/// A return address that is well known.
#[derive(Clone, Debug)]
pub struct Spot {
    /// The address.
    pub pc: usize,
    /// Its site.
    pub site: SiteId,
    /// What is accessed there: data, or a lock.
    pub class: Class,
    /// What follows needs no thread pointer.
    pub bare: Cell<bool>,
}

/// An operation that may happen now.
pub struct Turn {
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

/// Announces an operation; returns when it may happen. If it is none of those, nothing has happened. Where hooks are taken out,
/// the function at `step` is called from now on.
#[inline(always)]
pub fn announce(addr: usize, shape: Shape, pc: usize, step: usize) -> Option<Turn> {
    if !runtime::brisk() {
        return None;
    }
    let spot = super::hot(pc)?;
    if patch::is_news(pc) {
        patch::divert(spot.clone(), shape.register(), step);
    }
    take_turn(addr, shape, &spot)
}

/// The same at a spot.
#[inline(always)]
pub fn take_turn(addr: usize, shape: Shape, spot: &Spot) -> Option<Turn> {
    let lock = match spot.class {
        Class::Lock { .. } => Some(take_turn_at_lock(addr, spot)?),
        _ => {
            let f = runtime::me();
            // A thread that seems to spin is looked at.
            if !memory::owns(addr) || shape != Shape::Store && f.spin_count > 0 {
                return None;
            }
            f.pending.site = spot.site;
            f.may_go_bare(spot.bare.get(), spot.pc);
            runtime::advance_briskly();
            None
        }
    };
    runtime::me().anchor = spot.site;
    Some(Turn { site: spot.site, addr, lock })
}

#[inline(never)]
fn take_turn_at_lock(addr: usize, spot: &Spot) -> Option<LockFamily> {
    let f = runtime::me();
    match spot.class {
        Class::Lock { family, op: LockOp::Acquire, mode, .. } => {
            if f.acquiring == addr {
                return None;
            }
            let test = words::gate(family, image::mode(mode));
            let gate = Gate { addr, test, reader: false, writer: false };
            let free = Free::when(&gate)?;
            f.pending.site = spot.site;
            f.may_go_bare(spot.bare.get(), spot.pc);
            runtime::advance_briskly_to(gate, free);
            Some(family)
        }
        // Giving a lock back is a step only where somebody tries to take it.
        Class::Lock { family, .. } if !rt().store.sites.locks_tried && f.raw < f.raw_limit => Some(family),
        _ => None,
    }
}

impl Turn {
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
