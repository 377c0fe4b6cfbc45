//! pthread locks, conditions, barriers, semaphores and once controls.

use super::{here, set_errno};
use crate::progress;
use crate::real::real;
use crate::runtime::{self, Inside, rt};
use crate::sync::pthread as model;
use crate::sync::pthread::Limit;
use libc::{
    c_int, clockid_t, pthread_barrier_t, pthread_barrierattr_t, pthread_cond_t, pthread_mutex_t,
    pthread_rwlock_t, pthread_spinlock_t, sem_t, timespec,
};
use raddle_core::LockMode::{Exclusive, Shared};

/// Functions that forward outside executions and are one raw event inside. Models are kept beside the objects: a pointer that is
/// wrong would never be followed.
macro_rules! modelled {
    ($($name:ident($object:ident: $object_ty:ty $(, $arg:ident: $ty:ty)*) => $model:expr;)*) => { $(
        /// # Safety
        /// As in POSIX.
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $name($object: $object_ty $(, $arg: $ty)*) -> c_int {
            if !runtime::controlled() {
                // SAFETY: forwarded.
                return unsafe { (real().$name)($object $(, $arg)*) };
            }
            let _inside = Inside::enter();
            rt().tick();
            runtime::probe($object as usize);
            $model
        }
    )* };
}

/// The end of a wait by this clock.
///
/// # Safety
/// `t` is valid for reading.
unsafe fn at(clock: clockid_t, t: *const timespec) -> Limit {
    // SAFETY: by the caller's promise.
    Limit { clock, time: unsafe { *t } }
}

/// A limit by the clock that tells the time of day.
///
/// # Safety
/// `t` is valid for reading.
unsafe fn real_at(t: *const timespec) -> Limit {
    // SAFETY: by the caller's promise.
    unsafe { at(libc::CLOCK_REALTIME, t) }
}

