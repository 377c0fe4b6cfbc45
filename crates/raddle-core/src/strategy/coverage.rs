//! How fast other strategies cover memory-access patterns.

use super::{Choice, Finished, Random, Strategy, View, by_name};
use crate::event::Event;
use crate::outcome::Outcome;
use crate::pattern::{FullMatcher, InstanceSet, Matcher};

/// Not a search of its own but a measurement, as in the HARS paper's RQ4: after a long random walk, which estimates
/// how many pattern instances there are, each of some strategies starts from nothing and makes so many traces, once
/// per seed, and the instances in its traces so far are counted after each. Only complete traces count.
///
/// The walk comes first so that all strategies find the same scheduling points. Unlike the paper's walk it does not
/// last two hours, so instances that only the others came to are added to the estimate.
///
/// [`notes`](Strategy::notes) are the number of instances in the walk, that in all traces, and then for each strategy and seed
/// the counts after each of its traces. A strategy that has nothing left to try keeps its last count.
#[derive(Debug)]
pub struct Coverage {
    plan: Plan,
    seed: u64,
    /// The strategies that are still to come, the last one first.
    left: Vec<(String, u64)>,
    current: Box<dyn Strategy>,
    matcher: FullMatcher,
    all: InstanceSet,
    walk: Option<u64>,
    /// Complete traces of the current strategy.
    traces: u64,
    counts: Vec<f64>,
}

/// What is measured.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Plan {
    /// Traces of the random walk.
    pub walk: u64,
    /// Traces of each strategy.
    pub traces: u64,
    /// How often each strategy is started.
    pub seeds: u64,
    /// Their names.
    pub strategies: Vec<String>,
}

impl Plan {
    /// Reads `WALK,TRACES,SEEDS,NAME,NAME,...`.
    pub fn parse(text: &str) -> Option<Self> {
        let mut words = text.split(',');
        let mut number = || words.next()?.parse::<u64>().ok().filter(|&n| n > 0);
        let (walk, traces, seeds) = (number()?, number()?, number()?);
        let strategies: Vec<String> = words.map(str::to_owned).collect();
        let known = !strategies.is_empty() && strategies.iter().all(|s| by_name(s, 0).is_ok());
        known.then_some(Plan { walk, traces, seeds, strategies })
    }
}

impl Coverage {
    /// From a seed.
    pub fn new(seed: u64, plan: Plan) -> Self {
        let each = plan.strategies.iter().flat_map(|s| (0..plan.seeds).map(move |n| (s.clone(), n)));
        let left: Vec<(String, u64)> = each.collect();
        Coverage {
            seed,
            left: left.into_iter().rev().collect(),
            current: Box::new(Random::new(seed)),
            matcher: FullMatcher::new(),
            all: InstanceSet::default(),
            walk: None,
            traces: 0,
            counts: Vec::new(),
            plan,
        }
    }

    /// The current strategy has done its part; `false` when it was the last.
    fn next(&mut self) -> bool {
        let found = self.matcher.found();
        self.all.merge(found);
        match self.walk {
            None => self.walk = Some(found.len()),
            Some(_) => {
                let last = self.counts.last().copied().filter(|_| self.traces > 0).unwrap_or(0.0);
                self.counts.extend((self.traces..self.plan.traces).map(|_| last));
            }
        }
        let Some((name, n)) = self.left.pop() else { return false };
        self.current = by_name(&name, self.seed + n).expect("names were checked");
        self.matcher = FullMatcher::new();
        self.traces = 0;
        true
    }

    fn wanted(&self) -> u64 {
        if self.walk.is_none() { self.plan.walk } else { self.plan.traces }
    }
}

impl Strategy for Coverage {
    fn begin(&mut self) -> bool {
        while self.traces >= self.wanted() || !self.current.begin() {
            if !self.next() {
                return false;
            }
        }
        true
    }

    fn choose(&mut self, view: &View<'_>) -> Choice {
        self.current.choose(view)
    }

    fn listens(&self) -> bool {
        true
    }

    fn happened(&mut self, event: &Event) {
        self.current.happened(event);
    }

    fn every_step(&self) -> bool {
        self.current.every_step()
    }

    fn stuck(&mut self, pending: &[Event]) {
        self.current.stuck(pending);
    }

    fn end(&mut self, run: &Finished<'_>) {
        self.current.end(run);
        if *run.outcome == Outcome::Abandoned {
            return;
        }
        self.matcher.begin();
        for e in &run.trace.events {
            self.matcher.count(e, &run.trace.vars);
        }
        self.traces += 1;
        if self.walk.is_some() {
            self.counts.push(self.matcher.found().len() as f64);
        }
    }

    fn notes(&self) -> Vec<f64> {
        let mut notes = vec![self.walk.unwrap_or(0) as f64, self.all.len() as f64];
        notes.extend(&self.counts);
        notes
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{Do, Program};
    use super::*;

    #[test]
    fn the_counts_of_each_strategy_start_from_nothing_and_never_fall() {
        let program = Program::same_code(2, &[Do::Read(0), Do::Write(0)]);
        let plan = Plan::parse("200,8,2,random,hars").unwrap();
        let mut s = Coverage::new(1, plan);
        while program.run(&mut s).is_some() {}
        let notes = s.notes();
        assert_eq!(notes.len(), 2 + 4 * 8);
        // R W R W: read-write, write-read and write-write; R R W W and its mirror add R W W with the same site twice.
        assert_eq!((notes[0], notes[1]), (4.0, 4.0));
        for curve in notes[2..].chunks(8) {
            assert!(curve[0] < 4.0, "{curve:?}");
            assert!(curve.windows(2).all(|w| w[0] <= w[1]), "{curve:?}");
        }
        assert_eq!(notes.last(), Some(&4.0), "hars sees all");
    }

    #[test]
    fn a_plan_needs_numbers_and_names() {
        let good = Plan::parse("10,5,1,random,pct:2").unwrap();
        assert_eq!((good.walk, good.traces, good.seeds, good.strategies.len()), (10, 5, 1, 2));
        for bad in ["", "10,5,1", "10,5,1,x", "0,5,1,random", "a,5,1,random"] {
            assert_eq!(Plan::parse(bad), None, "{bad}");
        }
    }
}
