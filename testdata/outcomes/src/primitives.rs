//! What std has to synchronise with.

use crate::{Program, pause};
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicUsize, Ordering::SeqCst};
use std::sync::mpsc::{self, TryRecvError, TrySendError};
use std::sync::{Arc, Barrier, Condvar, LazyLock, Mutex, Once, OnceLock, RwLock, TryLockError};
use std::thread::{self, scope, spawn};
use std::time::Duration;

pub const PROGRAMS: &[Program] = &[
    ("store_and_load", store_and_load),
    ("last_writer", last_writer),
    ("lost_update", lost_update),
    ("message", message),
    ("store_buffers", store_buffers),
    ("compare_exchange", compare_exchange),
    ("tickets", tickets),
    ("locked_pushes", locked_pushes),
    ("store_beside_a_lock", store_beside_a_lock),
    ("try_lock", try_lock),
    ("poisoned", poisoned),
    ("rwlock_orders", rwlock_orders),
    ("try_read", try_read),
    ("try_write", try_write),
    ("condvar_waits", condvar_waits),
    ("condvar_without_lock", condvar_without_lock),
    ("condvar_alone", condvar_alone),
    ("notify_one_of_two", notify_one_of_two),
    ("leader_of_two", leader_of_two),
    ("leader_of_three", leader_of_three),
    ("leader_with_main", leader_with_main),
    ("once_runs", once_runs),
    ("once_completed", once_completed),
    ("once_lock_get", once_lock_get),
    ("once_lock_set", once_lock_set),
    ("lazy_lock", lazy_lock),
    ("senders", senders),
    ("try_recv", try_recv),
    ("sender_gone", sender_gone),
    ("receiver_gone", receiver_gone),
    ("try_send", try_send),
    ("rendezvous", rendezvous),
    ("parked", parked),
    ("scoped", scoped),
];

fn store_and_load() -> String {
    let v = Arc::new(AtomicU32::new(0));
    let w = v.clone();
    let t = spawn(move || {
        pause();
        w.store(1, SeqCst)
    });
    pause();
    let seen = v.load(SeqCst);
    t.join().unwrap();
    seen.to_string()
}

fn last_writer() -> String {
    let v = AtomicU32::new(0);
    scope(|s| {
        for i in 1..4 {
            let v = &v;
            s.spawn(move || {
                pause();
                v.store(i, SeqCst)
            });
        }
    });
    v.into_inner().to_string()
}

fn lost_update() -> String {
    let v = AtomicU32::new(0);
    let add = || {
        pause();
        let seen = v.load(SeqCst);
        pause();
        v.store(seen + 1, SeqCst);
    };
    scope(|s| {
        s.spawn(add);
        s.spawn(add);
    });
    v.into_inner().to_string()
}

fn message() -> String {
    let (data, flag) = (AtomicU32::new(0), AtomicBool::new(false));
    scope(|s| {
        s.spawn(|| {
            data.store(1, SeqCst);
            pause();
            flag.store(true, SeqCst);
        });
        pause();
        let flag = flag.load(SeqCst);
        pause();
        format!("{flag} {}", data.load(SeqCst))
    })
}

fn store_buffers() -> String {
    let (a, b) = (AtomicU32::new(0), AtomicU32::new(0));
    let run = |mine: &AtomicU32, other: &AtomicU32| {
        pause();
        mine.store(1, SeqCst);
        pause();
        other.load(SeqCst)
    };
    scope(|s| {
        let t = s.spawn(|| run(&a, &b));
        let mine = run(&b, &a);
        format!("{} {mine}", t.join().unwrap())
    })
}

fn compare_exchange() -> String {
    let v = AtomicU32::new(0);
    let claim = |by| {
        pause();
        v.compare_exchange(0, by, SeqCst, SeqCst).is_ok()
    };
    scope(|s| {
        let t = s.spawn(|| claim(1));
        format!("{} {}", claim(2), t.join().unwrap())
    })
}

fn tickets() -> String {
    let v = AtomicU32::new(0);
    let draw = || {
        pause();
        v.fetch_add(1, SeqCst)
    };
    scope(|s| {
        let all = [s.spawn(draw), s.spawn(draw), s.spawn(draw)];
        format!("{:?}", all.map(|t| t.join().unwrap()))
    })
}

fn locked_pushes() -> String {
    let text = Mutex::new(String::new());
    let push = |name| {
        for _ in 0..2 {
            pause();
            text.lock().unwrap().push(name);
        }
    };
    scope(|s| {
        s.spawn(|| push('a'));
        push('b');
    });
    text.into_inner().unwrap()
}

fn store_beside_a_lock() -> String {
    let (v, m) = (AtomicU32::new(0), Mutex::new(0));
    scope(|s| {
        s.spawn(|| {
            pause();
            v.store(1, SeqCst)
        });
        *m.lock().unwrap() += 1;
        pause();
        v.load(SeqCst).to_string()
    })
}

