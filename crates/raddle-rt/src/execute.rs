//! One execution of a closure in this process: made anew, run, dropped.

use crate::fast;
use crate::fiber::Start;
use crate::leave::count;
use crate::memory::{self, GRAIN};
use crate::messages;
use crate::runtime::{self, ExecutionKind, Host, Inside, Runtime};
use crate::signals;
use crate::store::Store;
use raddle_sched::{ENDLESS_PATIENCE, Mode, Rules};

/// The rules of the next execution of a closure.
fn rules(store: &Store, kind: ExecutionKind) -> Rules {
    let mut rules = store.rules();
    rules.recorded = kind != ExecutionKind::Unrecorded;
    if fast::hooks_are_out() || kind == ExecutionKind::Repeated && !store.impatient {
        rules.patience = ENDLESS_PATIENCE;
    }
    rules
}

impl Runtime {
    /// Leaves what was there before alone and prepares for executions of closures.
    pub fn begin_loop(&mut self) {
        // The fibers of the prelude are the copy of a world that only the parent goes back to.
        std::mem::forget(std::mem::take(&mut self.execution.sched.threads));
        self.execution.finished.clear();
        self.execution.sched.queues.clear();
        self.execution.sched.mode = if self.store.replay.is_some() { Mode::Replay } else { Mode::Search };
        self.host = Host::NO_LOOP_YET;
    }

    /// Prepares this process, a child, for one execution of a closure after the other.
    pub fn enter_loop(&mut self) {
        self.begin_loop();
        messages::hide_output();
        signals::install();
    }

    /// One execution of a closure, in this process.
    pub fn execute(&mut self, start: Start, arg: usize, kind: ExecutionKind) {
        let _inside = Inside::enter();
        runtime::set_kind(kind);
        self.begin(rules(self.store, kind));
        self.forget_batch();
        let heap = memory::heap();
        heap.begin();
        heap.noticed =
            if runtime::unrecorded() { GRAIN.min(memory::limit(self.store.job.memory_mb)) } else { 0 };
        const MAIN_STACK: usize = 8 << 20;
        self.create(start, arg, MAIN_STACK);
        self.set_current(0);
        runtime::set_active(true);
        runtime::enter_from_host();
        runtime::set_active(false);
        count();
    }
}
