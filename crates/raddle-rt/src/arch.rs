//! The machine: switching stacks together with the thread pointer.
//!
//! x86_64 Linux only. A switch saves the six callee-saved registers of the System V ABI, moves the stack
//! pointer and loads the FS base, which is what makes `thread_local!`, `errno` and libc's own per-thread
//! state follow the fiber.
//!
//! Loading the FS base costs as much as the rest. A fiber that is about to run a few instructions up to its next step hardly
//! ever needs it: such a fiber may be continued with a thread pointer that leads nowhere. If it does use thread-local
//! storage, the access faults, and the handler of that fault sees to it (see `fast::lazy_tls`).

use crate::controlled::Controlled;
use std::arch::{asm, naked_asm};

/// The thread pointer, if it was set by a switch.
static NOW: Controlled<usize> = Controlled::new(0);

/// Saves the current context to `*save`, continues the one at `to` with thread pointer `fs`.
///
/// A saved context is a stack with the address to go on at on top.
///
/// # Safety
/// `to` must be a stack pointer saved by this function or [`switch_again`] or made by [`prepare`], not used since; `fs` the
/// thread pointer that belongs to it.
#[unsafe(naked)]
pub unsafe extern "C" fn switch(save: *mut usize, to: usize, fs: usize) {
    naked_asm!(
        "push rbp",
        "push rbx",
        "push r12",
        "push r13",
        "push r14",
        "push r15",
        "lea rax, [rip + 2f]",
        "push rax",
        "mov [rdi], rsp",
        "mov rsp, rsi",
        "wrfsbase rdx",
        "mov [rip + {now}], rdx",
        "pop rax",
        "jmp rax",
        "2: pop r15",
        "pop r14",
        "pop r13",
        "pop r12",
        "pop rbx",
        "pop rbp",
        "ret",
        now = sym NOW,
    )
}

/// Switches stacks in the middle of a function, where the last switch, or [`set_fs_base`], has set the thread pointer and nobody else
/// since: most switches are like that. The stack pointers to save and to continue with lie `SP` bytes behind `before` and `next`,
/// which may be the same.
///
/// # Safety
/// As for [`switch`].
#[inline(always)]
pub unsafe fn switch_again<const SP: usize>(before: usize, next: usize, fs: usize) {
    // SAFETY: as for `switch`; all registers but the stack pointer, which is the same afterwards, may have changed.
    unsafe {
        asm!(
            "push rbp",
            "push rbx",
            "lea rax, [rip + 3f]",
            "push rax",
            "mov [rdi + {sp}], rsp",
            "mov rsp, [rsi + {sp}]",
            "cmp rdx, [rip + {now}]",
            "je 2f",
            "wrfsbase rdx",
            "mov [rip + {now}], rdx",
            "2: pop rax",
            "jmp rax",
            "3: pop rbx",
            "pop rbp",
            now = sym NOW,
            sp = const SP,
            inout("rdi") before => _,
            inout("rsi") next => _,
            inout("rdx") fs => _,
            out("r12") _,
            out("r13") _,
            out("r14") _,
            out("r15") _,
            clobber_abi("C"),
        );
    }
}

/// Switches stacks as [`switch_again`] does where the stack pointer that was saved at `next` has been looked up already and is in `ahead`, unless `next` is `before`:
/// to look there takes a while, in which a processor could do nothing else. Looks up the one at `later`, for the next time.
///
/// # Safety
/// As for [`switch`]; `later` is a fiber, too.
#[inline(always)]
pub unsafe fn switch_ahead<const SP: usize>(
    before: usize,
    next: usize,
    fs: usize,
    later: usize,
    ahead: *mut usize,
) {
    // SAFETY: as for `switch_again`.
    unsafe {
        asm!(
            "push rbp",
            "push rbx",
            "mov rax, [rcx]",
            "lea r9, [rip + 3f]",
            "push r9",
            "cmp rdi, rsi",
            "cmove rax, rsp",
            "mov [rdi + {sp}], rsp",
            "mov rsp, rax",
            "mov r8, [r8 + {sp}]",
            "mov [rcx], r8",
            "cmp rdx, [rip + {now}]",
            "je 2f",
            "wrfsbase rdx",
            "mov [rip + {now}], rdx",
            "2: pop rax",
            "jmp rax",
            "3: pop rbx",
            "pop rbp",
            now = sym NOW,
            sp = const SP,
            inout("rdi") before => _,
            inout("rsi") next => _,
            inout("rdx") fs => _,
            inout("rcx") ahead => _,
            inout("r8") later => _,
            out("r12") _,
            out("r13") _,
            out("r14") _,
            out("r15") _,
            clobber_abi("C"),
        );
    }
}

