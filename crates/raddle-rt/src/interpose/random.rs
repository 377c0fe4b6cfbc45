//! Randomness from the seed.
//!
//! A seed gives many streams of random numbers. What comes before the executions of a search draws from stream 0; an execution draws
//! from the one that its schedule names.

use crate::real::real;
use crate::runtime::{self, rt};
use crate::table::mix;
use libc::{c_void, size_t};
use raddle_core::protocol::Unexplored;
use raddle_sched::Mode;

/// # Safety
/// As in Linux.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn getrandom(buffer: *mut c_void, len: size_t, flags: u32) -> isize {
    if !runtime::controlled() {
        // SAFETY: forwarded.
        return unsafe { (real().getrandom)(buffer, len, flags) };
    }
    let r = rt();
    r.leave_out(Unexplored::RandomData);
    r.store.draws |= r.execution.sched.mode == Mode::Search;
    let key = mix(r.store.job.seed ^ 0x5EED) ^ mix(r.store.schedule.stream);
    for i in 0..len {
        // SAFETY: the caller's buffer has `len` bytes; one controlled thread.
        unsafe {
            if i % 8 == 0 {
                r.execution.drawn += 1;
            }
            let word = mix(key ^ r.execution.drawn);
            *(buffer as *mut u8).add(i) = (word >> (8 * (i % 8))) as u8;
        }
    }
    len as isize
}
