//! What a call said when it panicked.
//!
//! The hook writes to a thread-local variable of this crate, so it takes no lock and touches no memory that another
//! thread of the program sees.

use std::cell::RefCell;
use std::panic::{AssertUnwindSafe, PanicHookInfo};

thread_local! {
    static LAST: RefCell<Option<String>> = const { RefCell::new(None) };
}

/// Makes panics quiet and remembers where they came from.
pub fn install() {
    std::panic::set_hook(Box::new(note));
}

fn note(info: &PanicHookInfo<'_>) {
    let at = info.location().map_or_else(|| "?".to_owned(), ToString::to_string);
    let message = match info.payload_as_str() {
        Some(message) => message,
        None => "(a payload that is no text)",
    };
    // The first one counts: others come from destructors that run because of it.
    let _ = LAST.try_with(|last| last.borrow_mut().get_or_insert_with(|| format!("{at}\n{message}")).len());
}

/// Runs the code of a call; `Err` is `file:line:column` and the message on the next line.
pub fn catch<R>(f: impl FnOnce() -> R) -> Result<R, String> {
    LAST.with(|last| last.borrow_mut().take());
    std::panic::catch_unwind(AssertUnwindSafe(f)).map_err(|payload| {
        // A payload may panic when it is dropped; what it holds is then lost, as in std's own threads.
        std::mem::forget(std::panic::catch_unwind(AssertUnwindSafe(|| drop(payload))));
        LAST.with(|last| last.borrow_mut().take()).unwrap_or_else(|| "?\n(resumed)".to_owned())
    })
}
