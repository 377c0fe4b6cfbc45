//! Reads-from fuzzing.

use super::pos::Priorities;
use super::{Choice, Finished, Strategy, View};
use crate::event::{Event, Op, SiteId, VarId};
use crate::outcome::Outcome;
use crate::trace::{NameId, Trace};
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64Mcg;
use std::collections::{BTreeMap, BTreeSet};

/// Times that one choice of a schedule can be mutated at most.
const MOST_ENERGY: u64 = 16;

/// RFF (Wolff et al., "Greybox Fuzzing for Concurrency Testing", ASPLOS 2024): a fuzzer whose inputs are abstract
/// schedules, sets of constraints on which write a read reads from or does not read from. A schedule that led to
/// a new pair of write and read is kept and mutated; one whose combination of pairs is more frequent than the
/// average is passed over, any other is mutated more often each time it is chosen. Within an execution,
/// steps that work towards a constraint come first, steps that work against it last, and
/// [`Pos`](super::Pos) decides between equals; constraints are wishes, they are not always met.
///
/// Follows the paper where the authors' code differs (all four mutations, with equal chances; a new constraint is
/// positive or negative with equal chances). Deviations: a swap replaces a constraint by a new one; the factor
/// alpha of the energy is 1; when every schedule has been passed over, the average is taken to be one higher
/// until one is chosen, as in the code.
#[derive(Debug)]
pub struct Rff {
    rng: Pcg64Mcg,
    priorities: Priorities,
    /// What the execution under way is to satisfy.
    current: Vec<Constraint>,
    /// By constraint of `current`: it was met, or for a negative one, violated.
    settled: Vec<bool>,
    /// Who last wrote each variable of the execution.
    last_write: BTreeMap<VarId, Step>,
    /// Events accounted for.
    seen: usize,
    corpus: Vec<Entry>,
    /// The entry being mutated, and how often it still is.
    at: usize,
    energy: u64,
    /// Pairs seen in any execution.
    pairs: BTreeSet<Pair>,
    /// How often each combination of pairs occurred, by its hash.
    frequency: BTreeMap<u64, u64>,
    executions: u64,
    reads: BTreeSet<Step>,
    writes: BTreeMap<NameId, BTreeSet<Step>>,
    /// Runs the same constraints again and again.
    fixed: bool,
}

/// A read or write, without its thread.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
struct Step {
    name: NameId,
    site: SiteId,
}

/// A read and what it read from; `None` is the initial value.
type Pair = (Option<Step>, Step);

/// `read` is to read from `write`, or is not to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Constraint {
    write: Step,
    read: Step,
    positive: bool,
}

#[derive(Debug)]
struct Entry {
    schedule: Vec<Constraint>,
    /// The hash of the combination of pairs of the execution that brought it here.
    combination: u64,
    /// Times chosen since last passed over.
    chosen: u32,
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Rank {
    Avoid,
    Neutral,
    Take,
}

impl Rff {
    /// From a seed.
    pub fn new(seed: u64) -> Self {
        Rff {
            rng: Pcg64Mcg::seed_from_u64(seed),
            priorities: Priorities::new(true),
            current: Vec::new(),
            settled: Vec::new(),
            last_write: BTreeMap::new(),
            seen: 0,
            corpus: Vec::new(),
            at: 0,
            energy: 0,
            pairs: BTreeSet::new(),
            frequency: BTreeMap::new(),
            executions: 0,
            reads: BTreeSet::new(),
            writes: BTreeMap::new(),
            fixed: false,
        }
    }

    /// Draws from another seed from now on, and forgets what the last execution was to satisfy.
    pub(super) fn draw_anew(&mut self, seed: u64) {
        self.rng = Pcg64Mcg::seed_from_u64(seed);
        self.current.clear();
    }

    /// Begins an execution that mutates any entry of the corpus, each with the same chance, and leaves alone what is noted about
    /// the entries.
    pub(super) fn begin_with_any(&mut self) {
        if !self.corpus.is_empty() {
            let at = self.rng.random_range(0..self.corpus.len());
            let mut schedule = self.corpus[at].schedule.clone();
            self.mutate(&mut schedule);
            self.current = schedule;
        }
        self.begin_execution();
    }

    fn begin_execution(&mut self) {
        self.settled.clear();
        self.settled.resize(self.current.len(), false);
        self.last_write.clear();
        self.seen = 0;
        self.priorities.clear();
    }

