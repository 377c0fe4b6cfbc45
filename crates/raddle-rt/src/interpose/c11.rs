//! The threads of C11. In glibc they are those of POSIX under other names, with other words for errors; it calls its own
//! functions from within, so they have to be led to ours here.

use super::pthread::{
    pthread_cond_broadcast, pthread_cond_destroy, pthread_cond_signal, pthread_cond_timedwait,
    pthread_cond_wait, pthread_mutex_destroy, pthread_mutex_lock, pthread_mutex_timedlock,
    pthread_mutex_trylock, pthread_mutex_unlock, pthread_once,
};
use super::threads::{pthread_create, pthread_detach, pthread_exit, pthread_join};
use super::time::{clock_gettime, nanosleep, sched_yield};
use super::tls_keys::{pthread_key_create, pthread_key_delete};
use crate::fiber::Start;
use crate::runtime;
use crate::sync::pthread as model;
use libc::{c_int, c_void, pthread_cond_t, pthread_mutex_t, pthread_t, timespec};

const SUCCESS: c_int = 0;
const BUSY: c_int = 1;
const ERROR: c_int = 2;
const NO_MEMORY: c_int = 3;
const TIMED_OUT: c_int = 4;
/// The bit of a mutex's type that makes it recursive.
const RECURSIVE: c_int = 1;

/// An error of POSIX in the words of C11.
fn said(error: c_int) -> c_int {
    match error {
        0 => SUCCESS,
        libc::EBUSY => BUSY,
        libc::ENOMEM => NO_MEMORY,
        libc::ETIMEDOUT => TIMED_OUT,
        _ => ERROR,
    }
}

type Main = unsafe extern "C" fn(*mut c_void) -> c_int;

/// # Safety
/// As in C11.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn thrd_create(out: *mut pthread_t, main: Main, arg: *mut c_void) -> c_int {
    // SAFETY: on this target a function that returns a number leaves it where one that returns a pointer does; who joins
    // looks at the number's bits only. The rest by the caller's promise.
    unsafe {
        let main = std::mem::transmute::<Main, Start>(main);
        said(pthread_create(out, std::ptr::null(), main, arg))
    }
}

/// # Safety
/// As in C11.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn thrd_join(thread: pthread_t, out: *mut c_int) -> c_int {
    let mut result = std::ptr::null_mut();
    // SAFETY: by the caller's promise.
    let error = unsafe { pthread_join(thread, &mut result) };
    if error == 0 && !out.is_null() {
        // SAFETY: valid by the caller's promise.
        unsafe { out.write(result as usize as c_int) };
    }
    said(error)
}

/// # Safety
/// As in C11.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn thrd_exit(result: c_int) -> ! {
    // SAFETY: by the caller's promise.
    unsafe { pthread_exit(result as usize as *mut c_void) }
}

/// # Safety
/// As in C11, which has 0, or -1 for an interruption, or another negative number.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn thrd_sleep(time: *const timespec, rest: *mut timespec) -> c_int {
    // SAFETY: by the caller's promise.
    unsafe { nanosleep(time, rest) }
}

/// # Safety
/// As in C11.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn thrd_yield() {
    // SAFETY: by the caller's promise.
    unsafe { sched_yield() };
}

/// # Safety
/// As in C11: the base, or 0 for one that there is not.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn timespec_get(out: *mut timespec, base: c_int) -> c_int {
    const UTC: c_int = 1;
    // SAFETY: by the caller's promise.
    let known = base == UTC && unsafe { clock_gettime(libc::CLOCK_REALTIME, out) } == 0;
    if known { base } else { 0 }
}

/// # Safety
/// As in C11.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mtx_init(m: *mut pthread_mutex_t, kind: c_int) -> c_int {
    // SAFETY: the mutex is valid by the caller's promise, and its attributes are ours.
    let error = unsafe {
        let mut attributes = std::mem::zeroed();
        libc::pthread_mutexattr_init(&mut attributes);
        if kind & RECURSIVE != 0 {
            libc::pthread_mutexattr_settype(&mut attributes, libc::PTHREAD_MUTEX_RECURSIVE);
        }
        libc::pthread_mutex_init(m, &attributes)
    };
    if runtime::controlled() {
        model::init(m as usize);
    }
    said(error)
}

/// # Safety
/// As in C11.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cnd_init(c: *mut pthread_cond_t) -> c_int {
    // SAFETY: by the caller's promise.
    said(unsafe { libc::pthread_cond_init(c, std::ptr::null()) })
}

macro_rules! led {
    ($($name:ident($($arg:ident: $ty:ty),*) $(-> $ret:ty)? { $($to:tt)* })*) => { $(
        /// # Safety
        /// As in C11.
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $name($($arg: $ty),*) $(-> $ret)? {
            // SAFETY: by the caller's promise, which is that of the function of POSIX as well.
            unsafe { $($to)* }
        }
    )* };
}

led! {
    thrd_detach(thread: pthread_t) -> c_int { said(pthread_detach(thread)) }
    mtx_lock(m: *mut pthread_mutex_t) -> c_int { said(pthread_mutex_lock(m)) }
    mtx_trylock(m: *mut pthread_mutex_t) -> c_int { said(pthread_mutex_trylock(m)) }
    mtx_timedlock(m: *mut pthread_mutex_t, t: *const timespec) -> c_int { said(pthread_mutex_timedlock(m, t)) }
    mtx_unlock(m: *mut pthread_mutex_t) -> c_int { said(pthread_mutex_unlock(m)) }
    mtx_destroy(m: *mut pthread_mutex_t) { let _ = pthread_mutex_destroy(m); }
    cnd_wait(c: *mut pthread_cond_t, m: *mut pthread_mutex_t) -> c_int { said(pthread_cond_wait(c, m)) }
    cnd_timedwait(c: *mut pthread_cond_t, m: *mut pthread_mutex_t, t: *const timespec) -> c_int {
        said(pthread_cond_timedwait(c, m, t))
    }
    cnd_signal(c: *mut pthread_cond_t) -> c_int { said(pthread_cond_signal(c)) }
    cnd_broadcast(c: *mut pthread_cond_t) -> c_int { said(pthread_cond_broadcast(c)) }
    cnd_destroy(c: *mut pthread_cond_t) { let _ = pthread_cond_destroy(c); }
    call_once(flag: *mut c_int, f: extern "C" fn()) { let _ = pthread_once(flag, f); }
    tss_create(key: *mut libc::pthread_key_t, end: Option<unsafe extern "C" fn(*mut c_void)>) -> c_int {
        said(pthread_key_create(key, end))
    }
    tss_delete(key: libc::pthread_key_t) { let _ = pthread_key_delete(key); }
}
