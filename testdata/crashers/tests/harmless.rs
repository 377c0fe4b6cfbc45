//! These look bad and pass all the same.

use std::sync::Mutex;
use std::sync::mpsc::channel;
use std::thread;
use std::time::Duration;

#[test]
#[should_panic(expected = "from the thread")]
fn a_panic_that_the_test_asks_for_passes() {
    thread::spawn(|| panic!("from the thread")).join().unwrap_or_else(|payload| {
        std::panic::resume_unwind(payload);
    })
}

#[test]
#[should_panic(expected = "a scoped thread panicked")]
fn a_panic_in_a_scope_that_the_test_asks_for_passes() {
    thread::scope(|s| _ = s.spawn(|| panic!("from the thread")));
}

#[test]
fn a_test_may_return_ok_after_its_threads_ended() -> Result<(), String> {
    thread::spawn(|| 1).join().map(drop).map_err(|_| String::from("the thread failed"))
}

/// Whether the panic comes at all depends on how long the process lives; the test has passed by then.
#[test]
fn a_detached_thread_may_panic_after_the_test_has_ended() {
    let (tx, rx) = channel();
    thread::spawn(move || {
        tx.send(()).unwrap();
        thread::sleep(Duration::from_secs(3600));
        panic!("nobody is left to see this");
    });
    rx.recv().unwrap();
}

#[test]
fn a_detached_thread_that_waits_for_ever_is_no_deadlock() {
    let (tx, rx) = channel::<()>();
    let (started, is_started) = channel();
    thread::spawn(move || {
        started.send(()).unwrap();
        let _ = rx.recv();
    });
    is_started.recv().unwrap();
    std::mem::forget(tx);
}

#[test]
fn a_detached_thread_that_parks_for_ever_is_no_deadlock() {
    static LEFT: Mutex<u32> = Mutex::new(1);
    thread::spawn(|| {
        *LEFT.lock().unwrap() = 0;
        loop {
            thread::park();
        }
    });
    assert!(*LEFT.lock().unwrap() <= 1);
}

#[test]
fn a_detached_thread_that_never_gives_way_does_not_keep_the_test_from_its_end() {
    static DONE: Mutex<bool> = Mutex::new(false);
    thread::spawn(|| {
        *DONE.lock().unwrap() = true;
        #[expect(clippy::empty_loop, reason = "a loop that no hook can interrupt is the purpose")]
        loop {}
    });
    let _ = *DONE.lock().unwrap();
}
