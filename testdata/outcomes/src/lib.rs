//! Programs whose result depends on the interleaving.

mod counts;
mod crates;
mod ends;
mod primitives;

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// A program: its name, and what makes one run of it and returns the result.
pub type Program = (&'static str, fn() -> String);

/// All programs.
pub fn programs() -> Vec<Program> {
    [primitives::PROGRAMS, counts::PROGRAMS, ends::PROGRAMS, crates::PROGRAMS].concat()
}

/// The state of the dice for native delays; zero means that there are none, so that a controlled run has nothing to throw.
static DICE: AtomicU64 = AtomicU64::new(0);

/// From now on [`pause`] pauses: for native runs.
pub fn run_natively(seed: u64) {
    DICE.store(seed | 1, Relaxed);
}

/// Natively, a short delay by chance.
pub fn pause() {
    let dice = DICE.load(Relaxed);
    if dice != 0 {
        let next = dice.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        DICE.store(next | 1, Relaxed);
        match next >> 61 {
            0..4 => {}
            4 => std::thread::yield_now(),
            5 => std::thread::sleep(std::time::Duration::from_micros(next >> 33 & 127)),
            _ => (0..next >> 33 & 4095).for_each(|_| std::hint::spin_loop()),
        }
    }
}
