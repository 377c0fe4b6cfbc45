//! Locks, conditions, barriers and semaphores of C, as far as Rust's own do not use them; waits that end by a clock, in virtual time.

use std::cell::UnsafeCell;
use std::ffi::{c_int, c_long, c_uint};
use std::time::{Duration, Instant};

const ETIMEDOUT: c_int = 110;
const EBUSY: c_int = 16;
const MONOTONIC: c_int = 1;
const HOUR: c_uint = 3600;

#[repr(C)]
struct Timespec {
    seconds: i64,
    nanoseconds: c_long,
}

/// Memory of any of C's objects that consists of zeros at first.
#[repr(align(16))]
struct Object(UnsafeCell<[u8; 64]>);

// SAFETY: only handed to functions that may be called by several threads.
unsafe impl Sync for Object {}

impl Object {
    fn new() -> Self {
        Object(UnsafeCell::new([0; 64]))
    }

    fn at(&self) -> *mut u8 {
        self.0.get().cast()
    }
}

unsafe extern "C" {
    fn clock_gettime(clock: c_int, out: *mut Timespec) -> c_int;
    fn sleep(seconds: c_uint) -> c_uint;
    fn pthread_mutex_lock(m: *mut u8) -> c_int;
    fn pthread_mutex_unlock(m: *mut u8) -> c_int;
    fn pthread_mutex_destroy(m: *mut u8) -> c_int;
    fn pthread_mutex_clocklock(m: *mut u8, clock: c_int, t: *const Timespec) -> c_int;
    fn pthread_cond_clockwait(c: *mut u8, m: *mut u8, clock: c_int, t: *const Timespec) -> c_int;
    fn pthread_rwlock_rdlock(l: *mut u8) -> c_int;
    fn pthread_rwlock_wrlock(l: *mut u8) -> c_int;
    fn pthread_rwlock_unlock(l: *mut u8) -> c_int;
    fn pthread_rwlock_clockrdlock(l: *mut u8, clock: c_int, t: *const Timespec) -> c_int;
    fn pthread_rwlock_clockwrlock(l: *mut u8, clock: c_int, t: *const Timespec) -> c_int;
    fn pthread_rwlock_timedrdlock(l: *mut u8, t: *const Timespec) -> c_int;
    fn pthread_rwlock_timedwrlock(l: *mut u8, t: *const Timespec) -> c_int;
    fn pthread_spin_init(l: *mut u8, shared: c_int) -> c_int;
    fn pthread_spin_lock(l: *mut u8) -> c_int;
    fn pthread_spin_trylock(l: *mut u8) -> c_int;
    fn pthread_spin_unlock(l: *mut u8) -> c_int;
    fn pthread_spin_destroy(l: *mut u8) -> c_int;
    fn pthread_barrier_init(b: *mut u8, attributes: *const u8, n: c_uint) -> c_int;
    fn pthread_barrier_wait(b: *mut u8) -> c_int;
    fn pthread_barrier_destroy(b: *mut u8) -> c_int;
    fn sem_init(s: *mut u8, shared: c_int, value: c_uint) -> c_int;
    fn sem_clockwait(s: *mut u8, clock: c_int, t: *const Timespec) -> c_int;
    fn sem_getvalue(s: *mut u8, out: *mut c_int) -> c_int;
    fn sem_destroy(s: *mut u8) -> c_int;
}

/// In an hour, by a clock.
fn in_an_hour(clock: c_int) -> Timespec {
    let mut t = Timespec { seconds: 0, nanoseconds: 0 };
    // SAFETY: writes to a live value.
    unsafe { clock_gettime(clock, &mut t) };
    t.seconds += i64::from(HOUR);
    t
}

/// Calls `f` and asserts that it lasts an hour.
fn lasts_an_hour<R>(f: impl FnOnce() -> R) -> R {
    let start = Instant::now();
    let result = f();
    let elapsed = start.elapsed();
    assert!(elapsed >= Duration::from_secs(3500) && elapsed < Duration::from_secs(3700), "{elapsed:?}");
    result
}

mod correct {
    use super::*;
    use std::sync::mpsc::channel;
    use std::thread;

    /// Runs `hold` and `give_back` in one thread around `wait` in another.
    fn while_another_thread_has_it(hold: impl Fn() + Sync, give_back: impl Fn() + Sync, wait: impl FnOnce()) {
        let (taken, is_taken) = channel();
        let (done, is_done) = channel::<()>();
        let (hold, give_back) = (&hold, &give_back);
        thread::scope(|s| {
            s.spawn(move || {
                hold();
                taken.send(()).unwrap();
                is_done.recv().unwrap();
                give_back();
            });
            is_taken.recv().unwrap();
            wait();
            done.send(()).unwrap();
        });
    }

    #[test]
    fn a_wait_for_a_lock_that_another_thread_keeps_ends_in_time() {
        let (mutex, lock) = (Object::new(), Object::new());
        // SAFETY: zeros are an unlocked lock of either kind, used as POSIX says.
        unsafe {
            let hold = || _ = (pthread_mutex_lock(mutex.at()), pthread_rwlock_wrlock(lock.at()));
            let give_back = || _ = (pthread_mutex_unlock(mutex.at()), pthread_rwlock_unlock(lock.at()));
            while_another_thread_has_it(hold, give_back, || {
                let t = in_an_hour(MONOTONIC);
                assert_eq!(lasts_an_hour(|| pthread_mutex_clocklock(mutex.at(), MONOTONIC, &t)), ETIMEDOUT);
                let t = in_an_hour(MONOTONIC);
                assert_eq!(lasts_an_hour(|| pthread_rwlock_clockrdlock(lock.at(), MONOTONIC, &t)), ETIMEDOUT);
                let t = in_an_hour(MONOTONIC);
                assert_eq!(lasts_an_hour(|| pthread_rwlock_clockwrlock(lock.at(), MONOTONIC, &t)), ETIMEDOUT);
                let t = in_an_hour(0);
                assert_eq!(lasts_an_hour(|| pthread_rwlock_timedwrlock(lock.at(), &t)), ETIMEDOUT);
            });
        }
    }

