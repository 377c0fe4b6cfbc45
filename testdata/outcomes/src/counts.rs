//! Reference counts, and who runs destructors.

use crate::{Program, pause};
use std::sync::atomic::{AtomicU32, Ordering::SeqCst};
use std::sync::{Arc, Mutex, Weak};
use std::thread::{self, ThreadId, spawn};

pub const PROGRAMS: &[Program] = &[
    ("last_owner", last_owner),
    ("last_owner_in_a_box", last_owner_in_a_box),
    ("last_owner_of_a_child", last_owner_of_a_child),
    ("destructor_before_store", destructor_before_store),
    ("destructor_under_a_lock", destructor_under_a_lock),
    ("result_of_a_detached_thread", result_of_a_detached_thread),
    ("last_of_three", last_of_three),
    ("strong_count", strong_count),
    ("weak_count", weak_count),
    ("upgrade", upgrade),
    ("get_mut", get_mut),
    ("try_unwrap", try_unwrap),
    ("into_inner", into_inner),
    ("make_mut", make_mut),
    ("freed_and_allocated", freed_and_allocated),
];

/// Says whether the thread that drops it is the one that made it.
struct Home<'a>(ThreadId, &'a AtomicU32);

impl Drop for Home<'_> {
    fn drop(&mut self) {
        let home = thread::current().id() == self.0;
        self.1.store(1 + u32::from(home), SeqCst);
    }
}

fn home() -> (Home<'static>, &'static AtomicU32) {
    let by: &'static AtomicU32 = Box::leak(Box::default());
    (Home(thread::current().id(), by), by)
}

fn last_owner() -> String {
    let (value, by) = home();
    let a = Arc::new(value);
    let b = a.clone();
    let t = spawn(move || {
        pause();
        drop(b)
    });
    pause();
    drop(a);
    t.join().unwrap();
    by.load(SeqCst).to_string()
}

fn last_owner_in_a_box() -> String {
    let (value, by) = home();
    let a: Arc<dyn Send + Sync> = Arc::new(vec![value]);
    let b = a.clone();
    let t = spawn(move || {
        pause();
        drop(b)
    });
    pause();
    drop(a);
    t.join().unwrap();
    by.load(SeqCst).to_string()
}

fn last_owner_of_a_child() -> String {
    let (value, by) = home();
    let child = Arc::new(value);
    let a = Arc::new((child.clone(), 1));
    let b = a.clone();
    let t = spawn(move || {
        pause();
        drop(b)
    });
    drop(child);
    pause();
    drop(a);
    t.join().unwrap();
    by.load(SeqCst).to_string()
}

/// Says in what order things happen.
struct Tell(&'static AtomicU32);

impl Drop for Tell {
    fn drop(&mut self) {
        self.0.store(1, SeqCst);
    }
}

fn destructor_before_store() -> String {
    let v: &'static AtomicU32 = Box::leak(Box::default());
    let a = Arc::new(Tell(v));
    let b = a.clone();
    let t = spawn(move || {
        pause();
        drop(b)
    });
    pause();
    drop(a);
    pause();
    v.store(2, SeqCst);
    t.join().unwrap();
    v.load(SeqCst).to_string()
}

/// A destructor that needs a lock, dropped by a thread that may hold it.
fn destructor_under_a_lock() -> String {
    struct Locks(&'static Mutex<String>);
    impl Drop for Locks {
        fn drop(&mut self) {
            if let Ok(mut text) = self.0.try_lock() {
                text.push('d');
            }
        }
    }
    let m: &'static Mutex<String> = Box::leak(Box::default());
    let a = Arc::new(Locks(m));
    let b = a.clone();
    let t = spawn(move || {
        pause();
        drop(b)
    });
    {
        let mut held = m.lock().unwrap();
        held.push('l');
        pause();
        drop(a);
        held.push('u');
    }
    t.join().unwrap();
    m.lock().unwrap().clone()
}

fn result_of_a_detached_thread() -> String {
    let (value, by) = home();
    let t = spawn(move || {
        pause();
        value
    });
    pause();
    drop(t);
    loop {
        let seen = by.load(SeqCst);
        if seen != 0 {
            return seen.to_string();
        }
        thread::yield_now();
    }
}

fn last_of_three() -> String {
    struct Last(&'static Mutex<String>);
    impl Drop for Last {
        fn drop(&mut self) {
            self.0.lock().unwrap().push_str(thread::current().name().unwrap_or("main"));
        }
    }
    let m: &'static Mutex<String> = Box::leak(Box::default());
    let a = Arc::new(Last(m));
    let threads = ["1", "2"].map(|name| {
        let b = a.clone();
        let run = move || {
            pause();
            drop(b)
        };
        thread::Builder::new().name(name.to_owned()).spawn(run).unwrap()
    });
    pause();
    drop(a);
    threads.into_iter().for_each(|t| t.join().unwrap());
    let last = m.lock().unwrap().clone();
    if last.len() == 1 { last } else { "0".to_owned() }
}

/// One thread drops its share, the other one does something with its own.
fn beside_a_drop(f: impl FnOnce(Arc<u32>) -> String) -> String {
    let a = Arc::new(7);
    let b = a.clone();
    let t = spawn(move || {
        pause();
        drop(b)
    });
    pause();
    let seen = f(a);
    t.join().unwrap();
    seen
}

fn strong_count() -> String {
    beside_a_drop(|a| Arc::strong_count(&a).to_string())
}

fn weak_count() -> String {
    let a = Arc::new(7);
    let w = Arc::downgrade(&a);
    let t = spawn(move || {
        pause();
        drop(w)
    });
    pause();
    let seen = Arc::weak_count(&a);
    t.join().unwrap();
    seen.to_string()
}

fn upgrade() -> String {
    let a = Arc::new(7);
    let w: Weak<u32> = Arc::downgrade(&a);
    let t = spawn(move || {
        pause();
        drop(a)
    });
    pause();
    let seen = w.upgrade();
    t.join().unwrap();
    format!("{seen:?}")
}

fn get_mut() -> String {
    beside_a_drop(|mut a| Arc::get_mut(&mut a).is_some().to_string())
}

fn try_unwrap() -> String {
    beside_a_drop(|a| Arc::try_unwrap(a).is_ok().to_string())
}

fn into_inner() -> String {
    beside_a_drop(|a| Arc::into_inner(a).is_some().to_string())
}

fn make_mut() -> String {
    beside_a_drop(|mut a| {
        let before = Arc::as_ptr(&a);
        *Arc::make_mut(&mut a) += 1;
        (before == Arc::as_ptr(&a)).to_string()
    })
}

/// Whether memory that another thread frees is used again.
fn freed_and_allocated() -> String {
    let v: &'static AtomicU32 = Box::leak(Box::default());
    let a = Box::new([7_u64; 5]);
    let t = spawn(move || {
        pause();
        let sum = a.iter().sum::<u64>();
        drop(a);
        v.store(1, SeqCst);
        sum
    });
    pause();
    let seen = v.load(SeqCst);
    t.join().unwrap();
    seen.to_string()
}
