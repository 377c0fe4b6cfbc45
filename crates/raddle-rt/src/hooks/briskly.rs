//! Atomic operations of brisk executions (see [`brisk`](crate::brisk)) at return addresses that are well known: steps on data at
//! scheduling points, and mutexes taken and given back. What the hooks do for them otherwise, without what nobody looks at.

use super::atomic::Shape;
use crate::bare;
use crate::image::{self, Class, LockFamily, LockOp, LockStep};
use crate::memory;
use crate::patch;
use crate::progress;
use crate::runtime::{self, Inside, rt};
use crate::sync::words;
use raddle_core::{LockMode, SiteId};
use raddle_sched::{Free, Gate, HeldLock, Test};
use std::cell::Cell;

/// A return address that is well known.
#[derive(Clone, Debug)]
pub struct Spot {
    /// The address.
    pub pc: usize,
    /// What is done there.
    pub task: Task,
    /// If that is done to a mutex, this is free when these bits of its word are zero.
    pub bits: u64,
    /// Its site.
    pub site: SiteId,
    /// A hidden synchronisation follows, so that others may run in between.
    pub hides: bool,
    /// The thread pointer to go on with, if it need not be the thread's own; 0 otherwise.
    fs: Cell<usize>,
}

/// What an operation at a spot does.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Task {
    /// It accesses data, at a scheduling point.
    Data,
    /// It takes a mutex.
    Take,
    /// It gives a mutex back.
    Give,
}

impl Task {
    /// The task of an operation of this class, if it is one for here, and the bits of its word that tell whether a mutex is free.
    pub fn of(class: Class) -> Option<(Task, u64)> {
        match class {
            Class::Data => Some((Task::Data, 0)),
            Class::Lock { family, op, mode, step: LockStep::Decides }
                if matches!(family, LockFamily::StdMutex | LockFamily::ParkingLotMutex) =>
            {
                match (op, words::gate(family, image::mode(mode))) {
                    (LockOp::Acquire, Test::Zero(bits)) => Some((Task::Take, bits)),
                    (LockOp::Release, Test::Zero(bits)) => Some((Task::Give, bits)),
                    _ => None,
                }
            }
            _ => None,
        }
    }
}

/// What is known of the task where the code is compiled.
pub trait Kind {
    /// The task, if it is always the same.
    const TASK: Option<Task>;
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
    const TASK: Option<Task> = Some(Task::Data);
}

impl Kind for Take {
    const TASK: Option<Task> = Some(Task::Take);
}

impl Kind for Give {
    const TASK: Option<Task> = Some(Task::Give);
}

impl Kind for Any {
    const TASK: Option<Task> = None;
}

/// The functions that make a step, by task.
pub type Steps = [usize; 3];

/// Announces an operation; returns what is known of its spot when it may happen. If it is none of those, nothing has happened. Where
/// hooks are taken out, one of the functions at `steps` is called from now on, if there are such.
#[inline(always)]
pub fn announce(addr: usize, shape: Shape, pc: usize, steps: Option<Steps>) -> Option<Spot> {
    if !runtime::brisk() {
        return None;
    }
    let spot = super::hot(pc)?;
    if let Some(steps) = steps
        && patch::is_news(pc)
    {
        patch::divert(spot.clone(), shape.register(), steps[spot.task as usize]);
    }
    take_turn(addr, shape, &spot).then_some(spot)
}

/// The same at a spot, on a word that `word` reads, as a step of a sprint, or where it is no step; tells whether it may happen. If not, nothing has happened.
#[inline(always)]
pub fn run_on<K: Kind>(addr: usize, word: impl FnOnce() -> u64, shape: Shape, spot: &'static Spot) -> bool {
    match K::TASK.unwrap_or(spot.task) {
        Task::Data => !must_look(addr, shape) && runtime::run_on(spot),
        Task::Take => {
            runtime::me().acquires = addr;
            is_new_at(addr) && word() & spot.bits == 0 && runtime::run_on(spot)
        }
        Task::Give => !runtime::alone() && is_no_step(),
    }
}

/// The same whoever can go on.
#[inline(always)]
pub fn take_turn(addr: usize, shape: Shape, spot: &Spot) -> bool {
    let gate = match spot.task {
        Task::Data if must_look(addr, shape) => return false,
        Task::Data => None,
        Task::Take if !is_new_at(addr) => return false,
        Task::Take => {
            runtime::probe(addr);
            let gate = Gate::mutex(addr, spot.bits);
            Free::when(&gate).map(|free| (gate, free))
        }
        Task::Give => return is_no_step(),
    };
    let f = runtime::me();
    f.pending.site = spot.site;
    f.may_go_bare(spot);
    runtime::advance_briskly(gate);
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

impl Spot {
    /// What is known of a return address. What follows needs the thread pointer unless it may go `bare`.
    pub fn new(pc: usize, task: Task, bits: u64, site: SiteId, hides: bool, bare: bool) -> Spot {
        Spot { pc, task, bits, site, hides, fs: Cell::new(if bare { bare::NOWHERE } else { 0 }) }
    }

    /// The mutex that is taken here, if that is what is done, at this address.
    pub fn mutex(&self, addr: usize) -> Option<Gate> {
        (self.task == Task::Take).then(|| Gate::mutex(addr, self.bits))
    }

    /// The thread pointer that a thread with this one may go on with.
    #[inline(always)]
    pub fn fs(&self, own: usize) -> usize {
        let fs = self.fs.get();
        if fs == 0 { own } else { fs }
    }

    /// What follows needs the thread pointer.
    pub fn dress(&self) {
        self.fs.set(0);
    }

    /// The operation has happened: the word was `old` and is `new`.
    #[inline(always)]
    pub fn happened<K: Kind>(&self, addr: usize, size: u8, old: u64, new: u64) {
        runtime::me().anchor = self.site;
        if old == new {
            self.saw(addr, size, old);
        } else {
            progress::progressed_briskly();
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
        match K::TASK.unwrap_or(self.task) {
            Task::Data => {}
            Task::Take => {
                if old & self.bits == 0 && new & self.bits != 0 {
                    let held = &mut runtime::me().held;
                    if held.len() == held.capacity() {
                        return self.taken(addr);
                    }
                    held.push(self.held(addr));
                }
            }
            Task::Give => {
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
        runtime::me().may_go_bare(self);
        runtime::advance_briskly(None);
    }
}
