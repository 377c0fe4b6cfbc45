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

    pub fn contains(&self, n: u32) -> bool {
        self.0.get(n as usize / 64).is_some_and(|w| w >> (n % 64) & 1 == 1)
    }

    /// Whether the other has all of its numbers.
    fn is_within(&self, other: &Bits) -> bool {
        let theirs = other.0.iter().chain(std::iter::repeat(&0));
        self.0.iter().zip(theirs).all(|(a, b)| a & !b == 0)
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
pub(super) struct Passed {
    traces: Vec<Bits>,
    /// By pattern, up to the last one that a trace has: for each trace, 1 if the trace lacks it and 0 otherwise.
    lacks: Vec<Vec<u16>>,
}

impl Passed {
    pub fn len(&self) -> usize {
        self.traces.len()
    }

    /// Whether a trace has a pattern.
    pub fn has(&self, trace: usize, pattern: u32) -> bool {
        self.traces[trace].contains(pattern)
    }

    pub fn insert(&mut self, patterns: Bits) {
        if self.traces.iter().any(|t| patterns.is_within(t)) {
            return;
        }
        let before = self.traces.len();
        self.traces.retain(|t| !t.is_within(&patterns));
        if self.traces.len() < before {
            self.lacks.clear();
            for i in 0..self.traces.len() {
                let trace = std::mem::take(&mut self.traces[i]);
                self.note(i, &trace);
                self.traces[i] = trace;
            }
        }
        self.note(self.traces.len(), &patterns);
        self.traces.push(patterns);
    }

    /// Adds a trace, which follows so many others, to what each pattern is lacked by.
    fn note(&mut self, others: usize, patterns: &Bits) {
        if self.lacks.len() < 64 * patterns.0.len() {
            self.lacks.resize(64 * patterns.0.len(), vec![1; others]);
        }
        for (n, by) in self.lacks.iter_mut().enumerate() {
            by.push(u16::from(!patterns.contains(n as u32)));
        }
    }

    /// The least number of patterns that a passed trace lacks; all of them when none has passed.
    pub fn distance(&self, patterns: &Bits) -> u32 {
        let nearest = self.traces.iter().map(|t| patterns.without(t)).min();
        nearest.unwrap_or_else(|| patterns.without(&Bits::default()))
    }

    /// A pattern is added: each trace that lacks it lacks one more.
    pub fn add(&self, pattern: u32, lacking: &mut [u16]) {
        match self.lacks.get(pattern as usize) {
            Some(by) => lacking.iter_mut().zip(by).for_each(|(n, l)| *n = n.saturating_add(*l)),
            None => lacking.iter_mut().for_each(|n| *n = n.saturating_add(1)),
        }
    }

    /// The distance of some patterns, given how many of them each trace lacks, together with others that are not among them.
    pub fn distance_with(&self, lacking: &[u16], patterns: &Bits, new: &[u32]) -> u32 {
        if self.traces.is_empty() {
            return self.distance(patterns) + new.len() as u32;
        }
        if lacking.len() != self.traces.len() {
            let mut all = patterns.clone();
            for n in new {
                all.insert(*n);
            }
            return self.distance(&all);
        }
        let mut lacking = lacking.to_vec();
        new.iter().for_each(|n| self.add(*n, &mut lacking));
        lacking.iter().min().map_or(0, |n| u32::from(*n))
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
        assert_eq!(passed.len(), 1);
        passed.insert(bits(&[3]));
        assert_eq!(passed.len(), 2);
    }

    #[test]
    fn a_distance_that_is_counted_step_by_step_is_the_same() {
        let mut passed = Passed::default();
        let traces: [&[u32]; 5] = [&[1, 2], &[70, 200, 3], &[3], &[2, 3, 70], &[1, 2, 400]];
        for trace in traces {
            passed.insert(bits(trace));
            let (mut lacking, mut so_far) = (vec![0; passed.len()], Bits::default());
            for n in [3, 200, 1, 500, 70, 64] {
                let mut next = so_far.clone();
                next.insert(n);
                let expected = passed.distance(&next);
                assert_eq!(passed.distance_with(&lacking, &so_far, &[n]), expected);
                assert_eq!(passed.distance_with(&[], &so_far, &[n]), expected);
                passed.add(n, &mut lacking);
                so_far = next;
                assert_eq!(passed.distance_with(&lacking, &so_far, &[]), expected);
            }
        }
    }
}
