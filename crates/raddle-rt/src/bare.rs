//! Fibers that run without their thread-local storage as long as they do not use it.
//!
//! Loading the thread pointer takes as long as everything else about a switch, and between two steps of a brisk execution
//! there are often a few instructions that touch no thread-local variable. So a fiber that stands before such a step is
//! continued with a thread pointer that leads *nowhere*, the same for all, into a part of the address space where nothing can be
//! accessed. Should it use its thread-local storage before a switch sets the pointer, that access faults: the handler puts
//! the right pointer in, the instruction is repeated, and the step that the fiber came from is known from then on as one
//! after which the pointer has to be right; or, if a function has ended since, the end of that function is. What a program reads
//! and writes is the same in either case.

use crate::arch;
use crate::hooks::calls;
use crate::runtime::{me, rt};

/// Accesses relative to the thread pointer reach 2 GiB in both directions.
const REACH: usize = 2 << 30;
const BASE: usize = 0x6200_0000_0000;
/// The thread pointer that leads nowhere.
pub const NOWHERE: usize = BASE + REACH;

/// Whether the region is reserved and the program leaves the handling of faults to us.
static mut POSSIBLE: bool = false;
/// Return addresses of steps, and of hooks where functions end, after which thread-local storage is used. Few, in order of
/// discovery.
static mut USERS: Vec<usize> = Vec::new();

/// Makes it possible in this process, in which the handler is installed.
pub fn allow() {
    // SAFETY: one controlled thread; a new mapping at a fixed address, refused if there is another.
    unsafe {
        let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE | libc::MAP_FIXED_NOREPLACE;
        let p = (crate::real::real().mmap)(BASE as *mut _, 2 * REACH, libc::PROT_NONE, flags, -1, 0);
        POSSIBLE = p as usize == BASE;
    }
}

/// The program may change what happens on faults, or had a fault of its own: never again in this process.
pub fn forbid() {
    if is_possible() && arch::fs_base() == NOWHERE {
        me().dress();
    }
    rt().execution.sched.threads.iter_mut().for_each(|f| f.next_fs = f.fs);
    crate::hooks::dress(|_| true);
    // SAFETY: one controlled thread.
    unsafe { POSSIBLE = false };
}

/// Whether the step with this return address can be followed by code without a thread pointer.
pub fn suffices(pc: usize) -> bool {
    is_possible() && !is_needed_after(pc)
}

/// Whether thread-local storage is known to be used after the step, or the end of a function, with this return address.
pub fn is_needed_after(pc: usize) -> bool {
    let users = &raw const USERS;
    // SAFETY: one controlled thread.
    unsafe { (*users).contains(&pc) }
}

/// Whether fibers may be continued without.
fn is_possible() -> bool {
    // SAFETY: one controlled thread.
    unsafe { POSSIBLE }
}

/// A fault at this address: mends it if it was an access to thread-local storage by a fiber without.
pub fn mend(addr: usize) -> bool {
    if !is_possible() || addr.wrapping_sub(BASE) >= 2 * REACH || arch::fs_base() != NOWHERE {
        return false;
    }
    let f = me();
    // If a function has ended since the step, what follows its end is to have the pointer, and else what follows the step.
    let ended = f.last_exit != 0 && calls::needs_more(f.last_exit);
    let since = if ended { f.last_exit } else { f.bare_since() };
    let users = &raw mut USERS;
    // SAFETY: one controlled thread, which is not inside of a list that it interrupted: runtime code uses no thread-local
    // storage, but for libc functions that it calls.
    unsafe {
        if !(*users).contains(&since) {
            (*users).push(since);
            crate::hooks::dress(|pc| pc == since);
        }
    }
    f.dress();
    true
}
