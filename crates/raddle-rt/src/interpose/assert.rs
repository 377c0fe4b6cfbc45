//! How C and C++ programs say that something is wrong: failed assertions and smashed stacks. The C library ends the process
//! from within, past our `abort`, and only here it is known what was asserted.

use crate::failure;
use crate::real::real;
use crate::runtime::{self, Inside};
use libc::{c_char, c_int};
use std::ffi::CStr;

/// A C string of the program's, or nothing.
///
/// # Safety
/// Null or a C string.
unsafe fn text(s: *const c_char) -> String {
    if s.is_null() {
        return String::new();
    }
    // SAFETY: by the caller's promise.
    unsafe { CStr::from_ptr(s) }.to_string_lossy().into_owned()
}

/// # Safety
/// As glibc's `assert` calls it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __assert_fail(
    assertion: *const c_char,
    file: *const c_char,
    line: u32,
    function: *const c_char,
) -> ! {
    if runtime::controlled() {
        let _inside = Inside::enter();
        // SAFETY: the strings of the assertion.
        let (assertion, file, function) = unsafe { (text(assertion), text(file), text(function)) };
        failure::asserted(&format!("assertion `{assertion}` failed"), &file, line, &function);
    }
    // SAFETY: forwarded.
    unsafe { (real().__assert_fail)(assertion, file, line, function) };
    crate::fatal("__assert_fail returned")
}

/// # Safety
/// As glibc's `assert_perror` calls it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __assert_perror_fail(
    error: c_int,
    file: *const c_char,
    line: u32,
    function: *const c_char,
) -> ! {
    if runtime::controlled() {
        let _inside = Inside::enter();
        let error = std::io::Error::from_raw_os_error(error);
        // SAFETY: the strings of the assertion.
        let (file, function) = unsafe { (text(file), text(function)) };
        failure::asserted(&format!("unexpected error: {error}"), &file, line, &function);
    }
    // SAFETY: forwarded.
    unsafe { (real().__assert_perror_fail)(error, file, line, function) };
    crate::fatal("__assert_perror_fail returned")
}

/// # Safety
/// As code compiled with `-fstack-protector` calls it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __stack_chk_fail() -> ! {
    if runtime::controlled() {
        let _inside = Inside::enter();
        failure::smashed("a buffer on the stack was overrun (stack smashing detected)");
    }
    // SAFETY: forwarded.
    unsafe { (real().__stack_chk_fail)() };
    crate::fatal("__stack_chk_fail returned")
}

/// # Safety
/// As code compiled with `-D_FORTIFY_SOURCE` calls it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __chk_fail() -> ! {
    if runtime::controlled() {
        let _inside = Inside::enter();
        failure::smashed("a buffer was overrun (buffer overflow detected)");
    }
    // SAFETY: forwarded.
    unsafe { (real().__chk_fail)() };
    crate::fatal("__chk_fail returned")
}
