//! Atmoerror: two customers pay coins into one box and each expects to see the sum of both.

use std::sync::atomic::{AtomicI32, Ordering::Relaxed};
use std::sync::{Arc, Mutex};
use std::thread;

const COINS: i32 = 5;

/// Two customers each add five coins to a total and then compare it with ten; nobody is joined.
///
/// *Shared*: `total`, read and written without a lock for every coin.
/// *Bug*: the customer who finishes first sees less than ten, so nearly every schedule fails; lost updates come on top.
/// *Oracle*: a customer panics if the total it reads at its end is not ten. The customers go on after main has returned;
/// a panic of a thread that nobody joins is a failure.
pub fn atmoerror() {
    let total = Arc::new(AtomicI32::new(0));
    for _ in 0..2 {
        let total = Arc::clone(&total);
        thread::spawn(move || {
            for _ in 0..COINS {
                total.store(total.load(Relaxed) + 1, Relaxed);
            }
            let seen = total.load(Relaxed);
            assert!(seen == 2 * COINS, "the customer sees {seen} coins");
        });
    }
}

/// [`atmoerror`] with a lock around each payment and the check made once both customers have been joined.
pub fn atmoerror_fixed() {
    let total = Arc::new(Mutex::new(0));
    let customers = [(); 2].map(|()| {
        let total = Arc::clone(&total);
        thread::spawn(move || {
            for _ in 0..COINS {
                *total.lock().unwrap() += 1;
            }
        })
    });
    for customer in customers {
        customer.join().unwrap();
    }
    assert!(*total.lock().unwrap() == 2 * COINS, "a coin is missing");
}
