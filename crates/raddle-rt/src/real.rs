//! The real libc behind the interposed symbols.
//!
//! Every interposed function forwards here when no execution is active. The addresses are looked up once,
//! by the library constructor, before any of them can be needed by a second thread.

use crate::controlled::Controlled;
use libc::{c_char, c_int, c_void, size_t};
use std::ffi::CStr;

macro_rules! real {
    ($($name:ident : fn($($arg:ty),*) $(-> $ret:ty)?;)*) => {
        /// Pointers to the functions of libc that we interpose.
        #[expect(non_snake_case, reason = "each field is named as its function is")]
        pub struct Real { $(pub $name: unsafe extern "C" fn($($arg),*) $(-> $ret)?,)* }

        impl Real {
            fn load() -> Self {
                Real { $($name: {
                    let p = lookup(concat!(stringify!($name), "\0"));
                    // SAFETY: libc's function of this name has this signature (POSIX or glibc manual), and
                    // a function pointer has the size of a data pointer on this target.
                    unsafe { std::mem::transmute::<*mut c_void, unsafe extern "C" fn($($arg),*) $(-> $ret)?>(p) }
                },)* }
            }
        }
    };
}

type Start = extern "C" fn(*mut c_void) -> *mut c_void;

real! {
    malloc: fn(size_t) -> *mut c_void;
    calloc: fn(size_t, size_t) -> *mut c_void;
    realloc: fn(*mut c_void, size_t) -> *mut c_void;
    free: fn(*mut c_void);
    memalign: fn(size_t, size_t) -> *mut c_void;
    malloc_usable_size: fn(*mut c_void) -> size_t;
    syscall: fn(i64, usize, usize, usize, usize, usize, usize) -> i64;
    pthread_create: fn(*mut libc::pthread_t, *const libc::pthread_attr_t, Start, *mut c_void) -> c_int;
    pthread_join: fn(libc::pthread_t, *mut *mut c_void) -> c_int;
    pthread_detach: fn(libc::pthread_t) -> c_int;
    pthread_setname_np: fn(libc::pthread_t, *const c_char) -> c_int;
    pthread_getattr_np: fn(libc::pthread_t, *mut libc::pthread_attr_t) -> c_int;
    pthread_exit: fn(*mut c_void);
    pthread_key_create: fn(*mut libc::pthread_key_t, Option<unsafe extern "C" fn(*mut c_void)>) -> c_int;
    pthread_key_delete: fn(libc::pthread_key_t) -> c_int;
    pthread_mutex_lock: fn(*mut libc::pthread_mutex_t) -> c_int;
    pthread_mutex_trylock: fn(*mut libc::pthread_mutex_t) -> c_int;
    pthread_mutex_timedlock: fn(*mut libc::pthread_mutex_t, *const libc::timespec) -> c_int;
    pthread_mutex_unlock: fn(*mut libc::pthread_mutex_t) -> c_int;
    pthread_mutex_destroy: fn(*mut libc::pthread_mutex_t) -> c_int;
    pthread_cond_wait: fn(*mut libc::pthread_cond_t, *mut libc::pthread_mutex_t) -> c_int;
    pthread_cond_timedwait: fn(*mut libc::pthread_cond_t, *mut libc::pthread_mutex_t, *const libc::timespec) -> c_int;
    pthread_cond_signal: fn(*mut libc::pthread_cond_t) -> c_int;
    pthread_cond_broadcast: fn(*mut libc::pthread_cond_t) -> c_int;
    pthread_rwlock_rdlock: fn(*mut libc::pthread_rwlock_t) -> c_int;
    pthread_rwlock_tryrdlock: fn(*mut libc::pthread_rwlock_t) -> c_int;
    pthread_rwlock_wrlock: fn(*mut libc::pthread_rwlock_t) -> c_int;
    pthread_rwlock_trywrlock: fn(*mut libc::pthread_rwlock_t) -> c_int;
    pthread_rwlock_unlock: fn(*mut libc::pthread_rwlock_t) -> c_int;
    pthread_mutex_clocklock: fn(*mut libc::pthread_mutex_t, libc::clockid_t, *const libc::timespec) -> c_int;
    pthread_cond_clockwait: fn(*mut libc::pthread_cond_t, *mut libc::pthread_mutex_t, libc::clockid_t, *const libc::timespec) -> c_int;
    pthread_cond_destroy: fn(*mut libc::pthread_cond_t) -> c_int;
    pthread_rwlock_timedrdlock: fn(*mut libc::pthread_rwlock_t, *const libc::timespec) -> c_int;
    pthread_rwlock_timedwrlock: fn(*mut libc::pthread_rwlock_t, *const libc::timespec) -> c_int;
    pthread_rwlock_clockrdlock: fn(*mut libc::pthread_rwlock_t, libc::clockid_t, *const libc::timespec) -> c_int;
    pthread_rwlock_clockwrlock: fn(*mut libc::pthread_rwlock_t, libc::clockid_t, *const libc::timespec) -> c_int;
    pthread_rwlock_destroy: fn(*mut libc::pthread_rwlock_t) -> c_int;
    pthread_spin_init: fn(*mut libc::pthread_spinlock_t, c_int) -> c_int;
    pthread_spin_lock: fn(*mut libc::pthread_spinlock_t) -> c_int;
    pthread_spin_trylock: fn(*mut libc::pthread_spinlock_t) -> c_int;
    pthread_spin_unlock: fn(*mut libc::pthread_spinlock_t) -> c_int;
    pthread_spin_destroy: fn(*mut libc::pthread_spinlock_t) -> c_int;
    pthread_barrier_destroy: fn(*mut libc::pthread_barrier_t) -> c_int;
    pthread_once: fn(*mut c_int, extern "C" fn()) -> c_int;
    pthread_barrier_init: fn(*mut libc::pthread_barrier_t, *const libc::pthread_barrierattr_t, u32) -> c_int;
    pthread_barrier_wait: fn(*mut libc::pthread_barrier_t) -> c_int;
    sem_wait: fn(*mut libc::sem_t) -> c_int;
    sem_trywait: fn(*mut libc::sem_t) -> c_int;
    sem_timedwait: fn(*mut libc::sem_t, *const libc::timespec) -> c_int;
    sem_clockwait: fn(*mut libc::sem_t, libc::clockid_t, *const libc::timespec) -> c_int;
    sem_getvalue: fn(*mut libc::sem_t, *mut c_int) -> c_int;
    sem_init: fn(*mut libc::sem_t, c_int, u32) -> c_int;
    sem_destroy: fn(*mut libc::sem_t) -> c_int;
    sem_post: fn(*mut libc::sem_t) -> c_int;
    sched_yield: fn() -> c_int;
    sched_getaffinity: fn(libc::pid_t, size_t, *mut libc::cpu_set_t) -> c_int;
    nanosleep: fn(*const libc::timespec, *mut libc::timespec) -> c_int;
    clock_nanosleep: fn(libc::clockid_t, c_int, *const libc::timespec, *mut libc::timespec) -> c_int;
    usleep: fn(u32) -> c_int;
    sleep: fn(u32) -> u32;
    clock_gettime: fn(libc::clockid_t, *mut libc::timespec) -> c_int;
    gettimeofday: fn(*mut libc::timeval, *mut c_void) -> c_int;
    time: fn(*mut libc::time_t) -> libc::time_t;
    getrandom: fn(*mut c_void, size_t, u32) -> isize;
    gettid: fn() -> libc::pid_t;
    sigaltstack: fn(*const libc::stack_t, *mut libc::stack_t) -> c_int;
    __cxa_thread_atexit_impl: fn(unsafe extern "C" fn(*mut c_void), *mut c_void, *mut c_void) -> c_int;
    _Unwind_RaiseException: fn(*mut c_void) -> c_int;
    _Unwind_SetIP: fn(*mut c_void, usize);
    exit: fn(c_int);
    quick_exit: fn(c_int);
    fork: fn() -> libc::pid_t;
    alarm: fn(u32) -> u32;
    setitimer: fn(c_int, *const libc::itimerval, *mut libc::itimerval) -> c_int;
    timer_create: fn(libc::clockid_t, *mut libc::sigevent, *mut libc::timer_t) -> c_int;
    pthread_kill: fn(libc::pthread_t, c_int) -> c_int;
    pthread_cancel: fn(libc::pthread_t) -> c_int;
    pthread_tryjoin_np: fn(libc::pthread_t, *mut *mut c_void) -> c_int;
    pthread_timedjoin_np: fn(libc::pthread_t, *mut *mut c_void, *const libc::timespec) -> c_int;
    pthread_clockjoin_np: fn(libc::pthread_t, *mut *mut c_void, libc::clockid_t, *const libc::timespec) -> c_int;
    system: fn(*const c_char) -> c_int;
    popen: fn(*const c_char, *const c_char) -> *mut libc::FILE;
    posix_spawn: fn(*mut libc::pid_t, *const c_char, *const libc::posix_spawn_file_actions_t, *const libc::posix_spawnattr_t, *const *mut c_char, *const *mut c_char) -> c_int;
    posix_spawnp: fn(*mut libc::pid_t, *const c_char, *const libc::posix_spawn_file_actions_t, *const libc::posix_spawnattr_t, *const *mut c_char, *const *mut c_char) -> c_int;
    pause: fn() -> c_int;
    sigsuspend: fn(*const libc::sigset_t) -> c_int;
    sigwait: fn(*const libc::sigset_t, *mut c_int) -> c_int;
    sigwaitinfo: fn(*const libc::sigset_t, *mut libc::siginfo_t) -> c_int;
    sigtimedwait: fn(*const libc::sigset_t, *mut libc::siginfo_t, *const libc::timespec) -> c_int;
    _exit: fn(c_int);
    abort: fn();
    __assert_fail: fn(*const c_char, *const c_char, u32, *const c_char);
    __assert_perror_fail: fn(c_int, *const c_char, u32, *const c_char);
    __stack_chk_fail: fn();
    __chk_fail: fn();
    write: fn(c_int, *const c_void, size_t) -> isize;
    writev: fn(c_int, *const libc::iovec, c_int) -> isize;
    read: fn(c_int, *mut c_void, size_t) -> isize;
    readv: fn(c_int, *const libc::iovec, c_int) -> isize;
    poll: fn(*mut libc::pollfd, libc::nfds_t, c_int) -> c_int;
    ppoll: fn(*mut libc::pollfd, libc::nfds_t, *const libc::timespec, *const libc::sigset_t) -> c_int;
    select: fn(c_int, *mut libc::fd_set, *mut libc::fd_set, *mut libc::fd_set, *mut libc::timeval) -> c_int;
    epoll_wait: fn(c_int, *mut libc::epoll_event, c_int, c_int) -> c_int;
    accept: fn(c_int, *mut libc::sockaddr, *mut libc::socklen_t) -> c_int;
    accept4: fn(c_int, *mut libc::sockaddr, *mut libc::socklen_t, c_int) -> c_int;
    connect: fn(c_int, *const libc::sockaddr, libc::socklen_t) -> c_int;
    recv: fn(c_int, *mut c_void, size_t, c_int) -> isize;
    recvfrom: fn(c_int, *mut c_void, size_t, c_int, *mut libc::sockaddr, *mut libc::socklen_t) -> isize;
    recvmsg: fn(c_int, *mut libc::msghdr, c_int) -> isize;
    pselect: fn(c_int, *mut libc::fd_set, *mut libc::fd_set, *mut libc::fd_set, *const libc::timespec, *const libc::sigset_t) -> c_int;
    epoll_pwait: fn(c_int, *mut libc::epoll_event, c_int, c_int, *const libc::sigset_t) -> c_int;
    send: fn(c_int, *const c_void, size_t, c_int) -> isize;
    sendto: fn(c_int, *const c_void, size_t, c_int, *const libc::sockaddr, libc::socklen_t) -> isize;
    sendmsg: fn(c_int, *const libc::msghdr, c_int) -> isize;
    waitpid: fn(libc::pid_t, *mut c_int, c_int) -> libc::pid_t;
    wait: fn(*mut c_int) -> libc::pid_t;
    waitid: fn(libc::idtype_t, libc::id_t, *mut libc::siginfo_t, c_int) -> c_int;
    flock: fn(c_int, c_int) -> c_int;
    mmap: fn(*mut c_void, size_t, c_int, c_int, c_int, libc::off_t) -> *mut c_void;
    mmap64: fn(*mut c_void, size_t, c_int, c_int, c_int, libc::off_t) -> *mut c_void;
    munmap: fn(*mut c_void, size_t) -> c_int;
    mprotect: fn(*mut c_void, size_t, c_int) -> c_int;
    sigaction: fn(c_int, *const libc::sigaction, *mut libc::sigaction) -> c_int;
    signal: fn(c_int, usize) -> usize;
    chdir: fn(*const c_char) -> c_int;
    fchdir: fn(c_int) -> c_int;
    umask: fn(libc::mode_t) -> libc::mode_t;
    setrlimit: fn(c_int, *const libc::rlimit) -> c_int;
    setpriority: fn(u32, libc::id_t, c_int) -> c_int;
    nice: fn(c_int) -> c_int;
    sched_setaffinity: fn(libc::pid_t, size_t, *const libc::cpu_set_t) -> c_int;
    sched_setscheduler: fn(libc::pid_t, c_int, *const libc::sched_param) -> c_int;
    setpgid: fn(libc::pid_t, libc::pid_t) -> c_int;
    setsid: fn() -> libc::pid_t;
}

