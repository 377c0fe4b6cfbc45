//! The time of a search: real time, used for budgets and progress only, never for a decision.

use crate::controlled::Controlled;
use crate::real::real;
use crate::store::Store;

/// How often progress is told.
pub const PROGRESS_MS: u64 = 250;

/// So long after the end of the budget an execution in progress may go on.
pub const LATE_MS: u64 = 5000;

/// When the search began; real time, used for budgets and progress only.
static BEGAN: Controlled<Option<u64>> = Controlled::new(None);

/// Starts the clock of a search.
pub fn start_clock() {
    BEGAN.set(Some(clock_ms()));
}

/// Milliseconds since the search began, which it does now if it has not.
pub fn spent_ms() -> u64 {
    let began = BEGAN.get().unwrap_or_else(clock_ms);
    BEGAN.set(Some(began));
    clock_ms() - began
}

/// Milliseconds on a clock that never goes back. The system call itself: libc's way may fault (see `tsc`), which takes longer.
fn clock_ms() -> u64 {
    let mut t = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: writes the time to where there is room for it.
    unsafe {
        let clock = libc::CLOCK_MONOTONIC as usize;
        (real().syscall)(libc::SYS_clock_gettime, clock, (&raw mut t) as usize, 0, 0, 0, 0);
    }
    t.tv_sec as u64 * 1000 + t.tv_nsec as u64 / 1_000_000
}

/// Whether the time for the search is used up.
pub fn is_late(store: &Store) -> bool {
    store.job.budget_ms != 0 && store.now_ms >= store.job.budget_ms
}
