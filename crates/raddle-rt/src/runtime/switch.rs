//! From one thread to the next: steps, waits, and the switch itself.

use super::{Host, Inside, Mode, Runtime, alone, calls_only, me, rt, unrecorded};
use crate::arch::{self, Context};
use crate::fast;
use crate::fiber::{Fiber, Gate, State, Wait, WaitKind, Woken};
use crate::progress::{FAIR_LIMIT, uninterrupted};
use raddle_core::{Event, Op, SiteId, ThreadId, Transfer};
use std::mem::offset_of;

/// Yields in a row that need not let anybody else run.
const IDLE_YIELDS: u32 = 4;

/// Sees to it that the right thread runs; returns when it is the caller's turn.
pub fn dispatch() {
    let next = next();
    if next != rt().current() {
        transfer(next);
    }
    me_again(rt());
}

/// Who goes on after the running thread has come to a step, or to its end.
#[inline(always)]
fn next() -> usize {
    let r = rt();
    let me = r.current();
    if !std::mem::take(&mut r.uncounted) {
        r.steps += 1;
        r.store.heartbeat += 1;
        if r.steps > r.store.limit {
            r.overrun();
        }
    }
    crate::hooks::plain::settle_store();
    r.fibers[me].keep_fs();
    if r.mode == Mode::Replay { r.follow() } else { r.pick() }
}

/// The running thread goes on.
#[inline(always)]
fn me_again(r: &mut Runtime) {
    let f = me();
    // Where chance decides, a replay is a search.
    let mode = if r.chance_at.is_some() { Mode::Search } else { r.mode };
    f.renew_patience(mode, r.patience);
    f.urged = 0;
    f.state = State::Unsettled;
    fast::note_that_it_runs(f);
}

/// Switches to another thread.
#[inline(always)]
pub fn transfer(next: usize) {
    let before = me();
    continue_with(before, make_current(next));
    // Steps of a batch do not say that they are the runtime's.
    Inside::resume();
}

/// Makes another thread the running one and notes it in the schedule, unless the execution is an unrecorded one.
#[inline(always)]
fn make_current(next: usize) -> &'static mut Fiber {
    let r = rt();
    let before = me();
    if !unrecorded() && r.mode != Mode::Replay {
        let f = &r.fibers[next];
        let timeout = f.woken == Woken::TimedOut && f.state == State::Ready;
        let transfer = Transfer { at: before.position(), to: ThreadId(next as u32), timeout };
        r.store.schedule.transfers.push(transfer);
    }
    r.set_current(next)
}

/// Switches from the running fiber to the one that has become `current`.
#[inline(always)]
fn continue_with(before: *mut Fiber, next: *mut Fiber) {
    // SAFETY: fibers are boxed and do not move. The stack pointer was saved by the switch away from `next`, by this one if that
    // is the running fiber, or prepared for its start; it is used once because `current` is now `next`. The thread
    // pointer was set by the switch to `before`.
    unsafe {
        let fs = (*next).fast.next_fs;
        arch::switch_again::<{ offset_of!(Fiber, sp) }>(before as usize, next as usize, fs)
    };
}

/// Runs thread 0 of a new execution until the execution is over.
pub fn enter_from_host() {
    let r = rt();
    r.set_current(0);
    let (to, fs) = (r.fibers[0].sp, r.fibers[0].fs);
    r.host = Host::Loop(Context { sp: 0, fs: arch::fs_base() });
    let Host::Loop(Context { sp, .. }) = &mut r.host else { unreachable!() };
    let save: *mut usize = sp;
    // SAFETY: thread 0 was prepared and has not run; the saved context is continued by `control::finish`.
    unsafe { arch::switch(save, to, fs) };
}

/// A visible step of the running thread: returns when the thread may take it.
#[inline(always)]
pub fn step(event: Event, state: State) {
    let r = rt();
    r.flush();
    // Nothing here takes a reference to the event or the state: they go straight to where they stay.
    if calls_only() {
        let can = match state {
            State::Ready => !matches!(event.op, Op::Enter(_) | Op::Yield | Op::Sleep | Op::Wait { .. }),
            State::Lock(gate) => r.open(gate),
            _ => false,
        };
        if can && goes_on(r) {
            r.visible += 1;
            return;
        }
    }
    let f = me();
    f.pending = event;
    f.keep_fs();
    if fast::take_turn(state) {
        return;
    }
    r.visible += !matches!(event.op, Op::Join(_)) as u64;
    f.state = state;
    r.standing.note(r.current(), &state, f.system);
    dispatch();
    if let State::Lock(gate) = state {
        pass(gate);
    }
}

/// Whether a thread in a calls-only execution that can take its step need not ask; if so, the step is counted.
fn goes_on(r: &mut Runtime) -> bool {
    let f = me();
    if !f.calling {
        return false;
    }
    r.steps += 1;
    r.store.heartbeat += 1;
    // Calls that follow each other get as far as chance would let them.
    if r.steps > r.store.job.max_steps.saturating_mul(FAIR_LIMIT) {
        crate::failure::out_of_steps();
    }
    f.renew_patience(r.mode, r.patience);
    true
}

