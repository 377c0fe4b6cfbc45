//! pthread locks, conditions, barriers, semaphores and once controls.

use super::{here, set_errno};
use crate::progress;
use crate::real::real;
use crate::runtime::{self, Inside, rt};
use crate::sync::pthread as model;
use libc::{
    c_int, pthread_barrier_t, pthread_barrierattr_t, pthread_cond_t, pthread_mutex_t, pthread_rwlock_t,
    sem_t, timespec,
};
use raddle_core::LockMode::{Exclusive, Shared};

/// Functions that forward outside executions and are one raw event inside.
macro_rules! modelled {
    ($($name:ident($($arg:ident: $ty:ty),*) => $model:expr;)*) => { $(
        /// # Safety
        /// As in POSIX.
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $name($($arg: $ty),*) -> c_int {
            if !runtime::controlled() {
                // SAFETY: forwarded.
                return unsafe { (real().$name)($($arg),*) };
            }
            let _inside = Inside::enter();
            rt().tick();
            $model
        }
    )* };
}

/// # Safety
/// `t` is valid for reading.
unsafe fn at(t: *const timespec) -> timespec {
    // SAFETY: by the caller's promise.
    unsafe { *t }
}

modelled! {
    pthread_mutex_lock(m: *mut pthread_mutex_t) => model::lock(m as usize, Exclusive, true, here());
    pthread_mutex_trylock(m: *mut pthread_mutex_t) => model::try_lock(m as usize, Exclusive, true, here());
    pthread_mutex_timedlock(m: *mut pthread_mutex_t, t: *const timespec) =>
        // SAFETY: POSIX requires a valid time.
        model::timed_lock(m as usize, unsafe { at(t) }, here());
    pthread_mutex_unlock(m: *mut pthread_mutex_t) => { let s = here(); progress::patience(s); model::unlock(m as usize, true, s) };
    pthread_mutex_destroy(_m: *mut pthread_mutex_t) => { progress::patience(here()); 0 };
    pthread_rwlock_rdlock(l: *mut pthread_rwlock_t) => model::lock(l as usize, Shared, false, here());
    pthread_rwlock_tryrdlock(l: *mut pthread_rwlock_t) => model::try_lock(l as usize, Shared, false, here());
    pthread_rwlock_wrlock(l: *mut pthread_rwlock_t) => model::lock(l as usize, Exclusive, false, here());
    pthread_rwlock_trywrlock(l: *mut pthread_rwlock_t) => model::try_lock(l as usize, Exclusive, false, here());
    pthread_rwlock_unlock(l: *mut pthread_rwlock_t) => { let s = here(); progress::patience(s); model::unlock(l as usize, false, s) };
    pthread_cond_wait(c: *mut pthread_cond_t, m: *mut pthread_mutex_t) =>
        model::cond_wait(c as usize, m as usize, None, here());
    pthread_cond_timedwait(c: *mut pthread_cond_t, m: *mut pthread_mutex_t, t: *const timespec) =>
        // SAFETY: POSIX requires a valid time.
        model::cond_wait(c as usize, m as usize, Some(unsafe { at(t) }), here());
    pthread_cond_signal(c: *mut pthread_cond_t) => { let s = here(); progress::patience(s); model::cond_wake(c as usize, 1, s) };
    pthread_cond_broadcast(c: *mut pthread_cond_t) => { let s = here(); progress::patience(s); model::cond_wake(c as usize, usize::MAX, s) };
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
        errno(model::sem_wait(s as usize, Some(unsafe { at(t) }), false, here()));
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
