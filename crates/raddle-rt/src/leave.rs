//! The end of a child's execution.

use crate::child::SAID;
use crate::rewind;
use crate::runtime::rt;
use crate::store::End;

/// The strategy gives the execution up.
pub fn abandon() -> ! {
    count();
    let store = &mut *rt().store;
    store.gives_up = true;
    store.end = End::Abandoned;
    rewind::back();
    crate::quit(SAID)
}

/// The execution takes too many steps to be judged.
pub fn too_long() -> ! {
    rt().store.stats.too_long += 1;
    abandon()
}

/// The execution is over and its end is in the store: the child has nothing more to do.
pub fn leave() -> ! {
    count();
    crate::quit(SAID)
}

pub fn count() {
    let r = rt();
    r.flush();
    r.store.stats.steps += r.execution.sched.visible;
    r.store.stats.decisions += r.execution.sched.decisions as u64;
    r.store.last_steps = r.execution.sched.steps;
}
