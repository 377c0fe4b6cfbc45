//! Calls that may block on something outside our control. They are let through and noted: a test that
//! depends on them has not been controlled, and says so instead of passing.

use super::here;
use crate::failure::note_uncontrolled;
use crate::real::real;
use crate::runtime::{self, Inside, rt};
use libc::{c_int, c_void, iovec, msghdr, nfds_t, pollfd, sockaddr, socklen_t, timespec, timeval};
use raddle_sched::Mode;

/// What kind of file a blocking descriptor stands for; `None` if it does not block.
fn blocking_kind(fd: c_int) -> Option<libc::mode_t> {
    // SAFETY: only asks about the descriptor.
    unsafe {
        let mut st = std::mem::zeroed::<libc::stat>();
        let flags = libc::fcntl(fd, libc::F_GETFL);
        let known = libc::fstat(fd, &mut st) == 0 && flags & libc::O_NONBLOCK == 0;
        known.then_some(st.st_mode & libc::S_IFMT)
    }
}

fn not_ready(fd: c_int, events: libc::c_short) -> bool {
    let mut p = libc::pollfd { fd, events, revents: 0 };
    // SAFETY: asks about one descriptor without waiting.
    unsafe { (real().poll)(&mut p, 1, 0) == 0 }
}

/// Whether reading this descriptor depends on somebody else: a pipe or socket does even if there is something
/// to read already, because it might not have been there yet.
fn would_wait(fd: c_int) -> bool {
    match blocking_kind(fd) {
        Some(libc::S_IFIFO | libc::S_IFSOCK | 0) => true,
        Some(libc::S_IFCHR) => not_ready(fd, libc::POLLIN),
        _ => false,
    }
}

/// Whether writing this descriptor would wait.
pub fn would_wait_to_write(fd: c_int) -> bool {
    let waits = matches!(blocking_kind(fd), Some(libc::S_IFIFO | libc::S_IFSOCK | libc::S_IFCHR | 0));
    waits && not_ready(fd, libc::POLLOUT)
}

/// Whether a call that waits is our business: until the test creates threads, nobody here could end the wait.
pub fn matters() -> bool {
    runtime::controlled() && rt().execution.sched.mode != Mode::Prelude
}

/// Notes such a call.
pub fn note(call: &str) {
    let _inside = Inside::enter();
    note_uncontrolled(call, here());
}

macro_rules! noted {
    ($($name:ident($($arg:ident: $ty:ty),*) -> $ret:ty, if $blocks:expr;)*) => { $(
        /// # Safety
        /// As in POSIX.
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $name($($arg: $ty),*) -> $ret {
            if matters() && $blocks {
                note(stringify!($name));
            }
            // SAFETY: forwarded.
            unsafe { (real().$name)($($arg),*) }
        }
    )* };
}

noted! {
    read(fd: c_int, buffer: *mut c_void, len: usize) -> isize, if would_wait(fd);
    readv(fd: c_int, parts: *const iovec, n: c_int) -> isize, if would_wait(fd);
    poll(fds: *mut pollfd, n: nfds_t, timeout: c_int) -> c_int, if timeout != 0;
    ppoll(fds: *mut pollfd, n: nfds_t, timeout: *const timespec, mask: *const libc::sigset_t) -> c_int, if true;
    select(n: c_int, r: *mut libc::fd_set, w: *mut libc::fd_set, e: *mut libc::fd_set, t: *mut timeval) -> c_int, if true;
    epoll_wait(fd: c_int, events: *mut libc::epoll_event, n: c_int, timeout: c_int) -> c_int, if timeout != 0;
    accept(fd: c_int, a: *mut sockaddr, l: *mut socklen_t) -> c_int, if would_wait(fd);
    accept4(fd: c_int, a: *mut sockaddr, l: *mut socklen_t, flags: c_int) -> c_int, if would_wait(fd);
    connect(fd: c_int, a: *const sockaddr, l: socklen_t) -> c_int, if true;
    recv(fd: c_int, buffer: *mut c_void, len: usize, flags: c_int) -> isize,
        if flags & libc::MSG_DONTWAIT == 0 && would_wait(fd);
    recvfrom(fd: c_int, buffer: *mut c_void, len: usize, flags: c_int, a: *mut sockaddr, l: *mut socklen_t) -> isize,
        if flags & libc::MSG_DONTWAIT == 0 && would_wait(fd);
    recvmsg(fd: c_int, m: *mut msghdr, flags: c_int) -> isize, if flags & libc::MSG_DONTWAIT == 0 && would_wait(fd);
    pselect(n: c_int, r: *mut libc::fd_set, w: *mut libc::fd_set, e: *mut libc::fd_set, t: *const timespec, mask: *const libc::sigset_t) -> c_int, if true;
    epoll_pwait(fd: c_int, events: *mut libc::epoll_event, n: c_int, timeout: c_int, mask: *const libc::sigset_t) -> c_int, if timeout != 0;
    send(fd: c_int, data: *const c_void, len: usize, flags: c_int) -> isize,
        if flags & libc::MSG_DONTWAIT == 0 && would_wait_to_write(fd);
    sendto(fd: c_int, data: *const c_void, len: usize, flags: c_int, a: *const sockaddr, l: socklen_t) -> isize,
        if flags & libc::MSG_DONTWAIT == 0 && would_wait_to_write(fd);
    sendmsg(fd: c_int, m: *const msghdr, flags: c_int) -> isize, if flags & libc::MSG_DONTWAIT == 0 && would_wait_to_write(fd);
    wait(status: *mut c_int) -> libc::pid_t, if true;
    waitid(what: libc::idtype_t, id: libc::id_t, info: *mut libc::siginfo_t, options: c_int) -> c_int, if options & libc::WNOHANG == 0;
    pause() -> c_int, if true;
    sigsuspend(mask: *const libc::sigset_t) -> c_int, if true;
    sigwait(set: *const libc::sigset_t, signal: *mut c_int) -> c_int, if true;
    sigwaitinfo(set: *const libc::sigset_t, info: *mut libc::siginfo_t) -> c_int, if true;
    sigtimedwait(set: *const libc::sigset_t, info: *mut libc::siginfo_t, t: *const timespec) -> c_int, if true;
    waitpid(pid: libc::pid_t, status: *mut c_int, options: c_int) -> libc::pid_t, if options & libc::WNOHANG == 0;
    flock(fd: c_int, operation: c_int) -> c_int, if operation & libc::LOCK_NB == 0;
}
