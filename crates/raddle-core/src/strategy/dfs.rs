//! Exhaustive depth-first search.

use super::{Choice, Finished, Strategy, View};
use crate::event::ThreadId;

/// Visits every sequence of choices once, in lexicographic order with the running thread first, so that the
/// first executions have the fewest preemptions. With a bound, sequences with more preemptions (a switch
/// away from a thread that could have gone on) are left out.
///
/// When an execution teaches the runtime new scheduling points, the tree has changed shape and the search
/// starts again: what was visited before is a part of what is to be visited.
#[derive(Debug)]
pub struct Dfs {
    bound: Option<u32>,
    /// The choices of the current execution, and at each the alternatives not yet tried.
    path: Vec<Node>,
    /// How much of `path` the current execution has followed.
    at: usize,
    preemptions: u32,
    done: bool,
    restart: bool,
}

#[derive(Debug)]
struct Node {
    chosen: ThreadId,
    left: Vec<ThreadId>,
}

impl Dfs {
    /// With at most so many preemptions, if a number is given.
    pub fn new(bound: Option<u32>) -> Self {
        Dfs { bound, path: Vec::new(), at: 0, preemptions: 0, done: false, restart: false }
    }
}

impl Strategy for Dfs {
    fn begin(&mut self) -> bool {
        if std::mem::take(&mut self.restart) {
            self.path.clear();
            self.done = false;
        }
        self.at = 0;
        self.preemptions = 0;
        !self.done
    }

    fn is_systematic(&self) -> bool {
        true
    }

    fn choose(&mut self, view: &View<'_>) -> Choice {
        let find = |t: ThreadId| view.enabled.iter().position(|e| e.thread == t);
        let preempts = |t: ThreadId| view.last_enabled() && t != view.last;
        let chosen = match self.path.get(self.at).map(|n| n.chosen) {
            Some(t) if find(t).is_some() => t,
            followed => {
                if followed.is_some() {
                    // The prefix did not lead where it led before: only possible after learning.
                    self.path.truncate(self.at);
                    self.restart = true;
                }
                let spent = self.bound.is_some_and(|b| self.preemptions >= b);
                let mut order: Vec<ThreadId> = view.enabled.iter().map(|e| e.thread).collect();
                order.sort_by_key(|&t| t != view.last);
                if spent && view.last_enabled() {
                    order.truncate(1);
                }
                order.reverse();
                let chosen = order.pop().expect("at least one thread is enabled");
                self.path.push(Node { chosen, left: order });
                chosen
            }
        };
        self.at += 1;
        self.preemptions += preempts(chosen) as u32;
        Choice::Run(find(chosen).expect("chosen among the enabled"))
    }

    fn end(&mut self, run: &Finished<'_>) {
        if run.learned {
            self.restart = true;
        }
        self.path.truncate(self.at);
        loop {
            match self.path.last_mut() {
                None => {
                    self.done = true;
                    return;
                }
                Some(node) => match node.left.pop() {
                    Some(next) => {
                        node.chosen = next;
                        return;
                    }
                    None => {
                        self.path.pop();
                    }
                },
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::Event;
    use crate::outcome::Outcome;
    use crate::trace::Trace;
    use std::collections::BTreeSet;

    /// All orders of the steps of threads with `steps[t]` steps each, as `s` visits them.
    fn visit(mut s: Dfs, steps: &[usize]) -> Vec<Vec<u32>> {
        let mut all = Vec::new();
        while s.begin() {
            let mut left = steps.to_vec();
            let mut order: Vec<u32> = Vec::new();
            loop {
                let enabled: Vec<Event> = (0..left.len() as u32)
                    .filter(|&t| left[t as usize] > 0)
                    .map(|t| Event::write(t, 0, 0))
                    .collect();
                let i = match enabled.len() {
                    0 => break,
                    1 => 0,
                    _ => {
                        let last = ThreadId(*order.last().unwrap_or(&0));
                        let view =
                            View { enabled: &enabled, last, events: &[], vars: &[], decision: order.len() };
                        let Choice::Run(i) = s.choose(&view) else { panic!() };
                        i
                    }
                };
                let t = enabled[i].thread.0;
                left[t as usize] -= 1;
                order.push(t);
            }
            let trace = Trace::default();
            s.end(&Finished { trace: &trace, outcome: &Outcome::Passed, learned: false });
            all.push(order);
        }
        all
    }

    #[test]
    fn two_threads_with_five_steps_have_252_orders_each_visited_once() {
        let all = visit(Dfs::new(None), &[5, 5]);
        assert_eq!(all.len(), 252);
        assert_eq!(all.iter().collect::<BTreeSet<_>>().len(), 252);
    }

    #[test]
    fn three_threads_are_counted_by_the_multinomial() {
        assert_eq!(visit(Dfs::new(None), &[2, 2, 2]).len(), 90);
    }

    #[test]
    fn a_preemption_bound_leaves_out_exactly_the_orders_above_it() {
        let preemptions = |order: &[u32]| {
            let mut left = [3usize, 3];
            let mut last = 0;
            let mut n = 0;
            for &t in order {
                n += (t != last && left[last as usize] > 0) as u32;
                left[t as usize] -= 1;
                last = t;
            }
            n
        };
        let all = visit(Dfs::new(None), &[3, 3]);
        for bound in 0..4 {
            let expected: BTreeSet<_> = all.iter().filter(|o| preemptions(o) <= bound).collect();
            let visited = visit(Dfs::new(Some(bound)), &[3, 3]);
            assert_eq!(visited.len(), expected.len(), "bound {bound}");
            assert_eq!(visited.iter().collect::<BTreeSet<_>>(), expected, "bound {bound}");
        }
    }
}
