//! Airline: twenty tickets are issued for sixteen seats, and the stop flag comes too late.

use std::sync::atomic::{AtomicBool, AtomicI32, Ordering::Relaxed};
use std::sync::{Arc, Mutex};
use std::thread;

const TICKETS: usize = 20;
const CAPACITY: i32 = 16;

#[derive(Default)]
struct Flight {
    sold: AtomicI32,
    stop_sales: AtomicBool,
}

impl Flight {
    fn sell(&self) {
        self.sold.store(self.sold.load(Relaxed) + 1, Relaxed);
        if self.sold.load(Relaxed) > CAPACITY {
            self.stop_sales.store(true, Relaxed);
        }
    }
}

/// A step at which others may go first and that does nothing else. In the original, starting a thread is such a step for
/// who starts it, and beginning to run for the thread.
fn start_point() {
    drop(Mutex::new(()).lock().unwrap());
}

/// Main starts up to twenty selling threads and joins none.
///
/// *Shared*: `sold` and `stop_sales`, nothing synchronised. Before each start main reads the flag; if it is set, main
/// takes one sale back and stops. A seller reads and writes `sold`, reads it again and sets the flag above 16.
/// *Bug*: seventeen increments become visible before main's last read although main never saw the flag, or saw it when
/// one compensation was no longer enough.
/// *Oracle*: main, right after its loop, panics if `sold` exceeds 16. Sellers that have not run yet run to their end
/// after main has returned.
pub fn airline() {
    let flight = Arc::new(Flight::default());
    for _ in 0..TICKETS {
        if flight.stop_sales.load(Relaxed) {
            flight.sold.store(flight.sold.load(Relaxed) - 1, Relaxed);
            break;
        }
        let flight = Arc::clone(&flight);
        start_point();
        thread::spawn(move || {
            start_point();
            flight.sell();
        });
        start_point();
    }
    let sold = flight.sold.load(Relaxed);
    assert!(sold <= CAPACITY, "{sold} tickets sold for {CAPACITY} seats");
}

/// [`airline`] with the test of the capacity and the sale in one critical section; sellers are joined.
pub fn airline_fixed() {
    let sold = Arc::new(Mutex::new(0));
    let sellers: Vec<_> = (0..TICKETS)
        .map(|_| {
            let sold = Arc::clone(&sold);
            thread::spawn(move || {
                let mut sold = sold.lock().unwrap();
                if *sold < CAPACITY {
                    *sold += 1;
                }
            })
        })
        .collect();
    assert!(*sold.lock().unwrap() <= CAPACITY, "more tickets sold than seats");
    for seller in sellers {
        seller.join().unwrap();
    }
    assert!(*sold.lock().unwrap() == CAPACITY, "the flight is not sold out");
}
