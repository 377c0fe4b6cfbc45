//! Which thread holds which locks.

use super::{Runtime, me, unseen};
use crate::sync::words;
use raddle_core::{LockMode, Op, SiteId};
use raddle_sched::{Gate, HeldLock};

impl Runtime {
    /// The running thread has taken a lock.
    pub fn acquired(&mut self, addr: usize, mode: LockMode, site: SiteId) {
        let me = self.current();
        self.execution.sched.threads[me].held.push(HeldLock { addr, mode, site });
        if unseen() {
            return;
        }
        let var = self.var(addr);
        self.note_lockset(me);
        let e = self.event(site, Op::Acquire { lock: var, mode });
        self.record(e);
    }

    /// The running thread gives a lock back. It may have been taken by another thread (a guard sent away).
    pub fn released(&mut self, addr: usize, mode: LockMode, site: SiteId) {
        let holder = std::iter::once(self.current())
            .chain(0..self.execution.sched.threads.len())
            .find(|&i| self.execution.sched.threads[i].held.iter().any(|h| h.addr == addr));
        if let Some(i) = holder {
            let held = &mut self.execution.sched.threads[i].held;
            let last = held.iter().rposition(|h| h.addr == addr).expect("just found");
            held.remove(last);
            if !unseen() {
                self.note_lockset(i);
            }
        }
        if unseen() {
            return;
        }
        let var = self.var(addr);
        let e = self.event(site, Op::Release { lock: var, mode });
        self.record(e);
    }

    fn note_lockset(&mut self, i: usize) {
        let f = &mut self.execution.sched.threads[i];
        f.lockset = self.execution.locksets.intern(f.held.iter().map(|l| (l.addr, l.mode)));
    }

    /// The gate of the mutex that the running thread, which is about to wait on a condition, has just given back in
    /// precompiled code and will take again there: of the locks it seems to hold, the one that is free.
    pub fn given_back(&self) -> Option<Gate> {
        let mut free = me().held.iter().filter(|h| {
            // SAFETY: the thread has a reference to a lock that it holds or has just given back.
            h.addr % 4 == 0 && unsafe { (h.addr as *const u32).read_volatile() } == 0
        });
        let (first, more) = (free.next()?, free.next());
        more.is_none().then_some(Gate::mutex(first.addr, words::STD_MUTEX))
    }
}
