//! The controlled runtime of raddle.
//!
//! A program whose memory accesses were instrumented at compile time is linked with this library, which
//! defines the hooks and stands in for the parts of libc that threads are made of. Outside an execution it
//! does nothing. Inside one it runs every thread as a fiber of a single operating-system thread, decides at
//! every scheduling point who goes on, records what happens, and says what went wrong.
//!
//! The library has its own allocator and uses no thread-local variables, because the thread-local storage it
//! runs on belongs to the fiber that called it.

mod arch;
mod check;
mod circle;
mod clock;
mod control;
mod export;
mod failure;
mod fast;
mod fiber;
mod hang;
mod heap;
mod hooks;
mod hunt;
mod image;
mod independence;
mod interpose;
mod lockset;
mod memory;
mod messages;
mod names;
mod offsets;
mod owners;
mod pages;
mod progress;
mod real;
mod rewind;
mod rounds;
mod runtime;
mod search;
mod shadow;
mod signals;
mod sites;
mod stack;
mod standing;
mod start;
mod store;
mod sync;
mod table;
mod threads;
mod tls;
mod tsc;

/// Ends the process without running anything of the program.
pub(crate) fn quit(code: i32) -> ! {
    fast::parallel::process_ends(code);
    // SAFETY: the raw system call.
    unsafe {
        std::arch::asm!("syscall", in("rax") libc::SYS_exit_group, in("rdi") code, options(noreturn, nostack));
    }
}

/// The runtime cannot go on: says why on standard error.
pub(crate) fn fatal(why: &str) -> ! {
    for part in ["raddle: ", why, "\n"] {
        // SAFETY: a raw write from a live buffer: the interposed one may need what has just failed.
        unsafe {
            std::arch::asm!("syscall", inlateout("rax") libc::SYS_write => _, in("rdi") 2, in("rsi") part.as_ptr(),
                in("rdx") part.len(), out("rcx") _, out("r11") _, options(nostack));
        }
    }
    quit(70)
}
