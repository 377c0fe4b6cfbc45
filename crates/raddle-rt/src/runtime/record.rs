//! What happens in an execution, written down.

use super::{Runtime, faults, front, load, me, unrecorded, unseen};
use crate::heap;
use raddle_core::{Content, Event, Op};
use raddle_sched::Mode;

/// Events recorded after the end of a schedule being replayed.
const OVERTIME: u64 = 10_000;

impl Runtime {
    /// Appends to the trace. A replay that goes on long after its schedule has ended is recorded no longer: what
    /// led there is in the trace, and the rest may be endless.
    #[inline(always)]
    pub fn record(&mut self, event: Event) {
        if self.execution.sched.mode == Mode::Replay && self.in_overtime()
            || unseen() && (unrecorded() || !matches!(event.op, Op::Enter(_) | Op::Leave(_)))
        {
            return;
        }
        self.store.trace.events.push(event);
        if self.store.strategy_listens {
            self.tell();
        }
    }

    fn in_overtime(&mut self) -> bool {
        self.execution.overtime += self.execution.sched.schedule_is_used_up() as u64;
        self.execution.overtime > OVERTIME
    }

    /// Tells the strategy what was recorded last.
    fn tell(&mut self) {
        let store = &mut *self.store;
        if self.execution.sched.mode == Mode::Search
            && let Some(event) = store.trace.events.last()
        {
            front::introduce(&mut store.strategy, &store.sites, &mut store.image, event.site);
            heap::persistent(|| store.strategy.happened(event));
        }
    }

    /// Fills in the value of the running thread's last plain store, which has happened by now.
    #[inline]
    pub fn settle_store(&mut self) {
        if let Some((index, addr, size)) = me().store.take()
            && let Some(Event { op: Op::Write(a), .. }) = self.store.trace.events.get_mut(index)
        {
            a.written = Content::of(load(addr, size));
        }
    }
}

/// The program faulted at this address: if that was its last plain store, nothing was written.
pub fn forget_store(addr: usize) {
    me().store.take_if(|(_, at, _)| faults(*at, addr));
}
