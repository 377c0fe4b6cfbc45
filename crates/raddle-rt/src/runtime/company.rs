//! Who could look: whether a thread is alone, and which part of a stack nobody else has ever reached into.

use super::{Runtime, alone, globals, in_stack, me};
use raddle_core::ThreadId;
use raddle_core::protocol::Unexplored;
use raddle_sched::{FrontEnd, Mode, Note};

impl Runtime {
    /// Brings the flags of the fast paths up to date.
    pub fn note_company(&mut self) {
        let was = alone();
        globals::set_alone(
            self.execution.sched.mode == Mode::Prelude || self.execution.sched.threads.len() == 1,
        );
        if was && !alone() {
            // These threads are older than the execution, and what is known may be younger.
            (0..self.execution.sched.threads.len()).for_each(|i| self.shield(i));
        }
    }

    /// Tells a thread which part of its stack nobody else looks at.
    pub fn shield(&mut self, i: usize) {
        let f = &mut self.execution.sched.threads[i];
        let (low, high) = f.stack_range;
        let shown = if self.store.job.every_access { high - low } else { self.store.reached.depth(f.id) };
        f.private = (low, high - shown.min(high - low));
    }

    /// The running thread is about to access memory that is not on the heap; if it is in another thread's stack, that
    /// much of the stack is worth watching, from the next execution on from the first access.
    pub fn reach(&mut self, addr: usize) {
        let (low, high) = self.store.image.range;
        if (low..high).contains(&addr) || in_stack(me().stack_range, addr) {
            return;
        }
        let Some(i) = self.execution.sched.threads.iter().position(|f| in_stack(f.private, addr)) else {
            return;
        };
        let depth = self.execution.sched.threads[i].stack_range.1 - addr;
        self.store.reached.note(self.execution.sched.threads[i].id, depth);
        self.store.learned = true;
        self.shield(i);
    }

    /// Once all others have ended, what the running thread does comes after all that they did. A replay is looked at
    /// to its end.
    pub fn note_end_of_company(&mut self) {
        if self.execution.sched.mode == Mode::Search && self.execution.sched.alive == 1 {
            globals::set_alone(true);
        }
    }

    /// The test makes use of something that the search does not try in all ways.
    pub fn leave_out(&mut self, what: Unexplored) {
        if self.execution.sched.mode != Mode::Replay {
            let me = ThreadId(self.current() as u32);
            self.split().1.note(Note::LeftOut(me, what));
        }
    }
}
