//! Datarace: two unprotected deposits into one account.

use std::sync::atomic::{AtomicBool, AtomicI32, Ordering::Relaxed};
use std::sync::{Arc, Mutex};
use std::thread;

/// Two threads deposit 50 each; main joins them and then has a checker thread look at the sum.
///
/// *Shared*: `balance`: each deposit reads it, writes it and reads it once more to print it.
/// *Bug*: one deposit is lost when the other's write falls between its read and its write.
/// *Oracle*: the checker compares the balance with 100; main joins it and panics if they differ.
pub fn datarace() {
    let balance = Arc::new(AtomicI32::new(0));
    let depositors = [(); 2].map(|()| {
        let balance = Arc::clone(&balance);
        thread::spawn(move || {
            balance.store(balance.load(Relaxed) + 50, Relaxed);
            let _printed = balance.load(Relaxed);
        })
    });
    for depositor in depositors {
        depositor.join().unwrap();
    }
    let correct = Arc::new(AtomicBool::new(false));
    let verdict = Arc::clone(&correct);
    let checker = thread::spawn(move || verdict.store(balance.load(Relaxed) == 100, Relaxed));
    checker.join().unwrap();
    assert!(correct.load(Relaxed), "a deposit is lost");
}

/// [`datarace`] with a lock around each deposit.
pub fn datarace_fixed() {
    let balance = Arc::new(Mutex::new(0));
    let depositors = [(); 2].map(|()| {
        let balance = Arc::clone(&balance);
        thread::spawn(move || *balance.lock().unwrap() += 50)
    });
    for depositor in depositors {
        depositor.join().unwrap();
    }
    let checker = thread::spawn(move || *balance.lock().unwrap() == 100);
    assert!(checker.join().unwrap(), "a deposit is lost");
}