fn try_lock() -> String {
    let m = Mutex::new(0);
    scope(|s| {
        s.spawn(|| {
            let mut held = m.lock().unwrap();
            pause();
            *held += 1;
        });
        pause();
        match m.try_lock() {
            Ok(seen) => seen.to_string(),
            Err(TryLockError::WouldBlock) => "busy".to_owned(),
            Err(e) => e.to_string(),
        }
    })
}

fn poisoned() -> String {
    let m = Mutex::new(0);
    scope(|s| {
        s.spawn(|| {
            pause();
            let held = m.lock().unwrap();
            // The guard goes while its thread unwinds.
            let unwinds = std::panic::AssertUnwindSafe(move || {
                let _held = held;
                std::panic::resume_unwind(Box::new(()))
            });
            let _ = std::panic::catch_unwind(unwinds);
        });
        pause();
        m.is_poisoned().to_string()
    })
}

fn rwlock_orders() -> String {
    let l = RwLock::new(0);
    scope(|s| {
        let reader = s.spawn(|| {
            pause();
            *l.read().unwrap()
        });
        s.spawn(|| {
            pause();
            *l.write().unwrap() += 1
        });
        pause();
        *l.write().unwrap() *= 10;
        let seen = reader.join().unwrap();
        format!("{seen} {}", l.read().unwrap())
    })
}

fn try_read() -> String {
    let l = RwLock::new(0);
    scope(|s| {
        s.spawn(|| {
            let mut held = l.write().unwrap();
            pause();
            *held += 1;
        });
        pause();
        l.try_read().map_or_else(|_| "busy".to_owned(), |seen| seen.to_string())
    })
}

fn try_write() -> String {
    let l = RwLock::new(0);
    scope(|s| {
        s.spawn(|| {
            let held = l.read().unwrap();
            pause();
            drop(held);
        });
        pause();
        l.try_write().is_ok().to_string()
    })
}

fn condvar_waits() -> String {
    let (m, c) = (Mutex::new(false), Condvar::new());
    scope(|s| {
        let t = s.spawn(|| {
            pause();
            let mut ready = m.lock().unwrap();
            let waits = !*ready;
            while !*ready {
                ready = c.wait(ready).unwrap();
            }
            waits
        });
        pause();
        *m.lock().unwrap() = true;
        c.notify_one();
        t.join().unwrap().to_string()
    })
}

/// Whether a wait was ended by a notification that is sent without the lock.
fn condvar_without_lock() -> String {
    let (m, c, flag) = (Mutex::new(()), Condvar::new(), AtomicBool::new(false));
    scope(|s| {
        let t = s.spawn(|| {
            let held = m.lock().unwrap();
            if flag.load(SeqCst) {
                return "no need";
            }
            pause();
            let (_held, ended) = c.wait_timeout(held, Duration::from_millis(2)).unwrap();
            if ended.timed_out() { "timed out" } else { "notified" }
        });
        pause();
        flag.store(true, SeqCst);
        pause();
        c.notify_one();
        t.join().unwrap().to_owned()
    })
}

/// The notification is all that its thread does.
fn condvar_alone() -> String {
    let (m, c) = (Mutex::new(()), Condvar::new());
    scope(|s| {
        s.spawn(|| {
            pause();
            c.notify_one()
        });
        let held = m.lock().unwrap();
        pause();
        let (_held, ended) = c.wait_timeout(held, Duration::from_millis(2)).unwrap();
        ended.timed_out().to_string()
    })
}

fn notify_one_of_two() -> String {
    let (m, c) = (Mutex::new(0), Condvar::new());
    let wait = |name: char| {
        pause();
        let mut left = m.lock().unwrap();
        while *left == 0 {
            left = c.wait(left).unwrap();
        }
        *left -= 1;
        if *left == 1 { name } else { ' ' }
    };
    scope(|s| {
        let (a, b) = (s.spawn(|| wait('a')), s.spawn(|| wait('b')));
        for _ in 0..2 {
            pause();
            *m.lock().unwrap() += 1;
            c.notify_one();
        }
        format!("{}{}", a.join().unwrap(), b.join().unwrap())
    })
}

fn leader_of_two() -> String {
    let b = Barrier::new(2);
    let wait = || {
        pause();
        b.wait().is_leader()
    };
    scope(|s| {
        let all = [s.spawn(wait), s.spawn(wait)];
        format!("{:?}", all.map(|t| t.join().unwrap()))
    })
}

fn leader_of_three() -> String {
    let b = Barrier::new(3);
    let wait = || {
        pause();
        b.wait().is_leader()
    };
    scope(|s| {
        let all = [s.spawn(wait), s.spawn(wait), s.spawn(wait)];
        format!("{:?}", all.map(|t| t.join().unwrap()))
    })
}

