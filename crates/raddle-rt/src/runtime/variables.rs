//! What the memory at an address is called: see [`crate::names`].

use super::{Runtime, in_stack, unrecorded};
use crate::memory;
use crate::names::NameKey;
use crate::recent::{RECENT, slots};
use raddle_core::VarId;

impl Runtime {
    /// The variable at an address; a new one where memory was freed and allocated again.
    #[inline(always)]
    pub fn var(&mut self, addr: usize) -> VarId {
        if unrecorded() {
            return VarId(0);
        }
        let slot = (addr >> 2) & (slots() - 1) & (RECENT - 1);
        if self.process.recent_vars[slot].0 == addr && self.process.recent_vars[slot].1 == self.process.frees
        {
            return self.process.recent_vars[slot].2;
        }
        let var = self.look_up_var(addr);
        self.process.recent_vars[slot] = (addr, self.process.frees, var);
        var
    }

    #[inline(never)]
    fn look_up_var(&mut self, addr: usize) -> VarId {
        let block = if memory::owns(addr) { memory::heap().find(addr) } else { None };
        let serial = block.map_or(0, |(_, b)| b.serial);
        if let Some(v) = self.execution.vars.get(addr, serial) {
            return v;
        }
        let (low, high) = self.store.image.range;
        let name = match block {
            Some((start, b)) => NameKey::Heap(b.place, b.size, addr - start),
            None if (low..high).contains(&addr) => NameKey::Static(addr - low),
            None => match self.execution.sched.threads.iter().find(|f| in_stack(f.stack_range, addr)) {
                Some(f) => match f.calls.frame_around(addr) {
                    Some((pc, sp)) => {
                        let store = &mut *self.store;
                        let local = store.names.local(pc, addr - sp, || store.image.local_name(pc, sp, addr));
                        local.unwrap_or(NameKey::Stack(f.id.0, f.stack_range.1 - addr))
                    }
                    None => NameKey::Stack(f.id.0, f.stack_range.1 - addr),
                },
                None => NameKey::Other(addr),
            },
        };
        let store = &mut *self.store;
        store.trace.vars.push(store.names.intern(name));
        self.execution.vars.add(addr, serial)
    }
}