    /// Chooses the next entry of the corpus and how often it is mutated.
    fn select(&mut self) {
        let mut extra = 0;
        let mut passed_over = 0;
        loop {
            self.at = (self.at + 1) % self.corpus.len();
            let entry = &mut self.corpus[self.at];
            let combinations = self.frequency.len() as u64;
            let frequency = self.frequency.get(&entry.combination).copied().unwrap_or(0);
            if frequency * combinations > self.executions + extra * combinations {
                entry.chosen = 0;
                passed_over += 1;
                if passed_over == self.corpus.len() {
                    passed_over = 0;
                    extra += 1;
                }
            } else {
                self.energy = (1 << entry.chosen.min(8)).min(MOST_ENERGY);
                entry.chosen += 1;
                return;
            }
        }
    }

    fn mutate(&mut self, schedule: &mut Vec<Constraint>) {
        let which = if schedule.is_empty() { 0 } else { self.rng.random_range(0..4) };
        let at = if schedule.is_empty() { 0 } else { self.rng.random_range(0..schedule.len()) };
        match which {
            0 => schedule.extend(self.constraint()),
            1 => {
                if let Some(c) = self.constraint() {
                    schedule[at] = c;
                }
            }
            2 => drop(schedule.remove(at)),
            _ => schedule[at].positive ^= true,
        }
    }

    /// A random constraint between a read and a write of the same variable.
    fn constraint(&mut self) -> Option<Constraint> {
        let reads: Vec<&Step> = self.reads.iter().filter(|r| self.writes.contains_key(&r.name)).collect();
        if reads.is_empty() {
            return None;
        }
        let read = *reads[self.rng.random_range(0..reads.len())];
        let writes = &self.writes[&read.name];
        let write = *writes.iter().nth(self.rng.random_range(0..writes.len()))?;
        Some(Constraint { write, read, positive: self.rng.random() })
    }

    fn catch_up(&mut self, view: &View<'_>) {
        for e in &view.events[self.seen..] {
            let Some((var, step)) = step_of(e, view.vars) else { continue };
            if reads(e) {
                let from = self.last_write.get(&var);
                for (c, settled) in self.current.iter().zip(&mut self.settled) {
                    *settled |= c.read == step && from == Some(&c.write);
                }
            }
            if e.is_write() {
                self.last_write.insert(var, step);
            }
        }
        self.seen = view.events.len();
    }

    /// How a step stands to all constraints together: one that works against any of them is avoided.
    fn rank(&self, e: &Event, view: &View<'_>) -> Rank {
        let Some((var, step)) = step_of(e, view.vars) else { return Rank::Neutral };
        let last = self.last_write.get(&var).copied();
        let mut rank = Rank::Neutral;
        for (c, &settled) in self.current.iter().zip(&self.settled) {
            if c.read.name != step.name || settled && c.positive {
                continue;
            }
            let is_read = reads(e) && step == c.read;
            let is_write = e.is_write() && step == c.write;
            let after = last == Some(c.write);
            let opinion = if is_read {
                if c.positive == after { Rank::Take } else { Rank::Avoid }
            } else if is_write && !after {
                let awaited =
                    || view.enabled.iter().any(|r| reads(r) && step_of(r, view.vars) == Some((var, c.read)));
                match c.positive {
                    true if awaited() => Rank::Take,
                    true => Rank::Neutral,
                    false => Rank::Avoid,
                }
            } else if e.is_write() && !is_write && after {
                if c.positive { Rank::Avoid } else { Rank::Take }
            } else {
                Rank::Neutral
            };
            match opinion {
                Rank::Avoid => return Rank::Avoid,
                Rank::Take => rank = Rank::Take,
                Rank::Neutral => {}
            }
        }
        rank
    }
}

impl Strategy for Rff {
    fn begin(&mut self) -> bool {
        if !self.fixed && !self.corpus.is_empty() {
            if self.energy == 0 {
                self.select();
            }
            self.energy -= 1;
            let mut schedule = self.corpus[self.at].schedule.clone();
            self.mutate(&mut schedule);
            self.current = schedule;
        }
        self.begin_execution();
        true
    }

    fn choose(&mut self, view: &View<'_>) -> Choice {
        self.catch_up(view);
        self.priorities.draw(view.enabled, &mut self.rng);
        let key = |&i: &usize| {
            let e = &view.enabled[i];
            (self.rank(e, view), self.priorities.of(e))
        };
        let best = (0..view.enabled.len()).max_by_key(key).expect("at least one thread is enabled");
        self.priorities.executed(&view.enabled[best]);
        Choice::Run(best)
    }

    fn listens(&self) -> bool {
        true
    }

    fn happened(&mut self, event: &Event) {
        self.priorities.executed(event);
    }

