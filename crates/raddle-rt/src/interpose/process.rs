//! The ends of the process, its copies, and other programs that it starts.

use super::blocking;
use super::soiling::soil;
use crate::ending;
use crate::failure;
use crate::real::real;
use crate::runtime::{self, Inside};
use crate::tsc;
use libc::c_int;

/// # Safety
/// As in C.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn exit(code: c_int) -> ! {
    if runtime::controlled() {
        let _inside = Inside::enter();
        ending::exit_called(code, "exit");
    }
    // SAFETY: forwarded.
    unsafe { (real().exit)(code) };
    crate::fatal("exit returned")
}

/// # Safety
/// As in C.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn quick_exit(code: c_int) -> ! {
    if runtime::controlled() {
        let _inside = Inside::enter();
        ending::exit_called(code, "quick_exit");
    }
    // SAFETY: forwarded.
    unsafe { (real().quick_exit)(code) };
    crate::fatal("quick_exit returned")
}

/// # Safety
/// As in POSIX.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fork() -> libc::pid_t {
    copied("fork", || {
        // SAFETY: forwarded.
        unsafe { (real().fork)() }
    })
}

/// # Safety
/// As in POSIX, which allows it to be `fork`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vfork() -> libc::pid_t {
    copied("vfork", || {
        // SAFETY: forwarded to what may do more than `vfork`, and does all that this does.
        unsafe { (real().fork)() }
    })
}

/// The process is copied by `make`. The copy goes its own way, as it would without us: what it did to the record would be
/// taken for the original's.
pub fn copied(call: &str, make: impl FnOnce() -> libc::pid_t) -> libc::pid_t {
    if !runtime::controlled() {
        return make();
    }
    blocking::note(call);
    soil();
    let pid = make();
    if pid == 0 {
        runtime::set_active(false);
        tsc::release();
    }
    pid
}

/// # Safety
/// As in POSIX.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn _exit(code: c_int) -> ! {
    if runtime::controlled() {
        let _inside = Inside::enter();
        ending::exit_called(code, "_exit");
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

macro_rules! starts {
    ($($name:ident($($arg:ident: $ty:ty),*) -> $ret:ty;)*) => { $(
        /// # Safety
        /// As in POSIX.
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $name($($arg: $ty),*) -> $ret {
            // SAFETY: forwarded.
            tsc::spared(|| unsafe { (real().$name)($($arg),*) })
        }
    )* };
}

type Words = *const *mut libc::c_char;

starts! {
    posix_spawn(pid: *mut libc::pid_t, path: *const libc::c_char, actions: *const libc::posix_spawn_file_actions_t,
        attributes: *const libc::posix_spawnattr_t, args: Words, env: Words) -> c_int;
    posix_spawnp(pid: *mut libc::pid_t, file: *const libc::c_char, actions: *const libc::posix_spawn_file_actions_t,
        attributes: *const libc::posix_spawnattr_t, args: Words, env: Words) -> c_int;
    popen(command: *const libc::c_char, mode: *const libc::c_char) -> *mut libc::FILE;
}

/// # Safety
/// As in C.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn system(command: *const libc::c_char) -> c_int {
    if blocking::matters() && !command.is_null() {
        blocking::note("system");
    }
    // SAFETY: forwarded.
    tsc::spared(|| unsafe { (real().system)(command) })
}
