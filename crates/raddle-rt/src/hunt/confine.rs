//! What the code under test must not do in a hunt that is confined, and the zygote must: make processes and signal
//! them. Each child refuses that to itself before it runs anything (seccomp, on top of what the command has refused).
//!
//! A call that makes a thread is no call that makes a process. `clone3` hides which of them it is behind a pointer, so
//! it is said not to exist; libc then makes its threads with `clone`.

use crate::controlled::Controlled;
use crate::real::real;
use libc::sock_filter;
use raddle_core::protocol::CONFINED_VAR;

const NUMBER: u32 = 0;
const ARCHITECTURE: u32 = 4;
const FIRST_ARGUMENT: u32 = 16;
/// `AUDIT_ARCH_X86_64`.
const X86_64: u32 = 0xc000_003e;
/// Numbers from here on are those of another ABI with the same calls.
const X32: u32 = 0x4000_0000;

const ALLOW: sock_filter = give(libc::SECCOMP_RET_ALLOW);
const EPERM: sock_filter = give(libc::SECCOMP_RET_ERRNO | libc::EPERM as u32);
const ENOSYS: sock_filter = give(libc::SECCOMP_RET_ERRNO | libc::ENOSYS as u32);

/// The command has confined this process.
static CONFINED: Controlled<bool> = Controlled::new(false);

/// Looks whether it has, at the beginning of the process.
pub fn look() {
    // SAFETY: the process is single-threaded; nothing else uses the environment now.
    unsafe {
        CONFINED.set(std::env::var_os(CONFINED_VAR).is_some());
        std::env::remove_var(CONFINED_VAR);
    }
}

/// Forbids this process all other processes, if it is confined.
pub fn to_this_process() {
    if !CONFINED.get() {
        return;
    }
    // SAFETY: asks for a number.
    let me = unsafe { libc::getpid() } as u32;
    let mut filter = [
        load(ARCHITECTURE),
        unless(libc::BPF_JEQ, X86_64, 16),
        load(NUMBER),
        when(libc::BPF_JGE, X32, 14),
        when(libc::BPF_JEQ, libc::SYS_fork as u32, 13),
        when(libc::BPF_JEQ, libc::SYS_vfork as u32, 12),
        when(libc::BPF_JEQ, libc::SYS_execve as u32, 11),
        when(libc::BPF_JEQ, libc::SYS_execveat as u32, 10),
        when(libc::BPF_JEQ, libc::SYS_clone3 as u32, 10),
        when(libc::BPF_JEQ, libc::SYS_kill as u32, 4),
        when(libc::BPF_JEQ, libc::SYS_tgkill as u32, 3),
        when(libc::BPF_JEQ, libc::SYS_tkill as u32, 2),
        when(libc::BPF_JEQ, libc::SYS_clone as u32, 3),
        ALLOW,
        load(FIRST_ARGUMENT),
        choose(libc::BPF_JEQ, me, 4, 2),
        load(FIRST_ARGUMENT),
        when(libc::BPF_JSET, libc::CLONE_THREAD as u32, 2),
        EPERM,
        ENOSYS,
        ALLOW,
    ];
    let program = libc::sock_fprog { len: filter.len() as u16, filter: filter.as_mut_ptr() };
    // SAFETY: a raw call with a live program; the command has given up new privileges for this process.
    let result = unsafe {
        let program = &raw const program as usize;
        (real().syscall)(libc::SYS_seccomp, libc::SECCOMP_SET_MODE_FILTER as usize, 0, program, 0, 0, 0)
    };
    if result != 0 {
        crate::fatal("a child could not be confined");
    }
}

const fn load(offset: u32) -> sock_filter {
    sock_filter { code: (libc::BPF_LD | libc::BPF_W | libc::BPF_ABS) as u16, jt: 0, jf: 0, k: offset }
}

const fn give(value: u32) -> sock_filter {
    sock_filter { code: (libc::BPF_RET | libc::BPF_K) as u16, jt: 0, jf: 0, k: value }
}

/// Skips so many instructions if what was loaded compares with `k`, or so many others.
const fn choose(comparison: u32, k: u32, yes: u8, no: u8) -> sock_filter {
    sock_filter { code: (libc::BPF_JMP | comparison | libc::BPF_K) as u16, jt: yes, jf: no, k }
}

const fn when(comparison: u32, k: u32, skip: u8) -> sock_filter {
    choose(comparison, k, skip, 0)
}

const fn unless(comparison: u32, k: u32, skip: u8) -> sock_filter {
    choose(comparison, k, 0, skip)
}
