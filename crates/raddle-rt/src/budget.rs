//! The time of a search: real time, used for budgets and progress only, never for a decision.

use crate::controlled::Controlled;
use crate::store::Store;
use std::time::Instant;

/// How often progress is told.
pub const PROGRESS_MS: u64 = 250;

/// So long after the end of the budget an execution in progress may go on.
pub const LATE_MS: u64 = 5000;

/// When the search began; real time, used for budgets and progress only.
static BEGAN: Controlled<Option<Instant>> = Controlled::new(None);

/// Starts the clock of a search.
pub fn start_clock() {
    BEGAN.set(Some(Instant::now()));
}

/// Milliseconds since the search began, which it does now if it has not.
pub fn spent_ms() -> u64 {
    let began = BEGAN.get().unwrap_or_else(Instant::now);
    BEGAN.set(Some(began));
    began.elapsed().as_millis() as u64
}

/// Whether the time for the search is used up.
pub fn is_late(store: &Store) -> bool {
    store.job.budget_ms != 0 && store.now_ms >= store.job.budget_ms
}
