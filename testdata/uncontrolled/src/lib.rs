//! Tests whose threads wait for each other through the kernel. All of them pass natively; a runtime that runs
//! all threads on one OS thread must control these calls or say that it cannot.

use std::ffi::{c_int, c_short, c_ulong};

/// `struct pollfd` of Linux.
#[repr(C)]
pub struct PollFd {
    /// The descriptor to watch.
    pub fd: c_int,
    /// What to watch it for.
    pub events: c_short,
    /// What was seen.
    pub revents: c_short,
}

/// Data can be read.
pub const POLLIN: c_short = 1;

unsafe extern "C" {
    /// `poll(2)`.
    pub fn poll(fds: *mut PollFd, count: c_ulong, timeout_ms: c_int) -> c_int;
}
