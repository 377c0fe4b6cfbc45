//! Choices left to chance alone.

use rand::{Rng, SeedableRng};
use rand_pcg::Pcg64Mcg;

/// A seeded source of choices; the whole state of a strategy that never looks.
#[derive(Clone, Debug)]
pub struct Dice {
    rng: Pcg64Mcg,
    /// The next throw, made in advance: a choice need not wait for it.
    thrown: u64,
}

impl Dice {
    /// From a seed.
    pub fn new(seed: u64) -> Self {
        let mut rng = Pcg64Mcg::seed_from_u64(seed);
        let thrown = rng.next_u64();
        Dice { rng, thrown }
    }

    /// A number below `n`, each with the same chance but for one in 2^64 / `n`.
    #[inline]
    pub fn below(&mut self, n: usize) -> usize {
        let k = (self.thrown as u128 * n as u128) >> 64;
        self.thrown = self.rng.next_u64();
        k as usize
    }
}
