//! Atomic accesses, whatever their width: what is announced before they happen and recorded afterwards. Fences.

use super::{Verdict, filter, matters, site, stand};
use crate::fast::{self, AtomicOp, Register};
use crate::image::{self, AccessKind, Class, LockFamily, LockOp, LockStep};
use crate::learn::remember;
use crate::memory;
use crate::owners;
use crate::progress;
use crate::runtime::{self, Inside, rt};
use crate::sites::Sites;
use crate::sync::words::{self, Change};
use raddle_core::{Access, Content, LockMode, Op, Ordering, SiteId, VarId};
use raddle_sched::{Circle, Gate, State};
use std::arch::naked_asm;

/// How an operation acts on its word.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Shape {
    /// Reads.
    Load,
    /// Writes.
    Store,
    /// Reads and writes.
    Rmw,
    /// Reads, and writes if the value is the expected one.
    Cas,
}

impl Shape {
    /// The register that the return address is passed in: that of the argument after the ABI's last.
    pub fn register(self) -> Register {
        match self {
            Shape::Load => Register::Rdx,
            Shape::Store | Shape::Rmw => Register::Rcx,
            Shape::Cas => Register::R9,
        }
    }

    fn kind(self) -> AccessKind {
        match self {
            Shape::Load => AccessKind::AtomicLoad,
            Shape::Store => AccessKind::AtomicStore,
            Shape::Rmw | Shape::Cas => AccessKind::AtomicRmw,
        }
    }
}

/// The orderings of the C ABI, by number.
fn ordering(mo: i32) -> Ordering {
    match mo & 0xff {
        0 => Ordering::Relaxed,
        1 | 2 => Ordering::Acquire,
        3 => Ordering::Release,
        4 => Ordering::AcqRel,
        _ => Ordering::SeqCst,
    }
}

/// How an operation is to be recorded once it has happened.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Record {
    /// Not at all.
    No,
    /// Not at all, but it may be part of a loop that waits.
    Calm,
    /// As an access to the program's data.
    Data,
    /// As an operation on a word of a synchronisation primitive.
    Sync,
    /// As an operation on such a word where code that belongs to it is precompiled and may change the word unseen.
    HalfSeen,
    /// As an operation on a lock, if it was one.
    Lock(LockFamily, LockOp, LockMode),
}

/// An operation in progress, between its announcement and its effect.
pub struct Pending {
    site: SiteId,
    record: Record,
    addr: usize,
    var: VarId,
    size: u8,
    ordering: Ordering,
}

impl Pending {
    /// An operation that nothing is known about yet.
    #[inline(always)]
    pub fn new(addr: usize, size: u8, mo: i32) -> Self {
        let (site, var) = (SiteId(0), VarId(0));
        Pending { site, record: Record::No, addr, var, size, ordering: ordering(mo) }
    }

    #[inline(always)]
    fn access(&self) -> Access {
        Access { ordering: Some(self.ordering), ..Access::plain(self.var, self.size) }
    }

    /// Whether it is to be recorded once it has happened.
    #[inline(always)]
    pub fn counts(&self) -> bool {
        self.record != Record::No
    }
}

/// Announces an atomic operation that may matter; returns when it may happen.
#[inline(always)]
pub fn announce(p: &mut Pending, shape: Shape, pc: usize) {
    rt().settle_store();
    let (site, class, by_pc) = site(pc, shape.kind());
    p.site = site;
    if class == Class::Data
        && !runtime::calls_only()
        && memory::owns(p.addr)
        && rt().store.sites.get(site).point
    {
        p.record = Record::Data;
        at_point(p, shape);
        if runtime::unrecorded() {
            super::mark_fast_atomic(pc);
        }
    } else {
        announce_other(p, shape, pc, class, by_pc);
        if by_pc
            && runtime::unrecorded()
            && AtomicOp::of(class).is_some_and(|(task, _)| task != AtomicOp::Data)
        {
            super::mark_fast_atomic(pc);
        }
    }
    runtime::access_at(p.addr);
}

/// A step on data on the heap at a scheduling point, the most frequent one.
#[inline(never)]
fn at_point(p: &mut Pending, shape: Shape) {
    let r = rt();
    p.var = r.var(p.addr);
    let op = match shape {
        Shape::Load => Op::Read(p.access()),
        Shape::Store => Op::Write(p.access()),
        Shape::Rmw | Shape::Cas => Op::Rmw(p.access()),
    };
    // A compare-exchange or swap may be the read of a spin loop.
    stand(r.event(p.site, op), shape == Shape::Store);
    remember(p.site, p.addr, p.size as usize, shape != Shape::Load);
}