fn lookup(name: &str) -> *mut c_void {
    let name = CStr::from_bytes_with_nul(name.as_bytes()).expect("the macro appends the NUL");
    // SAFETY: `name` is a C string; `RTLD_NEXT` from this library finds the definition after ours.
    let p = unsafe { libc::dlsym(libc::RTLD_NEXT, name.as_ptr()) };
    if !p.is_null() {
        return p;
    }
    // The unwinder lives in libgcc_s, which an executable that never unwinds may not load.
    missing as *mut c_void
}

extern "C" fn missing() -> ! {
    crate::fatal("a libc function that this program needs could not be found")
}

static REAL: Controlled<*const Real> = Controlled::new(std::ptr::null());

/// The real functions.
#[inline(always)]
pub fn real() -> &'static Real {
    // SAFETY: `REAL` is set once, by `init` in the library constructor, before other threads exist; `init`
    // is also called here because a malloc from the dynamic loader may come first.
    unsafe {
        if REAL.get().is_null() {
            init();
        }
        &*REAL.get()
    }
}

/// Looks everything up.
#[cold]
pub fn init() {
    // Called from the constructor or the first malloc of the process, both single-threaded.
    if REAL.get().is_null() {
        REAL.set(Box::into_raw(Box::new(Real::load())));
    }
}
