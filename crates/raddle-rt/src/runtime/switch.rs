//! From one thread to the next: how a fiber stands before a step until the scheduler says that it is its turn.
//!
//! Hooks call [`step`] with what the running thread is about to do. The scheduler ([`raddle_sched`]) is told, and asked who goes on.
//! If that is another thread, [`transfer`] writes it into the schedule and switches stacks; the call returns when somebody has switched
//! back. If nobody goes on, the process is told how the execution has ended ([`end`]), and nothing returns.
//!
//! Where chance alone decides, most steps never get that far: [`fast`] takes them.

use super::{Host, Inside, Runtime, alone, calls_only, me, rt};
use crate::arch::{self, Context};
use crate::fast;
use crate::fiber::Fiber;
use raddle_core::{Event, Op, SiteId};
use raddle_sched::{Ending, Gate, Mode, State, Wait, Woken};
use std::mem::offset_of;

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
    r.settle_store();
    let me = r.current();
    r.execution.sched.threads[me].keep_fs();
    let (sched, mut front) = r.split();
    match sched.next(me, &mut front) {
        Ok(next) => next,
        Err(ending) => without_next(ending),
    }
}

/// Nobody goes on, unless the harness is to.
#[cold]
fn without_next(ending: Ending) -> usize {
    let r = rt();
    if ending != Ending::AtRest || !r.harness_may_go_on() {
        end(ending);
    }
    let me = r.current();
    let (sched, mut front) = r.split();
    sched.let_harness_go_on(me, &mut front).unwrap_or_else(|ending| end(ending))
}

/// The execution has ended.
#[cold]
pub fn end(ending: Ending) -> ! {
    let host = (rt().at_end)(ending);
    // SAFETY: the running fiber is never continued.
    unsafe { arch::go_on(host) }
}

impl Runtime {
    /// Whether the harness, which waits for the end of the test, is to have its say. Once it has been seen to pass a test that neither
    /// panicked nor printed, there is no need to let it do so again.
    fn harness_may_go_on(&self) -> bool {
        let root = &self.execution.sched.threads[self.execution.sched.root];
        let quiet = root.panics.is_empty() && self.store.output.is_empty();
        let passes = quiet && self.store.quiet_means_passed;
        self.host == Host::Process && !self.execution.sched.harness_goes_on() && !passes
    }

    /// Lets a thread run unobserved for a while, but for the destructors of shared values.
    #[inline(always)]
    pub fn renew_patience(&mut self, i: usize) {
        self.execution.sched.renew_patience(i);
        look_at_destructors(me());
    }
}

/// Every raw event of a destructor of a shared value is looked at.
#[inline(always)]
fn look_at_destructors(f: &mut Fiber) {
    if f.owners.are_running() {
        f.raw_limit = 0;
    }
}

/// The running thread goes on.
#[inline(always)]
fn me_again(r: &mut Runtime) {
    r.execution.sched.resume_unqueued(r.current());
    let f = me();
    look_at_destructors(f);
    fast::note_that_it_runs(f);
}

/// Switches to another thread.
#[inline(always)]
pub fn transfer(next: usize) {
    let before: *mut Fiber = me();
    continue_with(before, make_current(next));
    // Steps of a batch do not say that they are the runtime's.
    Inside::resume();
}

/// Makes another thread the running one and notes it in the schedule, unless the execution is an unrecorded one.
#[inline(always)]
fn make_current(next: usize) -> &'static mut Fiber {
    let r = rt();
    let before = r.current();
    let (sched, mut front) = r.split();
    sched.record_transfer(before, next, &mut front);
    r.set_current(next)
}

/// Switches from the running fiber to the one that has become `current`.
#[inline(always)]
fn continue_with(before: *mut Fiber, next: *mut Fiber) {
    // SAFETY: fibers are boxed and do not move. The stack pointer was saved by the switch away from `next`, by this one if that
    // is the running fiber, or prepared for its start; it is used once because `current` is now `next`. The thread
    // pointer was set by the switch to `before`.
    unsafe {
        let fs = (*next).body.fast.next_fs;
        arch::switch_again::<{ offset_of!(Fiber, body.sp) }>(before as usize, next as usize, fs)
    };
}

