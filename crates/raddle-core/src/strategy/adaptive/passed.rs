//! The patterns of passed traces.

/// A set of small numbers.
#[derive(Clone, Debug, Default)]
pub(super) struct Bits(Vec<u64>);

impl Bits {
    pub fn clear(&mut self) {
        self.0.clear();
    }

    /// Whether it was new.
    pub fn insert(&mut self, n: u32) -> bool {
        let (word, bit) = (n as usize / 64, 1 << (n % 64));
        if self.0.len() <= word {
            self.0.resize(word + 1, 0);
        }
        let new = self.0[word] & bit == 0;
        self.0[word] |= bit;
        new
    }

    #[cfg(test)]
    pub fn contains(&self, n: u32) -> bool {
        self.0.get(n as usize / 64).is_some_and(|w| w >> (n % 64) & 1 == 1)
    }

    /// How many of its numbers the other lacks.
    pub fn without(&self, other: &Bits) -> u32 {
        let theirs = other.0.iter().chain(std::iter::repeat(&0));
        self.0.iter().zip(theirs).map(|(a, b)| (a & !b).count_ones()).sum()
    }
}

impl FromIterator<u32> for Bits {
    fn from_iter<I: IntoIterator<Item = u32>>(numbers: I) -> Self {
        let mut bits = Bits::default();
        for n in numbers {
            bits.insert(n);
        }
        bits
    }
}

/// The passed traces, each as the set of its patterns. A trace whose patterns another one has too never
/// decides a distance and is left out.
#[derive(Debug, Default)]
pub(super) struct Passed(Vec<Bits>);

impl Passed {
    pub fn insert(&mut self, patterns: Bits) {
        if self.0.iter().all(|t| patterns.without(t) > 0) {
            self.0.retain(|t| t.without(&patterns) > 0);
            self.0.push(patterns);
        }
    }

    /// The least number of patterns that a passed trace lacks; all of them when none has passed.
    pub fn distance(&self, patterns: &Bits) -> u32 {
        let nearest = self.0.iter().map(|t| patterns.without(t)).min();
        nearest.unwrap_or_else(|| patterns.without(&Bits::default()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bits(numbers: &[u32]) -> Bits {
        numbers.iter().copied().collect()
    }

    #[test]
    fn the_distance_is_to_the_nearest_trace_and_not_to_the_union() {
        let mut passed = Passed::default();
        assert_eq!(passed.distance(&bits(&[1, 70])), 2);
        passed.insert(bits(&[1]));
        passed.insert(bits(&[70, 200]));
        assert_eq!(passed.distance(&bits(&[1, 70])), 1);
        assert_eq!(passed.distance(&bits(&[1, 2, 70, 200])), 2);
    }

    #[test]
    fn a_trace_without_patterns_of_its_own_is_not_kept() {
        let mut passed = Passed::default();
        passed.insert(bits(&[1]));
        passed.insert(bits(&[1, 2]));
        passed.insert(bits(&[2]));
        assert_eq!(passed.0.len(), 1);
        passed.insert(bits(&[3]));
        assert_eq!(passed.0.len(), 2);
    }
}
