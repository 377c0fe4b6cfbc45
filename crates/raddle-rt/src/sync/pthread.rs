//! What threads do with pthread locks, conditions, barriers, semaphores and once controls, by their [`models`](super::models).

use super::models::{Barrier, Lock};
use crate::clock;
use crate::progress;
use crate::real::real;
use crate::runtime::{self, rt};
use libc::{c_int, clockid_t, timespec};
use raddle_core::protocol::Unexplored;
use raddle_core::{Event, LockMode, Op, SiteId, VarId};
use raddle_sched::{Gate, State, Test, Wait, WaitKind, Woken};

/// When a wait ends by itself.
#[derive(Clone, Copy)]
pub struct Limit {
    /// The clock that decides.
    pub clock: clockid_t,
    /// What it will show.
    pub time: timespec,
}

impl Limit {
    /// In virtual time.
    fn deadline(self) -> u64 {
        clock::at(self.clock, self.time)
    }
}

/// The type field of a glibc mutex: recursive, error-checking or neither.
fn kind(addr: usize) -> c_int {
    const KIND_OFFSET: usize = 16;
    // SAFETY: `pthread_mutex_t` on x86_64 glibc has its kind at this offset.
    unsafe { ((addr + KIND_OFFSET) as *const c_int).read() & 3 }
}

/// Takes a lock, waiting until `deadline` if there is one.
pub fn lock(addr: usize, mode: LockMode, mutex: bool, site: SiteId) -> c_int {
    let r = rt();
    let me = r.current();
    if mutex
        && let Some(Lock { owner: Some((o, n)), .. }) = r.execution.models.locks.get_mut(&addr)
        && *o == me
    {
        match kind(addr) {
            libc::PTHREAD_MUTEX_RECURSIVE => {
                *n += 1;
                return 0;
            }
            libc::PTHREAD_MUTEX_ERRORCHECK => return libc::EDEADLK,
            _ => {}
        }
    }
    let lock = r.var(addr);
    let e = r.event(site, Op::Acquire { lock, mode });
    runtime::step(e, State::Lock(Gate { addr, test: Test::Model(mode), reader: false, writer: false }));
    let r = rt();
    r.execution.models.take(addr, mode, me);
    r.acquired(addr, mode, site);
    0
}

/// Takes a lock if it is free.
pub fn try_lock(addr: usize, mode: LockMode, mutex: bool, site: SiteId) -> c_int {
    let r = rt();
    tries_locks();
    let lock = r.var(addr);
    let e = r.event(site, Op::TryAcquire { lock, mode });
    runtime::step(e, progress::before_read());
    let r = rt();
    let me = r.current();
    if mutex
        && let Some(Lock { owner: Some((o, n)), .. }) = r.execution.models.locks.get_mut(&addr)
        && *o == me
        && kind(addr) == libc::PTHREAD_MUTEX_RECURSIVE
    {
        *n += 1;
        return 0;
    }
    if !r.execution.models.free(addr, mode) {
        progress::saw(site, addr, 4, runtime::load(addr, 4));
        r.record(e);
        return libc::EBUSY;
    }
    r.execution.models.take(addr, mode, me);
    r.acquired(addr, mode, site);
    progress::progressed();
    0
}

/// Somebody tries to take locks, so the moment at which one is given back matters.
fn tries_locks() {
    let store = &mut *rt().store;
    store.learned |= !store.sites.locks_tried;
    store.sites.locks_tried = true;
}

/// Takes a lock or gives up at a time.
pub fn timed_lock(addr: usize, mode: LockMode, mutex: bool, limit: Limit, site: SiteId) -> c_int {
    let r = rt();
    let me = r.current();
    if mutex && r.execution.models.is_owner(addr, me) && kind(addr) != 0 {
        return lock(addr, mode, mutex, site);
    }
    let on = r.var(addr);
    // Whether it has to wait is decided when it is its turn, not before.
    runtime::step(r.event(site, Op::TryAcquire { lock: on, mode }), State::Ready);
    let deadline = Some(limit.deadline());
    while !rt().execution.models.free(addr, mode) {
        let r = rt();
        r.tick();
        let e = r.event(site, Op::Wait { on, timed_out: false });
        let w = Wait::new(addr, !0, WaitKind::Semaphore, deadline);
        if runtime::wait(e, w) == Woken::TimedOut {
            rt().record(Event { op: Op::Wait { on, timed_out: true }, ..e });
            return libc::ETIMEDOUT;
        }
    }
    let r = rt();
    r.execution.models.take(addr, mode, me);
    r.acquired(addr, mode, site);
    progress::progressed();
    0
}

