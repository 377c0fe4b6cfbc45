//! The controlled runtime of raddle.
//!
//! A program whose memory accesses were instrumented at compile time is linked with this library, which
//! defines the hooks and stands in for the parts of libc that threads are made of. Outside an execution it
//! does nothing. Inside one it runs every thread as a fiber of a single operating-system thread, decides at
//! every scheduling point who goes on, records what happens, and says what went wrong.
//!
//! Who goes on is decided by [`raddle_sched`], which knows nothing of all this.
//!
//! # Layers
//!
//! A module uses only those in its row and in the rows above it; `tests/layers.rs` sees to that.
//!
//! | layer | modules |
//! | --- | --- |
//! | the machine and libc | `controlled` `arch` `real` `heap` `table` `recent` `clock` `offsets` `pages` `signal_stack` `hang` |
//! | a program's memory and threads | `memory` `shadow` `lockset` `stack` `tls` `calls` `destructors` |
//! | its code | `names` `image` `sites` `sync::words` `sync::models` |
//! | what lives as long as a search, and what a thread is | `fast::place` `fast::past` `fiber` `store` `budget` `messages` `describe` `source` |
//! | flags of hooks, and what they are told to leave out | `runtime::globals` `runtime::load` `rewind` `fast::patch` `fast::lazy_tls` `hooks::site_cache` `interpose::unwind` |
//! | an execution, and a step in it | `runtime` `fast::batch` `fast::step` |
//! | what a step teaches | `learn` `owners` `progress` |
//! | children, and how an execution is reported | `export` `child` `leave` `interpose::streams` `failure` `circle` `conclude` |
//! | what instrumented code calls, what makes it fast, and which executions may be | `sync` `hooks` `threads` `interpose::tls_keys` `fast` `job` `independence` `search` |
//! | what a program calls in libc, and how it ends | `tsc` `program` `ending` `interpose` `signals` |
//! | modes | `execute` `closure` `check` `hunt` `start` |
//!
//! The library has its own allocator and uses no thread-local variables, because the thread-local storage it
//! runs on belongs to the fiber that called it.

mod arch;
mod budget;
mod calls;
mod check;
mod child;
mod circle;
mod clock;
mod closure;
mod conclude;
mod controlled;
mod describe;
mod destructors;
mod ending;
mod execute;
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
mod job;
mod learn;
mod leave;
mod lockset;
mod memory;
mod messages;
mod names;
mod offsets;
mod owners;
mod pages;
mod program;
mod progress;
mod real;
mod recent;
mod rewind;
mod runtime;
mod search;
mod shadow;
mod signal_stack;
mod signals;
mod sites;
mod source;
mod stack;
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
