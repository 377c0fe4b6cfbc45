//! The smallest harness there can be: one slot, calls without arguments, the C interface of the runtime by hand.

use harness_fixture::{Subject, thunks};
use std::ffi::{c_char, c_int, c_void};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

type Hunt = extern "C" fn(extern "C" fn(*mut c_void, *const u8, usize), *mut c_void) -> c_int;
type Enter = extern "C" fn(u32, u32, u32);
type Leave = extern "C" fn(u32, u32, u32, u32, *const u8, usize);

unsafe extern "C" {
    fn dlsym(handle: *mut c_void, name: *const c_char) -> *mut c_void;
}

/// What the runtime offers.
#[derive(Clone, Copy)]
struct Door {
    enter: Enter,
    leave: Leave,
}

fn main() {
    // SAFETY: the runtime defines these names with these types.
    let (hunt, door): (Hunt, Door) = unsafe {
        let find = |name: &std::ffi::CStr| {
            let symbol = dlsym(std::ptr::null_mut(), name.as_ptr());
            assert!(!symbol.is_null(), "no {name:?}");
            symbol
        };
        let enter = std::mem::transmute::<*mut c_void, Enter>(find(c"raddle_rt_enter_1"));
        let leave = std::mem::transmute::<*mut c_void, Leave>(find(c"raddle_rt_leave_1"));
        (std::mem::transmute::<*mut c_void, Hunt>(find(c"raddle_rt_hunt_1")), Door { enter, leave })
    };
    std::panic::set_hook(Box::new(|info| {
        let at = info.location().map(ToString::to_string).unwrap_or_default();
        PANIC.set(format!("{at}\n{}", info.payload_as_str().unwrap_or_default()));
    }));
    std::process::exit(hunt(run, (&raw const door).cast_mut().cast()))
}

thread_local! {
    static PANIC: std::cell::Cell<String> = const { std::cell::Cell::new(String::new()) };
}

extern "C" fn run(door: *mut c_void, test: *const u8, len: usize) {
    // SAFETY: `main` passes its door, the runtime a live test.
    let (door, test) = unsafe { (*door.cast::<Door>(), std::slice::from_raw_parts(test, len)) };
    let test = std::str::from_utf8(test).unwrap();
    let thunk = |line: &str| line.split(' ').nth(1).unwrap().parse::<u32>().unwrap();
    let steps = |tag: char| test.lines().filter(move |l| l.starts_with(tag)).map(thunk);
    let suffixes: Vec<Vec<u32>> = test
        .split("t\n")
        .skip(1)
        .map(|s| s.lines().filter(|l| l.starts_with('c')).map(thunk).collect())
        .collect();
    let mut subject = None;
    let mut at = 0;
    for thunk in steps('s') {
        door.call(0, at, thunk, &mut subject);
        at += 1;
    }
    let threads: Vec<_> = suffixes
        .into_iter()
        .enumerate()
        .map(|(i, steps)| {
            let mut subject = subject.clone();
            let body = move || {
                for (at, thunk) in steps.into_iter().enumerate() {
                    if !door.call(i as u32 + 1, at as u32, thunk, &mut subject) {
                        break;
                    }
                }
            };
            std::thread::Builder::new().spawn(body).unwrap()
        })
        .collect();
    for thread in threads {
        thread.join().unwrap();
    }
    for thunk in steps('f') {
        door.call(0, at, thunk, &mut subject);
        at += 1;
    }
    (door.enter)(0, at, u32::MAX);
    drop(subject);
    (door.leave)(0, at, u32::MAX, 1, std::ptr::null(), 0);
}

impl Door {
    fn call(self, thread: u32, step: u32, thunk: u32, subject: &mut Option<Arc<Subject>>) -> bool {
        (self.enter)(thread, step, thunk);
        let (kind, text) = match catch_unwind(AssertUnwindSafe(|| thunks(thunk, subject))) {
            Ok(text) => (0, text),
            Err(_) => (2, PANIC.take()),
        };
        (self.leave)(thread, step, thunk, kind, text.as_ptr(), text.len());
        kind == 0
    }
}