/// A lock comes to be.
pub fn init(addr: usize) -> c_int {
    rt().execution.models.locks.remove(&addr);
    0
}

/// A lock ceases to be, unless somebody has it.
pub fn destroy(addr: usize) -> c_int {
    if rt().execution.models.free(addr, LockMode::Exclusive) { init(addr) } else { libc::EBUSY }
}

/// Gives a lock back.
pub fn unlock(addr: usize, mutex: bool, site: SiteId) -> c_int {
    let r = rt();
    let me = r.current();
    if r.store.sites.locks_tried {
        let mode = if r.execution.models.is_owner(addr, me) { LockMode::Exclusive } else { LockMode::Shared };
        let lock = r.var(addr);
        runtime::step(r.event(site, Op::Release { lock, mode }), State::Ready);
    }
    let r = rt();
    let Some(l) = r.execution.models.locks.get_mut(&addr) else { return if mutex { 0 } else { libc::EPERM } };
    let mode = match &mut l.owner {
        Some((o, n)) => {
            if mutex && *o != me && kind(addr) != 0 {
                return libc::EPERM;
            }
            *n -= 1;
            if *n > 0 {
                return 0;
            }
            l.owner = None;
            LockMode::Exclusive
        }
        None => {
            let i = l.readers.iter().rposition(|&o| o == me).or(l.readers.len().checked_sub(1));
            let Some(i) = i else { return libc::EPERM };
            l.readers.remove(i);
            LockMode::Shared
        }
    };
    r.released(addr, mode, site);
    // Only timed acquisitions wait in a queue.
    runtime::wake(addr, !0, usize::MAX);
    0
}

/// A time by the clock that a condition was given when it was made.
pub fn by_own_clock(cond: usize, time: timespec) -> Limit {
    const CLOCK_BIT: u32 = 2;
    // SAFETY: in glibc's `pthread_cond_t` the word at offset 40 holds the reference count and, in bit 1,
    // the clock chosen by `pthread_condattr_setclock`.
    let flags = unsafe { ((cond + 40) as *const u32).read() };
    let clock = if flags & CLOCK_BIT != 0 { libc::CLOCK_MONOTONIC } else { libc::CLOCK_REALTIME };
    Limit { clock, time }
}

/// Waits on a condition, giving the mutex back meanwhile.
pub fn cond_wait(cond: usize, mutex: usize, limit: Option<Limit>, site: SiteId) -> c_int {
    let r = rt();
    let on = r.var(cond);
    // A signal that no lock orders with this wait may come before it.
    if r.store.sites.signals_bare {
        runtime::step(r.event(site, Op::Sync { on, write: true }), State::Ready);
    } else {
        progress::patience(site);
    }
    rt().tick();
    unlock(mutex, true, site);
    let r = rt();
    r.record(r.event(site, Op::Sync { on, write: true }));
    let e = r.event(site, Op::Wait { on, timed_out: false });
    let deadline = limit.map(Limit::deadline);
    let w = Wait::new(cond, !0, WaitKind::Condition, deadline);
    r.leave_out(Unexplored::SpuriousWakeups);
    let woken = runtime::wait(e, w);
    let r = rt();
    let e = r.event(site, Op::Wait { on, timed_out: woken == Woken::TimedOut });
    r.record(e);
    r.tick();
    lock(mutex, LockMode::Exclusive, true, site);
    if woken == Woken::TimedOut { libc::ETIMEDOUT } else { 0 }
}

/// Wakes up to `n` waiters of a condition. Whoever does that without a lock may do it before they wait: a step.
pub fn cond_wake(cond: usize, n: usize, site: SiteId) -> c_int {
    let r = rt();
    let on = r.var(cond);
    if runtime::me().held.is_empty() {
        r.store.learned |= !r.store.sites.signals_bare;
        r.store.sites.signals_bare = true;
        runtime::step(r.event(site, Op::Sync { on, write: true }), State::Ready);
    } else {
        progress::patience(site);
    }
    let r = rt();
    runtime::wake(cond, !0, n);
    let e = r.event(site, Op::Wake { on });
    r.record(e);
    0
}