/// The running thread has got to a gate.
pub fn pass(gate: Gate) {
    // A writer that was let run although readers are inside joins the queue: from now on it keeps new
    // readers out, as the locks of std and parking_lot do.
    while !rt().open(gate) {
        let r = rt();
        // Before and after are different places in a schedule.
        r.tick();
        me().queued = true;
        r.set_state(r.current(), State::Lock(gate));
        dispatch();
    }
    me().queued = false;
}

/// The running thread is about to take a lock in precompiled code, as far as can be told: it would spin there while the
/// lock is not free. Where nobody else can go on it goes on nevertheless.
pub fn await_gate(event: Event, gate: Gate) {
    let r = rt();
    if r.open(gate) {
        return;
    }
    let f = me();
    f.pending = event;
    f.relocks = true;
    r.set_state(r.current(), State::Lock(gate));
    dispatch();
    me().relocks = false;
}

/// Makes the running thread wait; returns how the wait ended.
pub fn wait(event: Event, mut wait: Wait) -> Woken {
    let r = rt();
    r.tickets += 1;
    wait.ticket = r.tickets;
    wait.since = r.clock.now();
    wait.early = wait.deadline.is_some() && !r.me().system;
    let f = r.me();
    f.woken = Woken::Up;
    step(event, State::Waiting(wait));
    rt().me().woken
}

/// Wakes up to `n` threads that wait in the queue `key` with one of the bits, first come first served.
pub fn wake(key: usize, bits: u32, n: usize) -> usize {
    let r = rt();
    let mut woken = 0;
    while woken < n {
        let waiting = r.standing.waiting.iter();
        let first = waiting
            .filter_map(|i| match r.fibers[i].state {
                State::Waiting(w) if w.key == key && w.bits & bits != 0 && w.kind != WaitKind::Sleep => {
                    Some((w.ticket, i, w.kind))
                }
                _ => None,
            })
            .min_by_key(|&(ticket, ..)| ticket);
        let Some((_, i, kind)) = first else { break };
        let f = &mut r.fibers[i];
        f.woken = Woken::Up;
        match (kind, f.relock.take()) {
            (WaitKind::Join(_), _) => r.set_state(i, State::Unsettled),
            (_, None) => r.set_state(i, State::Ready),
            (_, Some(gate)) => {
                f.relocks = true;
                r.set_state(i, State::Lock(gate));
            }
        }
        woken += 1;
    }
    woken
}

/// The running thread has ended; tells what goes on.
pub fn exit_thread(result: usize) -> Context {
    let r = rt();
    let me = r.current();
    let f = r.me();
    f.result = result;
    f.raw += 1;
    let (id, pending) = (f.id, f.pending.site);
    r.set_state(me, State::Exited);
    r.alive -= 1;
    r.record(Event { thread: id, site: pending, op: Op::Exit });
    wake(join_key(id), !0, usize::MAX);
    if me == r.root {
        r.root_ended_at = Some(r.steps);
    }
    if matches!(r.host, Host::Loop(_)) && r.alive == 0 {
        return crate::control::finish_on_return();
    }
    r.finished.push(me);
    let next = make_current(next());
    Context { sp: next.sp, fs: next.fast.next_fs }
}

/// The wait queue of those who join a thread.
pub fn join_key(id: ThreadId) -> usize {
    !0 - id.0 as usize
}

/// The running thread yields. That is a hint: the first few times in a row it may be ignored, like everything
/// that an operating system may do; a thread that goes on yielding lets others go first.
pub fn give_way(event: Event) {
    let r = rt();
    r.flush();
    let at = r.steps + 1;
    let f = r.me();
    f.yields += 1;
    let may_stay = f.yields <= IDLE_YIELDS || uninterrupted();
    let state = if may_stay { State::Ready } else { State::Yielded(at) };
    step(event, state);
}

/// Called after a visible event has taken effect. Where a hidden synchronisation is known to follow (in the
/// precompiled part of std), others may run in between.
#[inline]
pub fn after(site: SiteId) {
    let r = rt();
    if alone() {
        return;
    }
    let f = me();
    f.anchor = site;
    if calls_only() {
        return;
    }
    if r.mode == Mode::Replay || r.store.sites.get(site).hides {
        may_stop_after(site);
    }
}

fn may_stop_after(site: SiteId) {
    let r = rt();
    me().after = true;
    if r.mode != Mode::Replay || r.due() {
        let e = r.event(site, Op::Pause);
        step(e, State::Ready);
    }
    me().after = false;
}

/// The running thread synchronises in precompiled code: the visible event before is where others get their
/// chance from now on.
pub fn hidden_synchronisation() {
    let r = rt();
    let site = r.me().anchor;
    r.store.learned |= r.store.sites.hides(site);
}