/// Sets the thread pointer, if the last switch has set another.
///
/// # Safety
/// `fs` must be the thread pointer of the running fiber.
#[inline(always)]
pub unsafe fn set_fs_base(fs: usize) {
    // SAFETY: INV-ONE-THREAD; the start-up check made sure that the kernel allows FSGSBASE instructions.
    unsafe {
        if NOW.get() != fs {
            asm!("wrfsbase {}", in(reg) fs, options(nostack, preserves_flags));
            NOW.set(fs);
        }
    }
}

/// A context to go on with.
#[repr(C)]
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Context {
    /// Its saved stack pointer.
    pub sp: usize,
    /// The thread pointer that belongs to it.
    pub fs: usize,
}

/// Where a fiber begins and ends: calls the function that lies on the stack with the argument that follows, and goes on with the
/// context that this returns. It does return, because a processor foresees where calls lead back to only as long as all of them do.
#[unsafe(naked)]
unsafe extern "C" fn bottom() {
    naked_asm!(
        // Tells unwinders that there is no caller.
        ".cfi_startproc",
        ".cfi_undefined rip",
        "pop rax",
        "pop rdi",
        "xor ebp, ebp",
        "call rax",
        "mov rdi, rax",
        "mov rsi, rdx",
        "jmp {go_on}",
        ".cfi_endproc",
        go_on = sym go_on,
    )
}

/// Goes on with a context for good.
///
/// # Safety
/// As for [`switch`]; nothing is left to do on the stack in use.
#[unsafe(naked)]
pub unsafe extern "C" fn go_on(context: Context) -> ! {
    naked_asm!(
        "mov rsp, rdi",
        "cmp rsi, [rip + {now}]",
        "je 2f",
        "wrfsbase rsi",
        "mov [rip + {now}], rsi",
        "2: pop rax",
        "jmp rax",
        now = sym NOW,
    )
}

/// Lays out a new stack so that a [`switch`] to the returned pointer calls `f(arg)`.
///
/// # Safety
/// `top` must be the 16-byte aligned end of writable memory large enough for `f`.
pub unsafe fn prepare(top: usize, f: extern "C" fn(usize) -> Context, arg: usize) -> usize {
    let bottom: unsafe extern "C" fn() = bottom;
    // The call is made with the stack pointer at `top - 16`, aligned.
    let frame = [bottom as usize, f as usize, arg];
    let sp = top - 16 - frame.len() * 8;
    // SAFETY: the frame lies inside the stack, by the caller's promise.
    unsafe { std::ptr::copy_nonoverlapping(frame.as_ptr(), sp as *mut usize, frame.len()) };
    sp
}

/// The current thread pointer.
pub fn fs_base() -> usize {
    let fs: usize;
    // SAFETY: the start-up check made sure that the kernel allows FSGSBASE instructions.
    unsafe { asm!("rdfsbase {}", out(reg) fs, options(nomem, nostack, preserves_flags)) };
    fs
}

/// Whether the kernel lets user code read and write the FS base.
pub fn has_fsgsbase() -> bool {
    const HWCAP2_FSGSBASE: u64 = 2;
    // SAFETY: reads a value that the kernel passed at start.
    unsafe { libc::getauxval(libc::AT_HWCAP2) & HWCAP2_FSGSBASE != 0 }
}
