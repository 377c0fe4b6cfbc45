//! A program whose assertion holds under some schedules only. Arguments: the number of threads (two if absent).

use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::thread;

static COUNT: AtomicUsize = AtomicUsize::new(0);

fn main() {
    let threads = std::env::args().nth(1).map_or(2, |n| n.parse().expect("a number of threads"));
    let handles: Vec<_> =
        (0..threads).map(|_| thread::spawn(|| COUNT.store(COUNT.load(SeqCst) + 1, SeqCst))).collect();
    for handle in handles {
        handle.join().unwrap();
    }
    assert_eq!(COUNT.load(SeqCst), threads, "an update was lost");
    println!("{threads} updates");
}
