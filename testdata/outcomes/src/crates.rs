//! Crates from crates.io.

use crate::{Program, pause};
use arc_swap::ArcSwap;
use crossbeam_deque::{Steal, Worker};
use crossbeam_epoch::{self as epoch, Atomic, Owned};
use crossbeam_queue::{ArrayQueue, SegQueue};
use dashmap::DashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};
use std::thread::scope;

pub const PROGRAMS: &[Program] = &[
    ("crossbeam_channel", crossbeam_channel),
    ("crossbeam_select", crossbeam_select),
    ("seg_queue", seg_queue),
    ("array_queue", array_queue),
    ("steal", steal),
    ("epoch_swap", epoch_swap),
    ("parking_lot_try_lock", parking_lot_try_lock),
    ("parking_lot_pushes", parking_lot_pushes),
    ("parking_lot_notify", parking_lot_notify),
    ("parking_lot_once", parking_lot_once),
    ("dashmap_insert", dashmap_insert),
    ("arc_swap", arc_swap),
    ("once_cell_get", once_cell_get),
    ("flume_try_recv", flume_try_recv),
];

fn crossbeam_channel() -> String {
    let (tx, rx) = crossbeam_channel::bounded(1);
    scope(|s| {
        s.spawn(move || {
            pause();
            let _ = tx.try_send(1);
            pause();
        });
        pause();
        let first = rx.try_recv();
        pause();
        format!("{first:?} {:?}", rx.try_recv())
    })
}

fn crossbeam_select() -> String {
    let ((ta, ra), (tb, rb)) = (crossbeam_channel::bounded(1), crossbeam_channel::bounded(1));
    scope(|s| {
        s.spawn(move || {
            pause();
            ta.send(1).unwrap()
        });
        s.spawn(move || {
            pause();
            tb.send(2).unwrap()
        });
        pause();
        let first = ra.try_recv().is_ok();
        format!("{first} {}", rb.try_recv().is_ok())
    })
}

fn seg_queue() -> String {
    let q = SegQueue::new();
    scope(|s| {
        s.spawn(|| {
            pause();
            q.push(1)
        });
        pause();
        let first = q.pop();
        pause();
        q.push(2);
        format!("{first:?} {:?}", q.pop())
    })
}

fn array_queue() -> String {
    let q = ArrayQueue::new(1);
    scope(|s| {
        let t = s.spawn(|| {
            pause();
            q.push(1).is_ok()
        });
        pause();
        let mine = q.push(2).is_ok();
        format!("{} {mine} {:?}", t.join().unwrap(), q.pop())
    })
}

fn steal() -> String {
    let worker = Worker::new_fifo();
    let stealer = worker.stealer();
    worker.push(1);
    scope(|s| {
        let t = s.spawn(move || {
            pause();
            match stealer.steal() {
                Steal::Success(_) => "stolen",
                Steal::Empty => "empty",
                Steal::Retry => "retry",
            }
        });
        pause();
        let own = worker.pop();
        format!("{} {own:?}", t.join().unwrap())
    })
}

fn epoch_swap() -> String {
    let a = Atomic::new(1);
    scope(|s| {
        s.spawn(|| {
            pause();
            let guard = epoch::pin();
            let old = a.swap(Owned::new(2), SeqCst, &guard);
            // SAFETY: nobody finds it any more.
            unsafe { guard.defer_destroy(old) };
        });
        pause();
        let guard = epoch::pin();
        // SAFETY: the guard keeps it.
        unsafe { a.load(SeqCst, &guard).deref() }.to_string()
    })
}

fn parking_lot_try_lock() -> String {
    let m = parking_lot::Mutex::new(0);
    scope(|s| {
        s.spawn(|| {
            let mut held = m.lock();
            pause();
            *held += 1;
        });
        pause();
        m.try_lock().map_or("busy".to_owned(), |seen| seen.to_string())
    })
}

fn parking_lot_pushes() -> String {
    let l = parking_lot::RwLock::new(String::new());
    let push = |name| {
        pause();
        l.write().push(name);
        pause();
        let seen = l.read().len();
        l.write().push_str(&seen.to_string());
    };
    scope(|s| {
        s.spawn(|| push('a'));
        push('b');
    });
    l.into_inner()
}

fn parking_lot_notify() -> String {
    let (m, c) = (parking_lot::Mutex::new(false), parking_lot::Condvar::new());
    scope(|s| {
        s.spawn(|| {
            pause();
            let mut ready = m.lock();
            while !*ready {
                c.wait(&mut ready);
            }
        });
        pause();
        *m.lock() = true;
        pause();
        c.notify_one().to_string()
    })
}

fn parking_lot_once() -> String {
    let once = parking_lot::Once::new();
    scope(|s| {
        s.spawn(|| {
            pause();
            once.call_once(pause)
        });
        pause();
        format!("{:?}", once.state())
    })
}

fn dashmap_insert() -> String {
    let map = DashMap::with_shard_amount(2);
    scope(|s| {
        let t = s.spawn(|| {
            pause();
            map.insert(1, 'a')
        });
        pause();
        let mine = map.insert(1, 'b');
        format!("{:?} {mine:?}", t.join().unwrap())
    })
}

fn arc_swap() -> String {
    let (cell, done) = (ArcSwap::from_pointee(1), AtomicBool::new(false));
    scope(|s| {
        s.spawn(|| {
            pause();
            cell.store(Arc::new(2));
            done.store(true, SeqCst);
        });
        pause();
        let before = done.load(SeqCst);
        pause();
        format!("{before} {}", cell.load())
    })
}

fn once_cell_get() -> String {
    let cell = once_cell::sync::OnceCell::new();
    scope(|s| {
        let t = s.spawn(|| {
            pause();
            cell.set(1).is_ok()
        });
        pause();
        let seen = cell.get().copied();
        format!("{seen:?} {}", t.join().unwrap())
    })
}

fn flume_try_recv() -> String {
    let (tx, rx) = flume::bounded(1);
    scope(|s| {
        s.spawn(move || {
            pause();
            tx.send(1).unwrap();
            pause();
        });
        pause();
        let first = rx.try_recv();
        pause();
        format!("{first:?} {:?}", rx.try_recv())
    })
}
