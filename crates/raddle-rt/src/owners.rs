//! Shared owners of a value, and which of them is the last.
//!
//! Owners that take a reference count down commute, but for one thing: who brings it to zero runs the destructor. That is no scheduling
//! point as long as nobody can tell: std's glue that reads the value and frees its memory does the same in every thread and at every
//! moment. Any other destructor can tell in which thread it runs and what has happened by then. So the events of a destructor are
//! counted, and those of them that show nothing; if there are others, all places become scheduling points where threads that
//! nothing orders have taken that count down.
//!
//! Whoever has given a value up no longer uses it: that orders their accesses before the last owner frees the memory.

use crate::destructors::Destructor;
use crate::learn;
use crate::memory;
use crate::runtime::{self, in_stack, me, rt};
use raddle_core::{SiteId, ThreadId};
use raddle_sched::Mode;

/// Bytes of the two counts that a shared value begins with: of owners, and of weak references.
const COUNTS: usize = 16;

/// The running thread gives its share in a value up: the count at an address is about to be taken down.
pub fn given_up(count: usize, site: SiteId) {
    dull();
    if !is_looked_at() {
        return;
    }
    note(count, count, site);
    if runtime::load(count, 8) == 1 {
        let f = me();
        let destructor = Destructor { count, site, raw: f.raw, dull: f.owners.dull };
        f.owners.running.push(destructor);
        // Its events are all to be seen.
        f.raw_limit = 0;
    }
}

/// A weak reference is given up; where a destructor has run, that of the last owner, which comes after it.
pub fn weak_given_up(weak: usize, site: SiteId) {
    dull();
    if !is_looked_at() {
        return;
    }
    let count = weak - 8;
    note(weak, count, site);
    if let Some(d) = end(count) {
        judge(&d);
    }
}

/// One of the counts that the value at `value` begins with is about to be taken down.
fn note(count: usize, value: usize, site: SiteId) {
    learn::note_write(site, count, 8);
    rt().execution.shared_values.set(value as u64, 1);
}

/// The destructor that the running thread runs because this count has come to zero has ended, if there is one.
fn end(count: usize) -> Option<Destructor> {
    let f = me();
    let i = f.owners.running.iter().rposition(|d| d.count == count)?;
    f.owners.running.truncate(i + 1);
    let ended = f.owners.running.pop();
    let r = rt();
    r.renew_patience(r.current());
    ended
}

/// Whether anything is learned from the execution in progress.
fn is_looked_at() -> bool {
    let r = rt();
    !runtime::unseen() && r.execution.sched.mode == Mode::Search && !r.store.job.every_access
}

fn judge(d: &Destructor) {
    let f = me();
    if f.raw - d.raw != f.owners.dull - d.dull {
        learn::remember_end(d.site, d.count, 8, |_| false);
    }
}

/// Whether the running thread is looked at only because of a destructor, which has not gone on for long.
pub fn is_patient() -> bool {
    let f = me();
    f.owners.running.first().is_some_and(|d| f.raw - d.raw < rt().execution.sched.patience)
}

/// The raw event that the running thread has begun shows nothing.
#[inline]
pub fn dull() {
    me().owners.dull += 1;
}

/// A plain access of a destructor: it shows nothing if it is one of std to the heap or to the thread's own stack.
#[cold]
pub fn meet(pc: usize, addr: usize, size: usize) {
    let own = in_stack(me().private, addr + size - 1);
    if (own || memory::owns(addr)) && rt().store.image.is_std(pc) {
        dull();
    }
}

/// The running thread is about to free a block; tells whether a thread has given up the value in it, or one that the block is part of.
pub fn freed(block: usize) -> impl Fn(ThreadId) -> bool {
    end(block);
    let values = &mut rt().execution.shared_values;
    let own = (values.get(block as u64) == Some(1)).then_some(block);
    if own.is_some() {
        values.set(block as u64, 0);
    }
    move |thread| {
        let mut found = false;
        for count in me().owners.running.iter().map(|d| d.count).chain(own) {
            rt().execution.shadow.each(count, COUNTS, |a| found |= a.thread == thread);
        }
        found
    }
}
