//! The C library's own streams, `stdout` and `stderr`: it writes them by system calls of its own, past our `write`.
//!
//! At the start of the process both get streams of ours in their place, which write as `output`
//! does. They say that they are descriptors 1 and 2, so that a program which asks goes on as before.

use crate::heap;
use crate::real::real;
use crate::runtime::{self, Inside, rt};
use libc::{FILE, c_char, c_int, c_void, size_t};
use raddle_sched::Mode;

/// What glibc calls for a stream with a cookie.
#[repr(C)]
struct Functions {
    read: Option<unsafe extern "C" fn(*mut c_void, *mut c_char, size_t) -> isize>,
    write: Option<unsafe extern "C" fn(*mut c_void, *const c_char, size_t) -> isize>,
    seek: Option<unsafe extern "C" fn(*mut c_void, *mut i64, c_int) -> c_int>,
    close: Option<unsafe extern "C" fn(*mut c_void) -> c_int>,
}

unsafe extern "C" {
    static mut stdout: *mut FILE;
    static mut stderr: *mut FILE;
    fn fopencookie(cookie: *mut c_void, mode: *const c_char, functions: Functions) -> *mut FILE;
    fn ftrylockfile(stream: *mut FILE) -> c_int;
    fn funlockfile(stream: *mut FILE);
}

/// Where glibc's `FILE` on x86_64 has its descriptor.
const DESCRIPTOR: usize = 112;
/// Room for lines that are not complete.
const ROOM: usize = 4096;
/// That of `stdout`; static, so that the stream takes nothing from the program's heap.
static mut LINE: [u8; ROOM] = [0; ROOM];

/// Puts our streams in place of the C library's.
pub fn capture() {
    // SAFETY: the process is single-threaded, and its constructors have not run yet.
    unsafe {
        if let Some(stream) = opened(libc::STDOUT_FILENO) {
            libc::setvbuf(stream, (&raw mut LINE).cast(), libc::_IOLBF, ROOM);
            stdout = stream;
        }
        if let Some(stream) = opened(libc::STDERR_FILENO) {
            libc::setvbuf(stream, std::ptr::null_mut(), libc::_IONBF, 0);
            stderr = stream;
        }
    }
}

/// Keeps what the program prints.
pub fn keep(bytes: &[u8]) {
    let _inside = Inside::enter();
    heap::persistent(|| rt().store.printed(bytes));
}

/// Hands on what `stdout` still keeps, unless a thread is in the middle of writing to it.
pub fn flush() {
    // SAFETY: the program's stream, which it has not closed unless it has put another in its place; locked by
    // nobody else while it is written.
    unsafe {
        if !stdout.is_null() && ftrylockfile(stdout) == 0 {
            libc::fflush(stdout);
            funlockfile(stdout);
        }
    }
}

/// A stream that writes to a descriptor by way of us.
fn opened(fd: c_int) -> Option<*mut FILE> {
    let functions = Functions { read: None, write: Some(written), seek: None, close: None };
    // SAFETY: glibc's function with arguments as it wants them; a new stream is as large as any.
    unsafe {
        let stream = fopencookie(fd as usize as *mut c_void, c"w".as_ptr(), functions);
        if stream.is_null() {
            return None;
        }
        stream.byte_add(DESCRIPTOR).cast::<c_int>().write(fd);
        Some(stream)
    }
}

/// The stream of the descriptor `cookie` has something to write.
unsafe extern "C" fn written(cookie: *mut c_void, data: *const c_char, len: size_t) -> isize {
    if runtime::active() && rt().execution.sched.mode != Mode::Prelude {
        // SAFETY: glibc passes a live buffer.
        keep(unsafe { std::slice::from_raw_parts(data.cast(), len) });
        return len as isize;
    }
    // SAFETY: forwarded.
    unsafe { (real().write)(cookie as usize as c_int, data.cast(), len) }
}
