//! Steps of executions that chance alone decides.
//!
//! Dice need not see what threads are about to do. So a step is one question, who can go on, one throw, and a switch; nobody
//! stands anywhere that somebody else would have to be told of, apart from the run queues.

use super::batch::batch;
use super::patch;
use super::place::FastSite;
use crate::arch;
use crate::fiber::Fiber;
use crate::runtime::{self, Inside, me, rt, set_me};
use raddle_sched::{Free, Gate, Mode, State};
use std::mem::offset_of;

/// The running thread stands before a step: has it wait for its turn, if chance alone decides the execution and nobody has to be looked
/// at more closely. If not, nothing has happened.
#[inline(always)]
pub fn take_turn(state: State) -> bool {
    let r = rt();
    if r.execution.dice.is_none() || r.execution.sched.mode != Mode::Search {
        return false;
    }
    match state {
        State::Ready => go(None),
        State::Lock(gate) => Free::when(&gate).is_some_and(|free| go(Some((gate, free)))),
        _ => false,
    }
}

/// Has the running thread, which stands before a well-known site in an unrecorded execution, wait for its turn; the step is to take a
/// lock if one is given. Whoever has to be looked at more closely is. Steps that follow may be a batch.
#[inline(never)]
pub fn wait_for_turn(gate: Option<(Gate, Free)>) {
    rt().flush();
    if !go(gate) {
        go_slowly(gate.map(|(gate, _)| gate));
    }
    rt().begin_batch();
}

/// Takes the step at a site as one of a batch (see [`batch`](crate::fast::batch)), if the running thread holds no lock; tells whether it was
/// taken. Chance alone decides between staying and switching, which no processor can foresee; so there is no branch: a thread that goes on switches to itself.
#[inline(always)]
pub fn run_on(site: &'static FastSite) -> bool {
    let f = me();
    if !f.held.is_empty() {
        return false;
    }
    if !batch().step() {
        return false;
    }
    f.come_to(site);
    let (next, later, ahead) = batch().next();
    // SAFETY: a member of the batch is a fiber of this execution, boxed, which stands before a step or is the running one. What is kept
    // across the switch is pointers (INV-NO-REF-ACROSS-SWITCH); the batch itself stays where it is.
    unsafe {
        set_me(&mut *next);
        let (before, fs) = (f as *mut Fiber as usize, (*next).body.fast.next_fs);
        arch::switch_ahead::<{ offset_of!(Fiber, body.sp) }>(
            before,
            next as usize,
            fs,
            later as usize,
            ahead,
        );
    }
    if !batch().is_on() {
        went_on();
    }
    true
}

/// A thread that took a step of a batch goes on after this has ended. Where it stood was noted meanwhile, and who let it go on
/// was inside.
#[inline(never)]
fn went_on() {
    let r = rt();
    me().state = State::Unsettled;
    r.execution.sched.queues.goes_on(r.current());
    r.begin_batch();
    Inside::clear();
}

/// The running thread goes on after it stood somewhere.
#[inline(always)]
pub fn note_that_it_runs(f: &Fiber) {
    // In a batch it is noted later.
    if !batch().is_on() {
        let r = rt();
        r.execution.sched.queues.note(f.id.0 as usize, &State::Unsettled, f.system);
        if runtime::unrecorded() {
            r.begin_batch();
        }
    }
}

/// Has the running thread wait for its turn, with no batch in progress, if everybody stands still for certain.
#[inline(always)]
fn go(gate: Option<(Gate, Free)>) -> bool {
    let r = rt();
    let i = r.current();
    let (sched, mut front) = r.split();
    let Some(next) = sched.try_next(i, gate, &mut front) else { return false };
    if next != i {
        rt().settle_store();
        runtime::transfer(next);
        me().state = State::Unsettled;
        // In a batch it is noted later.
        if !batch().is_on() {
            rt().execution.sched.queues.goes_on(i);
        }
    }
    if !(runtime::unrecorded() && patch::is_on()) {
        rt().renew_patience(i);
        me().urged = 0;
    }
    true
}

#[cold]
fn go_slowly(gate: Option<Gate>) {
    let r = rt();
    r.execution.sched.visible += 1;
    r.set_state(r.current(), gate.map_or(State::Ready, State::Lock));
    runtime::dispatch();
    if let Some(gate) = gate {
        runtime::pass(gate);
    }
}
