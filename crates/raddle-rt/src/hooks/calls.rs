//! Function entry and exit: the shadow call stack.
//!
//! What is kept of a call is not a return address but where on the stack one will be. A compiled function
//! keeps its stack pointer still between prologue and epilogue, so every call it makes stores its return
//! address in the same slot, the one that the call of the entry hook used. Reading the slots therefore gives
//! the place where each function on the stack is *now*, also when the innermost one called into code that is
//! not instrumented.

use crate::fiber::Fiber;
use crate::runtime;
use std::arch::naked_asm;
use std::mem::offset_of;

/// For each instrumented function of a thread that is in progress, outermost first, the stack slot that holds the return address of
/// the call it is making.
#[derive(Debug)]
pub struct Calls {
    /// How many there are, how many there is room for, and where; the hooks look here themselves.
    len: usize,
    room: usize,
    at: *mut usize,
    /// That memory, all of it in use as far as the list knows.
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

    /// How many functions are in progress.
    #[inline(always)]
    pub fn depth(&self) -> usize {
        self.len
    }

    #[cold]
    fn deeper(&mut self, slot: usize) {
        const FIRST: usize = 64;
        self.slots.resize((2 * self.room).max(FIRST), 0);
        (self.at, self.room) = (self.slots.as_mut_ptr(), self.slots.len());
        self.slots[self.len] = slot;
        self.len += 1;
    }
}

impl Default for Calls {
    fn default() -> Self {
        Calls::new()
    }
}

const LEN: usize = offset_of!(Fiber, calls) + offset_of!(Calls, len);
const ROOM: usize = offset_of!(Fiber, calls) + offset_of!(Calls, room);
const AT: usize = offset_of!(Fiber, calls) + offset_of!(Calls, at);

/// There is no room for the slot of a function that begins.
extern "C" fn entered_deeper(slot: usize) {
    runtime::me().calls.deeper(slot);
}

/// The function that made the last step has ended. What follows is hardly known, and often the end of the thread.
extern "C" fn exited_further() {
    runtime::me().dress();
}

/// Hook: a function begins; the argument is its return address.
///
/// # Safety
/// Called by instrumented code.
#[unsafe(naked)]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __tsan_func_entry(caller: usize) {
    naked_asm!(
        "cmp byte ptr [rip + {listening}], 0",
        "je 2f",
        "mov rax, [rip + {me}]",
        "mov rcx, [rax + {len}]",
        "cmp rcx, [rax + {room}]",
        "jae 3f",
        "mov rdx, [rax + {at}]",
        "mov [rdx + 8 * rcx], rsp",
        "inc rcx",
        "mov [rax + {len}], rcx",
        "2: ret",
        "3: mov rdi, rsp",
        "jmp {deeper}",
        listening = sym runtime::LISTENING,
        me = sym runtime::ME,
        len = const LEN,
        room = const ROOM,
        at = const AT,
        deeper = sym entered_deeper,
    )
}

/// Hook: a function ends.
///
/// # Safety
/// Called by instrumented code.
#[unsafe(naked)]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __tsan_func_exit() {
    naked_asm!(
        "cmp byte ptr [rip + {listening}], 0",
        "je 2f",
        "mov rax, [rip + {me}]",
        "mov rcx, [rax + {len}]",
        // A function that began before the execution did is not on the list.
        "sub rcx, 1",
        "jb 2f",
        "mov [rax + {len}], rcx",
        "cmp rcx, [rax + {depth}]",
        "jb {further}",
        "2: ret",
        listening = sym runtime::LISTENING,
        me = sym runtime::ME,
        len = const LEN,
        depth = const offset_of!(Fiber, bare_depth),
        further = sym exited_further,
    )
}

/// Hook: a module's constructor.
#[unsafe(no_mangle)]
pub extern "C" fn __tsan_init() {}

/// Hook: ignore what follows; not used by the compiler for Rust.
#[unsafe(no_mangle)]
pub extern "C" fn __tsan_ignore_thread_begin() {}

/// Hook: end of ignoring.
#[unsafe(no_mangle)]
pub extern "C" fn __tsan_ignore_thread_end() {}
