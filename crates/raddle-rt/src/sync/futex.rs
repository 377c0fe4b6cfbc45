//! Futexes: all of std's and parking_lot's blocking.
//!
//! A wait is two steps, as in the kernel: the word is looked at once more, and if it still has the expected value the thread joins the queue of
//! that address. Between the program's own look and the first step others may change the word; between the two nobody runs.
//!
//! Much of what ends in a futex call happens in precompiled code that calls no hook. Two things are made up for. A condition variable of std
//! gives its mutex back before it waits and takes it again afterwards: the thread is made to stand before that mutex when it is woken (`relock`).
//! And other synchronisation that is not seen may have gone before: the visible event before the call becomes a place after which others may
//! run ([`hidden_synchronisation`](crate::runtime::hidden_synchronisation)).

use crate::clock::{self, duration};
use crate::progress;
use crate::runtime::{self, rt};
use raddle_core::protocol::Unexplored;
use raddle_core::{LockMode, Op, SiteId};
use raddle_sched::{State, Wait, WaitKind, Woken};

const WAIT: i32 = 0;
const WAKE: i32 = 1;
const REQUEUE: i32 = 3;
const CMP_REQUEUE: i32 = 4;
const WAIT_BITSET: i32 = 9;
const WAKE_BITSET: i32 = 10;
const CLOCK_REALTIME: i32 = 256;
const COMMAND: i32 = 0x7f;

/// A futex call of the program, if it is one that is modelled. `Err` is an error number.
pub fn call(args: [usize; 6], site: SiteId) -> Option<Result<i64, i32>> {
    let [addr, op, val, timeout, addr2, val3] = args;
    let op = op as i32;
    Some(match op & COMMAND {
        WAIT => wait(addr, val as u32, deadline(op, timeout, false), !0, site),
        WAIT_BITSET => wait(addr, val as u32, deadline(op, timeout, true), val3 as u32, site),
        WAKE => Ok(wake(addr, val, !0, site)),
        WAKE_BITSET => Ok(wake(addr, val, val3 as u32, site)),
        // For the two that move waiters, `timeout` is the number to move.
        REQUEUE => Ok(requeue(addr, val, timeout, addr2, site)),
        CMP_REQUEUE if word(addr) != val3 as u32 => Err(libc::EAGAIN),
        CMP_REQUEUE => Ok(requeue(addr, val, timeout, addr2, site)),
        _ => return None,
    })
}

/// A futex call of an unrecorded execution, if it wakes threads and does nothing else: nobody asks for its site.
#[inline(always)]
pub fn wake_unrecorded(addr: usize, op: usize, n: usize) -> Option<i64> {
    let f = runtime::me();
    if !runtime::unrecorded() || op as i32 & COMMAND != WAKE || f.raw + 1 >= f.raw_limit {
        return None;
    }
    f.raw += 1;
    if rt().execution.sched.queues.waiting.is_empty() {
        return Some(0);
    }
    let _inside = runtime::Inside::enter();
    Some(wake(addr, n, !0, SiteId(0)))
}

fn word(addr: usize) -> u32 {
    // SAFETY: the program passes the address of a live futex word.
    unsafe { (addr as *const u32).read_volatile() }
}

fn deadline(op: i32, timeout: usize, absolute: bool) -> Option<u64> {
    if timeout == 0 {
        return None;
    }
    // SAFETY: a non-null time-out points to a timespec.
    let t = unsafe { *(timeout as *const libc::timespec) };
    Some(if absolute {
        let clock = if op & CLOCK_REALTIME != 0 { libc::CLOCK_REALTIME } else { libc::CLOCK_MONOTONIC };
        clock::at(clock, t)
    } else {
        rt().execution.sched.clock.now().saturating_add(duration(t))
    })
}

fn wait(addr: usize, expected: u32, deadline: Option<u64>, bits: u32, site: SiteId) -> Result<i64, i32> {
    let mut relock = None;
    let hidden = rt().store.sites.synchronises(site, &mut rt().store.image);
    if hidden {
        runtime::hidden_synchronisation();
        relock = rt().given_back();
    }
    if let Some(gate) = relock {
        rt().released(gate.addr, LockMode::Exclusive, site);
    }
    // Between the program's own look at the word and this call, others may change it.
    let r = rt();
    let on = r.var(addr);
    let e = r.event(site, if hidden { Op::Pause } else { Op::Sync { on, write: false } });
    runtime::step(e, State::Ready);
    if word(addr) != expected {
        if let Some(gate) = relock {
            rt().tick();
            runtime::await_gate(e, gate);
            rt().acquired(gate.addr, LockMode::Exclusive, site);
        }
        return Err(libc::EAGAIN);
    }
    let r = rt();
    r.tick();
    let e = r.event(site, Op::Wait { on, timed_out: false });
    let w = Wait::new(addr, bits, WaitKind::Futex, deadline);
    runtime::me().relock = relock;
    // An unrecorded execution does not look far enough to tell whose wait it is; those that are recorded have told.
    if !runtime::unrecorded() && rt().store.sites.may_wake_for_nothing(site, &mut rt().store.image) {
        rt().leave_out(Unexplored::SpuriousWakeups);
    }
    let woken = runtime::wait(e, w);
    let r = rt();
    runtime::me().relock = None;
    runtime::me().relocks = false;
    let e = r.event(site, Op::Wait { on, timed_out: woken == Woken::TimedOut });
    r.record(e);
    if let Some(gate) = relock {
        r.acquired(gate.addr, LockMode::Exclusive, site);
    }
    progress::progressed();
    match woken {
        Woken::Up => Ok(0),
        Woken::TimedOut => Err(libc::ETIMEDOUT),
    }
}

fn wake(addr: usize, n: usize, bits: u32, site: SiteId) -> i64 {
    let woken = runtime::wake(addr, bits, n.min(i32::MAX as usize));
    if woken > 0 {
        let r = rt();
        let on = r.var(addr);
        let e = r.event(site, Op::Wake { on });
        r.record(e);
    }
    woken as i64
}

fn requeue(addr: usize, n: usize, move_up_to: usize, to: usize, site: SiteId) -> i64 {
    let woken = wake(addr, n, !0, site);
    let mut moved = 0;
    for f in &mut rt().execution.sched.threads {
        if let State::Waiting(w) = &mut f.state
            && w.key == addr
            && w.kind == WaitKind::Futex
            && moved < move_up_to
        {
            w.key = to;
            moved += 1;
        }
    }
    woken + moved as i64
}
