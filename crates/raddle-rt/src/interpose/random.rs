//! Randomness from the seed.

use crate::real::real;
use crate::runtime::{self, rt};
use crate::table::mix;
use libc::{c_void, size_t};

/// How many words were drawn in this process.
static mut DRAWN: u64 = 0;

/// Starts the sequence again, for a new execution.
pub fn reset() {
    // SAFETY: one controlled thread.
    unsafe { DRAWN = 0 }
}

/// # Safety
/// As in Linux.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn getrandom(buffer: *mut c_void, len: size_t, flags: u32) -> isize {
    if !runtime::controlled() {
        // SAFETY: forwarded.
        return unsafe { (real().getrandom)(buffer, len, flags) };
    }
    let seed = rt().store.job.seed;
    for i in 0..len {
        // SAFETY: the caller's buffer has `len` bytes; one controlled thread.
        unsafe {
            if i % 8 == 0 {
                DRAWN += 1;
            }
            let word = mix(mix(seed ^ 0x5EED) ^ DRAWN);
            *(buffer as *mut u8).add(i) = (word >> (8 * (i % 8))) as u8;
        }
    }
    len as isize
}
