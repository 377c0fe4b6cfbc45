//! Searches over closures: the loop behind `raddle::check`.
//!
//! A forked child calls the closure again and again, as long as that ends well and executions do not depend on each other (see
//! [`independence`]). The parent deals with what a child ends with: a failure, a search for several processes, or
//! an execution that is to be repeated.

use crate::budget::{is_late, spent_ms};
use crate::child::{Fate, SAID, complete, fork, start_ticking, stop_ticking, wait_for};
use crate::conclude::{after_child, batch_ends, conclude, conclude_undone, count_failure, next};
use crate::fast;
use crate::fast::parallel;
use crate::fiber::Start;
use crate::heap;
use crate::hooks;
use crate::independence::{self, Statics};
use crate::messages;
use crate::rewind;
use crate::runtime::rt;
use crate::signals;
use crate::store::{End, Store};
use raddle_core::Outcome;
use raddle_core::protocol::{Message, Stop};

/// A child leaves what follows to others.
fn ends(store: &mut Store, end: End) -> ! {
    store.unrecorded = false;
    store.end = end;
    crate::quit(SAID)
}

/// Runs `start(arg)` as thread 0 of one execution after the other, in forked children.
pub fn run_loop(start: Start, arg: usize) -> Stop {
    let r = rt();
    let store: *mut Store = &raw mut *r.store;
    // SAFETY: as in `serve`.
    let store = unsafe { &mut *store };
    store.prelude = (0, 0, 0);
    let mut statics = Statics::of_program(store);
    let mut in_doubt = None;
    start_ticking();
    let stop = loop {
        r.process.blocks.reserve(store.most_threads.max(8));
        r.process.stacks.add(store.missing_stacks.drain(..));
        store.end = End::Running;
        let before = store.stats.executions;
        let pid = fork();
        if pid == 0 {
            execute_all(store, start, arg, &statics)
        }
        let mut fate = wait_for(pid, store);
        store.now_ms = spent_ms();
        complete(store, &fate);
        if store.end == End::Failed || store.unrecorded && fate.hung() {
            let first = store.stats.executions == before + 1;
            fate = look_again(store, fate, first, start, arg);
        }
        if store.end == End::Dependent && !is_late(store) {
            in_doubt = independence::start_over(store);
            statics = Statics::default();
            continue;
        }
        if store.failure.is_some() {
            store.end = End::Failed;
        }
        let stop = after_child(store, fate);
        keep_failure(store);
        if let Some(stop) = stop {
            break stop;
        }
        if store.stats.failures >= store.job.max_failures {
            break Stop::Failures;
        }
        if store.end == End::Parallel {
            parallel::work(store, start, arg, &statics);
        }
    };
    if store.stats.failures == 0 && in_doubt.is_some() {
        store.failure = in_doubt;
        count_failure(store);
        keep_failure(store);
    }
    stop_ticking();
    store.stats.elapsed_ms = spent_ms();
    stop
}

/// Repeats an execution that failed in a child of its own, if it was not recorded, or not the first of its child; tells what became
/// of that child where it was not recorded.
fn look_again(store: &mut Store, fate: Fate, first: bool, start: Start, arg: usize) -> Fate {
    let run = |kind| {
        let r = rt();
        r.begin_loop();
        messages::hide_output();
        signals::install();
        r.execute(start, arg, kind);
    };
    if store.unrecorded {
        return fast::look_again(store, &fate, run);
    }
    if !first && !store.isolates && !independence::fails_alone(store, run) {
        store.end = End::Dependent;
    }
    fate
}

/// Keeps the failure in the store, if there is one, for whoever asked for the check.
fn keep_failure(store: &mut Store) {
    if let Some(f) = store.failure.take() {
        heap::persistent(|| store.kept.push(Message::Failure(f)));
    }
}

/// A child in closure mode: one execution after the other, as long as they end well and do not depend on each other.
fn execute_all(store: &mut Store, start: Start, arg: usize, statics: &Statics) -> ! {
    let r = rt();
    r.enter_loop();
    let statics = statics.contents();
    let undoes = store.gives_up || store.isolates;
    if undoes && store.unclean < rewind::TRIES && rewind::mark(|at| !hooks::caches(at)) {
        conclude_undone(store);
    }
    fast::allow();
    let stop = loop {
        if parallel::is_due(store) {
            ends(store, End::Parallel)
        }
        if let Some(stop) = next(store) {
            break stop;
        }
        fast::execute(|kind| r.execute(start, arg, kind));
        conclude(store, Outcome::Passed);
        if independence::is_time_to_compare(store.stats.executions) && statics.have_changed() {
            ends(store, End::Dependent)
        }
        if let Some(stop) = store.parallel.passed(store.stats.executions) {
            break stop;
        }
    };
    store.unrecorded = false;
    if statics.have_changed() && !is_late(store) {
        ends(store, End::Dependent)
    }
    batch_ends(store, stop)
}
