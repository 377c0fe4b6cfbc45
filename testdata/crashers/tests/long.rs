//! Loops that do the same to shared memory again and again, and come to an end all the same.

use std::collections::VecDeque;
use std::hint::black_box;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::thread;

const ROUNDS: usize = 50_000;

#[test]
fn a_counter_goes_round_while_the_loop_counts_for_itself() {
    let hand = AtomicUsize::new(0);
    let turn = || {
        for _ in 0..ROUNDS {
            let _ = hand.fetch_update(SeqCst, SeqCst, |h| Some((h + 1) % 12));
        }
    };
    thread::scope(|s| {
        s.spawn(turn);
        s.spawn(turn);
    });
    assert_eq!(hand.into_inner(), 2 * ROUNDS % 12);
}

#[test]
fn a_queue_is_filled_and_emptied() {
    let queue = Mutex::new(VecDeque::with_capacity(4));
    thread::scope(|s| {
        s.spawn(|| (0..ROUNDS).for_each(|_| queue.lock().unwrap().push_back(7)));
        let mut got = 0;
        while got < ROUNDS {
            match queue.lock().unwrap().pop_front() {
                Some(7) => got += 1,
                Some(_) => unreachable!(),
                None => thread::yield_now(),
            }
        }
    });
}

fn count_up(each: usize) {
    let count = AtomicUsize::new(0);
    let add = || (0..each).for_each(|_| _ = count.fetch_add(1, SeqCst));
    thread::scope(|s| {
        s.spawn(add);
        add();
    });
    assert_eq!(count.into_inner(), 2 * each);
}

const HOURS: usize = 1_000_000_000;

#[test]
fn a_counter_is_counted_up_for_hours() {
    count_up(HOURS);
}

/// The first is the one that makes a file; without a name for it there is none.
#[test]
fn every_execution_after_the_first_takes_hours() {
    let first = std::env::var("FIRST").is_ok_and(|file| std::fs::File::create_new(file).is_ok());
    count_up(if first { 3 } else { HOURS });
}

/// Nobody can tell that from an endless loop before the end of the world.
#[test]
fn computes_for_very_long_between_two_steps() {
    let flag = AtomicUsize::new(0);
    thread::scope(|s| {
        s.spawn(|| flag.store(1, SeqCst));
        s.spawn(|| {
            let mut count = 0_u64;
            while black_box(count) < u64::MAX {
                count += 1;
            }
            flag.store(2, SeqCst);
        });
    });
}
