//! Brisk executions: those of a search that never looks, once there is little left to learn.
//!
//! A search that chooses blindly has no use for a trace, and after many executions without anything new the scheduling points
//! are most probably known. From then on all but every [`WATCHED`]th execution in closure mode, later all but every
//! [`WATCHED_LATER`]th, is *brisk*: it stops at the known points and at locks, as the others do, but notes neither who touched
//! what nor what happened, which is half of the work. Raw events are counted all the same, so its schedule is as good as any.
//!
//! What goes wrong in a brisk execution is therefore repeated at once, by its schedule and with open eyes, in a child of its
//! own; what that child sees is reported. One that takes too many steps is given up without a verdict, because
//! nobody can say whether it got anywhere; after that no execution is brisk.

use crate::control;
use crate::heap;
use crate::runtime::{self, rt};
use crate::store::{End, Store};

/// Executions in a row in which nothing was learned, before some are brisk.
const SETTLED: u64 = 1_000;
/// One in so many is not,
const WATCHED: u64 = 8;
/// and after so many in which nothing was learned,
const LONG_SETTLED: u64 = 10_000;
/// one in so many.
const WATCHED_LATER: u64 = 64;

/// Whether the execution that is about to begin in this child is a brisk one; notes it where the parent looks.
pub fn begin(store: &mut Store) {
    let n = store.stats.executions;
    let watched = if store.unchanged < LONG_SETTLED { WATCHED } else { WATCHED_LATER };
    store.brisk = store.unchanged >= SETTLED
        && !n.is_multiple_of(watched)
        && !store.never_brisk
        && n > store.job.traces
        && store.replay.is_none()
        && !store.job.every_access
        && store.strategy.dice().is_some();
    runtime::set_brisk(store.brisk);
}

/// The running execution has taken too many steps; tells nobody, because it was not looked at.
pub fn too_long() -> ! {
    let store = &mut *rt().store;
    store.never_brisk = true;
    store.end = End::Abandoned;
    control::leave()
}

/// The child's last execution was a brisk one and went wrong, as is in the store: repeats it with `run` in another child and
/// puts what is found there in its place, if it is the same.
pub fn look_again(store: &mut Store, run: impl FnOnce()) {
    store.brisk = false;
    let first = store.failure.take();
    let (steps, decisions) = (store.stats.steps, store.stats.decisions);
    heap::persistent(|| store.replay = Some(store.schedule.clone()));
    store.begin();
    let pid = control::fork();
    if pid == 0 {
        run();
        crate::quit(control::SAID)
    }
    let fate = control::wait_for(pid, store);
    control::complete(store, &fate);
    store.replay = None;
    (store.stats.steps, store.stats.decisions) = (steps, decisions);
    let same = matches!((&store.failure, &first), (Some(a), Some(b)) if a.kind == b.kind);
    if !same {
        store.failure = first;
    }
    store.end = End::Failed;
}
