//! Function entry and exit: the shadow call stack.
//!
//! What is kept of a call is not a return address but where on the stack one will be. A compiled function
//! keeps its stack pointer still between prologue and epilogue, so every call it makes stores its return
//! address in the same slot, the one that the call of the entry hook used. Reading the slots therefore gives
//! the place where each function on the stack is *now*, also when the innermost one called into code that is
//! not instrumented.

use crate::runtime;
use std::arch::naked_asm;

extern "C" fn entered(_caller: usize, slot: usize) {
    let calls = &mut runtime::me().calls;
    if calls.len() == calls.capacity() {
        // Nothing comes after it, so that this function needs no frame.
        return entered_deeper(slot);
    }
    calls.push(slot);
}

#[cold]
fn entered_deeper(slot: usize) {
    let calls = &mut runtime::me().calls;
    calls.reserve(1);
    calls.push(slot);
}

extern "C" fn exited() {
    let me = runtime::me();
    me.calls.pop();
    // What follows the function that made the step is hardly known, and often the end of the thread.
    if me.calls.len() < me.bare_depth {
        me.dress();
    }
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
        "jne 2f",
        "ret",
        "2: mov rsi, rsp",
        "jmp {entered}",
        entered = sym entered,
        listening = sym runtime::LISTENING,
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
        "jne {exited}",
        "ret",
        exited = sym exited,
        listening = sym runtime::LISTENING,
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
