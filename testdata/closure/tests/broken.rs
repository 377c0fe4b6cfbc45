//! Checks that find something, one kind each.

use closure::count;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;

#[raddle::test]
fn lost_update() {
    assert_eq!(count(false), 2);
}

#[raddle::test]
fn deadlock() {
    let (a, b) = (Arc::new(Mutex::new(1)), Arc::new(Mutex::new(2)));
    let (a2, b2) = (a.clone(), b.clone());
    let t = thread::spawn(move || *a2.lock().unwrap() + *b2.lock().unwrap());
    let sum = *b.lock().unwrap() + *a.lock().unwrap();
    assert_eq!(sum, t.join().unwrap());
}

#[raddle::test]
fn panic_in_a_thread() {
    let n = Arc::new(AtomicU32::new(0));
    let m = n.clone();
    let t = thread::spawn(move || assert_eq!(m.load(Ordering::SeqCst), 0, "too late"));
    n.store(1, Ordering::SeqCst);
    t.join().unwrap();
}

#[raddle::test(max_steps = 10_000)]
fn livelock() {
    let turn = AtomicU32::new(0);
    thread::scope(|s| {
        for me in 0..2 {
            let turn = &turn;
            s.spawn(move || while turn.swap(me, Ordering::SeqCst) != 2 {});
        }
    });
}

#[raddle::test]
fn crash() {
    let n = AtomicU32::new(0);
    thread::scope(|s| {
        s.spawn(|| n.store(1, Ordering::SeqCst));
        s.spawn(|| {
            if n.load(Ordering::SeqCst) == 1 {
                std::process::abort();
            }
        });
    });
}

#[raddle::test]
fn exit() {
    let n = AtomicU32::new(0);
    thread::scope(|s| {
        s.spawn(|| n.store(1, Ordering::SeqCst));
        s.spawn(|| {
            if n.load(Ordering::SeqCst) == 1 {
                std::process::exit(0);
            }
        });
    });
}

#[test]
fn the_third_check_fails() {
    for atomic in [true, true, false, true] {
        raddle::check(raddle::Config::new(), || assert_eq!(count(atomic), 2));
    }
}

#[test]
fn a_failure_after_checks_that_pass() {
    raddle::check(raddle::Config::new().schedules(20), || assert_eq!(count(true), 2));
    panic!("by itself");
}
