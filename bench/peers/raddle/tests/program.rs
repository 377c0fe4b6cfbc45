//! An ordinary test, for program mode.

use std::sync::atomic::{AtomicUsize, Ordering};

#[test]
fn counts() {
    let n = AtomicUsize::new(0);
    std::thread::scope(|s| {
        for _ in 0..2 {
            s.spawn(|| {
                for _ in 0..5 {
                    n.fetch_add(1, Ordering::SeqCst);
                }
            });
        }
    });
    assert_eq!(n.into_inner(), 10);
}
