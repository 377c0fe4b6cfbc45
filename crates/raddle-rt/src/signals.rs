//! Fatal signals of the program, caught on a stack of their own.

use crate::circle;
use crate::failure;
use crate::fast;
use crate::real::real;
use crate::runtime::{self, Inside, rt};
use crate::signal_stack::{self, STACK};
use crate::tsc;
use libc::{c_int, c_void, siginfo_t};
use std::sync::atomic::{AtomicBool, Ordering};

const FATAL: [c_int; 5] = [libc::SIGSEGV, libc::SIGBUS, libc::SIGILL, libc::SIGFPE, libc::SIGTRAP];

/// What the kernel says of an access to an address that is not even in a page table's reach.
const SI_KERNEL: c_int = 0x80;

extern "C" fn caught(signal: c_int, info: *mut siginfo_t, context: *mut c_void) {
    // SAFETY: the kernel passes valid information.
    if signal == libc::SIGSEGV && fast::mend(unsafe { (*info).si_addr() as usize }) {
        return;
    }
    // SAFETY: as above.
    if signal == libc::SIGSEGV && tsc::emulate(unsafe { &*info }, unsafe { &mut *context.cast() }) {
        return;
    }
    // SAFETY: as above.
    if signal == libc::SIGTRAP && circle::trapped(unsafe { &*info }, unsafe { &mut *context.cast() }) {
        return;
    }
    fast::forbid_lazy_tls();
    // A second one, in here, gets the default treatment: the parent sees how the child died.
    // SAFETY: async-signal-safe calls; the kernel passes valid information.
    let addr = unsafe {
        libc::signal(signal, libc::SIG_DFL);
        match (*info).si_code {
            SI_KERNEL => runtime::IMPOSSIBLE,
            _ => (*info).si_addr() as usize,
        }
    };
    // The stack may end inside the runtime, which runs on it too.
    let overflow = runtime::active() && failure::is_overflow(addr);
    if !runtime::controlled() && !overflow && !runtime::is_programs_fault(addr) {
        // The runtime itself failed. Returning repeats the fault with the default action.
        return;
    }
    let _inside = Inside::enter();
    runtime::forget_store(addr);
    failure::signalled(signal, addr)
}

/// Catches fatal signals in this process.
pub fn install() {
    // SAFETY: a handler with the right signature on memory that is never unmapped.
    unsafe {
        let stack = libc::mmap(
            std::ptr::null_mut(),
            STACK,
            libc::PROT_READ | libc::PROT_WRITE,
            libc::MAP_PRIVATE | libc::MAP_ANONYMOUS,
            -1,
            0,
        );
        signal_stack::is_at(stack as usize);
        let alt = libc::stack_t { ss_sp: stack, ss_flags: 0, ss_size: STACK };
        (real().sigaltstack)(&alt, std::ptr::null_mut());
        let mut action = std::mem::zeroed::<libc::sigaction>();
        action.sa_sigaction = caught as *const () as usize;
        for signal in FATAL {
            // See `circle`.
            let stack = if signal == libc::SIGTRAP { 0 } else { libc::SA_ONSTACK };
            action.sa_flags = libc::SA_SIGINFO | libc::SA_NODEFER | stack;
            libc::sigaction(signal, &action, std::ptr::null_mut());
        }
    }
    tsc::trap();
    relieve_std();
}

/// Has std make nothing of its own for overflows of new threads' stacks, since its handler is not the one that is called: that
/// was a tenth of the time that a thread takes from its creation to its end.
fn relieve_std() {
    if let Some(flag) = rt().store.image.handles_overflows() {
        // SAFETY: an atomic of one byte in the program's data, which std only reads once the program runs; one running thread.
        unsafe { (*(flag as *const AtomicBool)).store(false, Ordering::Relaxed) };
    }
}
