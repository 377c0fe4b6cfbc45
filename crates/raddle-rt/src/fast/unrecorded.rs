//! Unrecorded executions: those that chance alone decides, once there is little left to learn.
//!
//! A strategy that only throws dice has no use for a trace, and after many executions without anything new the scheduling points
//! are most probably known. From then on executions in closure mode are begun apart from each other, and most of those in which
//! the strategy does not look at anything are *unrecorded*: they stop at the known points and at
//! locks, as the others do, but note neither who touched what nor what happened, which is half of the work. They do not even
//! keep their schedule: chance alone decides, so the dice they began with say everything. Several processes can run them at a
//! time (see [`parallel`](crate::fast::parallel)). Hooks that have nothing to
//! tell them are taken out of the code meanwhile (see [`patch`]).
//!
//! One that comes to code which no execution that was looked at has come to is repeated at once, with the same dice and with open eyes,
//! and only that counts. So there is no need to look at many of the others: one in eight at first, then ever fewer.
//!
//! What goes wrong in an unrecorded execution is therefore repeated at once, with the same dice and with open eyes, in a child of its
//! own; what that child sees is reported. One that takes too many steps is given up without a verdict, because
//! nobody can say whether it got anywhere; after that no execution is unrecorded, nor after one that did not come back.
//!
//! A thread that does nothing visible for long is made to yield, which is told by counting its accesses. That cannot be
//! done without hooks; so once it has happened in an execution that was looked at, hooks stay where they are.

use super::patch;
use crate::child;
use crate::child::Fate;
use crate::heap;
use crate::leave;
use crate::runtime::{self, ExecutionKind, Host, rt};
use crate::store::{End, Store};
use raddle_core::protocol::Failure;

/// Executions in a row in which nothing was learned, before some are unrecorded.
const SETTLED: u64 = 1_000;
/// One in so many executions is recorded when some begin not to be.
const WATCHED: u64 = 8;
/// One in so many is recorded at last: ever fewer are, as they go on showing nothing new.
const RARELY: u64 = 256;
/// When there are no more than one in so many, executions no longer depend on each other.
pub const CHUNK: u64 = 64;

/// One in how many executions is looked at, a power of two.
fn watched(store: &Store) -> u64 {
    let unchanged = store.stats.executions - store.learned_in;
    1 << (unchanged * WATCHED / SETTLED).clamp(WATCHED, RARELY).ilog2()
}

/// Whether the execution with this number is to be begun apart from the others (see
/// [`begin_apart`](raddle_core::strategy::Strategy::begin_apart)): nothing has been learned for long, and some of them need not be recorded.
pub fn is_apart(store: &Store, number: u64) -> bool {
    matches!(rt().host, Host::Loop(_))
        && number > store.learned_in + SETTLED
        && !store.never_unrecorded
        && !store.isolates
        && store.replay.is_none()
        && !store.job.every_access
        && store.strategy.is_settled()
}

/// Whether all executions from now on that chance alone decides are unrecorded but for one in [`CHUNK`] or fewer, and nobody's traces are asked
/// for, unless something happens.
pub fn is_settled(store: &Store) -> bool {
    is_apart(store, store.stats.executions + 1)
        && store.stats.executions >= store.job.traces
        && watched(store) >= CHUNK
}

/// Runs one execution with `run`, an unrecorded one if it may be one.
pub fn execute(mut run: impl FnMut(ExecutionKind)) {
    let store = &mut *rt().store;
    let kind = begin(store);
    let (steps, decisions) = (store.stats.steps, store.stats.decisions);
    let known = store.sites.list.len();
    run(kind);
    let store = &mut *rt().store;
    if (store.saw_unknown_code || store.sites.list.len() > known)
        && let Some(dice) = store.strategy.dice()
        && let Some(before) = store.dice.take()
    {
        (*dice, store.unrecorded) = (before, false);
        (store.stats.steps, store.stats.decisions) = (steps, decisions);
        store.begin();
        // What it is about to learn is why it is run again.
        run(go_about_it(store));
    }
}

/// Whether the execution that is about to begin in this child is an unrecorded one; notes it where the parent looks.
fn begin(store: &mut Store) -> ExecutionKind {
    let n = store.stats.executions;
    let wanted = store.apart && n > store.job.traces && !n.is_multiple_of(watched(store));
    store.dice = store.strategy.dice().filter(|_| wanted).cloned();
    store.unrecorded = store.dice.is_some();
    go_about_it(store)
}

fn go_about_it(store: &mut Store) -> ExecutionKind {
    patch::set(store.unrecorded && !store.impatient);
    if store.unrecorded {
        store.limit = store.job.max_steps;
        ExecutionKind::Unrecorded
    } else {
        kind(store)
    }
}

/// The kind of an execution that is recorded.
fn kind(store: &Store) -> ExecutionKind {
    if store.replay.is_some() { ExecutionKind::Replay } else { ExecutionKind::Recorded }
}

/// The running execution has come to an access, at a place that is known to no execution that was looked at. If it is an unrecorded one, it is
/// worth a look.
pub fn saw_unknown_code() {
    if runtime::unrecorded() {
        rt().store.saw_unknown_code = true;
    }
}

/// The running execution has taken too many steps; tells nobody, because it was not looked at.
pub fn too_long() -> ! {
    let store = &mut *rt().store;
    store.never_unrecorded = true;
    store.end = End::Abandoned;
    leave::leave()
}

/// The child's last execution was an unrecorded one and went wrong, as is in the store: repeats it with `run` in another child and
/// puts what is found there in its place; tells what became of the other child.
pub fn look_again(store: &mut Store, fate: &Fate, run: impl FnOnce(ExecutionKind)) -> Fate {
    store.unrecorded = false;
    // A thread that only a look makes yield may have waited in vain.
    let hung = fate.hung();
    store.never_unrecorded |= hung;
    store.impatient |= hung;
    let first = store.failure.take();
    let (steps, decisions) = (store.stats.steps, store.stats.decisions);
    if let (Some(dice), Some(before)) = (store.strategy.dice(), store.dice.take()) {
        *dice = before;
    }
    store.begin();
    let pid = child::fork();
    if pid == 0 {
        run(ExecutionKind::Repeated);
        crate::quit(child::SAID)
    }
    let fate = child::wait_for(pid, store);
    child::complete(store, &fate);
    (store.stats.steps, store.stats.decisions) = (steps, decisions);
    if store.failure.is_none() && hung {
        store.end = End::Abandoned;
    } else if store.failure.is_none() {
        // The schedule is that of the execution that passed now.
        let schedule = heap::persistent(|| store.schedule.clone());
        store.failure = first.map(|f| Box::new(Failure { schedule, ..*f }));
        store.end = End::Dependent;
    } else {
        store.end = End::Failed;
    }
    fate
}
