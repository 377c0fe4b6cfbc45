//! What the program prints is kept instead of shown: thousands of executions print the same.

use super::{blocking, streams};
use crate::real::real;
use crate::runtime::{self, Inside, rt};
use libc::{c_int, c_void, iovec, size_t};
use raddle_sched::Mode;

fn captures(fd: c_int) -> bool {
    runtime::controlled() && (fd == 1 || fd == 2) && rt().execution.sched.mode != Mode::Prelude
}

/// # Safety
/// As in POSIX.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn write(fd: c_int, data: *const c_void, len: size_t) -> isize {
    if !captures(fd) {
        if blocking::matters() && blocking::would_wait_to_write(fd) {
            blocking::note("write");
        }
        // SAFETY: forwarded.
        return unsafe { (real().write)(fd, data, len) };
    }
    let _inside = Inside::enter();
    // SAFETY: valid by the caller's promise.
    streams::keep(unsafe { std::slice::from_raw_parts(data as *const u8, len) });
    len as isize
}

/// # Safety
/// As in POSIX.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn writev(fd: c_int, parts: *const iovec, n: c_int) -> isize {
    if !captures(fd) {
        // SAFETY: forwarded.
        return unsafe { (real().writev)(fd, parts, n) };
    }
    let mut total = 0;
    for i in 0..n as usize {
        // SAFETY: valid by the caller's promise.
        unsafe {
            let part = &*parts.add(i);
            total += write(fd, part.iov_base, part.iov_len);
        }
    }
    total
}
