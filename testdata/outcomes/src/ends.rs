//! The ends of threads.

use crate::{Program, pause};
use std::cell::RefCell;
use std::sync::atomic::{AtomicU32, Ordering::SeqCst};
use std::thread::spawn;

pub const PROGRAMS: &[Program] =
    &[("is_finished", is_finished), ("thread_local_destructors", thread_local_destructors)];

fn is_finished() -> String {
    let t = spawn(pause);
    pause();
    let seen = t.is_finished();
    t.join().unwrap();
    seen.to_string()
}

/// Stores when its thread ends.
struct AtEnd(&'static AtomicU32);

impl Drop for AtEnd {
    fn drop(&mut self) {
        self.0.store(1, SeqCst);
    }
}

thread_local! {
    static LAST: RefCell<Option<AtEnd>> = const { RefCell::new(None) };
}

fn thread_local_destructors() -> String {
    let v: &'static AtomicU32 = Box::leak(Box::default());
    let t = spawn(move || {
        LAST.with(|last| *last.borrow_mut() = Some(AtEnd(v)));
        pause();
    });
    pause();
    v.store(2, SeqCst);
    t.join().unwrap();
    v.load(SeqCst).to_string()
}
