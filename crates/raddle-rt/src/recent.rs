//! How large the small tables are that remember what was just looked up.

use crate::controlled::Controlled;

/// Size of the small tables that remember what was just looked up.
pub const RECENT: usize = 1024;
/// How much of them is used, a power of two.
static SLOTS: Controlled<usize> = Controlled::new(RECENT);

/// How much of the small tables is used.
#[inline(always)]
pub fn slots() -> usize {
    SLOTS.get()
}

/// Uses little of the small tables: a child that lives for one execution pays for each page that it writes to.
pub fn remember_little() {
    const FEW: usize = 64;
    SLOTS.set(FEW);
}

/// Uses them fully again: the child lives on.
pub fn remember_much() {
    SLOTS.set(RECENT);
}
