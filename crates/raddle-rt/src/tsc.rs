//! The processor's time-stamp counter, which programs read without asking anybody.
//!
//! On request the kernel makes `rdtsc` and `rdtscp` faults of the process that uses them (prctl(2), `PR_SET_TSC`). The handler of
//! these faults puts virtual time in the place of the counter, as if that counted nanoseconds, and goes on behind the instruction.
//! The kernel's own code in the process, which tells the time (vdso(7)), reads the counter, too, and gets the real one.
//!
//! Before the first thread faults are the program's business, and std sets a handler that explains overflows of the stack. So the one
//! here stands in until then: it keeps what the program sets meanwhile, and puts that in force at any other fault.
//!
//! The request outlives fork(2) and execve(2): programs that the test starts have to be spared.

use crate::clock;
use crate::controlled::Controlled;
use crate::interpose::time::glance;
use crate::real::real;
use crate::runtime;
use libc::{c_int, c_void, sigaction, siginfo_t, ucontext_t};
use std::arch::x86_64::_rdtsc;

/// What the kernel says of a fault that has nothing to do with an address.
const SI_KERNEL: c_int = 0x80;
const RDTSC: [u8; 2] = [0x0f, 0x31];
const RDTSCP: [u8; 3] = [0x0f, 0x01, 0xf9];
/// The first address that no code of a program can have.
const HIGHEST: usize = 1 << 47;
/// The size of the kernel's code in the process.
const VDSO: usize = 2 << 12;

/// Whether reading the counter faults.
static TRAPPED: Controlled<bool> = Controlled::new(false);
/// While the handler here stands in, what the program has set for faults.
static PROGRAMS: Controlled<Option<sigaction>> = Controlled::new(None);

fn set(what: c_int) -> bool {
    // SAFETY: concerns the calling thread only, and its handler is in place.
    unsafe { libc::prctl(libc::PR_SET_TSC, what) == 0 }
}

/// Makes reading the counter a fault from now on, if the kernel can. A handler of faults that calls [`emulate`] is in place.
pub fn trap() {
    PROGRAMS.set(None);
    TRAPPED.set(set(libc::PR_TSC_SIGSEGV));
}

/// Makes reading the counter a fault before the first thread of the test, as [`trap`] does later.
pub fn trap_early() {
    // SAFETY: a handler with the right signature; one running thread.
    unsafe {
        let mut ours = std::mem::zeroed::<sigaction>();
        let mut before = std::mem::zeroed();
        ours.sa_sigaction = early as *const () as usize;
        ours.sa_flags = libc::SA_SIGINFO | libc::SA_ONSTACK | libc::SA_NODEFER;
        if (real().sigaction)(libc::SIGSEGV, &ours, &mut before) == 0 {
            trap();
            PROGRAMS.set(Some(before));
        }
    }
}

extern "C" fn early(_: c_int, info: *mut siginfo_t, context: *mut c_void) {
    // SAFETY: the kernel passes valid information.
    if emulate(unsafe { &*info }, unsafe { &mut *context.cast() }) {
        return;
    }
    release();
    let programs = PROGRAMS.get();
    PROGRAMS.set(None);
    if let Some(action) = programs {
        // SAFETY: what the program has set. The instruction faults again, now as the program wants it.
        unsafe { (real().sigaction)(libc::SIGSEGV, &action, std::ptr::null_mut()) };
    }
}

/// The program asks for what happens on faults, or says so: tells whether that is only kept because the handler here stands in.
pub fn keeps(new: Option<&sigaction>, old: Option<&mut sigaction>) -> bool {
    let Some(programs) = PROGRAMS.get() else {
        if new.is_some() {
            release();
        }
        return false;
    };
    if let Some(old) = old {
        *old = programs;
    }
    if let Some(new) = new {
        PROGRAMS.set(Some(*new));
    }
    true
}

/// Reading the counter is no fault any more.
pub fn release() {
    if TRAPPED.get() {
        set(libc::PR_TSC_ENABLE);
        TRAPPED.set(false);
    }
}

/// Runs what starts another program, which is spared.
pub fn spared<T>(start: impl FnOnce() -> T) -> T {
    let trapped = TRAPPED.get();
    release();
    let started = start();
    if trapped {
        // The handler is in place, for it was before.
        TRAPPED.set(set(libc::PR_TSC_SIGSEGV));
    }
    started
}

/// A fault: if it is a look at the counter, has the program see one and go on.
pub fn emulate(info: &siginfo_t, context: &mut ucontext_t) -> bool {
    let registers = &mut context.uc_mcontext.gregs;
    let pc = registers[libc::REG_RIP as usize] as usize;
    if info.si_code != SI_KERNEL || !TRAPPED.get() || pc >= HIGHEST {
        return false;
    }
    // SAFETY: the processor has just read the instruction there; the third byte belongs to it if the second says so.
    let (length, names_processor) = unsafe {
        let at = pc as *const u8;
        match (at.cast::<[u8; 2]>().read_unaligned(), RDTSCP) {
            (RDTSC, _) => (RDTSC.len(), false),
            ([a, b], [c, d, e]) if (a, b) == (c, d) && at.add(2).read() == e => (RDTSCP.len(), true),
            _ => return false,
        }
    };
    let now = if runtime::controlled() && !is_kernels(pc) { virtual_counter() } else { real_counter() };
    registers[libc::REG_RAX as usize] = (now & u64::from(u32::MAX)) as i64;
    registers[libc::REG_RDX as usize] = (now >> 32) as i64;
    if names_processor {
        registers[libc::REG_RCX as usize] = 0;
    }
    registers[libc::REG_RIP as usize] += length as i64;
    true
}

/// Whether code belongs to the kernel's part of the process.
fn is_kernels(pc: usize) -> bool {
    // SAFETY: only asks.
    let vdso = unsafe { libc::getauxval(libc::AT_SYSINFO_EHDR) } as usize;
    pc.wrapping_sub(vdso) < VDSO
}

/// Nanoseconds of virtual time since the machine started.
fn virtual_counter() -> u64 {
    let t = clock::reading(libc::CLOCK_MONOTONIC, glance());
    t.tv_sec as u64 * 1_000_000_000 + t.tv_nsec as u64
}

fn real_counter() -> u64 {
    set(libc::PR_TSC_ENABLE);
    // SAFETY: every processor of this architecture has the counter, and reading it is no fault now.
    let now = unsafe { _rdtsc() };
    set(libc::PR_TSC_SIGSEGV);
    now
}
