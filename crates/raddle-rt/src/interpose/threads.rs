//! Threads.

use super::here;
use crate::arch;
use crate::clock;
use crate::fiber::Start;
use crate::program;
use crate::progress;
use crate::real::real;
use crate::runtime::{self, Inside, rt};
use crate::threads;
use libc::{c_char, c_int, c_void, clockid_t, pthread_attr_t, pthread_t, timespec};
use raddle_core::{Op, SiteId, ThreadId};
use raddle_sched::State;
use std::ffi::CStr;

unsafe extern "C" {
    fn pthread_attr_getdetachstate(attr: *const pthread_attr_t, state: *mut c_int) -> c_int;
}

/// # Safety
/// As in POSIX.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pthread_create(
    out: *mut pthread_t,
    attr: *const pthread_attr_t,
    start: Start,
    arg: *mut c_void,
) -> c_int {
    if !runtime::controlled() {
        // SAFETY: forwarded.
        return unsafe { (real().pthread_create)(out, attr, start, arg) };
    }
    let _inside = Inside::enter();
    program::before_thread_creation();
    let mut size = 2 << 20;
    let mut state = 0;
    if !attr.is_null() {
        // SAFETY: an initialised attribute object, by the caller's promise.
        unsafe {
            libc::pthread_attr_getstacksize(attr, &mut size);
            pthread_attr_getdetachstate(attr, &mut state);
        }
    }
    let r = rt();
    r.tick();
    let site = here();
    progress::patience(site);
    let id = rt().create(start, arg as usize, size);
    let r = rt();
    r.execution.sched.threads[id].detached = state == libc::PTHREAD_CREATE_DETACHED;
    let e = r.event(site, Op::Spawn(ThreadId(id as u32)));
    r.record(e);
    // SAFETY: `out` is valid by the caller's promise.
    unsafe { *out = r.execution.sched.threads[id].fs as pthread_t };
    runtime::after(site);
    0
}

/// # Safety
/// As in POSIX.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pthread_join(thread: pthread_t, out: *mut *mut c_void) -> c_int {
    if !runtime::controlled() {
        // SAFETY: forwarded.
        return unsafe { (real().pthread_join)(thread, out) };
    }
    let _inside = Inside::enter();
    rt().tick();
    let Some(other) = rt().by_handle(thread as usize) else { return libc::ESRCH };
    if other == rt().current() {
        return libc::EDEADLK;
    }
    // In an unrecorded execution nobody asks where.
    let f = runtime::me();
    let site = if runtime::unrecorded() && f.raw < f.raw_limit { SiteId(0) } else { here() };
    if matches!(rt().execution.sched.threads[other].state, State::Exited) {
        progress::patience(site);
    }
    // SAFETY: valid by the caller's promise.
    unsafe { joined(other, out, site) };
    0
}

/// Joins a thread and hands on its result.
///
/// # Safety
/// `out` is null or valid.
unsafe fn joined(other: usize, out: *mut *mut c_void, site: SiteId) {
    let result = threads::join(other, site);
    if !out.is_null() {
        // SAFETY: by the caller's promise.
        unsafe { *out = result as *mut c_void };
    }
}

/// # Safety
/// As in glibc.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pthread_tryjoin_np(thread: pthread_t, out: *mut *mut c_void) -> c_int {
    if !runtime::controlled() {
        // SAFETY: forwarded.
        return unsafe { (real().pthread_tryjoin_np)(thread, out) };
    }
    let _inside = Inside::enter();
    rt().tick();
    let Some(other) = rt().by_handle(thread as usize) else { return libc::ESRCH };
    let site = here();
    if !threads::has_ended(other, site) {
        return libc::EBUSY;
    }
    // SAFETY: valid by the caller's promise.
    unsafe { joined(other, out, site) };
    0
}

/// # Safety
/// As in glibc.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pthread_timedjoin_np(
    thread: pthread_t,
    out: *mut *mut c_void,
    time: *const timespec,
) -> c_int {
    if !runtime::controlled() {
        // SAFETY: forwarded.
        return unsafe { (real().pthread_timedjoin_np)(thread, out, time) };
    }
    // SAFETY: the same contract, with the clock that it has there.
    unsafe { pthread_clockjoin_np(thread, out, libc::CLOCK_REALTIME, time) }
}

/// # Safety
/// As in glibc.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pthread_clockjoin_np(
    thread: pthread_t,
    out: *mut *mut c_void,
    which: clockid_t,
    time: *const timespec,
) -> c_int {
    if !runtime::controlled() {
        // SAFETY: forwarded.
        return unsafe { (real().pthread_clockjoin_np)(thread, out, which, time) };
    }
    let _inside = Inside::enter();
    rt().tick();
    let Some(other) = rt().by_handle(thread as usize) else { return libc::ESRCH };
    let site = here();
    // SAFETY: null, for no limit, or valid by the caller's promise.
    let deadline = unsafe { time.as_ref() }.map(|t| clock::at(which, *t));
    if !threads::ends_before(other, deadline, site) {
        return libc::ETIMEDOUT;
    }
    // SAFETY: valid by the caller's promise.
    unsafe { joined(other, out, site) };
    0
}

