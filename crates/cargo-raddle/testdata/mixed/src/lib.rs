//! One of each kind of target.

use std::sync::atomic::{AtomicU32, Ordering};

#[cfg(nightly)]
compile_error!("the build script was made to believe in a nightly compiler");

/// A counter that loses updates.
#[derive(Default)]
pub struct Counter {
    n: AtomicU32,
}

impl Counter {
    /// Adds one, not atomically.
    pub fn add(&self) {
        let n = self.n.load(Ordering::SeqCst);
        self.n.store(n + 1, Ordering::SeqCst);
    }

    /// The count.
    pub fn get(&self) -> u32 {
        self.n.load(Ordering::SeqCst)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn alone() {
        let counter = Counter::default();
        counter.add();
        assert_eq!(counter.get(), 1);
    }

    #[test]
    fn together() {
        let counter = Counter::default();
        std::thread::scope(|scope| {
            scope.spawn(|| counter.add());
            counter.add();
        });
        assert_eq!(counter.get(), 2);
    }

    /// Its trace is full of addresses, of heap blocks and of vtables.
    #[test]
    fn with_pointers() {
        let jobs: std::sync::Mutex<Vec<Box<dyn Fn(&Counter) + Send>>> = Default::default();
        let counter = Counter::default();
        std::thread::scope(|scope| {
            scope.spawn(|| jobs.lock().unwrap().push(Box::new(|counter| counter.add())));
            let job = jobs.lock().unwrap().pop();
            assert!(job.is_none(), "the job came first");
        });
    }

    #[test]
    #[ignore = "to see what becomes of ignored tests"]
    fn later() {}

    #[cfg(feature = "loud")]
    #[test]
    fn loud() {}
}
