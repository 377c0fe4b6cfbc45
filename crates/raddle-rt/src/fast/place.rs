//! What the fast path knows of a place in the code and of a thread: plain data.

use crate::image::{self, Class, LockFamily, LockOp, LockStep};
use crate::sync::words;
use raddle_core::SiteId;
use raddle_sched::{Gate, Test};
use std::cell::Cell;

/// Accesses relative to the thread pointer reach 2 GiB in both directions.
pub const REACH: usize = 2 << 30;
/// Where the region begins.
pub const BASE: usize = 0x6200_0000_0000;
/// The thread pointer that leads nowhere.
pub const NOWHERE: usize = BASE + REACH;

/// A return address that is well known.
#[derive(Clone, Debug)]
pub struct FastSite {
    /// The address.
    pub pc: usize,
    /// What is done there.
    pub op: AtomicOp,
    /// If that is done to a mutex, this is free when these bits of its word are zero.
    pub bits: u64,
    /// Its site.
    pub site: SiteId,
    /// A hidden synchronisation follows, so that others may run in between.
    pub hides: bool,
    /// The thread pointer to go on with, if it need not be the thread's own; 0 otherwise.
    fs: Cell<usize>,
}

/// What an operation at a site does.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum AtomicOp {
    /// It accesses data, at a scheduling point.
    Data,
    /// It takes a mutex.
    Take,
    /// It gives a mutex back.
    Give,
}

impl AtomicOp {
    /// The task of an operation of this class, if it is one for here, and the bits of its word that tell whether a mutex is free.
    pub fn of(class: Class) -> Option<(AtomicOp, u64)> {
        match class {
            Class::Data => Some((AtomicOp::Data, 0)),
            Class::Lock { family, op, mode, step: LockStep::Decides }
                if matches!(family, LockFamily::StdMutex | LockFamily::ParkingLotMutex) =>
            {
                match (op, words::gate(family, image::mode(mode))) {
                    (LockOp::Acquire, Test::Zero(bits)) => Some((AtomicOp::Take, bits)),
                    (LockOp::Release, Test::Zero(bits)) => Some((AtomicOp::Give, bits)),
                    _ => None,
                }
            }
            _ => None,
        }
    }
}

impl FastSite {
    /// What is known of a return address. What follows needs the thread pointer unless it may go without (`unset_fs`).
    pub fn new(pc: usize, op: AtomicOp, bits: u64, site: SiteId, hides: bool, unset_fs: bool) -> FastSite {
        FastSite { pc, op, bits, site, hides, fs: Cell::new(if unset_fs { NOWHERE } else { 0 }) }
    }

    /// The mutex that is taken here, if that is what is done, at this address.
    pub fn mutex(&self, addr: usize) -> Option<Gate> {
        (self.op == AtomicOp::Take).then(|| Gate::mutex(addr, self.bits))
    }

    /// The thread pointer that a thread with this one may go on with.
    #[inline(always)]
    pub fn fs(&self, own: usize) -> usize {
        let fs = self.fs.get();
        if fs == 0 { own } else { fs }
    }

    /// What follows needs the thread pointer.
    pub fn restore_fs(&self) {
        self.fs.set(0);
    }
}

/// What the fast path knows of a thread.
#[derive(Debug)]
pub struct Thread {
    /// The thread pointer that it may be continued with.
    pub next_fs: usize,
    /// Return address of its last step, outside batches, after which it may have gone on without its thread pointer.
    pub fs_unset_since: usize,
    /// Return address of the last hook at the end of a function after that step; 0 if there was none.
    pub last_exit: usize,
    /// The site of its last step, if that was taken in a batch: its state says so only when the batch ends.
    pub site: Option<&'static FastSite>,
    /// The mutex that it takes at [`site`](Self::site).
    pub acquires: usize,
}

impl Thread {
    /// One with this thread pointer.
    pub fn new(fs: usize) -> Thread {
        Thread { next_fs: fs, fs_unset_since: 0, last_exit: 0, site: None, acquires: 0 }
    }
}
