//! Choices left to chance alone.

use rand::{Rng, SeedableRng};
use rand_pcg::Pcg64Mcg;

/// A seeded source of choices; the whole state of a strategy that never looks.
#[derive(Clone, Debug)]
pub struct Dice {
    rng: Pcg64Mcg,
    /// The next throw and the one after it, made in advance: a choice need not wait for its throw, nor what is prepared for the
    /// choice after it.
    thrown: [u64; 2],
}

impl Dice {
    /// From a seed.
    pub fn new(seed: u64) -> Self {
        let mut rng = Pcg64Mcg::seed_from_u64(seed);
        let thrown = [rng.next_u64(), rng.next_u64()];
        Dice { rng, thrown }
    }

    /// For one execution, whatever the others of the search throw.
    pub fn of_execution(seed: u64, execution: u64) -> Self {
        // Any odd number will do; the seeds of neighbours are far apart after the generator's own mixing.
        Dice::new(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15).wrapping_add(execution))
    }

    /// A number below `n`, each with the same chance but for one in 2^64 / `n`.
    #[inline]
    pub fn below(&mut self, n: usize) -> usize {
        let k = self.peek(n);
        self.throw();
        k
    }

    /// The number below `n` that the dice show; the same until they are thrown.
    #[inline]
    pub fn peek(&self, n: usize) -> usize {
        ((self.thrown[0] as u128 * n as u128) >> 64) as usize
    }

    /// Throws them.
    #[inline]
    pub fn throw(&mut self) {
        self.thrown = [self.thrown[1], self.rng.next_u64()];
    }
}
