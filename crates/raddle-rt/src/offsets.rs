//! Positions in files that were open when executions began.
//!
//! A process and its copies share them, and going back in memory does not undo them: without this module the second execution of
//! a test that reads such a file would begin at its end. Closures are left alone: they may tell the test something by way of a file.

use libc::{c_int, off_t};

/// Descriptors of files, and where they stood.
pub struct Offsets(Vec<(c_int, off_t)>);

/// Standard input and output, which are not the program's alone.
const STANDARD: c_int = 2;

impl Offsets {
    /// The positions of the descriptors that are open now.
    pub fn now() -> Self {
        let entries = std::fs::read_dir("/proc/self/fd").into_iter().flatten().flatten();
        let fds = entries.filter_map(|e| e.file_name().to_str()?.parse().ok());
        Offsets(fds.filter(|&fd| fd > STANDARD).filter_map(|fd| Some((fd, position(fd)?))).collect())
    }

    /// Puts the descriptors back to these positions.
    pub fn restore(&self) {
        for &(fd, at) in &self.0 {
            // SAFETY: a plain system call.
            unsafe { libc::lseek(fd, at, libc::SEEK_SET) };
        }
    }
}

/// Where a descriptor of a regular file stands.
fn position(fd: c_int) -> Option<off_t> {
    // SAFETY: only asks about the descriptor.
    unsafe {
        let mut st = std::mem::zeroed::<libc::stat>();
        let regular = libc::fstat(fd, &mut st) == 0 && st.st_mode & libc::S_IFMT == libc::S_IFREG;
        let at = libc::lseek(fd, 0, libc::SEEK_CUR);
        (regular && at >= 0).then_some(at)
    }
}
