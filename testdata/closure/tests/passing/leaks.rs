//! Failed executions leave nothing behind.

use std::fs::File;
use std::io::Write;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;

fn deadlocks() {
    let lock = Arc::new(Mutex::new(()));
    let theirs = lock.clone();
    let guard = lock.lock().unwrap();
    thread::spawn(move || drop(theirs.lock().unwrap())).join().unwrap();
    drop(guard);
}

fn panics() {
    thread::spawn(|| panic!("on purpose")).join().unwrap();
}

fn crashes() {
    thread::spawn(|| std::process::abort()).join().unwrap();
}

fn spins() {
    let turn = AtomicU32::new(0);
    thread::scope(|s| {
        for me in 0..2 {
            let turn = &turn;
            s.spawn(move || while turn.swap(me, Ordering::SeqCst) != 2 {});
        }
    });
}

/// Threads, descriptors, child processes, kilobytes of resident memory.
fn footprint() -> (usize, usize, usize, u64) {
    let count = |dir: &str| std::fs::read_dir(dir).unwrap().count();
    let mut children = 0;
    for task in std::fs::read_dir("/proc/self/task").unwrap() {
        let file = task.unwrap().path().join("children");
        children += std::fs::read_to_string(file).unwrap_or_default().split_whitespace().count();
    }
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let rss = status.lines().find_map(|l| l.strip_prefix("VmRSS:")).unwrap();
    let rss = rss.trim().trim_end_matches(" kB").parse().unwrap();
    (count("/proc/self/task"), count("/proc/self/fd"), children, rss)
}

/// So many executions that fail in each of the four ways in turn.
fn fail(executions: u64) {
    let path = std::env::temp_dir().join(format!("raddle-leaks-{}", std::process::id()));
    let count = File::options().append(true).create_new(true).open(&path).unwrap();
    std::fs::remove_file(path).unwrap();
    let config =
        raddle::Config::new().strategy("random").schedules(executions).max_failures(u64::MAX).max_steps(500);
    let report = raddle::explore(config, || {
        (&count).write_all(b"x").unwrap();
        match count.metadata().unwrap().len() % 4 {
            0 => deadlocks(),
            1 => panics(),
            2 => crashes(),
            _ => spins(),
        }
    });
    let kinds: Vec<&str> = report.failures.iter().map(|f| f.kind.as_str()).collect();
    let expected: Vec<&str> =
        ["panic", "crash", "livelock", "deadlock"].into_iter().cycle().take(executions as usize).collect();
    assert_eq!(kinds, expected, "{:?}", report.stop);
}

#[test]
fn a_hundred_failed_executions_leave_processes_descriptors_and_memory_where_they_were() {
    // What is loaded and reserved once.
    fail(8);
    let (threads, descriptors, children, rss) = footprint();
    assert_eq!(children, 0);
    fail(100);
    let after = footprint();
    assert_eq!((after.0, after.1, after.2), (threads, descriptors, 0));
    assert!(after.3 < rss + 4096, "from {rss} to {} kB", after.3);
}