/// Sets a barrier up.
pub fn barrier_init(addr: usize, need: u32) -> c_int {
    if need == 0 {
        return libc::EINVAL;
    }
    rt().execution.models.barriers.insert(addr, Barrier { need, arrived: 0 });
    0
}

/// A barrier ceases to be; `None` if it was set up outside the execution.
pub fn barrier_destroy(addr: usize) -> Option<c_int> {
    rt().execution.models.barriers.remove(&addr).map(|_| 0)
}

/// Waits at a barrier; `None` if it was set up outside the execution.
pub fn barrier_wait(addr: usize, site: SiteId) -> Option<c_int> {
    let r = rt();
    let on = r.var(addr);
    let e = r.event(site, Op::Sync { on, write: true });
    r.execution.models.barriers.get(&addr)?;
    runtime::step(e, State::Ready);
    let r = rt();
    r.record(e);
    r.tick();
    let b = r.execution.models.barriers.get_mut(&addr)?;
    b.arrived += 1;
    if b.arrived == b.need {
        b.arrived = 0;
        runtime::wake(addr, !0, usize::MAX);
        return Some(libc::PTHREAD_BARRIER_SERIAL_THREAD);
    }
    block(on, addr, WaitKind::Barrier, None, site);
    Some(0)
}

fn block(on: VarId, key: usize, kind: WaitKind, deadline: Option<u64>, site: SiteId) -> Woken {
    let r = rt();
    let e = r.event(site, Op::Wait { on, timed_out: false });
    let w = Wait::new(key, !0, kind, deadline);
    runtime::wait(e, w)
}

fn count(addr: usize) -> &'static mut u32 {
    rt().execution.models.semaphores.entry(addr).or_insert_with(|| {
        let mut value = 0;
        // SAFETY: the program passes an initialised semaphore; this only reads its value.
        unsafe { (real().sem_getvalue)(addr as *mut libc::sem_t, &mut value) };
        value.max(0) as u32
    })
}

/// The value of a semaphore.
pub fn sem_value(addr: usize, site: SiteId) -> c_int {
    let r = rt();
    let on = r.var(addr);
    let e = r.event(site, Op::Sync { on, write: false });
    runtime::step(e, progress::before_read());
    progress::saw(site, addr, 4, runtime::load(addr, 4));
    rt().record(e);
    *count(addr) as c_int
}

/// A semaphore comes to be or ceases to be.
pub fn sem_forget(addr: usize) {
    rt().execution.models.semaphores.remove(&addr);
}

/// Takes one from a semaphore, waiting as long as allowed; an error number when not.
pub fn sem_wait(addr: usize, limit: Option<Limit>, try_only: bool, site: SiteId) -> c_int {
    let r = rt();
    let on = r.var(addr);
    let e = r.event(site, Op::Sync { on, write: true });
    runtime::step(e, if try_only { progress::before_read() } else { State::Ready });
    let deadline = limit.map(Limit::deadline);
    while *count(addr) == 0 {
        if try_only {
            progress::saw(site, addr, 4, runtime::load(addr, 4));
            return libc::EAGAIN;
        }
        rt().tick();
        if block(on, addr, WaitKind::Semaphore, deadline, site) == Woken::TimedOut {
            return libc::ETIMEDOUT;
        }
    }
    *count(addr) -= 1;
    rt().record(e);
    progress::progressed();
    0
}

/// Adds one to a semaphore.
pub fn sem_post(addr: usize, site: SiteId) -> c_int {
    let r = rt();
    let on = r.var(addr);
    let e = r.event(site, Op::Sync { on, write: true });
    runtime::step(e, State::Ready);
    *count(addr) += 1;
    runtime::wake(addr, !0, 1);
    rt().record(e);
    0
}

/// Enters a once control: true if the caller is to run the initialisation.
pub fn once_begin(addr: usize, site: SiteId) -> bool {
    let r = rt();
    let on = r.var(addr);
    let e = r.event(site, Op::Sync { on, write: true });
    runtime::step(e, State::Ready);
    rt().record(e);
    loop {
        match rt().execution.models.once.get(&addr) {
            None => {
                rt().execution.models.once.insert(addr, false);
                return true;
            }
            Some(true) => return false,
            Some(false) => {
                rt().tick();
                block(on, addr, WaitKind::Once, None, site);
            }
        }
    }
}

/// The initialisation is done.
pub fn once_end(addr: usize) {
    rt().execution.models.once.insert(addr, true);
    runtime::wake(addr, !0, usize::MAX);
}
