//! Clocks, sleeps and yields, in virtual time.

use super::here;
use crate::clock::{self, duration};
use crate::progress;
use crate::real::real;
use crate::runtime::{self, Inside, rt};
use libc::{c_int, c_void, clockid_t, timespec};
use raddle_core::Op;
use raddle_core::protocol::Unexplored;
use raddle_sched::{Wait, WaitKind};

fn sleep_until(deadline: u64) {
    let _inside = Inside::enter();
    rt().tick();
    let r = rt();
    let e = r.event(here(), Op::Sleep);
    runtime::wait(e, Wait::new(0, 0, WaitKind::Sleep, Some(deadline)));
    rt().record(e);
    progress::progressed();
}

/// The program looks at a clock, and sees virtual time in nanoseconds.
pub fn glance() -> u64 {
    let r = rt();
    r.leave_out(Unexplored::Clock);
    r.execution.sched.clock.glance()
}

/// # Safety
/// As in POSIX.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nanosleep(time: *const timespec, rest: *mut timespec) -> c_int {
    if !runtime::controlled() {
        // SAFETY: forwarded.
        return unsafe { (real().nanosleep)(time, rest) };
    }
    // SAFETY: valid by the caller's promise.
    sleep_until(rt().execution.sched.clock.now().saturating_add(duration(unsafe { *time })));
    0
}

/// # Safety
/// As in POSIX.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn clock_nanosleep(
    clock: clockid_t,
    flags: c_int,
    time: *const timespec,
    rest: *mut timespec,
) -> c_int {
    if !runtime::controlled() {
        // SAFETY: forwarded.
        return unsafe { (real().clock_nanosleep)(clock, flags, time, rest) };
    }
    // SAFETY: valid by the caller's promise.
    let t = unsafe { *time };
    let absolute = flags & libc::TIMER_ABSTIME != 0;
    sleep_until(if absolute {
        clock::at(clock, t)
    } else {
        rt().execution.sched.clock.now().saturating_add(duration(t))
    });
    0
}

/// # Safety
/// As in POSIX.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn usleep(us: u32) -> c_int {
    if !runtime::controlled() {
        // SAFETY: forwarded.
        return unsafe { (real().usleep)(us) };
    }
    sleep_until(rt().execution.sched.clock.now().saturating_add(us as u64 * 1000));
    0
}

/// # Safety
/// As in POSIX.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sleep(seconds: u32) -> u32 {
    if !runtime::controlled() {
        // SAFETY: forwarded.
        return unsafe { (real().sleep)(seconds) };
    }
    sleep_until(rt().execution.sched.clock.now().saturating_add(u64::from(seconds) * 1_000_000_000));
    0
}

/// # Safety
/// As in POSIX.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sched_yield() -> c_int {
    if !runtime::controlled() {
        // SAFETY: forwarded.
        return unsafe { (real().sched_yield)() };
    }
    let _inside = Inside::enter();
    let r = rt();
    r.tick();
    if r.execution.sched.threads.len() > 1 {
        let e = r.event(here(), Op::Yield);
        runtime::give_way(e);
    }
    0
}

/// # Safety
/// As in POSIX.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn clock_gettime(clock: clockid_t, out: *mut timespec) -> c_int {
    if !runtime::controlled() {
        // SAFETY: forwarded.
        return unsafe { (real().clock_gettime)(clock, out) };
    }
    let now = glance();
    // SAFETY: valid by the caller's promise.
    unsafe { *out = clock::reading(clock, now) };
    0
}

/// # Safety
/// As in POSIX.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gettimeofday(out: *mut libc::timeval, zone: *mut c_void) -> c_int {
    if !runtime::controlled() {
        // SAFETY: forwarded.
        return unsafe { (real().gettimeofday)(out, zone) };
    }
    let t = clock::reading(libc::CLOCK_REALTIME, glance());
    // SAFETY: valid by the caller's promise.
    unsafe { *out = libc::timeval { tv_sec: t.tv_sec, tv_usec: t.tv_nsec / 1000 } };
    0
}

/// # Safety
/// As in POSIX.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn time(out: *mut libc::time_t) -> libc::time_t {
    if !runtime::controlled() {
        // SAFETY: forwarded.
        return unsafe { (real().time)(out) };
    }
    let t = clock::reading(libc::CLOCK_REALTIME, glance()).tv_sec;
    if !out.is_null() {
        // SAFETY: valid by the caller's promise.
        unsafe { *out = t };
    }
    t
}
