//! Mergesort: the budget of threads is asked under one lock and accounted for under others, too late.

use std::sync::atomic::{AtomicI32, Ordering::Relaxed};
use std::sync::{Arc, Mutex};
use std::thread;

const NUMBERS: usize = 50;
const THREAD_LIMIT: i32 = 4;

/// The static part of the sorter class: the number of live threads, and the class's own monitor.
struct Budget {
    class_monitor: Mutex<()>,
    alive: AtomicI32,
}

impl Budget {
    /// How many threads may be started, at most two.
    fn available(&self) -> i32 {
        let _class = self.class_monitor.lock().unwrap();
        let available = THREAD_LIMIT - self.alive.load(Relaxed);
        assert!(available >= 0, "more threads than the limit of {THREAD_LIMIT}");
        available.min(2)
    }
}

/// A node of the recursion: an object with a monitor of its own.
#[derive(Default)]
struct Sorter {
    monitor: Mutex<()>,
}

impl Sorter {
    fn count(&self, budget: &Budget, change: i32) {
        let _instance = self.monitor.lock().unwrap();
        budget.alive.store(budget.alive.load(Relaxed) + change, Relaxed);
    }
}

fn sort(budget: &Arc<Budget>, mut numbers: Vec<i32>) -> Vec<i32> {
    if numbers.len() < 2 {
        return numbers;
    }
    let right = numbers.split_off(numbers.len() / 2);
    let left = numbers;
    let (a, b) = (Sorter::default(), Sorter::default());
    let start = |sorter: &Sorter, part| {
        let budget_of_child = Arc::clone(budget);
        let child = thread::spawn(move || sort(&budget_of_child, part));
        sorter.count(budget, 1);
        child
    };
    let (left, right) = match budget.available() {
        0 => (sort(budget, left), sort(budget, right)),
        1 => {
            let left = start(&a, left);
            let right = sort(budget, right);
            let left = left.join().unwrap();
            a.count(budget, -1);
            (left, right)
        }
        _ => {
            let left = start(&a, left);
            let right = start(&b, right);
            let left = left.join().unwrap();
            a.count(budget, -1);
            let right = right.join().unwrap();
            b.count(budget, -1);
            (left, right)
        }
    };
    merge(left, right)
}

fn merge(left: Vec<i32>, right: Vec<i32>) -> Vec<i32> {
    let mut merged = Vec::with_capacity(left.len() + right.len());
    let (mut left, mut right) = (left.into_iter().peekable(), right.into_iter().peekable());
    while let (Some(l), Some(r)) = (left.peek(), right.peek()) {
        merged.extend(if l <= r { left.next() } else { right.next() });
    }
    merged.extend(left);
    merged.extend(right);
    merged
}

fn numbers() -> Vec<i32> {
    (0..NUMBERS as i32).rev().collect()
}

/// A recursive merge sort of fifty numbers that may use four threads; parents join their children.
///
/// *Shared*: `alive`, the number of threads, 1 at first. Asking how many more may be started holds the class's monitor;
/// counting a thread in or out reads and writes the field under the monitor of the child's sorter object.
/// *Bug*: a child is counted after it has been started, and under another lock than the question: several nodes spend
/// the same budget, the count exceeds the limit, and the next question computes a negative number. Lost updates of the
/// count come on top.
/// *Oracle*: the question panics on a negative number. (The original's check of the order compares an element with
/// itself; it is left out.)
pub fn mergesort() {
    let budget = Arc::new(Budget { class_monitor: Mutex::new(()), alive: AtomicI32::new(1) });
    sort(&budget, numbers());
}

/// [`mergesort`] with threads reserved in the critical section that asks for them, and the result checked.
pub fn mergesort_fixed() {
    fn sort(alive: &Arc<Mutex<i32>>, mut numbers: Vec<i32>) -> Vec<i32> {
        if numbers.len() < 2 {
            return numbers;
        }
        let right = numbers.split_off(numbers.len() / 2);
        let reserved = {
            let mut alive = alive.lock().unwrap();
            assert!(*alive <= THREAD_LIMIT, "more threads than the limit of {THREAD_LIMIT}");
            let reserved = *alive < THREAD_LIMIT;
            *alive += i32::from(reserved);
            reserved
        };
        if !reserved {
            return merge(sort(alive, numbers), sort(alive, right));
        }
        let alive_for_child = Arc::clone(alive);
        let child = thread::spawn(move || sort(&alive_for_child, numbers));
        let right = sort(alive, right);
        let left = child.join().unwrap();
        *alive.lock().unwrap() -= 1;
        merge(left, right)
    }
    let sorted = sort(&Arc::new(Mutex::new(1)), numbers());
    assert!(sorted.is_sorted() && sorted.len() == NUMBERS, "the numbers are not sorted");
}
