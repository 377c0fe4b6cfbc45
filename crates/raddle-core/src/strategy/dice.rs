//! Choices left to chance alone.

use rand::{Rng, SeedableRng};
use rand_pcg::Pcg64Mcg;

/// A seeded source of choices; the whole state of a strategy that never looks.
///
/// A random number is read as a fraction, and each choice between `n` takes the fraction's first digit to the base `n`. What is left is as
/// random as before, with fewer bits, so that one number serves for several choices between few.
#[derive(Clone, Debug)]
pub struct Dice {
    rng: Pcg64Mcg,
    /// The fraction, in units of 2^-64.
    fraction: u64,
    /// How many choices between few it is still good for, at least one.
    good_for: u32,
}

/// Choices between at most so many are choices between few.
const FEW: usize = 8;
/// So many of them are made with one number. They take three bits each, so the last one still has forty.
const CHOICES: u32 = 8;

impl Dice {
    /// From a seed.
    pub fn new(seed: u64) -> Self {
        let mut rng = Pcg64Mcg::seed_from_u64(seed);
        let fraction = rng.next_u64();
        Dice { rng, fraction, good_for: CHOICES }
    }

    /// For one execution, whatever the others of the search throw.
    pub fn of_execution(seed: u64, execution: u64) -> Self {
        // Any odd number will do; the seeds of neighbours are far apart after the generator's own mixing.
        Dice::new(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15).wrapping_add(execution))
    }

    /// A number below `n`, each with the same chance, but for less than one in 2^37 if `n` is small and one in 2^40 / `n` otherwise.
    #[inline]
    pub fn below(&mut self, n: usize) -> usize {
        let k = self.peek(n);
        self.throw(n);
        k
    }

    /// The number below `n` that the dice show; the same until they are thrown.
    #[inline]
    pub fn peek(&self, n: usize) -> usize {
        ((self.fraction as u128 * n as u128) >> 64) as usize
    }

    /// Throws them, after the number below `n` was used that they showed.
    #[inline]
    pub fn throw(&mut self, n: usize) {
        self.fraction = self.fraction.wrapping_mul(n as u64);
        self.good_for -= 1;
        if self.good_for == 0 || n > FEW {
            self.renew();
        }
    }

    #[cold]
    fn renew(&mut self) {
        self.fraction = self.rng.next_u64();
        self.good_for = CHOICES;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_sequence_of_choices_is_as_frequent_as_every_other() {
        // Ten choices are more than one number serves for.
        for n in [2, 3] {
            let mut counts = std::collections::BTreeMap::new();
            let mut dice = Dice::new(7);
            let sequences = (n as u64).pow(10);
            for _ in 0..100 * sequences {
                let sequence = (0..10).fold(0, |s, _| s * n + dice.below(n));
                *counts.entry(sequence).or_insert(0u64) += 1;
            }
            // Chi-square over its degrees of freedom is 1 within four standard deviations.
            let square: f64 = counts.values().map(|&c| (c as f64 - 100.0).powi(2) / 100.0).sum();
            let square = square + 100.0 * (sequences - counts.len() as u64) as f64;
            let free = (sequences - 1) as f64;
            assert!((square / free - 1.0).abs() < 4.0 * (2.0 / free).sqrt(), "{n}: {square} for {free}");
        }
    }

    #[test]
    fn choices_between_many_take_a_number_each() {
        let mut dice = Dice::new(3);
        let mut seen = vec![0u32; 1000];
        for i in 0..200_000 {
            // A choice between few in between must not make the next one poorer.
            if i % 3 == 0 {
                dice.below(8);
            }
            seen[dice.below(1000)] += 1;
        }
        let square: f64 = seen.iter().map(|&c| (f64::from(c) - 200.0).powi(2) / 200.0).sum();
        assert!((square / 999.0 - 1.0).abs() < 4.0 * (2.0f64 / 999.0).sqrt(), "{square}");
    }
}
