//! The generic system call: futexes above all.

use super::{here_exactly, set_errno};
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
                let _inside = Inside::enter();
                rt().tick();
                let wakes = FUTEX_WAKE_LIKE.contains(&(b as i32 & 0x7f));
                // SAFETY: set by the call itself, in the one controlled thread.
                let site = if wakes { super::here() } else { here_exactly(unsafe { CALLED_AT }) };
                if wakes {
                    progress::patience(site);
                }
                match futex::call([a, b, c, d, e, f], site) {
                    Some(Ok(v)) => return v,
                    Some(Err(error)) => {
                        set_errno(error);
                        return -1;
                    }
                    None => crate::failure::uncontrolled("futex operation that is not modelled", site),
                }
            }
            libc::SYS_getrandom => {
                // SAFETY: the caller's buffer.
                return unsafe { super::random::getrandom(a as *mut _, b, c as u32) as i64 };
            }
            libc::SYS_gettid => return 1 + rt().current as i64,
            _ => {}
        }
    }
    // SAFETY: forwarded; unused arguments are ignored by the kernel.
    unsafe { (real().syscall)(n, a, b, c, d, e, f) }
}