modelled! {
    pthread_mutex_lock(m: *mut pthread_mutex_t) => model::lock(m as usize, Exclusive, true, here());
    pthread_mutex_trylock(m: *mut pthread_mutex_t) => model::try_lock(m as usize, Exclusive, true, here());
    pthread_mutex_timedlock(m: *mut pthread_mutex_t, t: *const timespec) =>
        // SAFETY: POSIX requires a valid time.
        model::timed_lock(m as usize, Exclusive, true, unsafe { real_at(t) }, here());
    pthread_mutex_clocklock(m: *mut pthread_mutex_t, clock: clockid_t, t: *const timespec) =>
        // SAFETY: glibc requires a valid time.
        model::timed_lock(m as usize, Exclusive, true, unsafe { at(clock, t) }, here());
    pthread_mutex_unlock(m: *mut pthread_mutex_t) => { let s = here(); progress::patience(s); model::unlock(m as usize, true, s) };
    pthread_mutex_destroy(m: *mut pthread_mutex_t) => { progress::patience(here()); model::destroy(m as usize) };
    pthread_rwlock_rdlock(l: *mut pthread_rwlock_t) => model::lock(l as usize, Shared, false, here());
    pthread_rwlock_tryrdlock(l: *mut pthread_rwlock_t) => model::try_lock(l as usize, Shared, false, here());
    pthread_rwlock_wrlock(l: *mut pthread_rwlock_t) => model::lock(l as usize, Exclusive, false, here());
    pthread_rwlock_trywrlock(l: *mut pthread_rwlock_t) => model::try_lock(l as usize, Exclusive, false, here());
    pthread_rwlock_unlock(l: *mut pthread_rwlock_t) => { let s = here(); progress::patience(s); model::unlock(l as usize, false, s) };
    pthread_rwlock_timedrdlock(l: *mut pthread_rwlock_t, t: *const timespec) =>
        // SAFETY: POSIX requires a valid time.
        model::timed_lock(l as usize, Shared, false, unsafe { real_at(t) }, here());
    pthread_rwlock_timedwrlock(l: *mut pthread_rwlock_t, t: *const timespec) =>
        // SAFETY: POSIX requires a valid time.
        model::timed_lock(l as usize, Exclusive, false, unsafe { real_at(t) }, here());
    pthread_rwlock_clockrdlock(l: *mut pthread_rwlock_t, clock: clockid_t, t: *const timespec) =>
        // SAFETY: glibc requires a valid time.
        model::timed_lock(l as usize, Shared, false, unsafe { at(clock, t) }, here());
    pthread_rwlock_clockwrlock(l: *mut pthread_rwlock_t, clock: clockid_t, t: *const timespec) =>
        // SAFETY: glibc requires a valid time.
        model::timed_lock(l as usize, Exclusive, false, unsafe { at(clock, t) }, here());
    pthread_rwlock_destroy(l: *mut pthread_rwlock_t) => { progress::patience(here()); model::destroy(l as usize) };
    pthread_spin_init(l: *mut pthread_spinlock_t, _shared: c_int) => {
        progress::patience(here());
        // SAFETY: POSIX requires a lock that nobody uses; what it holds is what glibc's own function writes.
        unsafe { l.write(1) };
        model::init(l as usize)
    };
    pthread_spin_lock(l: *mut pthread_spinlock_t) => model::lock(l as usize, Exclusive, false, here());
    pthread_spin_trylock(l: *mut pthread_spinlock_t) => model::try_lock(l as usize, Exclusive, false, here());
    pthread_spin_unlock(l: *mut pthread_spinlock_t) => { let s = here(); progress::patience(s); model::unlock(l as usize, false, s) };
    pthread_spin_destroy(l: *mut pthread_spinlock_t) => { progress::patience(here()); model::destroy(l as usize) };
    pthread_cond_wait(c: *mut pthread_cond_t, m: *mut pthread_mutex_t) =>
        model::cond_wait(c as usize, m as usize, None, here());
    pthread_cond_timedwait(c: *mut pthread_cond_t, m: *mut pthread_mutex_t, t: *const timespec) =>
        // SAFETY: POSIX requires a valid time.
        model::cond_wait(c as usize, m as usize, Some(model::by_own_clock(c as usize, unsafe { *t })), here());
    pthread_cond_clockwait(c: *mut pthread_cond_t, m: *mut pthread_mutex_t, clock: clockid_t, t: *const timespec) =>
        // SAFETY: glibc requires a valid time.
        model::cond_wait(c as usize, m as usize, Some(unsafe { at(clock, t) }), here());
    pthread_cond_destroy(_c: *mut pthread_cond_t) => { progress::patience(here()); 0 };
    pthread_cond_signal(c: *mut pthread_cond_t) => model::cond_wake(c as usize, 1, here());
    pthread_cond_broadcast(c: *mut pthread_cond_t) => model::cond_wake(c as usize, usize::MAX, here());
    pthread_barrier_init(b: *mut pthread_barrier_t, a: *const pthread_barrierattr_t, n: u32) => {
        let _ = a;
        progress::patience(here());
        model::barrier_init(b as usize, n)
    };
    pthread_barrier_wait(b: *mut pthread_barrier_t) => {
        let s = here();
        model::barrier_wait(b as usize, s)
            .unwrap_or_else(|| crate::failure::uncontrolled("pthread_barrier_wait on a barrier made outside the test", s))
    };
    pthread_barrier_destroy(b: *mut pthread_barrier_t) => {
        progress::patience(here());
        // SAFETY: forwarded.
        model::barrier_destroy(b as usize).unwrap_or_else(|| unsafe { (real().pthread_barrier_destroy)(b) })
    };
    pthread_once(o: *mut c_int, f: extern "C" fn()) => {
        if model::once_begin(o as usize, here()) {
            Inside::clear();
            f();
            let _inside = Inside::enter();
            model::once_end(o as usize);
        }
        0
    };
    sem_wait(s: *mut sem_t) => errno(model::sem_wait(s as usize, None, false, here()));
    sem_trywait(s: *mut sem_t) => errno(model::sem_wait(s as usize, None, true, here()));
    sem_timedwait(s: *mut sem_t, t: *const timespec) =>
        // SAFETY: POSIX requires a valid time.
        errno(model::sem_wait(s as usize, Some(unsafe { real_at(t) }), false, here()));
    sem_clockwait(s: *mut sem_t, clock: clockid_t, t: *const timespec) =>
        // SAFETY: glibc requires a valid time.
        errno(model::sem_wait(s as usize, Some(unsafe { at(clock, t) }), false, here()));
    sem_getvalue(s: *mut sem_t, out: *mut c_int) => {
        let value = model::sem_value(s as usize, here());
        // SAFETY: POSIX requires a place for the value.
        unsafe { out.write(value) };
        0
    };
    sem_init(s: *mut sem_t, shared: c_int, value: u32) => {
        progress::patience(here());
        model::sem_forget(s as usize);
        // SAFETY: forwarded.
        unsafe { (real().sem_init)(s, shared, value) }
    };
    sem_destroy(s: *mut sem_t) => { progress::patience(here()); model::sem_forget(s as usize); 0 };
    sem_post(s: *mut sem_t) => errno(model::sem_post(s as usize, here()));
}

/// Semaphore functions report errors through `errno`.
fn errno(error: c_int) -> c_int {
    if error == 0 {
        return 0;
    }
    set_errno(error);
    -1
}