    #[test]
    fn a_reader_in_time_gets_in_beside_another() {
        let lock = Object::new();
        // SAFETY: as above.
        unsafe {
            let give_back = || _ = pthread_rwlock_unlock(lock.at());
            while_another_thread_has_it(|| _ = pthread_rwlock_rdlock(lock.at()), give_back, || {
                assert_eq!(pthread_rwlock_timedrdlock(lock.at(), &in_an_hour(0)), 0);
                assert_eq!(pthread_rwlock_unlock(lock.at()), 0);
            });
        }
    }

    #[test]
    fn sleeps_and_waits_that_nobody_ends_last_as_long_as_asked() {
        let (mutex, condition, semaphore) = (Object::new(), Object::new(), Object::new());
        thread::spawn(move || {
            // SAFETY: zeros are a mutex and a condition, the semaphore is initialised; used as POSIX says.
            unsafe {
                assert_eq!(lasts_an_hour(|| sleep(HOUR)), 0);
                pthread_mutex_lock(mutex.at());
                let t = in_an_hour(MONOTONIC);
                let wait = || pthread_cond_clockwait(condition.at(), mutex.at(), MONOTONIC, &t);
                assert_eq!(lasts_an_hour(wait), ETIMEDOUT);
                pthread_mutex_unlock(mutex.at());
                sem_init(semaphore.at(), 0, 1);
                let mut value = 0;
                sem_getvalue(semaphore.at(), &mut value);
                assert_eq!(value, 1);
                assert_eq!(sem_clockwait(semaphore.at(), MONOTONIC, &in_an_hour(MONOTONIC)), 0);
                let t = in_an_hour(MONOTONIC);
                assert_eq!(lasts_an_hour(|| sem_clockwait(semaphore.at(), MONOTONIC, &t)), -1);
                sem_destroy(semaphore.at());
            }
        })
        .join()
        .unwrap();
    }

    #[test]
    fn a_barrier_is_destroyed_and_made_again() {
        let barrier = Object::new();
        for _ in 0..2 {
            // SAFETY: made before two threads wait at it and destroyed after.
            unsafe {
                // The first thread is the one that makes it, so that it belongs to the execution.
                thread::scope(|s| _ = s.spawn(|| pthread_barrier_init(barrier.at(), std::ptr::null(), 2)));
                thread::scope(|s| {
                    for _ in 0..2 {
                        s.spawn(|| pthread_barrier_wait(barrier.at()));
                    }
                });
                assert_eq!(pthread_barrier_destroy(barrier.at()), 0);
            }
        }
    }

    #[test]
    fn a_spin_lock_lets_one_thread_in_at_a_time() {
        let (lock, count) = (Object::new(), UnsafeCell::new(0));
        struct Shared(UnsafeCell<i32>);
        // SAFETY: only used under the lock.
        unsafe impl Sync for Shared {}
        let count = Shared(count);
        // SAFETY: used as POSIX says; the count is used under the lock, or when the threads have ended.
        unsafe {
            pthread_spin_init(lock.at(), 0);
            thread::scope(|s| {
                for _ in 0..2 {
                    s.spawn(|| {
                        let count = &count;
                        pthread_spin_lock(lock.at());
                        let n = *count.0.get();
                        assert_eq!(pthread_spin_trylock(lock.at()), EBUSY);
                        *count.0.get() = n + 1;
                        pthread_spin_unlock(lock.at());
                    });
                }
            });
            assert_eq!((*count.0.get(), pthread_spin_destroy(lock.at())), (2, 0));
        }
    }

    #[test]
    fn a_mutex_is_not_destroyed_while_somebody_has_it() {
        let mutex = Object::new();
        thread::scope(|s| {
            // SAFETY: glibc says so.
            s.spawn(|| unsafe {
                pthread_mutex_lock(mutex.at());
                assert_eq!(pthread_mutex_destroy(mutex.at()), EBUSY);
                pthread_mutex_unlock(mutex.at());
                assert_eq!(pthread_mutex_destroy(mutex.at()), 0);
            });
        });
    }
}

mod broken {
    use super::*;
    use std::thread;

    #[test]
    fn deadlocks_two_spin_locks_in_opposite_order() {
        let (a, b) = (Object::new(), Object::new());
        // SAFETY: used as POSIX says, but for the order.
        let both = |first: &Object, second: &Object| unsafe {
            pthread_spin_lock(first.at());
            pthread_spin_lock(second.at());
            pthread_spin_unlock(second.at());
            pthread_spin_unlock(first.at());
        };
        // SAFETY: as above.
        unsafe {
            pthread_spin_init(a.at(), 0);
            pthread_spin_init(b.at(), 0);
        }
        thread::scope(|s| {
            s.spawn(|| both(&a, &b));
            s.spawn(|| both(&b, &a));
        });
    }
}
