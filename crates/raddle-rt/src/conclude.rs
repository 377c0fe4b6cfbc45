//! Between two executions of a search: whether there is another one, and what the last one comes to.

use crate::budget::{PROGRESS_MS, is_late};
use crate::child::{Fate, SAID, complete, note_hang};
use crate::export;
use crate::hang::Hang;
use crate::heap;
use crate::messages;
use crate::store::{End, Store};
use raddle_core::protocol::{Message, Stop};
use raddle_core::strategy::Finished;
use raddle_core::{Kind, Outcome};

/// Executions that take too many steps, after which no further one is begun.
const TOO_MANY: u64 = 2;

/// Why no further execution is to begin, or `None` after everything was prepared for one.
pub fn next(store: &mut Store) -> Option<Stop> {
    let job = &store.job;
    let spent = is_late(store);
    if store.replay.is_some() {
        if store.stats.executions > 0 {
            return Some(Stop::ReplayPassed);
        }
    } else if store.stats.failures >= job.max_failures {
        return Some(Stop::Failures);
    } else if store.stats.executions >= job.schedules || spent || store.stats.too_long >= TOO_MANY {
        return Some(Stop::Budget);
    } else if !heap::persistent(|| store.begin_search(store.stats.executions + 1)) {
        // Where chance decided, not everything was tried.
        return Some(if store.chanced { Stop::Budget } else { Stop::Exhausted });
    }
    store.begin();
    store.stats.executions += 1;
    store.schedule.stream = store.stream();
    None
}

/// Tells the strategy how the execution in the store ended, and counts it.
pub fn conclude(store: &mut Store, outcome: Outcome) {
    if outcome != Outcome::Abandoned {
        store.stats.completed += 1;
    }
    if outcome == Outcome::Passed && !store.apart {
        store.longest = store.longest.max(store.last_steps);
    }
    if store.stats.executions <= store.job.traces {
        export::send_trace(store);
    }
    if store.learned {
        store.learned_in = store.stats.executions;
        // What a thread did for long without a step may be steps now.
        store.impatient = false;
    }
    let run = Finished { trace: &store.trace, outcome: &outcome, learned: store.learned };
    let (strategy, other) = (&mut store.strategy, &mut store.other);
    heap::persistent(|| {
        strategy.end(&run);
        if let Some(other) = other.as_mut().filter(|_| run.learned) {
            other.end(&run);
        }
    });
    store.stats.points = store.sites.points;
    store.stats.threads = store.stats.threads.max(store.most_threads as u64);
    if store.now_ms >= store.progress_ms + PROGRESS_MS {
        store.progress_ms = store.now_ms;
        store.stats.elapsed_ms = store.now_ms;
        messages::send(store, &Message::Progress(store.stats.clone()));
    }
}

/// Counts the failure in the store and has the command hear of it.
pub fn count_failure(store: &mut Store) {
    store.stats.failures += 1;
    if let (Some(f), true) = (&store.failure, store.findings) {
        messages::send(store, &Message::Failure(f.clone()));
    }
}

/// Draws the conclusion from a child that made no progress; a reason to stop, if there is one.
fn after_hang(store: &mut Store, hang: &Hang) -> Option<Stop> {
    let why = note_hang(store, hang);
    conclude(store, Outcome::Abandoned);
    if store.replay.is_some() {
        return Some(Stop::Diverged(why.to_owned()));
    }
    (!store.stats.uncontrolled.is_empty()).then_some(Stop::Budget)
}

/// Draws the conclusion from a child that has ended; a reason to stop, if there is one.
pub fn after_child(store: &mut Store, fate: Fate) -> Option<Stop> {
    if let Fate::Hung(hang) = &fate {
        return after_hang(store, hang);
    }
    complete(store, &fate);
    match store.end.clone() {
        End::Failed => {
            store.parallel.failed(store.stats.executions);
            let kind = store.failure.as_ref().map_or(Kind::Crash, |f| f.kind);
            count_failure(store);
            conclude(store, Outcome::Failed(kind));
            if store.replay.is_some() { Some(Stop::Failures) } else { None }
        }
        End::Abandoned => {
            conclude(store, Outcome::Abandoned);
            None
        }
        End::Diverged(why) => {
            conclude(store, Outcome::Abandoned);
            Some(match () {
                () if store.replay.is_some() => Stop::Diverged(why),
                // A call that cannot be let through, which the totals name.
                () if !store.stats.uncontrolled.is_empty() => Stop::Budget,
                () => Stop::Error(why),
            })
        }
        End::Batch(stop) => Some(stop),
        End::Parallel => None,
        // There is no time to begin again.
        End::Dependent => Some(Stop::Budget),
        End::Running | End::Passed => {
            conclude(store, Outcome::Passed);
            None
        }
    }
}

/// Counts the execution before, which ended well or was given up and has been undone.
pub fn conclude_undone(store: &mut Store) {
    let outcome = if store.end == End::Abandoned { Outcome::Abandoned } else { Outcome::Passed };
    conclude(store, outcome);
}

/// A child that has run many executions has no more to do.
pub fn batch_ends(store: &mut Store, stop: Stop) -> ! {
    store.end = End::Running;
    heap::persistent(|| store.end = End::Batch(stop));
    crate::quit(SAID)
}
