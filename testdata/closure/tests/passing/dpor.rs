//! How many executions partial order reduction makes where the number is known, and that nothing gets lost.

use std::collections::BTreeSet;
use std::fs::File;
use std::io::{Read, Seek, Write};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::thread;

/// Complete executions of `f`, and the results that it returned.
fn search(strategy: &str, f: impl Fn() -> String + Sync) -> (usize, BTreeSet<String>) {
    let path = std::env::temp_dir().join(format!("raddle-dpor-{}-{strategy}", std::process::id()));
    let mut file = File::options().read(true).write(true).create_new(true).open(&path).unwrap();
    std::fs::remove_file(path).unwrap();
    let config = raddle::Config::new().strategy(strategy).schedules(100_000);
    let report = raddle::explore(config, || (&file).write_all(format!("{}\n", f()).as_bytes()).unwrap());
    assert_eq!(report.stop, raddle::Stop::Exhausted, "{strategy}");
    let mut text = String::new();
    file.rewind().unwrap();
    file.read_to_string(&mut text).unwrap();
    (text.lines().count(), text.lines().map(str::to_owned).collect())
}

/// `dpor` makes `traces` complete executions, besides at most two that taught it the points, and sees what `dfs` sees.
#[track_caller]
fn assert_reduced(traces: usize, f: impl Fn() -> String + Sync) {
    let (executions, seen) = search("dpor", &f);
    assert_eq!(seen, search("dfs", &f).1);
    assert!((traces..=traces + 2).contains(&executions), "{executions} executions for {traces} traces");
}

#[test]
fn n_writers_of_one_variable_have_n_factorial_traces() {
    for (n, traces) in [(2, 2), (3, 6)] {
        assert_reduced(traces, || {
            let last = AtomicUsize::new(0);
            let last = &last;
            thread::scope(|s| (1..=n).for_each(|me| drop(s.spawn(move || last.store(me, SeqCst)))));
            last.load(SeqCst).to_string()
        });
    }
}

#[test]
fn k_readers_and_a_writer_have_2_to_the_k_traces() {
    for (k, traces) in [(1, 2), (2, 4), (3, 8)] {
        assert_reduced(traces, || {
            // Leaked, because a counted reference would be one more thing that the threads share.
            let value: &'static AtomicUsize = Box::leak(Box::default());
            let readers: Vec<_> = (0..k).map(|_| thread::spawn(|| value.load(SeqCst))).collect();
            value.store(1, SeqCst);
            let seen: Vec<usize> = readers.into_iter().map(|r| r.join().unwrap()).collect();
            format!("{seen:?}")
        });
    }
}

#[test]
fn two_threads_with_two_protected_sections_each_have_6_traces() {
    assert_reduced(6, || {
        let count = Mutex::new(0);
        let add = || {
            let seen = *count.lock().unwrap();
            *count.lock().unwrap() = seen + 1;
        };
        thread::scope(|s| {
            s.spawn(add);
            s.spawn(add);
        });
        count.into_inner().unwrap().to_string()
    });
}
