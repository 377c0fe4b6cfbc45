//! The ends of the process.

use crate::failure;
use crate::real::real;
use crate::runtime::{self, Inside};
use libc::c_int;

/// # Safety
/// As in C.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn exit(code: c_int) -> ! {
    if runtime::controlled() {
        let _inside = Inside::enter();
        failure::exit_called(code, "exit");
    }
    // SAFETY: forwarded.
    unsafe { (real().exit)(code) };
    crate::fatal("exit returned")
}

/// # Safety
/// As in POSIX.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn _exit(code: c_int) -> ! {
    if runtime::controlled() {
        let _inside = Inside::enter();
        failure::exit_called(code, "_exit");
    }
    crate::quit(code)
}

/// # Safety
/// As in C.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn abort() -> ! {
    if runtime::controlled() {
        let _inside = Inside::enter();
        failure::aborted();
    }
    // SAFETY: forwarded.
    unsafe { (real().abort)() };
    crate::quit(134)
}
