//! Fibers that run without their thread-local storage as long as they do not use it.
//!
//! Loading the thread pointer takes as long as everything else about a switch, and between two steps of an unrecorded execution
//! there are often a few instructions that touch no thread-local variable. So a fiber that stands before such a step is
//! continued with a thread pointer that leads *nowhere*, the same for all, into a part of the address space where nothing can be
//! accessed. Should it use its thread-local storage before a switch sets the pointer, that access faults: the handler puts
//! the right pointer in, the instruction is repeated, and the step that the fiber came from is known from then on as one
//! after which the pointer has to be right; or, if a function has ended since, the end of that function is. What a program reads
//! and writes is the same in either case.

use super::place::{BASE, FastSite, NOWHERE, REACH};
use crate::arch;
use crate::controlled::Controlled;
use crate::fiber::Body;
use crate::rewind;
use crate::runtime::{me, rt};

impl Body {
    /// The thread comes to a step outside batches, after which it goes on with its thread pointer.
    #[inline(always)]
    pub fn keep_fs(&mut self) {
        self.fast.site = None;
        self.fast.next_fs = self.fs;
    }

    /// The thread comes to the step at a site, which says whether it goes on with its thread pointer.
    #[inline(always)]
    pub fn may_unset_fs(&mut self, site: &FastSite) {
        self.fast.site = None;
        self.fast.fs_unset_since = site.pc;
        self.leave(site);
        if self.fast.next_fs == self.fs {
            self.restore_fs();
        }
    }

    /// The thread comes to the step at a site in a batch, whose switch sees to the thread pointer.
    #[inline(always)]
    pub fn come_to(&mut self, site: &'static FastSite) {
        self.fast.site = Some(site);
        self.leave(site);
    }

    #[inline(always)]
    fn leave(&mut self, site: &FastSite) {
        self.fast.next_fs = site.fs(self.fs);
        self.fast.last_exit = 0;
    }

    /// The return address of the step after which it has had no thread pointer of its own.
    fn fs_unset_since(&self) -> usize {
        self.fast.site.map_or(self.fast.fs_unset_since, |site| site.pc)
    }

    /// It, the running one, has its thread pointer from now on.
    #[inline(always)]
    pub fn restore_fs(&mut self) {
        // SAFETY: this is the running fiber.
        unsafe { arch::set_fs_base(self.fs) };
    }
}

/// Whether the region is reserved and the program leaves the handling of faults to us.
static POSSIBLE: Controlled<bool> = Controlled::new(false);
/// Return addresses of steps, and of hooks where functions end, after which thread-local storage is used. Few, in order of
/// discovery.
static USERS: Controlled<Vec<usize>> = Controlled::new(Vec::new());

/// Told of return addresses after which the thread pointer is needed from now on.
type Told = fn(&dyn Fn(usize) -> bool);
/// Sees to it that what follows the end of a function has the thread pointer, if that can be seen to.
type SeesTo = fn(usize) -> bool;

/// Who is told, and who sees to ends of functions.
static OTHERS: Controlled<Option<(Told, SeesTo)>> = Controlled::new(None);

/// Makes it possible in this process, in which the handler is installed.
pub fn allow(restore_after: Told, needs_more: SeesTo) {
    if rewind::is_marked() {
        return;
    }
    // SAFETY: INV-ONE-THREAD; a new mapping at a fixed address, refused if there is another.
    unsafe {
        let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE | libc::MAP_FIXED_NOREPLACE;
        let p = (crate::real::real().mmap)(BASE as *mut _, 2 * REACH, libc::PROT_NONE, flags, -1, 0);
        POSSIBLE.set(p as usize == BASE);
        OTHERS.set(Some((restore_after, needs_more)));
    }
}

/// The program may change what happens on faults, or had a fault of its own: never again in this process.
pub fn forbid() {
    if is_possible() && arch::fs_base() == NOWHERE {
        me().restore_fs();
    }
    rt().execution.sched.threads.iter_mut().for_each(|f| f.fast.next_fs = f.fs);
    restore_after(&|_| true);
    POSSIBLE.set(false);
}

/// Whether the step with this return address can be followed by code without a thread pointer.
pub fn unset_suffices(pc: usize) -> bool {
    is_possible() && !is_needed_after(pc)
}

/// Whether thread-local storage is known to be used after the step, or the end of a function, with this return address.
pub fn is_needed_after(pc: usize) -> bool {
    // SAFETY: INV-ONE-THREAD, INV-SHORT-REFS.
    unsafe { (*USERS.as_ptr()).contains(&pc) }
}

/// Whether fibers may be continued without.
fn is_possible() -> bool {
    POSSIBLE.get()
}

/// A fault at this address: mends it if it was an access to thread-local storage by a fiber without.
pub fn mend(addr: usize) -> bool {
    if !is_possible() || addr.wrapping_sub(BASE) >= 2 * REACH || arch::fs_base() != NOWHERE {
        return false;
    }
    let f = me();
    // If a function has ended since the step, what follows its end is to have the pointer, and else what follows the step.
    let ended = f.fast.last_exit != 0 && needs_more(f.fast.last_exit);
    let since = if ended { f.fast.last_exit } else { f.fs_unset_since() };
    let users = USERS.as_ptr();
    // SAFETY: INV-ONE-THREAD, and that thread is not inside of a list that it interrupted: runtime code uses no thread-local
    // storage, but for libc functions that it calls.
    unsafe {
        if !(*users).contains(&since) {
            (*users).push(since);
            restore_after(&|pc| pc == since);
        }
    }
    f.restore_fs();
    true
}

fn restore_after(which: &dyn Fn(usize) -> bool) {
    if let Some((told, _)) = OTHERS.get() {
        told(which);
    }
}

fn needs_more(exit: usize) -> bool {
    OTHERS.get().is_some_and(|(_, needs_more)| needs_more(exit))
}
