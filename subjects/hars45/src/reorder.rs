//! Reorder: a checker looks at two variables while a setter has written only one of them.

use std::sync::atomic::{AtomicI32, Ordering::Relaxed};
use std::sync::{Arc, Mutex};
use std::thread;

#[derive(Default)]
struct Pair {
    a: AtomicI32,
    b: AtomicI32,
}

impl Pair {
    fn set(&self) {
        self.a.store(1, Relaxed);
        self.b.store(-1, Relaxed);
    }

    /// Evaluated from left to right: two, three or four reads.
    fn is_consistent(&self) -> bool {
        (self.a.load(Relaxed) == 0 && self.b.load(Relaxed) == 0)
            || (self.a.load(Relaxed) == 1 && self.b.load(Relaxed) == -1)
    }
}

/// Two setters write `a` := 1 and `b` := -1; two checkers accept (0, 0) and (1, -1). Main joins all four.
///
/// *Shared*: `a` and `b`, unprotected.
/// *Bug*: a checker reads between the two writes of the first setter, before the other setter is done, or sees a mixture
/// across its re-reads. Rare: the window is two writes wide.
/// *Oracle*: a checker panics on anything else than the two accepted pairs.
pub fn reorder() {
    let pair = Arc::new(Pair::default());
    let setters = [(); 2].map(|()| {
        let pair = Arc::clone(&pair);
        thread::spawn(move || pair.set())
    });
    let checkers = [(); 2].map(|()| {
        let pair = Arc::clone(&pair);
        thread::spawn(move || assert!(pair.is_consistent(), "a and b do not belong together"))
    });
    for thread in setters.into_iter().chain(checkers) {
        thread.join().unwrap();
    }
}

/// [`reorder`] with a lock around each setting and each check.
pub fn reorder_fixed() {
    let pair = Arc::new(Mutex::new(Pair::default()));
    let setters = [(); 2].map(|()| {
        let pair = Arc::clone(&pair);
        thread::spawn(move || pair.lock().unwrap().set())
    });
    let checkers = [(); 2].map(|()| {
        let pair = Arc::clone(&pair);
        thread::spawn(move || {
            assert!(pair.lock().unwrap().is_consistent(), "a and b do not belong together");
        })
    });
    for thread in setters.into_iter().chain(checkers) {
        thread.join().unwrap();
    }
}
