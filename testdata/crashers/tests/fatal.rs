//! Each of these takes its process down or never ends, natively and under any schedule.

use std::hint::black_box;
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};
use std::thread::{self, Builder};
use std::{process, ptr};

/// Runs the closure in a second thread beside one that does a little work.
fn beside<R: Send>(closure: impl FnOnce() -> R + Send) {
    let flag = AtomicBool::new(false);
    thread::scope(|s| {
        s.spawn(|| flag.store(true, SeqCst));
        s.spawn(|| {
            black_box(flag.load(SeqCst));
            closure()
        });
    });
}

#[test]
fn aborts_by_request() {
    beside(|| process::abort());
}

#[test]
fn aborts_by_a_panic_while_panicking() {
    struct PanicsAgain;
    impl Drop for PanicsAgain {
        fn drop(&mut self) {
            panic!("second");
        }
    }
    beside(|| {
        let _panics_again = PanicsAgain;
        panic!("first");
    });
}

#[test]
fn aborts_by_a_panic_in_a_thread_local_destructor() {
    struct Panics;
    impl Drop for Panics {
        fn drop(&mut self) {
            panic!("in a destructor");
        }
    }
    thread_local!(static PANICS: Panics = const { Panics });
    thread::spawn(|| PANICS.with(|_| ())).join().unwrap();
}

#[test]
fn aborts_by_a_panic_that_cannot_unwind() {
    extern "C" fn no_unwinding() {
        panic!("through a C function");
    }
    beside(|| no_unwinding());
}

#[test]
fn exits_with_zero_from_a_thread() {
    beside(|| process::exit(0));
}

#[test]
fn exits_with_three_from_a_thread() {
    beside(|| process::exit(3));
}

#[test]
fn exits_with_three_from_the_test_while_a_thread_runs() {
    let handle = thread::spawn(thread::park);
    if !handle.is_finished() {
        process::exit(3);
    }
}

#[test]
fn segfaults_by_a_null_pointer() {
    beside(|| {
        // SAFETY: none, the fault is the purpose.
        unsafe { ptr::read_volatile(black_box(ptr::null::<u64>())) }
    });
}

#[test]
fn segfaults_by_a_write_to_constant_memory() {
    static CONSTANT: u64 = 5;
    beside(|| {
        // SAFETY: none, the fault is the purpose.
        unsafe { ptr::write_volatile(black_box(&raw const CONSTANT).cast_mut(), 6) };
    });
}

#[test]
fn overflows_the_stack() {
    fn descend(depth: u64) -> u64 {
        let frame = [depth; 64];
        if black_box(depth) == u64::MAX { 0 } else { descend(depth + 1) + black_box(&frame)[0] }
    }
    let handle = Builder::new().stack_size(256 << 10).spawn(|| descend(0)).unwrap();
    handle.join().unwrap();
}

#[test]
fn overflows_the_stack_with_frames_larger_than_a_page() {
    fn descend(depth: u64) -> u64 {
        let frame = [depth; 4096];
        if black_box(depth) == u64::MAX { 0 } else { descend(depth + 1) + black_box(&frame)[0] }
    }
    beside(|| descend(0));
}

#[test]
fn overflows_the_stack_where_a_long_list_is_dropped() {
    struct Node(#[expect(dead_code, reason = "it is there to be dropped")] Option<Box<Node>>);
    beside(|| {
        let mut list = None;
        for _ in 0..200_000 {
            list = Some(Box::new(Node(list)));
        }
        drop(black_box(list));
    });
}

#[test]
fn fills_the_memory() {
    beside(|| {
        let mut kept = Vec::new();
        loop {
            kept.push(black_box(vec![1_u8; 1 << 20]));
        }
    });
}

#[test]
fn hangs_in_a_loop_without_memory_accesses() {
    #[expect(clippy::empty_loop, reason = "a loop that no hook can interrupt is the purpose")]
    beside(|| loop {});
}

#[test]
fn hangs_in_a_loop_that_yields() {
    beside(|| {
        loop {
            thread::yield_now();
        }
    });
}

#[test]
fn hangs_in_a_loop_that_writes_shared_memory() {
    let flag = AtomicBool::new(false);
    beside(|| {
        loop {
            flag.fetch_not(SeqCst);
        }
    });
}

#[test]
fn fails_by_returning_an_error() -> Result<(), String> {
    let answer = thread::spawn(|| 41).join().unwrap();
    if answer == 42 { Ok(()) } else { Err(format!("{answer} is not 42")) }
}

#[test]
#[should_panic(expected = "never said")]
fn fails_because_the_expected_panic_does_not_come() {
    thread::spawn(|| 1).join().unwrap();
}

#[test]
#[should_panic(expected = "one message")]
fn fails_because_another_panic_comes_than_expected() {
    thread::spawn(|| 1).join().unwrap();
    panic!("quite a different one");
}
