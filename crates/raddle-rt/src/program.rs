//! Searches over whole programs, such as tests of libtest.
//!
//! The parent (the *zygote*) stops where executions begin, that is where the test is about to create its first thread, and forks a child
//! for each of them. A child runs many executions, one after the other, as long as they end well and it can be put back to where
//! executions begin (see [`rewind`]).

use crate::budget::spent_ms;
use crate::child::{fork, start_ticking, wait_for};
use crate::conclude::{after_child, batch_ends, conclude_undone, next};
use crate::hooks;
use crate::messages;
use crate::offsets::Offsets;
use crate::rewind;
use crate::runtime::{self, ExecutionKind, rt};
use crate::signals;
use crate::store::Store;
use raddle_core::protocol::Entry;
use raddle_sched::{Mode, PATIENCE, Rules};

/// The program is about to create a thread.
pub fn before_thread_creation() {
    let r = rt();
    if r.execution.sched.mode != Mode::Prelude {
        return;
    }
    if r.store.job.entry == Entry::Libtest && r.current() == 0 {
        // The harness starts the thread that runs the test.
        r.execution.sched.make_system(0);
        r.execution.sched.root = 1;
        return;
    }
    serve();
}

/// Program mode: forks a child per execution; returns in each child, never in the parent.
fn serve() {
    let r = rt();
    let store: *mut Store = &raw mut *r.store;
    // SAFETY: the store outlives the process; the parent uses it only while no child runs.
    let store = unsafe { &mut *store };
    store.prelude = (store.trace.events.len(), store.trace.vars.len(), store.schedule.transfers.len());
    crate::recent::remember_little();
    crate::pages::inherit_code();
    spent_ms();
    messages::hide_output();
    signals::install();
    start_ticking();
    let offsets = Offsets::now();
    let stop = loop {
        if let Some(stop) = next(store) {
            break stop;
        }
        offsets.restore();
        r.process.blocks.reserve(store.most_threads.max(4));
        r.process.stacks.add(store.missing_stacks.drain(..));
        let pid = fork();
        if pid == 0 {
            begin_again(store, &offsets);
            r.execution.sched.steer(Rules {
                followed: store.prelude.2,
                patient: false,
                patience: PATIENCE,
                ..store.rules()
            });
            let replay = store.replay.is_some();
            runtime::set_kind(if replay { ExecutionKind::Replay } else { ExecutionKind::Recorded });
            r.note_company();
            r.renew_patience(r.current());
            return;
        }
        let fate = wait_for(pid, store);
        store.now_ms = spent_ms();
        if let Some(stop) = after_child(store, fate) {
            break stop;
        }
    };
    store.stats.elapsed_ms = spent_ms();
    messages::done(store, stop);
    crate::quit(0)
}

/// Marks the place where the child's execution begins, if that is likely to be worth while; goes on from there with
/// one execution after the other.
fn begin_again(store: &mut Store, offsets: &Offsets) {
    if store.replay.is_some() || store.unclean >= rewind::TRIES || store.stats.executions <= rewind::WARM_UP {
        return;
    }
    crate::recent::remember_much();
    if rewind::mark(|at| !hooks::caches(at)) {
        conclude_undone(store);
        if let Some(stop) = next(store) {
            batch_ends(store, stop)
        }
        offsets.restore();
    }
}
