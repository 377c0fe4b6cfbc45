//! The door to the runtime: the only unsafe code of this crate.
//!
//! The runtime is a shared library that `cargo raddle` links into the programs it builds. This crate must also
//! build and link without it, so it looks for the one function it needs by name at run time. That takes a call of
//! `dlsym`, a cast of its result, and two callbacks with C linkage; everything else is safe code elsewhere.

use raddle_model::protocol::{Job, Message};
use raddle_model::wire::{self, Unreadable};
use std::ffi::{c_char, c_int, c_void};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering};

/// Who asks, which decides whether the command hears of failures.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Asked {
    /// The caller judges.
    Explore,
    /// A failure is a finding.
    Check,
}

/// The closure under check, whatever its type: what is compiled for it is its own code and nothing of this crate.
pub type Closure<'a> = dyn Fn() + Sync + 'a;

type Check = unsafe extern "C" fn(
    job: *const u8,
    len: usize,
    findings: c_int,
    run: extern "C" fn(*mut c_void) -> c_int,
    data: *mut c_void,
    answer: extern "C" fn(*mut c_void, *const u8, usize),
    answer_data: *mut c_void,
);

/// Bears the version of the signature above: another version of the runtime is not found rather than misused.
const NAME: &std::ffi::CStr = c"raddle_rt_check_2";

/// Set in the child processes that run executions.
static INSIDE: AtomicBool = AtomicBool::new(false);

/// Whether this code runs inside an execution.
pub fn inside() -> bool {
    INSIDE.load(Ordering::Relaxed)
}

/// What the runtime answers, message by message.
pub type Answer = Vec<Result<Message, Unreadable>>;

/// Has the runtime check a closure and returns its answer; `None` if there is no runtime. Messages are read as they come, while
/// the runtime does not watch what this process does: with many traces that takes long enough as it is.
pub fn check(job: &Job, f: &Closure<'_>, asked: Asked) -> Option<Answer> {
    let check = runtime()?;
    let job = wire::to_bytes(job);
    let mut messages = Answer::new();
    // SAFETY: `job` is a live buffer of the length given. `run` is called with `f`, which outlives the call,
    // and only by one thread at a time that is not the calling one, which `Sync` allows. `answer` is called with
    // `messages`, which nobody else uses meanwhile, by this thread.
    unsafe {
        check(
            job.as_ptr(),
            job.len(),
            c_int::from(asked == Asked::Check),
            run,
            (&raw const f).cast_mut().cast(),
            answer,
            (&raw mut messages).cast(),
        );
    }
    Some(messages)
}

fn runtime() -> Option<Check> {
    unsafe extern "C" {
        fn dlsym(handle: *mut c_void, name: *const c_char) -> *mut c_void;
    }
    // SAFETY: a null handle (RTLD_DEFAULT) searches all that is loaded; the name is a C string.
    let symbol = unsafe { dlsym(std::ptr::null_mut(), NAME.as_ptr()) };
    // SAFETY: only the runtime defines this name, as a function of this type; a null pointer becomes `None`.
    unsafe { std::mem::transmute::<*mut c_void, Option<Check>>(symbol) }
}

/// One execution: 0 if the closure returned, 1 if it panicked.
extern "C" fn run(f: *mut c_void) -> c_int {
    INSIDE.store(true, Ordering::Relaxed);
    // SAFETY: `check` passes the address of its reference to a live closure.
    let f = unsafe { *f.cast_const().cast::<&Closure<'_>>() };
    c_int::from(catch_unwind(AssertUnwindSafe(f)).is_err())
}

extern "C" fn answer(messages: *mut c_void, bytes: *const u8, len: usize) {
    // SAFETY: `check` passes its vector, and the runtime a live buffer of this length.
    let (messages, bytes) =
        unsafe { (&mut *messages.cast::<Answer>(), std::slice::from_raw_parts(bytes, len)) };
    messages.push(wire::from_bytes(bytes));
}
