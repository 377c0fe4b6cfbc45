// The programs that all tools run, each compiled against a tool's own `thread` and `sync` (module `tool`), and how
// they are timed.

use crate::tool::sync::atomic::{AtomicUsize, Ordering};
use crate::tool::sync::{Arc, Condvar, Mutex};
use crate::tool::thread;
use std::collections::VecDeque;

/// A program, and the operations on shared objects that one execution makes at least: atomic accesses, locks,
/// unlocks, notifications. Waiting in the bounded buffer comes on top.
pub struct Program {
    pub name: &'static str,
    pub operations: u64,
    pub run: fn(),
}

pub const PROGRAMS: &[Program] = &[
    Program { name: "2 threads x 5 fetch_add", operations: 10, run: || counter(2, 5) },
    Program { name: "2 threads x 50 fetch_add", operations: 100, run: || counter(2, 50) },
    Program { name: "4 threads x 50 fetch_add", operations: 200, run: || counter(4, 50) },
    Program { name: "4 threads x 50 under a mutex", operations: 400, run: || locked(4, 50) },
    Program { name: "3 threads, locked push, racy counter", operations: 60, run: mixed },
    Program { name: "bounded buffer, 2 x 5 to 2 x 5", operations: 60, run: buffer },
];

pub fn counter(threads: usize, each: usize) {
    let n = Arc::new(AtomicUsize::new(0));
    let spawn = |_| {
        let n = n.clone();
        thread::spawn(move || {
            for _ in 0..each {
                n.fetch_add(1, Ordering::SeqCst);
            }
        })
    };
    let all: Vec<_> = (0..threads).map(spawn).collect();
    all.into_iter().for_each(|t| t.join().unwrap());
    assert_eq!(n.load(Ordering::SeqCst), threads * each);
}

pub fn locked(threads: usize, each: usize) {
    let n = Arc::new(Mutex::new(0));
    let spawn = |_| {
        let n = n.clone();
        thread::spawn(move || {
            for _ in 0..each {
                *n.lock().unwrap() += 1;
            }
        })
    };
    let all: Vec<_> = (0..threads).map(spawn).collect();
    all.into_iter().for_each(|t| t.join().unwrap());
    assert_eq!(*n.lock().unwrap(), threads * each);
}

fn mixed() {
    let shared = Arc::new((Mutex::new(Vec::new()), AtomicUsize::new(0)));
    let spawn = |me| {
        let shared = shared.clone();
        thread::spawn(move || {
            for i in 0..5 {
                shared.0.lock().unwrap().push((me, i));
                let seen = shared.1.load(Ordering::SeqCst);
                shared.1.store(seen + 1, Ordering::SeqCst);
            }
        })
    };
    let all: Vec<_> = (0..3).map(spawn).collect();
    all.into_iter().for_each(|t| t.join().unwrap());
    assert_eq!(shared.0.lock().unwrap().len(), 15);
}

struct Buffer {
    queue: Mutex<VecDeque<usize>>,
    not_full: Condvar,
    not_empty: Condvar,
}

fn buffer() {
    let queue = Mutex::new(VecDeque::new());
    let shared = Arc::new(Buffer { queue, not_full: Condvar::new(), not_empty: Condvar::new() });
    let spawn = |produces| {
        let b = shared.clone();
        thread::spawn(move || {
            for i in 0..5 {
                let mut queue = b.queue.lock().unwrap();
                if produces {
                    while queue.len() == 2 {
                        queue = b.not_full.wait(queue).unwrap();
                    }
                    queue.push_back(i);
                    b.not_empty.notify_one();
                } else {
                    while queue.is_empty() {
                        queue = b.not_empty.wait(queue).unwrap();
                    }
                    queue.pop_front();
                    b.not_full.notify_one();
                }
            }
        })
    };
    let all: Vec<_> = [true, true, false, false].into_iter().map(spawn).collect();
    all.into_iter().for_each(|t| t.join().unwrap());
    assert!(shared.queue.lock().unwrap().is_empty());
}

/// Processor time of this process and of its children that have ended, in seconds: all of it, and what of it went into
/// the kernel. The kernel counts it in hundredths.
fn processor_times() -> (f64, f64) {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap();
    let fields: Vec<&str> = stat.rsplit(')').next().unwrap().split_whitespace().collect();
    // utime, stime, cutime and cstime are the fields 14 to 17, the third being the first after the name.
    let [user, kernel, users, kernels] =
        [11, 12, 13, 14].map(|i: usize| fields[i].parse::<f64>().unwrap() / 100.0);
    (user + kernel + users + kernels, kernel + kernels)
}

/// All of it.
pub fn processor_time() -> f64 {
    processor_times().0
}

/// Whether all processor cores are to be used, which is the second argument.
pub fn all_cores() -> bool {
    std::env::args().nth(2).as_deref() == Some("cores")
}

/// Seconds that the search takes: of processor time on one core, of real time on all.
pub fn seconds(search: impl FnOnce()) -> f64 {
    let (start, began) = (processor_time(), std::time::Instant::now());
    search();
    if all_cores() { began.elapsed().as_secs_f64() } else { processor_time() - start }
}

/// Runs `search(n)`, which makes up to `n` executions and returns how many and how many steps, with growing `n`
/// until it takes `least` seconds or makes fewer than asked for; prints the last run.
pub fn measure(program: &Program, least: f64, mut search: impl FnMut(u64) -> (u64, u64)) {
    let mut n = 100;
    loop {
        let (mut executions, mut steps) = (0, 0);
        let seconds = seconds(|| (executions, steps) = search(n));
        if seconds >= least || executions < n {
            print(program, executions, steps, seconds);
            return;
        }
        let grow = if seconds < 0.05 { 8.0 } else { (1.2 * least / seconds).max(1.5) };
        n = (n as f64 * grow) as u64;
    }
}

/// Prints a line about a program, with the kernel's share in the processor time so far.
pub fn print(program: &Program, executions: u64, steps: u64, seconds: f64) {
    let (name, operations) = (program.name, program.operations);
    let (all, kernel) = processor_times();
    let kernel = kernel / all.max(0.01);
    println!(
        r#"{{"program":"{name}","operations":{operations},"executions":{executions},"steps":{steps},"seconds":{seconds},"kernel":{kernel}}}"#
    );
}

/// The least number of seconds per program, from the command line.
pub fn least() -> f64 {
    std::env::args().nth(1).and_then(|s| s.parse().ok()).expect("usage: peer SECONDS [cores|orders]")
}