/// # Safety
/// As in POSIX.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pthread_detach(thread: pthread_t) -> c_int {
    if !runtime::controlled() {
        // SAFETY: forwarded.
        return unsafe { (real().pthread_detach)(thread) };
    }
    let _inside = Inside::enter();
    match rt().by_handle(thread as usize) {
        Some(other) => {
            rt().execution.sched.threads[other].detached = true;
            0
        }
        None => libc::ESRCH,
    }
}

/// # Safety
/// As in POSIX. Destructors of stack objects are not run, unlike glibc's forced unwinding.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pthread_exit(result: *mut c_void) -> ! {
    if runtime::controlled() {
        let next = threads::end(result as usize);
        // SAFETY: the thread has ended.
        unsafe { arch::go_on(next) };
    }
    // SAFETY: forwarded.
    unsafe { (real().pthread_exit)(result) };
    crate::fatal("pthread_exit returned")
}

/// # Safety
/// As in glibc.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pthread_setname_np(thread: pthread_t, name: *const c_char) -> c_int {
    if !runtime::controlled() {
        // SAFETY: forwarded.
        return unsafe { (real().pthread_setname_np)(thread, name) };
    }
    let _inside = Inside::enter();
    if let Some(i) = rt().by_handle(thread as usize) {
        // SAFETY: a C string by the caller's promise.
        let name = unsafe { CStr::from_ptr(name) };
        rt().execution.sched.threads[i].name = Some(name.to_string_lossy().into_owned());
    }
    0
}

/// The stack of a fiber for those who ask, std's stack overflow handler first of all.
///
/// # Safety
/// As in glibc.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pthread_getattr_np(thread: pthread_t, attr: *mut pthread_attr_t) -> c_int {
    if runtime::controlled() {
        let _inside = Inside::enter();
        if let Some(i) = rt().by_handle(thread as usize)
            && rt().execution.sched.threads[i].block.is_some()
        {
            let (low, high) = rt().execution.sched.threads[i].stack_range;
            // SAFETY: `attr` is valid by the caller's promise.
            unsafe {
                libc::pthread_attr_init(attr);
                libc::pthread_attr_setstack(attr, low as *mut c_void, high - low);
            }
            return 0;
        }
    }
    // SAFETY: forwarded.
    unsafe { (real().pthread_getattr_np)(thread, attr) }
}

/// # Safety
/// As in Linux. Inside a fiber an alternative stack seems to be installed already, which spares std the
/// trouble of making one per thread.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sigaltstack(new: *const libc::stack_t, old: *mut libc::stack_t) -> c_int {
    if !runtime::controlled() {
        // SAFETY: forwarded.
        return unsafe { (real().sigaltstack)(new, old) };
    }
    if !old.is_null() {
        // SAFETY: valid by the caller's promise.
        unsafe { old.write(libc::stack_t { ss_sp: std::ptr::null_mut(), ss_flags: 0, ss_size: 8192 }) };
    }
    0
}

/// # Safety
/// As in the C++ ABI.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __cxa_thread_atexit_impl(
    dtor: unsafe extern "C" fn(*mut c_void),
    object: *mut c_void,
    dso: *mut c_void,
) -> c_int {
    if runtime::controlled() && rt().me().block.is_some() {
        let _inside = Inside::enter();
        rt().me().dtors.push((dtor, object as usize));
        return 0;
    }
    // SAFETY: forwarded.
    unsafe { (real().__cxa_thread_atexit_impl)(dtor, object, dso) }
}

/// # Safety
/// As in Linux; a fiber's number stands for its kernel thread.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gettid() -> libc::pid_t {
    if runtime::controlled() {
        return 1 + rt().current() as libc::pid_t;
    }
    // SAFETY: forwarded.
    unsafe { (real().gettid)() }
}

/// # Safety
/// As in Linux. The number of processors is pinned, because programs size their thread pools by it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sched_getaffinity(
    pid: libc::pid_t,
    size: usize,
    set: *mut libc::cpu_set_t,
) -> c_int {
    const PROCESSORS: u8 = 0b11;
    if !runtime::controlled() || size == 0 {
        // SAFETY: forwarded.
        return unsafe { (real().sched_getaffinity)(pid, size, set) };
    }
    // SAFETY: `set` has `size` bytes by the caller's promise.
    unsafe {
        (set as *mut u8).write_bytes(0, size);
        *(set as *mut u8) = PROCESSORS;
    }
    0
}
