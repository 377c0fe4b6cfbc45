//! Atomic operations of unrecorded executions (see [`unrecorded`](crate::fast::unrecorded)) at return addresses that are well known: steps on data at
//! scheduling points, and mutexes taken and given back. What the hooks do for them otherwise, without what nobody looks at.

use super::ops::Functions;
use super::place::{AtomicOp, FastSite};
use super::{patch, step};
use crate::hooks::{self, Shape};
use crate::memory;
use crate::progress;
use crate::runtime::{self, Inside, rt};
use raddle_core::LockMode;
use raddle_sched::{Free, Gate, HeldLock};

/// What is known of the task where the code is compiled.
pub trait Kind {
    /// The task, if it is always the same.
    const OP: Option<AtomicOp>;
}

/// Operations on data.
pub struct Data;
/// Operations that take a mutex.
pub struct Take;
/// Operations that give one back.
pub struct Give;
/// Operations that may be any of those.
pub struct Any;

impl Kind for Data {
    const OP: Option<AtomicOp> = Some(AtomicOp::Data);
}

impl Kind for Take {
    const OP: Option<AtomicOp> = Some(AtomicOp::Take);
}

impl Kind for Give {
    const OP: Option<AtomicOp> = Some(AtomicOp::Give);
}

impl Kind for Any {
    const OP: Option<AtomicOp> = None;
}

/// Takes the step of an operation in an unrecorded execution: returns what is known of its site when it may happen. If it is none of
/// those, nothing has happened. From now on one of the functions is called in place of the hook, if there are such.
#[inline(always)]
pub fn try_step(addr: usize, shape: Shape, pc: usize, functions: Option<Functions>) -> Option<FastSite> {
    if !runtime::unrecorded() {
        return None;
    }
    let site = hooks::fast_atomic(pc)?;
    if let Some(functions) = functions
        && patch::first_visit(pc)
    {
        patch::divert(site.clone(), shape.register(), functions().batched[site.op as usize]);
    }
    take_turn(addr, shape, &site).then_some(site)
}

/// Waits for the turn of an operation at a site, on a word that `word` reads, as a step of a batch, or where it is no step; tells whether
/// it may happen. If not, nothing has happened.
#[inline(always)]
pub fn take_turn_batched<K: Kind>(
    addr: usize,
    word: impl FnOnce() -> u64,
    shape: Shape,
    site: &'static FastSite,
) -> bool {
    match K::OP.unwrap_or(site.op) {
        AtomicOp::Data => !must_look(addr, shape) && step::run_on(site),
        AtomicOp::Take => {
            runtime::me().fast.acquires = addr;
            is_new_at(addr) && word() & site.bits == 0 && step::run_on(site)
        }
        AtomicOp::Give => !runtime::alone() && is_no_step(),
    }
}

/// Waits for the turn of an operation at a site whoever can go on.
#[inline(always)]
pub fn take_turn(addr: usize, shape: Shape, site: &FastSite) -> bool {
    let gate = match site.op {
        AtomicOp::Data if must_look(addr, shape) => return false,
        AtomicOp::Data => None,
        AtomicOp::Take if !is_new_at(addr) => return false,
        AtomicOp::Take => {
            runtime::probe(addr);
            let gate = Gate::mutex(addr, site.bits);
            Free::when(&gate).map(|free| (gate, free))
        }
        AtomicOp::Give => return is_no_step(),
    };
    let f = runtime::me();
    f.pending.site = site.site;
    f.may_unset_fs(site);
    step::wait_for_turn(gate);
    runtime::access_at(addr);
    true
}

/// Whether an operation on data is to be looked at: it is not on the heap, or its thread seems to spin.
#[inline(always)]
fn must_look(addr: usize, shape: Shape) -> bool {
    !memory::owns(addr) || shape != Shape::Store && runtime::me().spin_count > 0
}

/// Whether the running thread has not stood before this mutex already.
#[inline(always)]
fn is_new_at(addr: usize) -> bool {
    runtime::me().acquiring != addr
}

/// Giving a lock back is a step only where somebody tries to take it.
#[inline(always)]
fn is_no_step() -> bool {
    let f = runtime::me();
    !rt().store.sites.locks_tried && f.raw < f.raw_limit
}

impl FastSite {
    /// The operation has happened: the word was `old` and is `new`.
    pub fn happened(&self, addr: usize, size: u8, shape: Shape, old: u64, new: u64) {
        self.happened_as::<Any>(addr, size, shape, old, new);
    }

    /// The operation, of a known kind, has happened: the word was `old` and is `new`.
    #[inline(always)]
    pub fn happened_as<K: Kind>(&self, addr: usize, size: u8, shape: Shape, old: u64, new: u64) {
        // A store is progress, whatever was there.
        let old = if shape == Shape::Store { !new } else { old };
        runtime::me().anchor = self.site;
        if old == new {
            self.saw(addr, size, old);
        } else {
            progress::progressed_unrecorded();
            self.changed::<K>(addr, old, new);
        }
        if self.hides {
            self.stop_after();
        }
    }

    #[inline(never)]
    fn saw(&self, addr: usize, size: u8, value: u64) {
        progress::saw(self.site, addr, size, value as u128);
    }

    #[inline(always)]
    fn changed<K: Kind>(&self, addr: usize, old: u64, new: u64) {
        match K::OP.unwrap_or(self.op) {
            AtomicOp::Data => {}
            AtomicOp::Take => {
                if old & self.bits == 0 && new & self.bits != 0 {
                    let held = &mut runtime::me().held;
                    if held.len() == held.capacity() {
                        return self.taken(addr);
                    }
                    held.push(self.held(addr));
                }
            }
            AtomicOp::Give => {
                if old & self.bits != 0 && new & self.bits == 0 {
                    let held = &mut runtime::me().held;
                    if held.pop_if(|l| l.addr == addr).is_none() {
                        self.given(addr);
                    }
                }
            }
        }
    }

    #[inline(always)]
    fn held(&self, addr: usize) -> HeldLock {
        HeldLock { addr, mode: LockMode::Exclusive, site: self.site }
    }

    #[cold]
    fn taken(&self, addr: usize) {
        runtime::me().held.push(self.held(addr));
    }

    #[cold]
    fn given(&self, addr: usize) {
        let _inside = Inside::enter();
        rt().released(addr, LockMode::Exclusive, self.site);
    }

    #[inline(never)]
    fn stop_after(&self) {
        if runtime::alone() {
            return;
        }
        let _inside = Inside::enter();
        runtime::me().may_unset_fs(self);
        step::wait_for_turn(None);
    }
}
