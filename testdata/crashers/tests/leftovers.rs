//! Deadlocks, panics, aborts or spins, as the schedule decides; first tells what the process is made of that all
//! executions come from.

use std::fs::{File, read_dir, read_to_string};
use std::io::Write;
use std::os::unix::process::parent_id;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU32, Ordering::SeqCst};
use std::thread;

/// Threads, descriptors and kilobytes of resident memory of the parent, as a line of the file that the environment names.
fn tell() {
    let Ok(path) = std::env::var("FOOTPRINTS") else { return };
    let parent = format!("/proc/{}", parent_id());
    let count = |of: &str| read_dir(format!("{parent}/{of}")).unwrap().count();
    let status = read_to_string(format!("{parent}/status")).unwrap();
    let rss = status.lines().find_map(|l| l.strip_prefix("VmRSS:")).unwrap().trim().trim_end_matches(" kB");
    let line = format!("{} {} {rss}\n", count("task"), count("fd"));
    File::options().append(true).create(true).open(path).unwrap().write_all(line.as_bytes()).unwrap();
}

#[test]
fn fails_in_one_of_four_ways() {
    let count = AtomicU32::new(0);
    let twice = || (count.fetch_add(1, SeqCst), count.fetch_add(1, SeqCst));
    let (first, second) = thread::scope(|s| {
        s.spawn(twice);
        // What comes before the first thread happens once.
        tell();
        twice()
    });
    match (first + second) % 4 {
        0 => {
            let lock = Mutex::new(());
            let _guard = lock.lock().unwrap();
            thread::scope(|s| s.spawn(|| drop(lock.lock().unwrap())).join().unwrap());
        }
        1 => panic!("on purpose"),
        2 => std::process::abort(),
        _ => {
            let turn = AtomicU32::new(0);
            let spin = |me| while turn.swap(me, SeqCst) != 2 {};
            thread::scope(|s| {
                s.spawn(|| spin(0));
                spin(1);
            });
        }
    }
}
