//! What accesses teach: an execution remembers each in the shadow memory, and where two of different threads clash that nothing orders, one
//! of them a write, both instructions become scheduling points if no lock excludes them.
//!
//! The filter is a hybrid of lock sets (Eraser) and a fork-join happens-before order (a small part of what FastTrack keeps).

use crate::hooks::invalidate_all;
use crate::runtime::{self, rt};
use crate::shadow::{Clash, POINT, Touch};
use raddle_core::{SiteId, ThreadId};

/// Remembers an access in the shadow memory and learns from clashes.
#[inline(always)]
pub fn remember(site: SiteId, addr: usize, size: usize, write: bool) {
    if !runtime::unrecorded() {
        touch_shadow(site, addr, size, write);
    }
}

/// Remembers a write without comparing it with others.
pub fn note_write(site: SiteId, addr: usize, size: usize) {
    let touch = touch_by(site, true);
    let r = rt();
    r.execution.shadow.touch(
        addr,
        size,
        touch,
        |_, _| true,
        |a, b| r.execution.locksets.exclude(a, b),
        |_| {},
    );
}

/// What was at an address comes to an end by what the running thread does at `site`: learns from all accesses to it by others that nothing
/// orders before, but for those of threads that are `excused`.
pub fn remember_end(site: SiteId, addr: usize, size: usize, excused: impl Fn(ThreadId) -> bool) {
    let mine = touch_by(site, true);
    let mut unordered = Vec::new();
    rt().execution.shadow.each(addr, size, |a| {
        let seen = runtime::me().clock.get(a.thread.0 as usize).is_some_and(|&c| c >= a.clock);
        if a.thread != mine.thread && !seen {
            unordered.push(a);
        }
    });
    unordered.retain(|a| !excused(a.thread));
    let r = rt();
    let mut learned = false;
    for a in &unordered {
        let unprotected = !r.execution.locksets.exclude(a.locks, mine.locks) && !runtime::is_repeated();
        for site in [a.site, mine.site] {
            learned |= site != POINT && r.store.sites.learn(site, unprotected);
        }
    }
    if learned {
        r.store.learned = true;
        invalidate_all();
    }
}

fn touch_by(site: SiteId, write: bool) -> Touch {
    let r = rt();
    let (me, f, known) = (r.current(), runtime::me(), r.store.sites.get(site));
    let (thread, clock, shared) = (ThreadId(me as u32), f.clock[me], known.shared);
    let site = if known.point { POINT } else { site };
    Touch { thread, clock, site, shared, locks: f.lockset, write }
}

#[inline(never)]
fn touch_shadow(site: SiteId, addr: usize, size: usize, write: bool) {
    let r = rt();
    let f = runtime::me();
    let touch = touch_by(site, write);
    let sites = &mut r.store.sites;
    let locksets = &r.execution.locksets;
    let mut learned = false;
    let repeats = runtime::is_repeated();
    r.execution.shadow.touch(
        addr,
        size.min(256),
        touch,
        |t, c| f.clock.get(t.0 as usize).is_some_and(|&seen| seen >= c),
        |a, b| locksets.exclude(a, b),
        |clash: Clash| {
            for site in [clash.site, touch.site] {
                learned |= site != POINT && sites.learn(site, clash.unprotected && !repeats);
            }
        },
    );
    if learned {
        r.store.learned = true;
        invalidate_all();
    }
}
