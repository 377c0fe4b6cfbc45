//! Functions that change the process beyond its memory: forwarded, and noted, because going back does not undo what they do.

use crate::fast;
use crate::real::real;
use crate::rewind;
use crate::runtime::{self, rt};
use libc::{c_int, c_void};

/// Something is done to this process that going back does not undo.
pub fn soil() {
    fast::forbid_lazy_tls();
    // A batch of steps may look at locks that nobody needs any more and whose memory is about to go.
    rt().flush();
    rewind::soil();
}

macro_rules! soils {
    ($($name:ident($($arg:ident: $ty:ty),*) -> $ret:ty;)*) => { $(
        /// # Safety
        /// As in POSIX.
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $name($($arg: $ty),*) -> $ret {
            if runtime::controlled() {
                soil();
            }
            // SAFETY: forwarded.
            unsafe { (real().$name)($($arg),*) }
        }
    )* };
}

soils! {
    mmap(addr: *mut c_void, len: usize, prot: c_int, flags: c_int, fd: c_int, offset: libc::off_t) -> *mut c_void;
    mmap64(addr: *mut c_void, len: usize, prot: c_int, flags: c_int, fd: c_int, offset: libc::off_t) -> *mut c_void;
    munmap(addr: *mut c_void, len: usize) -> c_int;
    mprotect(addr: *mut c_void, len: usize, prot: c_int) -> c_int;
    chdir(path: *const libc::c_char) -> c_int;
    fchdir(fd: c_int) -> c_int;
    umask(mask: libc::mode_t) -> libc::mode_t;
    setrlimit(what: c_int, limit: *const libc::rlimit) -> c_int;
    setpriority(which: u32, who: libc::id_t, priority: c_int) -> c_int;
    nice(by: c_int) -> c_int;
    sched_setaffinity(pid: libc::pid_t, len: usize, set: *const libc::cpu_set_t) -> c_int;
    sched_setscheduler(pid: libc::pid_t, policy: c_int, param: *const libc::sched_param) -> c_int;
    setpgid(pid: libc::pid_t, group: libc::pid_t) -> c_int;
    setsid() -> libc::pid_t;
}
