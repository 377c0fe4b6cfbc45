//! Speaking to the command.

use crate::real::real;
use crate::store::Store;
use raddle_core::protocol::{Message, Stop};

/// Exit status of a process that nobody listens to any more.
pub const DESERTED: i32 = 79;
/// Exit status of a child that takes no visible step for long and may take one some time.
pub const BUSY: i32 = 78;

/// Sends a message, if somebody listens.
pub fn send(store: &Store, message: &Message) {
    let Some(fd) = store.message_fd else { return };
    let Ok(mut line) = serde_json::to_string(message) else { return };
    line.push('\n');
    let mut rest = line.as_bytes();
    while !rest.is_empty() {
        // SAFETY: writes from a live buffer; every thread has its place for errors.
        let (n, error) = unsafe {
            let n = (real().write)(fd, rest.as_ptr().cast(), rest.len());
            (n, *libc::__errno_location())
        };
        if n < 0 && error == libc::EINTR {
            // The clock that wakes a waiting parent ticks here, too, while a pipe is full.
            continue;
        }
        if n < 0 && error == libc::EPIPE {
            // The command has gone, and with it everybody who could want a result.
            crate::quit(DESERTED)
        }
        if n <= 0 {
            return;
        }
        rest = &rest[n as usize..];
    }
}

/// The last message.
pub fn done(store: &Store, reason: Stop) {
    send(store, &Message::Done { stats: store.stats.clone(), reason });
}

/// What gets past the interposed `write` is not for the user's eyes either.
pub fn hide_output() {
    // SAFETY: plain system calls; the child's own descriptors.
    unsafe {
        let null = libc::open(c"/dev/null".as_ptr(), libc::O_RDWR);
        if null >= 0 {
            libc::dup2(null, 1);
            libc::dup2(null, 2);
            libc::close(null);
        }
    }
}
