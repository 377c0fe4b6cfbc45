//! The generic system call: futexes above all.

use super::{here_exactly, set_errno};
use crate::owners;
use crate::progress;
use crate::real::real;
use crate::runtime::{self, Inside, rt};
use crate::sync::futex;
use std::arch::naked_asm;

const FUTEX_WAKE_LIKE: [i32; 4] = [1, 3, 4, 10];

/// Where on the stack the return address of the last call is: below that is nothing but the runtime's own.
static mut CALLED_AT: usize = 0;

/// # Safety
/// As in Linux.
#[unsafe(naked)]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn syscall() -> i64 {
    naked_asm!("mov [rip + {at}], rsp", "jmp {called}", at = sym CALLED_AT, called = sym called)
}

unsafe extern "C" fn called(n: i64, a: usize, b: usize, c: usize, d: usize, e: usize, f: usize) -> i64 {
    if runtime::controlled() {
        match n {
            libc::SYS_futex => {
                if let Some(woken) = futex::wake_unrecorded(a, b, c) {
                    return woken;
                }
                return futex([a, b, c, d, e, f]);
            }
            libc::SYS_getrandom => {
                // SAFETY: the caller's buffer.
                return unsafe { super::random::getrandom(a as *mut _, b, c as u32) as i64 };
            }
            libc::SYS_gettid => return 1 + rt().current() as i64,
            libc::SYS_exit_group => {
                let _inside = Inside::enter();
                crate::failure::exit_called(a as i32, "exit_group");
            }
            libc::SYS_fork | libc::SYS_clone if n == libc::SYS_fork || a & libc::CLONE_VM as usize == 0 => {
                // SAFETY: forwarded.
                let forward = || unsafe { (real().syscall)(n, a, b, c, d, e, f) as libc::pid_t };
                return super::process::copied("fork", forward) as i64;
            }
            // SAFETY: the arguments are those of libc's functions of these names.
            libc::SYS_read => return unsafe { super::blocking::read(a as i32, b as *mut _, c) as i64 },
            libc::SYS_poll => {
                // SAFETY: as above.
                return unsafe { super::blocking::poll(a as *mut _, b as u64, c as i32) as i64 };
            }
            libc::SYS_epoll_wait => {
                // SAFETY: as above.
                return unsafe {
                    super::blocking::epoll_wait(a as i32, b as *mut _, c as i32, d as i32) as i64
                };
            }
            _ => {}
        }
    }
    // SAFETY: forwarded; unused arguments are ignored by the kernel.
    unsafe { (real().syscall)(n, a, b, c, d, e, f) }
}

/// A wake-up, from precompiled code if it is one of std. A notification that no lock orders with the waits for it may come before them.
fn woken_by_std() {
    let Some(caller) = super::unwind::caller() else { return };
    let image = &mut rt().store.image;
    // Functions of std leave by a jump to the system call, so that it seems to be their caller's.
    let callers = [image.called(caller.pc).unwrap_or(caller.pc), caller.pc];
    if image.ends_scoped_thread(&callers) {
        // The destructor of a thread's result tells the scope, and that is the same whoever tells it.
        owners::dull();
    } else if runtime::me().held.is_empty() && image.hides_synchronisation(&callers) {
        runtime::hidden_synchronisation();
    }
}

/// A futex call.
#[inline(never)]
fn futex(args: [usize; 6]) -> i64 {
    let _inside = Inside::enter();
    rt().tick();
    let wakes = FUTEX_WAKE_LIKE.contains(&(args[1] as i32 & 0x7f));
    // SAFETY: set by the call itself, in the one controlled thread.
    let site = if wakes { super::here() } else { here_exactly(unsafe { CALLED_AT }) };
    if wakes {
        progress::patience(site);
        if !runtime::unseen() && !runtime::alone() {
            woken_by_std();
        }
    }
    match futex::call(args, site) {
        Some(Ok(v)) => v,
        Some(Err(error)) => {
            set_errno(error);
            -1
        }
        None => crate::failure::uncontrolled("futex operation that is not modelled", site),
    }
}
