//! A test target with a `main` of its own instead of the test harness; correct under every schedule.

use std::sync::Mutex;
use std::thread;

fn main() {
    let total = Mutex::new(0);
    thread::scope(|s| {
        for n in 1..3 {
            let total = &total;
            s.spawn(move || *total.lock().unwrap() += n);
        }
    });
    assert_eq!(total.into_inner().unwrap(), 3);
    println!("own main passed");
}