/// The three come to the barrier on different ways.
fn leader_with_main() -> String {
    let (b, v) = (Barrier::new(3), AtomicU32::new(0));
    scope(|s| {
        let first = s.spawn(|| {
            pause();
            b.wait().is_leader()
        });
        let second = s.spawn(|| {
            v.fetch_add(1, SeqCst);
            pause();
            b.wait().is_leader()
        });
        v.fetch_add(1, SeqCst);
        pause();
        let mine = b.wait().is_leader();
        format!("{} {} {mine}", first.join().unwrap(), second.join().unwrap())
    })
}

fn once_runs() -> String {
    let (once, by) = (Once::new(), AtomicU32::new(0));
    let run = |me| {
        pause();
        once.call_once(|| by.store(me, SeqCst));
    };
    scope(|s| {
        s.spawn(|| run(1));
        run(2);
    });
    by.into_inner().to_string()
}

fn once_completed() -> String {
    let once = Once::new();
    scope(|s| {
        s.spawn(|| {
            pause();
            once.call_once(pause)
        });
        pause();
        once.is_completed().to_string()
    })
}

fn once_lock_get() -> String {
    let cell = OnceLock::new();
    scope(|s| {
        s.spawn(|| {
            pause();
            cell.get_or_init(|| 1);
        });
        pause();
        format!("{:?}", cell.get())
    })
}

fn once_lock_set() -> String {
    let cell = OnceLock::new();
    scope(|s| {
        let t = s.spawn(|| {
            pause();
            cell.set(1).is_ok()
        });
        pause();
        let mine = cell.set(2).is_ok();
        format!("{} {mine} {:?}", t.join().unwrap(), cell.get())
    })
}

fn lazy_lock() -> String {
    let by = AtomicU32::new(0);
    let cell = LazyLock::new(|| by.fetch_add(1, SeqCst));
    scope(|s| {
        let t = s.spawn(|| {
            pause();
            by.fetch_add(10, SeqCst);
            pause();
            *cell
        });
        pause();
        let mine = *cell;
        t.join().unwrap();
        mine.to_string()
    })
}

fn senders() -> String {
    let (tx, rx) = mpsc::channel();
    for name in ['a', 'b'] {
        let tx = tx.clone();
        spawn(move || {
            pause();
            tx.send(name).unwrap();
            pause();
            tx.send(name).unwrap();
        });
    }
    drop(tx);
    rx.iter().collect()
}

fn try_recv() -> String {
    let (tx, rx) = mpsc::channel();
    let t = spawn(move || {
        pause();
        tx.send(1).unwrap();
        pause();
    });
    let mut all = String::new();
    for _ in 0..2 {
        pause();
        all += match rx.try_recv() {
            Ok(_) => "got ",
            Err(TryRecvError::Empty) => "empty ",
            Err(TryRecvError::Disconnected) => "gone ",
        };
    }
    t.join().unwrap();
    all
}

fn sender_gone() -> String {
    let (tx, rx) = mpsc::channel::<u32>();
    let t = spawn(move || {
        pause();
        drop(tx);
    });
    pause();
    let seen = rx.try_recv();
    t.join().unwrap();
    format!("{seen:?}")
}

fn receiver_gone() -> String {
    let (tx, rx) = mpsc::channel();
    let t = spawn(move || {
        pause();
        drop(rx);
    });
    pause();
    let sent = tx.send(1).is_ok();
    t.join().unwrap();
    sent.to_string()
}

fn try_send() -> String {
    let (tx, rx) = mpsc::sync_channel(1);
    let t = spawn(move || {
        pause();
        rx.recv().unwrap() + rx.recv().unwrap_or(10)
    });
    tx.send(1).unwrap();
    pause();
    let full = matches!(tx.try_send(2), Err(TrySendError::Full(_)));
    drop(tx);
    format!("{full} {}", t.join().unwrap())
}

fn rendezvous() -> String {
    let (tx, rx) = mpsc::sync_channel(0);
    let t = spawn(move || {
        pause();
        rx.recv().unwrap_or(0)
    });
    pause();
    let sent = tx.try_send(1).is_ok();
    drop(tx);
    format!("{sent} {}", t.join().unwrap())
}

fn parked() -> String {
    let (v, seen) = (AtomicU32::new(0), AtomicU32::new(9));
    scope(|s| {
        let t = s.spawn(|| {
            pause();
            // Long enough never to end by itself, however busy the machine is.
            thread::park_timeout(Duration::from_secs(600));
            seen.store(v.load(SeqCst), SeqCst);
        });
        pause();
        v.store(1, SeqCst);
        pause();
        t.thread().unpark();
        v.store(2, SeqCst);
    });
    seen.into_inner().to_string()
}

fn scoped() -> String {
    let (ended, v) = (AtomicUsize::new(0), AtomicUsize::new(0));
    scope(|s| {
        s.spawn(|| {
            pause();
            ended.fetch_add(1, SeqCst)
        });
        s.spawn(|| {
            pause();
            v.store(ended.load(SeqCst), SeqCst)
        });
    });
    v.into_inner().to_string()
}