#[inline(never)]
fn announce_other(p: &mut Pending, shape: Shape, pc: usize, class: Class, by_pc: bool) {
    let site = p.site;
    match class {
        Class::Data => {
            visible(p, shape, Record::Data);
            if !p.counts() && fast::hooks_are_out() {
                super::mark_not_a_point(pc);
            }
        }
        Class::Lock { family, op, mode, step } => lock(p, family, op, image::mode(mode), step),
        Class::RefCountObserved => {
            let r = rt();
            if !r.store.sites.counts_observed {
                r.store.learned = true;
                r.store.sites.counts_observed = true;
                super::invalidate_all();
            }
            visible(p, shape, Record::Sync);
        }
        Class::RefCount | Class::OwnerGone | Class::WeakGone if rt().store.sites.counts_observed => {
            visible(p, shape, Record::Sync)
        }
        Class::OwnerGone | Class::WeakGone => owner_gone(p, shape, pc, class),
        Class::Channel | Class::Internal => visible(p, shape, Record::Sync),
        // Their other side is precompiled, so that its accesses are not seen: each of these is a step.
        Class::Once if shape == Shape::Load && runtime::load(p.addr, 4) == ONCE_COMPLETE => {
            if rt().store.strategy.every_step() && !runtime::unseen() {
                half_seen(p);
            }
            progress::patience(site)
        }
        Class::Once | Class::Condvar | Class::Park => always_visible(p, shape),
        Class::Poison if poison_matters(shape) => visible(p, shape, Record::Sync),
        Class::RefCount | Class::Poison | Class::Thread => {
            if class == Class::RefCount {
                owners::dull();
            }
            if by_pc || Sites::counts(site) {
                super::mark_irrelevant(pc);
            }
            progress::patience(site);
        }
    }
}

/// Whether the order of accesses to poison flags matters: once a thread that holds no lock looks at one.
fn poison_matters(shape: Shape) -> bool {
    let r = rt();
    if shape == Shape::Load && runtime::me().held.is_empty() && !r.store.sites.poison_observed {
        r.store.sites.poison_observed = true;
        r.store.learned = true;
        super::invalidate_all();
    }
    r.store.sites.poison_observed
}

/// An owner takes a reference count down: a step where it has been seen to matter who is the last.
fn owner_gone(p: &mut Pending, shape: Shape, pc: usize, class: Class) {
    if rt().store.sites.get(p.site).point {
        visible(p, shape, Record::Sync);
    } else {
        if runtime::unrecorded() {
            super::mark_not_a_point(pc);
        }
        progress::patience(p.site);
    }
    match class {
        Class::OwnerGone => owners::given_up(p.addr, p.site),
        _ => owners::weak_given_up(p.addr, p.site),
    }
}

/// A step that is visible if its memory is shared.
#[inline(always)]
fn visible(p: &mut Pending, shape: Shape, record: Record) {
    let write = shape != Shape::Load;
    let size = p.size as usize;
    if runtime::calls_only() {
        p.record = Record::Calm;
        by_calls_only(p, shape);
        return;
    }
    let verdict = filter(p.site, p.addr, size, write);
    if verdict == Verdict::Private {
        if runtime::me().urged > 0 {
            progress::urged(p.site, p.addr, p.size, shape == Shape::Store);
        }
        if write {
            runtime::me().circle = Circle::default();
        }
        progress::patience(p.site);
        return;
    }
    p.record = record;
    p.var = rt().var(p.addr);
    if verdict == Verdict::Point {
        let op = match (record, shape) {
            (Record::Sync, _) => Op::Sync { on: p.var, write },
            (_, Shape::Load) => Op::Read(p.access()),
            (_, Shape::Store) => Op::Write(p.access()),
            (_, Shape::Rmw | Shape::Cas) => Op::Rmw(p.access()),
        };
        let e = rt().event(p.site, op);
        // A compare-exchange or swap may be the read of a spin loop.
        stand(e, shape == Shape::Store);
        remember(p.site, p.addr, size, write);
    } else {
        progress::patience(p.site);
    }
}

/// A step in a calls-only execution: the strategy sees it only if the thread stands aside.
fn by_calls_only(p: &mut Pending, shape: Shape) {
    let state = if shape == Shape::Store { State::Ready } else { progress::before_read() };
    if state != State::Ready {
        p.var = rt().var(p.addr);
    }
    let e = rt().event(p.site, Op::Sync { on: p.var, write: shape != Shape::Load });
    runtime::step(e, state);
}

/// The state of std's futex `Once` after its initialiser has run; it never changes again.
const ONCE_COMPLETE: u128 = 0;

fn half_seen(p: &mut Pending) {
    p.record = Record::HalfSeen;
    p.var = rt().var(p.addr);
}

/// A step that is visible whoever touches its memory.
fn always_visible(p: &mut Pending, shape: Shape) {
    half_seen(p);
    let e = rt().event(p.site, Op::Sync { on: p.var, write: true });
    stand(e, shape != Shape::Load);
}

