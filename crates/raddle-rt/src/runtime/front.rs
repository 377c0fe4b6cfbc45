//! What the scheduler asks the runtime: the program's memory, the search, and the record.

use super::{Execution, Host, Runtime, load};
use crate::fiber::{Body, Fiber};
use crate::heap;
use crate::image::Image;
use crate::interpose::unwind::caller;
use crate::sites::Sites;
use crate::store::Store;
use crate::sync::models::Models;
use raddle_core::protocol::Entry;
use raddle_core::strategy::{Choice, Dice, Strategy, View};
use raddle_core::{Event, LockMode, Schedule, SiteId, ThreadId, Trace};
use raddle_sched::{FrontEnd, Memory, Note, Scheduler, mix};
use std::ptr::NonNull;

/// Most words of a stack that are compared, from its deep end.
const WORDS: usize = 4096;

/// What the runtime lends the scheduler for a call.
pub struct Front<'a> {
    store: &'a mut Store,
    models: &'a Models,
    dice: Option<NonNull<Dice>>,
    host: Host,
}

impl Runtime {
    /// The scheduler, and what it may ask.
    #[inline(always)]
    pub fn split(&mut self) -> (&mut Scheduler<Body>, Front<'_>) {
        let Runtime { store, execution, host, .. } = self;
        let Execution { sched, models, dice, .. } = execution;
        (sched, Front { store, models, dice: *dice, host: *host })
    }
}

impl Memory for Front<'_> {
    #[inline(always)]
    fn word(&self, at: usize) -> u32 {
        // SAFETY: the word is that of the lock whose hook brought the thread here; the thread still holds a reference to the
        // lock, and the aligned four or eight bytes around it are on the same page.
        unsafe { (at as *const u32).read_volatile() }
    }

    fn load(&self, at: usize, size: u8) -> u128 {
        load(at, size)
    }

    fn admits(&self, lock: usize, mode: LockMode) -> bool {
        self.models.free(lock, mode)
    }
}

impl FrontEnd for Front<'_> {
    type Body = Body;

    /// Of the thread's number, place, registers and stack.
    fn digest(&self, thread: &Fiber) -> u64 {
        let Some(caller) = caller() else { return mix(u64::from(thread.id.0)) };
        let top = thread.stack.as_ref().map(|s| s.top()).or(thread.calls.slots().first().copied());
        let words = (top.unwrap_or(caller.sp).saturating_sub(caller.sp) / 8).min(WORDS);
        let mut digest = mix(u64::from(thread.id.0)) ^ caller.pc as u64;
        for register in caller.preserved {
            digest = mix(digest ^ register as u64);
        }
        for i in 0..words {
            // SAFETY: between the stack pointer of a function in progress and the end of its thread's stack.
            digest = mix(digest ^ unsafe { (caller.sp as *const u64).add(i).read_volatile() });
        }
        digest
    }

    #[inline(always)]
    fn dice(&mut self) -> Option<&mut Dice> {
        // SAFETY: they are the strategy's, which stays where it is during an execution and is not used meanwhile.
        self.dice.map(|mut dice| unsafe { dice.as_mut() })
    }

    fn choose_blindly(&mut self, enabled: usize) -> Option<usize> {
        let strategy = &mut self.store.strategy;
        heap::persistent(|| strategy.choose_blindly(enabled))
    }

    fn choose(&mut self, enabled: &[Event], last: ThreadId, decision: usize) -> Choice {
        let store = &mut *self.store;
        for event in enabled {
            introduce(&mut store.strategy, &store.sites, &mut store.image, event.site);
        }
        let view = View { enabled, last, events: &store.trace.events, vars: &store.trace.vars, decision };
        let strategy = &mut store.strategy;
        heap::persistent(|| strategy.choose(&view))
    }

    fn every_step(&self) -> bool {
        self.store.strategy.every_step()
    }

    fn stuck(&mut self, pending: &[Event]) {
        let strategy = &mut self.store.strategy;
        heap::persistent(|| strategy.stuck(pending));
    }

    fn trace(&mut self) -> &mut Trace {
        &mut self.store.trace
    }

    fn schedule(&mut self) -> &mut Schedule {
        &mut self.store.schedule
    }

    #[inline(always)]
    fn limit(&mut self) -> &mut u64 {
        &mut self.store.limit
    }

    #[inline(always)]
    fn beat(&mut self) {
        self.store.heartbeat += 1;
    }

    fn is_late(&self) -> bool {
        self.store.job.budget_ms != 0 && self.store.now_ms >= self.store.job.budget_ms
    }

    fn note(&mut self, note: Note) {
        match note {
            Note::Chance => self.store.chanced = true,
            Note::Guessed => self.store.guessed = true,
            Note::Overdue => self.store.impatient = true,
            // Thread 0 of a process is the harness's, that of a closure is not.
            Note::LeftOut(ThreadId(0), _)
                if self.host == Host::Process && self.store.job.entry == Entry::Libtest => {}
            Note::LeftOut(_, what) => self.store.leave_out(what),
        }
    }
}

/// Tells a strategy that wants to know where a site is.
#[inline(always)]
pub(super) fn introduce(strategy: &mut Box<dyn Strategy>, sites: &Sites, image: &mut Image, site: SiteId) {
    if strategy.wants_place(site) {
        heap::persistent(|| strategy.place(site, &image.frames(&sites.get(site).chain)));
    }
}
