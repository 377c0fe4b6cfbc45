//! Atomic operations of brisk executions (see [`brisk`](crate::brisk)) at return addresses that are well known: steps on data at
//! scheduling points, and mutexes taken and given back. What the hooks do for them otherwise, without what nobody looks at.

use super::atomic::Shape;
use crate::fiber::{Gate, HeldLock, Test};
use crate::image::{self, Class, LockFamily, LockOp, LockStep};
use crate::memory;
use crate::patch;
use crate::progress;
use crate::runtime::{self, Inside, rt};
use crate::sync::words::{self, Free};
use raddle_core::{LockMode, SiteId};
use std::cell::Cell;

/// A return address that is well known.
#[derive(Clone, Debug)]
pub struct Spot {
    /// The address.
    pub pc: usize,
    /// Its site.
    pub site: SiteId,
    /// What is done there.
    pub task: Task,
    /// A hidden synchronisation follows, so that others may run in between.
    pub hides: bool,
    /// What follows needs no thread pointer.
    pub bare: Cell<bool>,
}

/// What an operation at a spot does.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Task {
    /// It accesses data, at a scheduling point.
    Data,
    /// It takes a mutex, which is free when the bits of its word under the mask are zero.
    Take(u64),
    /// It gives such a mutex back.
    Give(u64),
}

impl Task {
    /// The task of an operation of this class, if it is one for here.
    pub fn of(class: Class) -> Option<Task> {
        match class {
            Class::Data => Some(Task::Data),
            Class::Lock { family, op, mode, step: LockStep::Decides }
                if matches!(family, LockFamily::StdMutex | LockFamily::ParkingLotMutex) =>
            {
                match (op, words::gate(family, image::mode(mode))) {
                    (LockOp::Acquire, Test::Zero(bits)) => Some(Task::Take(bits)),
                    (LockOp::Release, Test::Zero(bits)) => Some(Task::Give(bits)),
                    _ => None,
                }
            }
            _ => None,
        }
    }
}

/// Announces an operation; returns what is known of its spot when it may happen. If it is none of those, nothing has happened. Where
/// hooks are taken out, the function at `step` is called from now on.
#[inline(always)]
pub fn announce(addr: usize, shape: Shape, pc: usize, step: usize) -> Option<Spot> {
    if !runtime::brisk() {
        return None;
    }
    let spot = super::hot(pc)?;
    if patch::is_news(pc) {
        patch::divert(spot.clone(), shape.register(), step);
    }
    take_turn(addr, shape, &spot).then_some(spot)
}

/// The same at a spot as a step of a sprint, or where it is no step; tells whether it may happen now. If not, nothing has happened.
#[inline(always)]
pub fn run_on(addr: usize, shape: Shape, spot: &Spot) -> bool {
    let (bare, pc) = (spot.bare.get(), spot.pc);
    match spot.task {
        Task::Data => !must_look(addr, shape) && runtime::run_on(None, bare, pc),
        Task::Take(bits) => gate(addr, bits).is_some_and(|gate| runtime::run_on(Some(gate), bare, pc)),
        Task::Give(_) => !runtime::alone() && is_no_step(),
    }
}

/// The same whoever can go on.
#[inline(always)]
pub fn take_turn(addr: usize, shape: Shape, spot: &Spot) -> bool {
    let gate = match spot.task {
        Task::Data if must_look(addr, shape) => return false,
        Task::Data => None,
        Task::Take(bits) => match gate(addr, bits) {
            None => return false,
            gate => gate,
        },
        Task::Give(_) => return is_no_step(),
    };
    let f = runtime::me();
    f.pending.site = spot.site;
    f.may_go_bare(spot.bare.get(), spot.pc);
    runtime::advance_briskly(gate);
    true
}

/// Whether an operation on data is to be looked at: it is not on the heap, or its thread seems to spin.
#[inline(always)]
fn must_look(addr: usize, shape: Shape) -> bool {
    !memory::owns(addr) || shape != Shape::Store && runtime::me().spin_count > 0
}

/// What a thread that comes to a mutex waits for, unless it has stood before it already.
#[inline(always)]
fn gate(addr: usize, bits: u64) -> Option<(Gate, Free)> {
    if runtime::me().acquiring == addr {
        return None;
    }
    let gate = Gate { addr, test: Test::Zero(bits), reader: false, writer: false };
    Free::when(&gate).map(|free| (gate, free))
}

/// Giving a lock back is a step only where somebody tries to take it.
#[inline(always)]
fn is_no_step() -> bool {
    let f = runtime::me();
    !rt().store.sites.locks_tried && f.raw < f.raw_limit
}

impl Spot {
    /// The operation has happened: the word was `old` and is `new`.
    #[inline(always)]
    pub fn happened(&self, addr: usize, size: u8, old: u64, new: u64) {
        runtime::me().anchor = self.site;
        if old == new {
            progress::saw(self.site, addr, size, old as u128);
        } else {
            progress::progressed();
            self.changed(addr, old, new);
        }
        if self.hides {
            self.stop_after();
        }
    }

    #[inline(always)]
    fn changed(&self, addr: usize, old: u64, new: u64) {
        match self.task {
            Task::Data => {}
            Task::Take(bits) => {
                if old & bits == 0 && new & bits != 0 {
                    let mode = LockMode::Exclusive;
                    runtime::me().held.push(HeldLock { addr, mode, site: self.site });
                }
            }
            Task::Give(bits) => {
                if old & bits != 0 && new & bits == 0 {
                    self.given(addr);
                }
            }
        }
    }

    #[inline(never)]
    fn stop_after(&self) {
        if runtime::alone() {
            return;
        }
        let (bare, pc) = (self.bare.get(), self.pc);
        if !runtime::run_on(None, bare, pc) {
            let _inside = Inside::enter();
            runtime::me().may_go_bare(bare, pc);
            runtime::advance_briskly(None);
        }
    }

    #[inline(always)]
    fn given(&self, addr: usize) {
        let held = &mut runtime::me().held;
        if held.last().is_some_and(|l| l.addr == addr) {
            held.pop();
        } else {
            let _inside = Inside::enter();
            rt().released(addr, LockMode::Exclusive, self.site);
        }
    }
}
