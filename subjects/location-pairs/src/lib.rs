//! The examples of the Location Pairs paper, and the bug patterns of Farchi, Nir and Ur that it says it expresses, as small
//! types.
//!
//! Each module holds one type that is `Sync` and has `&self` methods only. Fields that the original leaves unprotected are relaxed
//! atomics; data that plays no part in the error is left out, so that location pairs can be counted by hand. The documentation
//! of each type counts them for the two methods that the error is between: *l1*, *l2* are the locations of one method,
//! *m1*, *m2* those of the other, and a critical section with nothing unprotected inside is two locations, its acquisition and its
//! release. `bench/src/tables/location_pairs.rs` has the sums.

use std::sync::{Mutex, MutexGuard, PoisonError};

pub mod blocking;
pub mod boxwood_cache;
pub mod double_checked;
pub mod lost_notification;
pub mod non_atomic;
pub mod orphan;
pub mod scan_cache;
pub mod sleeper;
pub mod string_buffer;
pub mod two_stage;
pub mod vector;
pub mod wrong_lock;

/// Enters a monitor. An exception leaves a Java monitor and does no more, so poisoning is ignored.
fn enter(monitor: &Mutex<()>) -> MutexGuard<'_, ()> {
    monitor.lock().unwrap_or_else(PoisonError::into_inner)
}
