//! The shadow call stack: which instrumented functions of a thread are in progress.
//!
//! What is kept of a call is not a return address but where on the stack one will be. A compiled function
//! keeps its stack pointer still between prologue and epilogue, so every call it makes stores its return
//! address in the same slot, the one that the call of the entry hook used. Reading the slots therefore gives
//! the place where each function on the stack is *now*, also when the innermost one called into code that is
//! not instrumented.

use std::mem::offset_of;

/// Where the hooks find the number of functions in progress.
pub const LEN: usize = offset_of!(Calls, len);
/// Where they find how many there is room for.
pub const ROOM: usize = offset_of!(Calls, room);
/// Where they find the address of the list.
pub const AT: usize = offset_of!(Calls, at);

/// For each instrumented function of a thread that is in progress, outermost first, the stack slot that holds the return address of
/// the call it is making.
#[derive(Debug)]
pub struct Calls {
    /// How many there are, how many there is room for, and where; the hooks look here themselves.
    len: usize,
    room: usize,
    at: *mut usize,
    /// The memory that `at` points to, all of it in use as far as the vector knows.
    slots: Vec<usize>,
}

impl Calls {
    /// None.
    pub const fn new() -> Self {
        Calls { len: 0, room: 0, at: std::ptr::null_mut(), slots: Vec::new() }
    }

    /// Forgets them all, but not where there is room.
    pub fn clear(&mut self) {
        self.len = 0;
    }

    /// The slots, outermost first.
    #[inline(always)]
    pub fn slots(&self) -> &[usize] {
        self.slots.get(..self.len).unwrap_or_default()
    }

    /// A function begins.
    #[inline(always)]
    pub fn push(&mut self, slot: usize) {
        match self.slots.get_mut(self.len) {
            Some(place) => {
                *place = slot;
                self.len += 1;
            }
            None => self.deeper(slot),
        }
    }

    /// The innermost function ends.
    #[inline(always)]
    pub fn pop(&mut self) {
        self.len = self.len.saturating_sub(1);
    }

    #[cold]
    /// A function begins for which there is no room yet.
    pub fn deeper(&mut self, slot: usize) {
        const FIRST: usize = 64;
        self.slots.resize((2 * self.room).max(FIRST), 0);
        (self.at, self.room) = (self.slots.as_mut_ptr(), self.slots.len());
        self.slots[self.len] = slot;
        self.len += 1;
    }
}

impl Calls {
    /// Where the instrumented functions in progress are, innermost first, leaving out the innermost `skip`.
    pub fn chain(&self, skip: usize) -> impl Iterator<Item = usize> + Clone {
        let calls = self.slots();
        let calls = &calls[..calls.len().saturating_sub(skip)];
        let mut inner = 0;
        calls.iter().rev().filter_map(move |&slot| {
            // A function that was inlined after instrumentation shares the slot of its caller.
            let new = slot != inner;
            inner = slot;
            // SAFETY: the slot lies in a frame of the thread's stack that is still in use.
            new.then(|| unsafe { (slot as *const usize).read_volatile() })
        })
    }

    /// The instrumented function whose frame an address of its stack lies in: where the function is, and its
    /// stack pointer.
    pub fn frame_around(&self, addr: usize) -> Option<(usize, usize)> {
        let slot = *self.slots().iter().filter(|&&slot| slot < addr).max()?;
        // SAFETY: as in `chain`.
        let pc = unsafe { (slot as *const usize).read_volatile() };
        Some((pc, slot + 8))
    }
}

impl Default for Calls {
    fn default() -> Self {
        Calls::new()
    }
}
