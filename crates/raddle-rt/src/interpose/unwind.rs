//! Panics, and walking the stack.

use crate::fiber::Panic;
use crate::real::real;
use crate::runtime::{self, Inside, rt};
use libc::{c_int, c_void};
use std::arch::naked_asm;

unsafe extern "C" {
    fn _Unwind_Backtrace(visit: extern "C" fn(*mut c_void, *mut c_void) -> c_int, arg: *mut c_void) -> c_int;
    fn _Unwind_GetIP(context: *mut c_void) -> usize;
    fn _Unwind_GetCFA(context: *mut c_void) -> usize;
    fn _Unwind_GetGR(context: *mut c_void, register: c_int) -> usize;
}

/// Most frames looked at.
const FRAMES: usize = 128;

struct Walk {
    pcs: [usize; FRAMES],
    n: usize,
    low: usize,
    high: usize,
    /// Stop at the first address in a crate under test.
    to_user: bool,
}

extern "C" fn visit(context: *mut c_void, arg: *mut c_void) -> c_int {
    const STOP: c_int = 4;
    // SAFETY: the unwinder passes its context and our argument.
    unsafe {
        let walk = &mut *(arg as *mut Walk);
        let pc = _Unwind_GetIP(context);
        if (walk.low..walk.high).contains(&pc) {
            walk.pcs[walk.n] = pc;
            walk.n += 1;
        }
        let done = walk.n == FRAMES
            || walk.n > 0 && walk.to_user && !rt().store.sites.is_library(pc, &mut rt().store.image);
        if done { STOP } else { 0 }
    }
}

/// Return addresses in the program on the running thread's stack, innermost first; all, or those up to the
/// first one in a crate under test.
pub fn walk(to_user: bool) -> ([usize; FRAMES], usize) {
    let (low, high) = rt().store.image.range;
    let mut walk = Walk { pcs: [0; FRAMES], n: 0, low, high, to_user };
    // SAFETY: the callback follows the unwinder's protocol; `walk` outlives the call.
    unsafe { _Unwind_Backtrace(visit, &raw mut walk as *mut c_void) };
    (walk.pcs, walk.n)
}

/// The innermost function of the program on the running thread's stack.
pub struct Caller {
    /// Where it has called us, or somebody who did.
    pub pc: usize,
    /// Its stack pointer.
    pub sp: usize,
    /// Its registers that a call preserves.
    pub preserved: [usize; 6],
}

extern "C" fn visit_caller(context: *mut c_void, arg: *mut c_void) -> c_int {
    const STOP: c_int = 4;
    /// rbx, rbp and r12 to r15 in DWARF's numbering.
    const PRESERVED: [c_int; 6] = [3, 6, 12, 13, 14, 15];
    let (low, high) = rt().store.image.range;
    // SAFETY: the unwinder passes its context and our argument; it knows these registers in every frame, because it
    // has saved them itself.
    unsafe {
        let pc = _Unwind_GetIP(context);
        if !(low..high).contains(&pc) {
            return 0;
        }
        let preserved = PRESERVED.map(|register| _Unwind_GetGR(context, register));
        let found = Caller { pc, sp: _Unwind_GetCFA(context), preserved };
        *(arg as *mut Option<Caller>) = Some(found);
        STOP
    }
}

/// Finds it.
pub fn caller() -> Option<Caller> {
    let mut found = None;
    // SAFETY: the callback follows the unwinder's protocol; `found` outlives the call.
    unsafe { _Unwind_Backtrace(visit_caller, &raw mut found as *mut c_void) };
    found
}

/// Whether an exception is one of C++: those are caught as a matter of course, and tell when nobody does.
///
/// # Safety
/// A live exception.
unsafe fn is_of_cpp(exception: *const u64) -> bool {
    const LANGUAGE: u64 = 0xffff_ff00;
    // SAFETY: the unwinder's header begins with the mark of whoever throws it, of which these bytes name the language.
    unsafe { *exception & LANGUAGE == u64::from_be_bytes(*b"\0\0\0\0C++\0") }
}

extern "C" fn raised(exception: *const u64) {
    // SAFETY: it is about to be thrown.
    if !runtime::controlled() || unsafe { is_of_cpp(exception) } {
        return;
    }
    let _inside = Inside::enter();
    let (pcs, n) = walk(false);
    let late = rt().execution.sched.root_ended_at.is_some();
    rt().me().panics.push(Panic { stack: pcs[..n].to_vec(), late, handler: 0 });
}

extern "C" fn landed(_context: *mut c_void, ip: usize) {
    if runtime::controlled()
        && let Some(p) = rt().me().panics.last_mut()
    {
        p.handler = ip;
    }
}

extern "C" fn real_set_ip() -> usize {
    real()._Unwind_SetIP as usize
}

/// The unwinder found a place to stop. The last one before the panic is over is its handler.
///
/// # Safety
/// As for the real function.
#[unsafe(naked)]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn _Unwind_SetIP(context: *mut c_void, ip: usize) {
    naked_asm!(
        "push rdi",
        "push rsi",
        "sub rsp, 8",
        "call {landed}",
        "call {real_set_ip}",
        "add rsp, 8",
        "pop rsi",
        "pop rdi",
        "jmp rax",
        landed = sym landed,
        real_set_ip = sym real_set_ip,
    )
}

extern "C" fn real_raise() -> usize {
    real()._Unwind_RaiseException as usize
}

/// A panic starts to unwind. Notes where, then goes on in the real unwinder as if called directly: no frame
/// of ours may be on the stack that is unwound.
///
/// # Safety
/// As for the real function.
#[unsafe(naked)]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn _Unwind_RaiseException(exception: *mut c_void) -> c_int {
    naked_asm!(
        ".cfi_startproc",
        "push rdi",
        ".cfi_adjust_cfa_offset 8",
        "call {raised}",
        "call {real_raise}",
        "pop rdi",
        ".cfi_adjust_cfa_offset -8",
        "jmp rax",
        ".cfi_endproc",
        raised = sym raised,
        real_raise = sym real_raise,
    )
}
