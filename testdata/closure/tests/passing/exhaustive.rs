//! Exhaustive search visits what there is, and little more.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{Read, Seek, Write};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

/// An unnamed file, which carries what executions say to the test.
fn channel() -> File {
    let path = std::env::temp_dir().join(format!("raddle-closure-{}", std::process::id()));
    let file = File::options().read(true).write(true).create_new(true).open(&path).unwrap();
    std::fs::remove_file(path).unwrap();
    file
}

/// How often each order of the steps of two threads with `n` steps each is visited.
fn orders(n: usize) -> (raddle::Report, BTreeMap<String, u32>) {
    let mut file = channel();
    let config = raddle::Config::new().strategy("dfs").schedules(1_000_000);
    let report = raddle::explore(config, || {
        let count = AtomicUsize::new(0);
        let steps = || (0..n).map(|_| count.fetch_add(1, Ordering::SeqCst)).collect::<Vec<_>>();
        let (a, _) = thread::scope(|s| {
            let (a, b) = (s.spawn(steps), s.spawn(steps));
            (a.join().unwrap(), b.join().unwrap())
        });
        let order: String = (0..2 * n).map(|i| if a.contains(&i) { 'a' } else { 'b' }).collect();
        (&file).write_all(format!("{order}\n").as_bytes()).unwrap();
    });
    let mut text = String::new();
    file.rewind().unwrap();
    file.read_to_string(&mut text).unwrap();
    let mut visits = BTreeMap::new();
    for line in text.lines() {
        *visits.entry(line.to_owned()).or_default() += 1;
    }
    (report, visits)
}

#[test]
fn two_threads_with_five_steps_each_have_252_orders() {
    let (report, visits) = orders(5);
    let ratio = report.stats.executions as f64 / visits.len() as f64;
    assert_eq!(report.stop, raddle::Stop::Exhausted);
    assert_eq!(visits.len(), 252);
    assert!(ratio <= 1.2, "{} executions for 252 orders", report.stats.executions);
}

#[inline(never)]
fn touch(count: &AtomicUsize) -> usize {
    count.fetch_add(1, Ordering::SeqCst)
}

#[test]
fn what_a_thread_does_on_its_own_stack_is_no_choice_even_where_others_stacks_are_shared() {
    let config = raddle::Config::new().strategy("dfs").schedules(100_000);
    let report = raddle::explore(config, || {
        let shared = AtomicUsize::new(0);
        let steps = || {
            let own = AtomicUsize::new(0);
            (0..2).map(|_| touch(&shared) + touch(&own) + touch(&own)).sum::<usize>()
        };
        thread::scope(|s| {
            let (a, b) = (s.spawn(steps), s.spawn(steps));
            (a.join().unwrap(), b.join().unwrap())
        });
    });
    assert_eq!(report.stop, raddle::Stop::Exhausted);
    // Six orders of two steps each; the first executions learn which those are.
    assert!(report.stats.executions <= 12, "{} executions", report.stats.executions);
}

#[test]
fn memory_is_freed_before_and_after_another_thread_reads_it() {
    let config = raddle::Config::new().strategy("dfs").schedules(1_000).max_failures(1);
    let report = raddle::explore(config, || {
        let value = Box::into_raw(Box::new(7_u64)) as usize;
        // SAFETY: it is freed only here.
        let t = thread::spawn(move || drop(unsafe { Box::from_raw(value as *mut u64) }));
        // SAFETY: none; it may have been freed.
        let seen = unsafe { (value as *const u64).read_volatile() };
        assert_eq!(seen, 7, "read after it was freed");
        t.join().unwrap();
    });
    assert_eq!(report.failures.len(), 1, "{:?}", report.stats);
}

/// Objects of libc that are ready for use when they are zero, and larger than they need be.
#[repr(align(16))]
struct Zero(std::cell::UnsafeCell<[u8; 64]>);

// SAFETY: only libc's functions look at it.
unsafe impl Sync for Zero {}

impl Zero {
    fn new() -> Self {
        Zero([0; 64].into())
    }

    fn get(&self) -> *mut [u8; 64] {
        self.0.get()
    }
}

unsafe extern "C" {
    fn pthread_mutex_lock(m: *mut [u8; 64]) -> i32;
    fn pthread_mutex_unlock(m: *mut [u8; 64]) -> i32;
    fn pthread_cond_wait(c: *mut [u8; 64], m: *mut [u8; 64]) -> i32;
    fn pthread_cond_signal(c: *mut [u8; 64]) -> i32;
}

#[test]
fn a_signal_without_the_lock_comes_before_and_after_the_wait() {
    let config = raddle::Config::new().strategy("dfs").schedules(1_000).max_failures(1_000);
    let report = raddle::explore(config, || {
        let (m, c) = (Zero::new(), Zero::new());
        // SAFETY: as in C.
        thread::scope(|s| unsafe {
            s.spawn(|| pthread_cond_signal(c.get()));
            pthread_mutex_lock(m.get());
            pthread_cond_wait(c.get(), m.get());
            pthread_mutex_unlock(m.get());
        });
    });
    let (lost, all) = (report.stats.failures, report.stats.executions);
    assert!(0 < lost && lost < all, "the wait was in vain in {lost} of {all}");
}
