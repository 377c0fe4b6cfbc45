//! Calls that have signals come at times of their own, or end threads from outside: noted, or refused where libc's own way would
//! harm a process whose threads are fibers. Handlers that the program sets are its own, but for faults, in which the runtime has a part.

use super::here;
use super::soiling::soil;
use crate::failure::uncontrolled;
use crate::real::real;
use crate::runtime::{self, Inside, rt};
use crate::tsc;
use libc::{c_int, pthread_t};

/// Notes a timer. One that was set before the first thread counts as well: executions do not inherit it.
fn note_timer(call: &str) {
    let _inside = Inside::enter();
    soil();
    let chain = rt().store.sites.get(here()).chain.clone();
    let at = crate::heap::persistent(|| (!chain.is_empty()).then(|| rt().store.image.site(&chain)));
    rt().store.note_uncontrolled(call, at);
}

/// Whether a time is not that of a timer which is switched off.
fn is_set(t: &libc::timeval) -> bool {
    t.tv_sec != 0 || t.tv_usec != 0
}

macro_rules! timers {
    ($($name:ident($($arg:ident: $ty:ty),*) -> $ret:ty, if $sets:expr;)*) => { $(
        /// # Safety
        /// As in POSIX.
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $name($($arg: $ty),*) -> $ret {
            if runtime::controlled() && $sets {
                note_timer(stringify!($name));
            }
            // SAFETY: forwarded.
            unsafe { (real().$name)($($arg),*) }
        }
    )* };
}

timers! {
    alarm(seconds: u32) -> u32, if seconds != 0;
    setitimer(which: c_int, new: *const libc::itimerval, old: *mut libc::itimerval) -> c_int,
        // SAFETY: null or valid by the caller's promise.
        if unsafe { new.as_ref() }.is_some_and(|t| is_set(&t.it_value));
    timer_create(clock: libc::clockid_t, event: *mut libc::sigevent, timer: *mut libc::timer_t) -> c_int,
        // SAFETY: null or valid by the caller's promise.
        if unsafe { event.as_ref() }.is_none_or(|e| e.sigev_notify != libc::SIGEV_NONE);
}

macro_rules! refused {
    ($($name:ident($($arg:ident: $ty:ty),*);)*) => { $(
        /// # Safety
        /// As in POSIX or glibc.
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $name($($arg: $ty),*) -> c_int {
            if runtime::controlled() {
                let _inside = Inside::enter();
                uncontrolled(stringify!($name), here());
            }
            // SAFETY: forwarded.
            unsafe { (real().$name)($($arg),*) }
        }
    )* };
}

refused! {
    pthread_kill(thread: pthread_t, signal: c_int);
    pthread_cancel(thread: pthread_t);
}

/// # Safety
/// As in POSIX.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sigaction(
    signal: c_int,
    new: *const libc::sigaction,
    old: *mut libc::sigaction,
) -> c_int {
    if runtime::controlled() {
        soil();
        // SAFETY: null or valid by the caller's promise.
        if signal == libc::SIGSEGV && tsc::keeps(unsafe { new.as_ref() }, unsafe { old.as_mut() }) {
            return 0;
        }
    }
    // SAFETY: forwarded.
    unsafe { (real().sigaction)(signal, new, old) }
}

/// # Safety
/// As in C.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn signal(signal: c_int, handler: usize) -> usize {
    if runtime::controlled() {
        soil();
        // SAFETY: all zeros are a value of this type.
        let mut old = unsafe { std::mem::zeroed::<libc::sigaction>() };
        let mut new = old;
        (new.sa_sigaction, new.sa_flags) = (handler, libc::SA_RESTART);
        if signal == libc::SIGSEGV && tsc::keeps(Some(&new), Some(&mut old)) {
            return old.sa_sigaction;
        }
    }
    // SAFETY: forwarded.
    unsafe { (real().signal)(signal, handler) }
}
