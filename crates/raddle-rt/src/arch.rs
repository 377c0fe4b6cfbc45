//! The machine: switching stacks together with the thread pointer.
//!
//! x86_64 Linux only. A switch saves the six callee-saved registers of the System V ABI, moves the stack
//! pointer and loads the FS base, which is what makes `thread_local!`, `errno` and libc's own per-thread
//! state follow the fiber.

use std::arch::naked_asm;

/// Saves the current context to `*save`, continues the one at `to` with thread pointer `fs`.
///
/// # Safety
/// `to` must be a stack pointer saved by this function or made by [`prepare`], not used since; `fs` the
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
        "mov [rdi], rsp",
        "mov rsp, rsi",
        "wrfsbase rdx",
        "pop r15",
        "pop r14",
        "pop r13",
        "pop r12",
        "pop rbx",
        "pop rbp",
        "ret",
    )
}

/// First frame of a fiber: calls the function in `rbx` with the argument in `r12`; the call never returns.
#[unsafe(naked)]
unsafe extern "C" fn bottom() {
    naked_asm!(
        // Tells unwinders that there is no caller.
        ".cfi_startproc",
        ".cfi_undefined rip",
        "xor ebp, ebp",
        "mov rdi, r12",
        "call rbx",
        "ud2",
        ".cfi_endproc",
    )
}

/// Lays out a new stack so that a [`switch`] to the returned pointer calls `f(arg)`.
///
/// # Safety
/// `top` must be the 16-byte aligned end of writable memory large enough for `f`.
pub unsafe fn prepare(top: usize, f: extern "C" fn(usize) -> !, arg: usize) -> usize {
    let bottom: unsafe extern "C" fn() = bottom;
    // From the stack pointer upwards: r15 r14 r13 r12 rbx rbp, return address; `bottom` starts with the
    // stack pointer at `top - 16`, aligned for its call.
    let frame = [0, 0, 0, arg, f as usize, 0, bottom as usize];
    let sp = top - 16 - frame.len() * 8;
    // SAFETY: the frame lies inside the stack, by the caller's promise.
    unsafe { std::ptr::copy_nonoverlapping(frame.as_ptr(), sp as *mut usize, frame.len()) };
    sp
}

/// The current thread pointer.
pub fn fs_base() -> usize {
    let fs: usize;
    // SAFETY: the start-up check made sure that the kernel allows FSGSBASE instructions.
    unsafe { std::arch::asm!("rdfsbase {}", out(reg) fs, options(nomem, nostack, preserves_flags)) };
    fs
}

/// Whether the kernel lets user code read and write the FS base.
pub fn has_fsgsbase() -> bool {
    const HWCAP2_FSGSBASE: u64 = 2;
    // SAFETY: reads a value that the kernel passed at start.
    unsafe { libc::getauxval(libc::AT_HWCAP2) & HWCAP2_FSGSBASE != 0 }
}
