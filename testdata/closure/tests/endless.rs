//! A search that goes on until somebody ends it.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering::SeqCst};
use std::thread;

#[test]
#[ignore = "it has no end"]
fn counts_for_ever() {
    raddle::check(raddle::Config::new().strategy("random").schedules(u64::MAX).jobs(2), || {
        let n = Arc::new(AtomicU32::new(0));
        let threads = [0; 2].map(|_| {
            let n = n.clone();
            thread::spawn(move || (0..5).for_each(|_| drop(n.fetch_add(1, SeqCst))))
        });
        threads.into_iter().for_each(|t| t.join().unwrap());
        assert_eq!(n.load(SeqCst), 10);
    });
}
