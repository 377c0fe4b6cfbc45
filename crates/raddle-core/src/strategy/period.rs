//! Periodical scheduling.

use super::{Choice, Finished, Strategy, View};
use crate::event::ThreadId;

/// PERIOD (Wen et al., "Controlled Concurrency Testing via Periodical Scheduling", ICSE 2022): an execution is a
/// sequence of periods, in each of which one thread runs alone. All schedules with two periods are tried first,
/// then all with three, and so on: the first periods are one thread's for a given number of steps, adjacent ones
/// different threads', and the last one holds all the rest. There is no chance in it.
///
/// Deviations. The authors count the steps of each thread in dry runs, and enumerate anew with a fixed prefix when
/// an execution turns out otherwise. We find out how long a period can last while enumerating: a period is tried
/// one step longer as long as its thread was still enabled after it, so each schedule tried is feasible and
/// none is missed. Steps are choices at decisions. Where the authors let the rest run in parallel we run it
/// thread by thread: the lowest enabled thread other than the last period's, for as long as it is enabled, then the
/// lowest enabled one, and so on. A schedule that this rest also gives after fewer periods is not tried again.
#[derive(Debug)]
pub struct Period {
    /// Periods at most, the last one included.
    most: usize,
    /// The schedules of the level before, to each of which one period is added; the first one has none.
    level: Vec<Prefix>,
    /// Which of them, and the period added to it.
    at: usize,
    /// Index into the prefix's candidates.
    candidate: usize,
    steps: u32,
    /// The schedules tried on this level.
    next: Vec<Prefix>,
    live: Live,
    done: bool,
    restart: bool,
}

/// Controlled periods, and what the execution did after them.
#[derive(Clone, Debug, Default)]
struct Prefix {
    periods: Vec<(ThreadId, u32)>,
    /// Empty when not known yet, at the start of the very first execution, and only then.
    rest: Vec<Run>,
}

/// A run of decisions for one thread in the rest of an execution.
#[derive(Clone, Debug)]
struct Run {
    /// The threads that could have had the next period here, ascending; the first one had it.
    candidates: Vec<ThreadId>,
    /// For so many decisions.
    steps: u32,
}

/// The execution under way.
#[derive(Debug, Default)]
struct Live {
    /// The controlled period it is in, and the decisions that this period has had.
    period: usize,
    taken: u32,
    /// The last controlled period's thread was enabled after it.
    longer: bool,
    /// Thread of the last decision.
    last: Option<ThreadId>,
    rest: Vec<Run>,
}

impl Period {
    /// For bugs of this depth: up to `depth + 1` periods.
    pub fn new(depth: u32) -> Self {
        Period {
            most: depth as usize + 1,
            level: vec![Prefix::default()],
            at: 0,
            candidate: 0,
            steps: 1,
            next: Vec::new(),
            live: Live::default(),
            done: depth == 0,
            restart: false,
        }
    }

    /// A controlled period of the current schedule; the prefix's rest is known.
    fn period(&self, i: usize) -> (ThreadId, u32) {
        let prefix = &self.level[self.at];
        match prefix.periods.get(i) {
            Some(&period) => period,
            None => (prefix.rest[0].candidates[self.candidate], self.steps),
        }
    }

    /// The current schedule has been dealt with; this is how it went on. Its extensions are for the next level.
    fn extend_later(&mut self, rest: Vec<Run>) {
        let prefix = &self.level[self.at];
        if prefix.periods.len() + 3 <= self.most && !rest.is_empty() {
            let mut periods = prefix.periods.clone();
            periods.push(self.period(periods.len()));
            self.next.push(Prefix { periods, rest });
        }
    }

    /// Moves on to the next schedule. The current one could have had a longer last period, or not.
    fn advance(&mut self, mut longer: bool) {
        self.steps += 1;
        loop {
            let rest = &self.level[self.at].rest;
            if longer {
                if self.candidate > 0 || self.steps < rest[0].steps {
                    return;
                }
                // This is what the execution did anyway.
                let after = rest[1..].to_vec();
                self.extend_later(after);
            }
            self.candidate += 1;
            self.steps = 1;
            longer = true;
            if self.candidate == self.level[self.at].rest[0].candidates.len() {
                self.at += 1;
                self.candidate = 0;
            }
            if self.at == self.level.len() {
                self.level = std::mem::take(&mut self.next);
                self.at = 0;
                if self.level.is_empty() {
                    self.done = true;
                    return;
                }
            }
        }
    }
}

impl Strategy for Period {
    fn begin(&mut self) -> bool {
        if std::mem::take(&mut self.restart) {
            *self = Period::new(self.most as u32 - 1);
        }
        self.live = Live::default();
        !self.done
    }

