//! Function entry and exit, which keep the shadow call stack ([`crate::calls`]).

use crate::calls;
use crate::fast::{self, Thread};
use crate::fiber::Fiber;
use crate::runtime::{self, Inside};
use std::arch::naked_asm;
use std::mem::offset_of;

const LEN: usize = offset_of!(Fiber, body.calls) + calls::LEN;
const ROOM: usize = offset_of!(Fiber, body.calls) + calls::ROOM;
const AT: usize = offset_of!(Fiber, body.calls) + calls::AT;
const LAST_EXIT: usize = offset_of!(Fiber, body.fast) + offset_of!(Thread, last_exit);

/// There is no room for the slot of a function that begins.
extern "C" fn entered_deeper(slot: usize) {
    runtime::me().calls.deeper(slot);
}

/// A function begins while hooks are taken out of the code; `slot` holds the return address of this call, which from now on leads to
/// [`entered`] at once, if that can be done.
extern "C" fn entered_anew(slot: usize) {
    replace(slot, entered as *const () as usize);
    runtime::me().calls.push(slot);
}

/// A function ends while hooks are taken out of the code; `slot` holds the return address of this call, which from now on leads to
/// [`exited`] at once, if that can be done. What follows is not known: it may need the thread pointer.
extern "C" fn exited_anew(slot: usize) {
    let pc = replace(slot, exited as *const () as usize);
    let f = runtime::me();
    f.calls.pop();
    f.fast.last_exit = pc;
    f.restore_fs();
}

fn replace(slot: usize, by: usize) -> usize {
    // SAFETY: the slot was made by the call of the hook that is in progress.
    let pc = unsafe { (slot as *const usize).read() };
    if fast::first_visit(pc) {
        let _inside = Inside::enter();
        fast::replace(pc, if fast::is_needed_after(pc) { exited_to_more as *const () as usize } else { by });
    }
    pc
}

/// What follows the end of a function, before the return address `pc`, needs the thread pointer; tells whether that can be seen to.
pub fn needs_more(pc: usize) -> bool {
    fast::replace_again(pc, exited as *const () as usize, exited_to_more as *const () as usize)
}

/// A function ends after which the thread pointer is needed.
extern "C" fn restore_fs() {
    runtime::me().restore_fs();
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
        "cmp byte ptr [rip + {taken_out}], 0",
        "je {entered}",
        "mov rdi, rsp",
        "jmp {anew}",
        "2: ret",
        listening = sym runtime::LISTENING,
        taken_out = sym fast::ON,
        entered = sym entered,
        anew = sym entered_anew,
    )
}

/// A function begins, and it is known that an execution is in progress.
#[unsafe(naked)]
unsafe extern "C" fn entered() {
    naked_asm!(
        "mov rax, [rip + {me}]",
        "mov rcx, [rax + {len}]",
        "cmp rcx, [rax + {room}]",
        "jae 3f",
        "mov rdx, [rax + {at}]",
        "mov [rdx + 8 * rcx], rsp",
        "inc rcx",
        "mov [rax + {len}], rcx",
        "ret",
        "3: mov rdi, rsp",
        "jmp {deeper}",
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
        "cmp byte ptr [rip + {taken_out}], 0",
        "je {exited}",
        "mov rdi, rsp",
        "jmp {anew}",
        "2: ret",
        listening = sym runtime::LISTENING,
        taken_out = sym fast::ON,
        exited = sym exited,
        anew = sym exited_anew,
    )
}

/// A function ends, and it is known that an execution is in progress. Leaves behind where it was called.
#[unsafe(naked)]
unsafe extern "C" fn exited() {
    naked_asm!(
        "mov rax, [rip + {me}]",
        "mov rdx, [rsp]",
        "mov rcx, [rax + {len}]",
        // A function that began before the execution did is not on the list.
        "sub rcx, 1",
        "jb 2f",
        "mov [rax + {len}], rcx",
        "mov [rax + {last_exit}], rdx",
        "2: ret",
        me = sym runtime::ME,
        len = const LEN,
        last_exit = const LAST_EXIT,
    )
}

/// A function ends in an execution, and what follows needs the thread pointer.
#[unsafe(naked)]
unsafe extern "C" fn exited_to_more() {
    naked_asm!("call {exited}", "jmp {restore_fs}", exited = sym exited, restore_fs = sym restore_fs)
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