    fn end(&mut self, run: &Finished<'_>) {
        if *run.outcome == Outcome::Abandoned {
            return;
        }
        self.executions += 1;
        for e in &run.trace.events {
            let Some((_, step)) = step_of(e, &run.trace.vars) else { continue };
            if reads(e) {
                self.reads.insert(step);
            }
            if e.is_write() {
                self.writes.entry(step.name).or_default().insert(step);
            }
        }
        let pairs = pairs_of(run.trace);
        let new = pairs.difference(&self.pairs).next().is_some();
        let combination = hash(&pairs);
        self.pairs.extend(pairs);
        *self.frequency.entry(combination).or_insert(0) += 1;
        if new || *run.outcome != Outcome::Passed || self.corpus.is_empty() {
            self.corpus.push(Entry { schedule: self.current.clone(), combination, chosen: 0 });
        }
    }
}

/// What each read of a trace read from.
fn pairs_of(trace: &Trace) -> BTreeSet<Pair> {
    let mut last_write: BTreeMap<VarId, Step> = BTreeMap::new();
    let mut pairs = BTreeSet::new();
    for e in &trace.events {
        let Some((var, step)) = step_of(e, &trace.vars) else { continue };
        if reads(e) {
            pairs.insert((last_write.get(&var).copied(), step));
        }
        if e.is_write() {
            last_write.insert(var, step);
        }
    }
    pairs
}

/// A hash of a combination that does not change from process to process; two in a few thousand do not collide.
fn hash(pairs: &BTreeSet<Pair>) -> u64 {
    let step = |s: &Step| 1 + (u64::from(s.name.0) << 32 | u64::from(s.site.0));
    pairs.iter().flat_map(|(w, r)| [w.as_ref().map_or(0, step), step(r)]).fold(0, |h: u64, n| {
        let h = (h ^ n).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        h ^ (h >> 29)
    })
}

fn step_of(e: &Event, vars: &[NameId]) -> Option<(VarId, Step)> {
    e.access().map(|a| (a.var, Step { name: vars[a.var.0 as usize], site: e.site }))
}

fn reads(e: &Event) -> bool {
    matches!(e.op, Op::Read(_) | Op::Rmw(_))
}

#[cfg(test)]
mod tests {
    use super::super::Random;
    use super::super::testing::{Do, Program};
    use super::*;

    fn step(site: u32) -> Step {
        Step { name: NameId(0), site: SiteId(site) }
    }

    /// Three threads write variable 0 among private steps, a fourth reads it twice.
    fn program() -> Program {
        const P: Do = Do::Write(1);
        let (w, r) = (Do::Write(0), Do::Read(0));
        Program::new(&[&[P, P, w, P], &[w, Do::Write(2)], &[P, w, P, P, P], &[r, P, P, P, r]])
    }

    #[test]
    fn a_constraint_is_always_met_when_it_can_be() {
        for write in [2, 100, 201] {
            for read in [300, 304] {
                for positive in [true, false] {
                    let mut s = Rff::new(7);
                    s.fixed = true;
                    s.current = vec![Constraint { write: step(write), read: step(read), positive }];
                    for _ in 0..100 {
                        let run = program().run(&mut s).unwrap();
                        let met = pairs_of(&run.trace).contains(&(Some(step(write)), step(read)));
                        assert_eq!(met, positive, "{write} to {read}");
                    }
                }
            }
        }
    }

    #[test]
    fn several_constraints_are_met_together() {
        let mut s = Rff::new(3);
        s.fixed = true;
        let constraint =
            |write, read, positive| Constraint { write: step(write), read: step(read), positive };
        s.current = vec![constraint(100, 300, true), constraint(201, 304, true), constraint(2, 300, false)];
        let met = (0..200)
            .filter(|_| {
                let pairs = pairs_of(&program().run(&mut s).unwrap().trace);
                pairs.contains(&(Some(step(100)), step(300))) && pairs.contains(&(Some(step(201)), step(304)))
            })
            .count();
        assert!(met >= 150, "{met} of 200");
    }

    #[test]
    fn the_fuzzer_sees_more_combinations_than_chance() {
        let mut fuzzer = Rff::new(1);
        let mut random = Random::new(1);
        let combinations = |s: &mut dyn Strategy| {
            let all: BTreeSet<_> = (0..60).map(|_| pairs_of(&program().run(s).unwrap().trace)).collect();
            all.len()
        };
        let (fuzzed, by_chance) = (combinations(&mut fuzzer), combinations(&mut random));
        assert!(fuzzed >= by_chance, "{fuzzed} against {by_chance}");
        assert_eq!(fuzzer.executions, 60);
        assert!(fuzzer.corpus.len() > 1);
    }
}