/// A step of an operation on a lock. The first access of an acquisition waits until the lock is free, so
/// that the slow paths of the lock are rarely entered; a second one of the same operation is no step of its
/// own.
fn lock(p: &mut Pending, family: LockFamily, op: LockOp, mode: LockMode, step: LockStep) {
    p.record = Record::Lock(family, op, mode);
    let r = rt();
    let addr = p.addr;
    // Whether it is free is asked in many places.
    runtime::probe(addr);
    let second_half = r.me().acquiring == addr && step == LockStep::Decides;
    let rwlock = matches!(family, LockFamily::StdRwLock | LockFamily::ParkingLotRwLock);
    let gate = Gate {
        addr,
        test: words::gate(family, mode),
        reader: rwlock && mode == LockMode::Shared,
        writer: rwlock && mode == LockMode::Exclusive,
    };
    let var = if runtime::calls_only() && r.open(gate) { p.var } else { r.var(addr) };
    p.var = var;
    match op {
        _ if second_half || step == LockStep::Contends => {
            r.me().acquiring = 0;
            progress::patience(p.site);
        }
        LockOp::Acquire => {
            let e = r.event(p.site, Op::Acquire { lock: var, mode });
            runtime::step(e, State::Lock(gate));
            if step == LockStep::Observes {
                rt().me().acquiring = addr;
            }
        }
        LockOp::TryAcquire => {
            r.store.learned |= !r.store.sites.locks_tried;
            r.store.sites.locks_tried = true;
            let e = r.event(p.site, Op::TryAcquire { lock: var, mode });
            let state = progress::before_read();
            runtime::step(e, state);
            let r = rt();
            if step == LockStep::Observes && r.open(gate) {
                r.me().acquiring = addr;
            } else if !r.open(gate) {
                r.record(e);
            }
        }
        LockOp::Release | LockOp::Downgrade if r.store.sites.locks_tried && step == LockStep::Decides => {
            let e = r.event(p.site, Op::Release { lock: var, mode });
            runtime::step(e, State::Ready);
        }
        _ => progress::patience(p.site),
    }
}

/// Records an operation that has happened: whether it read `old`, and whether it wrote `new`.
#[inline(never)]
pub fn happened(p: &Pending, old: u128, read: bool, written: bool, new: u128) {
    // A store of what was there already is no progress: `while lock.swap(true) {}` spins.
    if written && (!read || new != old) {
        progress::progressed();
    } else {
        progress::saw(p.site, p.addr, p.size, old);
    }
    let r = rt();
    match p.record {
        Record::No | Record::Calm => {}
        Record::Data => {
            let mut a = p.access();
            if read {
                a.read = Content::of(old);
            }
            if written {
                a.written = Content::of(new);
            }
            let op = match (read, written) {
                (true, true) => Op::Rmw(a),
                (false, _) => Op::Write(a),
                (true, false) => Op::Read(a),
            };
            let e = r.event(p.site, op);
            r.record(e);
        }
        Record::Sync | Record::HalfSeen => {
            let write = written || p.record == Record::HalfSeen;
            let e = r.event(p.site, Op::Sync { on: p.var, write });
            r.record(e);
        }
        Record::Lock(family, ..) if written => match words::change(family, old as u64, new as u64) {
            Change::Taken(mode) => r.acquired(p.addr, mode, p.site),
            Change::Given(mode) => r.released(p.addr, mode, p.site),
            Change::Turned(mode) => {
                let before = if mode == LockMode::Shared { LockMode::Exclusive } else { LockMode::Shared };
                r.released(p.addr, before, p.site);
                r.acquired(p.addr, mode, p.site);
            }
            Change::Nothing => {}
        },
        Record::Lock(..) => {}
    }
    runtime::after(p.site);
}

extern "C" fn fence(mo: i32, pc: usize) {
    if !runtime::controlled() {
        std::sync::atomic::fence(std::sync::atomic::Ordering::SeqCst);
        return;
    }
    let _inside = Inside::enter();
    if fast::first_visit(pc) {
        // Nobody has to stop at one.
        fast::drop_hook(pc);
    }
    if !matters(pc) {
        return;
    }
    let (s, class, by_pc) = site(pc, AccessKind::Fence);
    progress::patience(s);
    let r = rt();
    match class {
        Class::Data => {
            let e = r.event(s, Op::Fence(ordering(mo)));
            r.record(e);
        }
        _ => {
            if class == Class::RefCount {
                owners::dull();
            }
            if by_pc || Sites::counts(s) && !r.store.sites.counts_observed {
                super::mark_irrelevant(pc);
            }
        }
    }
}

entry! { "rsi" __tsan_atomic_thread_fence fence; }

/// Hook: a fence against signal handlers only.
#[unsafe(no_mangle)]
pub extern "C" fn __tsan_atomic_signal_fence(_mo: i32) {}
