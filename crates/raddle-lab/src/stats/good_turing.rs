//! Saturation: is anything new still to be expected?

use std::collections::BTreeMap;

/// Estimates the chance that the next execution covers something new, from how often each thing was covered.
///
/// Good and Turing's idea: what has been seen exactly once measures what has not been seen yet. Take
/// any past execution out; it would have brought something new exactly if it alone covered something. The
/// share of such executions is the estimate. When every execution covers a single thing, that is Good and Turing's
/// number of things seen once divided by the number of observations.
///
/// ```
/// use raddle_lab::stats::Saturation;
/// let mut saturation = Saturation::default();
/// saturation.observe(["a", "b"]);
/// saturation.observe(["a", "c", "d"]);
/// saturation.observe(["a", "b"]);
/// saturation.observe(["b"]);
/// // Only the second execution covered something that no other did.
/// assert_eq!(saturation.chance_of_new(), Some(0.25));
/// // It alone covered two things.
/// assert_eq!(saturation.expected_new(), Some(0.5));
/// ```
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Saturation<T> {
    executions: u64,
    seen: BTreeMap<T, Seen>,
    /// How many things each execution alone has covered, if any.
    alone: BTreeMap<u64, u64>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Seen {
    OnlyBy(u64),
    Often,
}

impl<T> Default for Saturation<T> {
    fn default() -> Self {
        Saturation { executions: 0, seen: BTreeMap::new(), alone: BTreeMap::new() }
    }
}

impl<T: Ord> Saturation<T> {
    /// Adds an execution and what it covered; repetitions do not matter.
    pub fn observe(&mut self, covered: impl IntoIterator<Item = T>) {
        let this = self.executions;
        self.executions += 1;
        for thing in covered {
            let seen = self.seen.entry(thing).or_insert_with(|| {
                *self.alone.entry(this).or_insert(0) += 1;
                Seen::OnlyBy(this)
            });
            if let Seen::OnlyBy(by) = *seen
                && by != this
            {
                *seen = Seen::Often;
                let left = self.alone.get_mut(&by).map_or(0, |n| {
                    *n -= 1;
                    *n
                });
                if left == 0 {
                    self.alone.remove(&by);
                }
            }
        }
    }

    /// The number of executions.
    pub fn executions(&self) -> u64 {
        self.executions
    }

    /// The number of different things covered.
    pub fn distinct(&self) -> usize {
        self.seen.len()
    }

    /// The estimated chance that the next execution covers something new; `None` before the first one.
    pub fn chance_of_new(&self) -> Option<f64> {
        (self.executions > 0).then(|| self.alone.len() as f64 / self.executions as f64)
    }

    /// The estimated number of new things that the next execution covers; `None` before the first one.
    pub fn expected_new(&self) -> Option<f64> {
        let singles: u64 = self.alone.values().sum();
        (self.executions > 0).then(|| singles as f64 / self.executions as f64)
    }
}
