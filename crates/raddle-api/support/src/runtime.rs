//! The runtime, if the harness was linked with it; otherwise a list of results for people.

use crate::Harness;
use crate::interpret;
use std::ffi::{CStr, c_char, c_int, c_void};
use std::sync::{Mutex, OnceLock};

type Run = extern "C" fn(data: *mut c_void, test: *const u8, len: usize);
type Hunt = unsafe extern "C" fn(run: Run, data: *mut c_void) -> c_int;
type Enter = unsafe extern "C" fn(thread: u32, step: u32, thunk: u32);
type Leave = unsafe extern "C" fn(thread: u32, step: u32, thunk: u32, kind: u32, text: *const u8, len: usize);

/// What a call returned.
pub enum Result<'a> {
    /// As `Debug` prints it.
    Value(&'a str),
    /// Nothing that can be printed.
    Opaque,
    /// `file:line:column`, and the message on the next line.
    Panic(&'a str),
}

/// A call that was made without the runtime.
pub struct Record {
    pub thread: u32,
    pub step: u32,
    pub thunk: u32,
    pub result: String,
}

struct Calls {
    enter: Enter,
    leave: Leave,
}

static CALLS: OnceLock<Calls> = OnceLock::new();
static RECORDS: Mutex<Vec<Record>> = Mutex::new(Vec::new());

/// Serves the runtime; `None` if there is none, otherwise the exit status.
pub fn serve(harness: &'static Harness) -> Option<i32> {
    let (hunt, enter, leave) =
        (symbol(c"raddle_rt_hunt_1")?, symbol(c"raddle_rt_enter_1")?, symbol(c"raddle_rt_leave_1")?);
    // SAFETY: only the runtime defines these names, as functions of these types.
    let (hunt, enter, leave) = unsafe {
        (
            std::mem::transmute::<*mut c_void, Hunt>(hunt),
            std::mem::transmute::<*mut c_void, Enter>(enter),
            std::mem::transmute::<*mut c_void, Leave>(leave),
        )
    };
    let _ = CALLS.set(Calls { enter, leave });
    // SAFETY: `run` takes the harness that it is given here, which lives for ever.
    Some(unsafe { hunt(run, (&raw const *harness).cast_mut().cast()) })
}

fn symbol(name: &CStr) -> Option<*mut c_void> {
    unsafe extern "C" {
        fn dlsym(handle: *mut c_void, name: *const c_char) -> *mut c_void;
    }
    // SAFETY: a null handle (RTLD_DEFAULT) searches all that is loaded; the name is a C string.
    let symbol = unsafe { dlsym(std::ptr::null_mut(), name.as_ptr()) };
    (!symbol.is_null()).then_some(symbol)
}

extern "C" fn run(data: *mut c_void, test: *const u8, len: usize) {
    // SAFETY: `serve` passes a `&'static Harness`, the runtime a live buffer of this length.
    let (harness, test) =
        unsafe { (&*data.cast_const().cast::<Harness>(), std::slice::from_raw_parts(test, len)) };
    let result = std::str::from_utf8(test)
        .map_err(|error| error.to_string())
        .and_then(|test| interpret::run(harness, test));
    if let Err(error) = result {
        eprintln!("raddle_harness: not a test: {error}");
        std::process::abort();
    }
}

/// A call begins.
pub fn enter(thread: u32, step: u32, thunk: u32) {
    if let Some(calls) = CALLS.get() {
        // SAFETY: the runtime's function takes any numbers.
        unsafe { (calls.enter)(thread, step, thunk) }
    }
}

/// A call has ended.
pub fn leave(thread: u32, step: u32, thunk: u32, result: Result<'_>) {
    let Some(calls) = CALLS.get() else {
        let result = match result {
            Result::Value(text) => text.to_owned(),
            Result::Opaque => "opaque".to_owned(),
            Result::Panic(text) => format!("panic at {}", text.replace('\n', ": ")),
        };
        let record = Record { thread, step, thunk, result };
        return RECORDS.lock().unwrap_or_else(|e| e.into_inner()).push(record);
    };
    let (kind, text) = match result {
        Result::Value(text) => (0, text),
        Result::Opaque => (1, ""),
        Result::Panic(text) => (2, text),
    };
    // SAFETY: the text is a live buffer of this length.
    unsafe { (calls.leave)(thread, step, thunk, kind, text.as_ptr(), text.len()) }
}

/// The calls that were made without a runtime, by thread.
pub fn records() -> Vec<Record> {
    let mut records = std::mem::take(&mut *RECORDS.lock().unwrap_or_else(|e| e.into_inner()));
    records.sort_by_key(|r| (r.thread, r.step));
    records
}