    fn choose(&mut self, view: &View<'_>) -> Choice {
        let find = |t: ThreadId| view.enabled.iter().position(|e| e.thread == t);
        let others = |t: Option<ThreadId>| -> Vec<ThreadId> {
            view.enabled.iter().map(|e| e.thread).filter(|&u| Some(u) != t).collect()
        };
        if self.restart {
            return Choice::Run(0);
        }
        let prefix = &mut self.level[self.at];
        if prefix.rest.is_empty() {
            // No schedule was tried before that could be repeated.
            prefix.rest.push(Run { candidates: others(None), steps: u32::MAX });
        }
        let added = prefix.periods.len();
        while self.live.rest.is_empty() {
            let (thread, steps) = self.period(self.live.period);
            let here = find(thread);
            let live = &mut self.live;
            if live.taken < steps {
                live.taken += 1;
                // A thread that is not enabled as it was before: only possible after learning.
                self.restart = here.is_none();
                return Choice::Run(here.unwrap_or(0));
            }
            if live.period < added {
                live.period += 1;
                live.taken = 0;
            } else {
                live.longer = here.is_some();
                live.last = None;
                live.rest.push(Run { candidates: others(Some(thread)), steps: 0 });
            }
        }
        let live = &mut self.live;
        if live.last.is_some_and(|t| find(t).is_none()) {
            live.rest.push(Run { candidates: others(live.last), steps: 0 });
        }
        let run = live.rest.last_mut().expect("the rest has begun");
        run.steps += 1;
        let thread = run.candidates[0];
        live.last = Some(thread);
        Choice::Run(find(thread).expect("it is enabled"))
    }

    fn end(&mut self, run: &Finished<'_>) {
        if run.learned || self.restart {
            self.restart = true;
        } else if self.level[self.at].rest.is_empty() {
            // Not a single decision.
            self.done = true;
        } else {
            let rest = std::mem::take(&mut self.live.rest);
            self.extend_later(rest);
            self.advance(self.live.longer);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::Dfs;
    use super::super::testing::{Do, Program};
    use super::*;
    use std::collections::BTreeMap;

    fn program(steps: &[usize]) -> Program {
        let threads: Vec<Vec<Do>> = steps.iter().map(|&n| vec![Do::Write(0); n]).collect();
        Program::new(&threads.iter().map(|t| &t[..]).collect::<Vec<_>>())
    }

    /// The least number of periods that give this order of steps, found by trying.
    fn periods(order: &[u32], steps: &[usize]) -> usize {
        for n in 2.. {
            let mut left = steps.to_vec();
            let mut built: Vec<u32> = Vec::new();
            // The first n - 1 runs of the order, then the rest by the rule.
            let mut runs = 0;
            for (i, &t) in order.iter().enumerate() {
                runs += usize::from(i == 0 || order[i - 1] != t);
                if runs == n {
                    break;
                }
                built.push(t);
                left[t as usize] -= 1;
            }
            let mut not = built.last().copied();
            while left.iter().any(|&l| l > 0) {
                let lowest = |not: Option<u32>| {
                    (0..left.len() as u32).find(|&t| left[t as usize] > 0 && Some(t) != not)
                };
                let t = lowest(not).or(lowest(None)).unwrap();
                not = None;
                while left[t as usize] > 0 {
                    built.push(t);
                    left[t as usize] -= 1;
                }
            }
            if built == order {
                return n;
            }
        }
        unreachable!()
    }

    #[test]
    fn all_schedules_with_two_periods_come_first_then_all_with_three_and_so_on_each_once() {
        for steps in [&[3, 4][..], &[3, 2, 2], &[1, 1, 1, 1], &[2, 1, 3]] {
            let program = program(steps);
            let mut expected: BTreeMap<usize, Vec<Vec<u32>>> = BTreeMap::new();
            for run in program.run_all(&mut Dfs::new(None), 10_000) {
                expected.entry(periods(&run.order, steps)).or_default().push(run.order);
            }
            for depth in [1, 2, 3, 20] {
                let tried = program.run_all(&mut Period::new(depth), 10_000);
                let levels: Vec<usize> = tried.iter().map(|r| periods(&r.order, steps)).collect();
                assert!(levels.is_sorted(), "{steps:?} {levels:?}");
                let mut orders: Vec<_> = tried.into_iter().map(|r| r.order).collect();
                orders.sort_unstable();
                let mut all: Vec<_> =
                    expected.range(..=depth as usize + 1).flat_map(|(_, o)| o.clone()).collect();
                all.sort_unstable();
                assert_eq!(orders, all, "{steps:?} with depth {depth}");
            }
        }
    }

    #[test]
    fn two_periods_of_two_threads_are_as_many_as_their_steps() {
        assert_eq!(program(&[7, 5]).run_all(&mut Period::new(1), 100).len(), 12);
    }

    #[test]
    fn locks_are_no_obstacle() {
        let section = [Do::Lock(0), Do::Write(1), Do::Unlock(0), Do::Write(2)];
        let program = Program::new(&[&section, &section, &section]);
        let all = program.run_all(&mut Dfs::new(None), 100_000).len();
        let tried = program.run_all(&mut Period::new(30), 100_000);
        let orders: std::collections::BTreeSet<_> = tried.iter().map(|r| &r.order).collect();
        assert_eq!((orders.len(), tried.len()), (all, all));
    }
}
