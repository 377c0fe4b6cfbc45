//! What hooks tell the scheduler about threads that may get nowhere: see [`raddle_sched::Overdue`].

use crate::owners;
use crate::runtime::{self, alone, load, me, rt, step};
use raddle_core::{Op, SiteId};
use raddle_sched::{Overdue, State};

/// Called by hooks that are not visible steps: makes a thread that has done nothing visible for long yield.
#[inline(always)]
pub fn patience(site: SiteId) {
    let f = me();
    if f.raw >= f.raw_limit {
        overdue(site);
    }
}

#[cold]
fn overdue(site: SiteId) {
    let r = rt();
    if !r.execution.sched.is_following() && (alone() || owners::is_patient()) {
        return;
    }
    r.flush();
    let (i, urged) = (r.current(), me().urged);
    let (sched, mut front) = r.split();
    let overdue = sched.overdue(i, &mut front).unwrap_or_else(|ending| runtime::end(ending));
    let e = rt().event(site, Op::Yield);
    match overdue {
        Overdue::GoesOn => {}
        Overdue::Yields(state) => step(e, state),
        Overdue::IsUrged(state) => {
            step(e, state);
            // From now on it is seen whether it reads the same again and again.
            me().urged = urged + 1;
        }
    }
}

/// A thread that was made to yield has read or written memory that nobody else is known to touch.
#[cold]
pub fn urged(site: SiteId, addr: usize, size: u8, write: bool) {
    if write {
        progressed();
    } else {
        saw(site, addr, size, load(addr, size));
    }
}

/// Notes a visible read that took effect.
pub fn saw(site: SiteId, addr: usize, size: u8, value: u128) {
    me().saw(site, addr, size, value);
}

/// Notes a visible write: the thread gets somewhere.
pub fn progressed() {
    me().progressed();
}

/// Notes a visible write in an unrecorded execution, where nobody asks for circles.
#[inline(always)]
pub fn progressed_unrecorded() {
    me().progressed_unrecorded();
}

/// The state in which the running thread should wait for a visible read: spinning threads stand aside.
#[inline(always)]
pub fn before_read() -> State {
    if me().spin_count == 0 {
        return State::Ready;
    }
    let r = rt();
    let i = r.current();
    let (sched, mut front) = r.split();
    sched.before_read(i, &mut front)
}
