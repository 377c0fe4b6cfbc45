//! Copies of the process, timers, and what else goes on outside the threads of a test.

use std::arch::asm;
use std::ffi::{c_int, c_uint};
use std::sync::atomic::{AtomicU32, Ordering::SeqCst};
use std::thread;

unsafe extern "C" {
    fn fork() -> c_int;
    fn _exit(code: c_int) -> !;
    fn alarm(seconds: c_uint) -> c_uint;
    fn pthread_self() -> usize;
    fn pthread_kill(thread: usize, signal: c_int) -> c_int;
    fn eventfd(value: c_uint, flags: c_int) -> c_int;
}

/// Two threads of which each adds one.
fn two_threads(first: impl FnOnce() + Send) {
    let n = AtomicU32::new(0);
    thread::scope(|s| {
        s.spawn(|| {
            first();
            n.fetch_add(1, SeqCst);
        });
        s.spawn(|| n.fetch_add(1, SeqCst));
    });
    assert_eq!(n.into_inner(), 2);
}

#[test]
fn a_thread_forks_and_the_copy_ends_at_once() {
    // SAFETY: the copy does nothing but end.
    two_threads(|| unsafe {
        if fork() == 0 {
            _exit(0)
        }
    });
}

#[test]
fn an_alarm_is_set_by_a_thread() {
    // SAFETY: plain calls; the alarm is switched off before it comes.
    two_threads(|| unsafe {
        alarm(1000);
        alarm(0);
    });
}

#[test]
fn an_alarm_is_set_before_the_first_thread() {
    // SAFETY: as above.
    unsafe { alarm(1000) };
    two_threads(|| ());
    // SAFETY: as above.
    unsafe { alarm(0) };
}

#[test]
fn a_thread_asks_whether_it_can_be_sent_a_signal() {
    // SAFETY: signal 0 only asks.
    two_threads(|| assert_eq!(unsafe { pthread_kill(pthread_self(), 0) }, 0));
}

/// The second thread ends what the first waits for in a system call that nobody stands in for.
#[test]
fn a_raw_system_call_waits_for_another_thread() {
    // SAFETY: a plain call.
    let fd = unsafe { eventfd(0, 0) };
    let raw = |number: usize, value: &mut u64| {
        let done: isize;
        // SAFETY: `read` or `write` of the eight bytes of a live value.
        unsafe {
            asm!("syscall", inlateout("rax") number => done, in("rdi") fd, in("rsi") value, in("rdx") 8, out("rcx") _, out("r11") _);
        }
        assert_eq!(done, 8);
    };
    const READ: usize = 0;
    const WRITE: usize = 1;
    let n = AtomicU32::new(0);
    thread::scope(|s| {
        s.spawn(|| raw(READ, &mut 0));
        s.spawn(|| {
            n.fetch_add(1, SeqCst);
            raw(WRITE, &mut 1);
        });
        n.fetch_add(1, SeqCst);
    });
}
