//! When the calls of an execution began and ended, and the sequential orders that this leaves.
//!
//! An order is given by the threads of its calls: `[1, 2, 1]` is a call of thread 1, one of thread 2, and the next of
//! thread 1. It respects real time if no call comes before one that had ended when it began. Orders are visited
//! depth first; at each place the call that ended first comes first, for a call mostly takes effect shortly
//! before it ends.

/// When a call began and ended.
type Interval = (u32, Option<u32>);

/// The calls of the suffixes of an execution.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Intervals {
    /// By thread, ascending; the calls of each in order, with their beginnings and ends.
    threads: Vec<(u32, Vec<Interval>)>,
}

impl Intervals {
    /// Of calls given by thread, beginning and end, the calls of each thread in order. Thread 0 has none: what it
    /// calls, nothing runs beside.
    pub fn new(calls: impl IntoIterator<Item = (u32, u32, Option<u32>)>) -> Self {
        let mut threads: Vec<(u32, Vec<Interval>)> = Vec::new();
        for (thread, start, end) in calls.into_iter().filter(|c| c.0 > 0) {
            match threads.iter_mut().find(|(t, _)| *t == thread) {
                Some((_, calls)) => calls.push((start, end)),
                None => threads.push((thread, vec![(start, end)])),
            }
        }
        threads.sort_by_key(|(t, _)| *t);
        Intervals { threads }
    }

    /// Whether a call began before another one had ended.
    pub fn overlap(&self) -> bool {
        let mut all: Vec<Interval> = self.threads.iter().flat_map(|(_, c)| c).copied().collect();
        all.sort_unstable();
        all.windows(2).any(|w| w[0].1.is_none_or(|end| end > w[1].0))
    }

    /// The threads of the calls in the order in which they began.
    pub fn order(&self) -> Vec<u32> {
        let calls = self.threads.iter().flat_map(|(t, c)| c.iter().map(|(start, _)| (*start, *t)));
        let mut calls: Vec<(u32, u32)> = calls.collect();
        calls.sort_unstable();
        calls.into_iter().map(|(_, t)| t).collect()
    }

    /// The first order.
    pub fn first(&self) -> Option<Vec<u32>> {
        self.first_from(&[])
    }

    /// The next order that differs from this one at the call with index `at`, or before.
    pub fn after(&self, order: &[u32], at: usize) -> Option<Vec<u32>> {
        let last = at.min(order.len().checked_sub(1)?);
        (0..=last).rev().find_map(|i| {
            let next = self.next(&order[..i]);
            let tried = next.iter().position(|t| *t == order[i])?;
            next[tried + 1..].iter().find_map(|t| self.first_from(&[&order[..i], &[*t]].concat()))
        })
    }

    /// Who may call next after these calls, whoever ended first in the execution first.
    fn next(&self, prefix: &[u32]) -> Vec<u32> {
        let done: Vec<usize> =
            self.threads.iter().map(|(t, _)| prefix.iter().filter(|p| *p == t).count()).collect();
        let made_before = |start: u32| {
            self.threads.iter().zip(&done).all(|((_, calls), done)| {
                calls.get(*done).is_none_or(|(_, end)| end.is_none_or(|end| end > start))
            })
        };
        let mut ready: Vec<(u32, u32)> = Vec::new();
        for ((thread, calls), done) in self.threads.iter().zip(&done) {
            if let Some((start, end)) = calls.get(*done)
                && made_before(*start)
            {
                ready.push((end.unwrap_or(u32::MAX), *thread));
            }
        }
        ready.sort_unstable();
        ready.into_iter().map(|(_, t)| t).collect()
    }

    fn first_from(&self, prefix: &[u32]) -> Option<Vec<u32>> {
        let mut order = prefix.to_vec();
        while let Some(t) = self.next(&order).first() {
            order.push(*t);
        }
        (order.len() == self.threads.iter().map(|(_, c)| c.len()).sum::<usize>()).then_some(order)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// All orders, as a search that finds the last call wrong each time visits them.
    fn all(intervals: &Intervals) -> Vec<Vec<u32>> {
        let mut orders: Vec<Vec<u32>> = intervals.first().into_iter().collect();
        while let Some(next) = orders.last().and_then(|last| intervals.after(last, last.len())) {
            orders.push(next);
        }
        orders
    }

    #[test]
    fn calls_that_all_overlap_have_every_order_and_those_that_do_not_have_one() {
        let beside = Intervals::new([(1, 0, Some(8)), (2, 1, Some(7)), (3, 2, Some(6))]);
        assert_eq!(all(&beside).len(), 6);
        assert_eq!(beside.first(), Some(vec![3, 2, 1]));
        assert!(beside.overlap());
        let apart = Intervals::new([(0, 0, Some(1)), (1, 2, Some(3)), (2, 4, Some(5)), (1, 6, Some(7))]);
        assert_eq!(all(&apart), [[1, 2, 1]]);
        assert!(!apart.overlap());
        assert_eq!(apart.order(), [1, 2, 1]);
    }

    #[test]
    fn an_order_keeps_what_had_ended_before_another_call_began() {
        // The first call of thread 1 had ended when the second of thread 2 began.
        let calls = [(1, 0, Some(2)), (2, 1, Some(4)), (1, 3, Some(7)), (2, 5, Some(6))];
        let orders = all(&Intervals::new(calls));
        assert_eq!(orders.len(), 5);
        assert!(!orders.contains(&vec![2, 2, 1, 1]));
    }

    #[test]
    fn a_wrong_call_rules_out_everything_that_begins_in_the_same_way() {
        let calls = [(1, 0, Some(4)), (1, 5, Some(9)), (2, 1, Some(6)), (2, 7, Some(8))];
        let intervals = Intervals::new(calls);
        let first = intervals.first().unwrap();
        let next = intervals.after(&first, 0).unwrap();
        assert_ne!(first[0], next[0]);
        assert_eq!(intervals.after(&next, 0), None);
    }

    #[test]
    fn a_call_that_never_ended_overlaps_with_what_began_later() {
        assert!(Intervals::new([(1, 0, None), (2, 1, Some(2))]).overlap());
    }
}