/// Runs thread 0 of a new execution until the execution is over.
pub fn enter_from_host() {
    let r = rt();
    r.set_current(0);
    let (to, fs) = (r.execution.sched.threads[0].sp, r.execution.sched.threads[0].fs);
    r.host = Host::Loop(Context { sp: 0, fs: arch::fs_base() });
    let Host::Loop(Context { sp, .. }) = &mut r.host else { unreachable!() };
    let save: *mut usize = sp;
    // SAFETY: thread 0 was prepared and has not run; the saved context is continued by `ending::finish`.
    unsafe { arch::switch(save, to, fs) };
}

/// A visible step of the running thread: returns when the thread may take it.
#[inline(always)]
pub fn step(event: Event, state: State) {
    let r = rt();
    r.flush();
    // Nothing here takes a reference to the event or the state: they go straight to where they stay.
    if calls_only() && need_not_ask(r, event.op, state) {
        return;
    }
    let f = me();
    f.pending = event;
    f.keep_fs();
    if fast::take_turn(state) {
        return;
    }
    let i = r.current();
    r.execution.sched.arrive(i, event, state);
    dispatch();
    if let State::Lock(gate) = state {
        pass(gate);
    }
}

/// Whether a thread in a calls-only execution takes its step without asking anybody; if so, the step is counted.
fn need_not_ask(r: &mut Runtime, op: Op, state: State) -> bool {
    let can = match state {
        State::Ready => !matches!(op, Op::Enter(_) | Op::Yield | Op::Sleep | Op::Wait { .. }),
        State::Lock(gate) => r.open(gate),
        _ => false,
    };
    if !can {
        return false;
    }
    let i = r.current();
    let (sched, mut front) = r.split();
    let skips = sched.skip(i, &mut front).unwrap_or_else(|ending| end(ending));
    look_at_destructors(me());
    skips
}

/// The running thread has got to a gate.
pub fn pass(gate: Gate) {
    while !rt().open(gate) {
        let r = rt();
        r.flush();
        r.execution.sched.queue_up(r.current(), gate);
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
pub fn wait(event: Event, wait: Wait) -> Woken {
    let r = rt();
    let i = r.current();
    let state = r.execution.sched.wait(i, wait);
    step(event, state);
    me().woken
}

/// Wakes up to `n` threads that wait in the queue `key` with one of the bits, first come first served.
pub fn wake(key: usize, bits: u32, n: usize) -> usize {
    let r = rt();
    r.flush();
    r.execution.sched.wake(key, bits, n)
}

/// The running thread has ended; tells what goes on.
pub fn exit_thread(result: usize) -> Context {
    let r = rt();
    r.flush();
    let me = r.current();
    let f = r.me();
    f.result = result;
    let (id, pending) = (f.id, f.pending.site);
    r.execution.sched.exit(me);
    r.record(Event { thread: id, site: pending, op: Op::Exit });
    if matches!(r.host, Host::Loop(_)) && r.execution.sched.alive == 0 {
        return (r.at_end)(Ending::AtRest);
    }
    r.execution.finished.push(me);
    let next = make_current(next());
    Context { sp: next.sp, fs: next.fast.next_fs }
}

/// The running thread yields.
pub fn give_way(event: Event) {
    let r = rt();
    r.flush();
    let state = r.execution.sched.before_yield(r.current());
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
    if r.execution.sched.mode == Mode::Replay || r.store.sites.get(site).hides {
        may_stop_after(site);
    }
}

fn may_stop_after(site: SiteId) {
    let r = rt();
    me().after = true;
    if r.execution.sched.mode != Mode::Replay || r.execution.sched.due(r.current()) {
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
    if r.store.sites.hides(site) {
        r.store.learned = true;
        crate::hooks::invalidate_all();
    }
}
