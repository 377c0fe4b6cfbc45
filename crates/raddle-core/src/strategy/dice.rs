//! Choices left to chance alone.

use rand::{Rng, SeedableRng};
use rand_pcg::Pcg32;

/// A seeded source of choices; the whole state of a strategy that never looks.
///
/// The generator is one whose state fits into a register: long searches throw dice at every step, and what is written at every step
/// takes its time.
#[derive(Clone, Debug)]
pub struct Dice(Pcg32);

impl Dice {
    /// From a seed.
    pub fn new(seed: u64) -> Self {
        Dice(Pcg32::seed_from_u64(seed))
    }

    /// A seed for one execution of a search with this one, whatever the others draw.
    pub fn seed_of_execution(seed: u64, execution: u64) -> u64 {
        // Seeds that differ little must not give executions that differ little: the multiplier is odd and has bits everywhere.
        seed.wrapping_mul(0x9e37_79b9_7f4a_7c15).wrapping_add(execution)
    }

    /// A number below `n`, each with the same chance but for one in 2^32 / `n`.
    #[inline]
    pub fn below(&mut self, n: usize) -> usize {
        let k = self.peek(n);
        self.throw();
        k
    }

    /// The number below `n` that the dice show; the same until they are thrown.
    #[inline]
    pub fn peek(&self, n: usize) -> usize {
        ((u64::from(self.0.clone().next_u32()) * n as u64) >> 32) as usize
    }

    /// Throws them.
    #[inline]
    pub fn throw(&mut self) {
        self.0.next_u32();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_sequence_of_choices_is_as_frequent_as_every_other() {
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
    fn the_first_choices_of_executions_do_not_depend_on_their_numbers() {
        // Pairs of choices in executions next to each other.
        let mut counts = [0u64; 256];
        let first = |execution| {
            let mut dice = Dice::new(Dice::seed_of_execution(3, execution));
            dice.below(4) * 4 + dice.below(4)
        };
        for execution in 0..25_600 {
            counts[first(execution) * 16 + first(execution + 1)] += 1;
        }
        let square: f64 = counts.iter().map(|&c| (c as f64 - 100.0).powi(2) / 100.0).sum();
        assert!((square / 255.0 - 1.0).abs() < 4.0 * (2.0f64 / 255.0).sqrt(), "{square}");
    }

    #[test]
    fn what_they_show_is_what_is_thrown() {
        let mut dice = Dice::new(5);
        for n in 1..1000 {
            let shown = dice.peek(n);
            assert!(shown < n);
            assert_eq!(dice.below(n), shown);
        }
    }
}
