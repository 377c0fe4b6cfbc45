//! Selectively uniform random walk.

use super::pos::Priorities;
use super::{Choice, Finished, Strategy, View};
use crate::event::{Event, Op, ThreadId};
use crate::outcome::Outcome;
use crate::trace::{NameId, Trace};
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64Mcg;
use std::collections::{BTreeMap, BTreeSet};

/// SURW (Zhao et al., "Selectively Uniform Concurrency Testing", ASPLOS 2025): per execution one shared variable
/// is interesting, drawn by how often a profiling execution accessed it. The thread that makes the next
/// interesting access is drawn in proportion to the interesting accesses that each thread still has to make,
/// which makes the orders of these accesses equally likely when nothing blocks; other steps run by random
/// priority. A parent's share includes that of the threads it has yet to create.
///
/// Deviations. The profile is the first completed execution, and again any in which new scheduling points were
/// learned. A variable is known by its stable name, so variables that share a name are interesting together.
/// As in the authors' code: a variable must be touched by half of the threads, at least two, and written (where
/// there is none, two threads suffice); the draw is among the enabled threads, made when the first of them
/// comes to an interesting access; one that has none left by the profile but comes to one counts as one; when
/// all enabled threads are held back, all are let go and the draw is repeated.
#[derive(Debug)]
pub struct Surw {
    rng: Pcg64Mcg,
    /// Acquisitions of locks instead of data accesses are interesting.
    locks: bool,
    profile: Option<Profile>,
    target: Option<NameId>,
    /// Interesting accesses that a thread and its uncreated descendants still have to make.
    weights: BTreeMap<ThreadId, u64>,
    /// Who makes the next interesting access, once drawn.
    next: Option<ThreadId>,
    /// Threads at an interesting access that is not their turn; empty while `next` is not drawn.
    held: BTreeSet<ThreadId>,
    priorities: Priorities,
    /// Events accounted for.
    seen: usize,
}

/// What one execution accessed.
#[derive(Debug, Default)]
struct Profile {
    /// The variables to choose from, and how often each was accessed.
    variables: Vec<(NameId, u64)>,
    counts: BTreeMap<(NameId, ThreadId), u64>,
    parents: BTreeMap<ThreadId, ThreadId>,
}

impl Surw {
    /// From a seed, for accesses to variables.
    pub fn new(seed: u64) -> Self {
        Surw {
            rng: Pcg64Mcg::seed_from_u64(seed),
            locks: false,
            profile: None,
            target: None,
            weights: BTreeMap::new(),
            next: None,
            held: BTreeSet::new(),
            priorities: Priorities::new(false),
            seen: 0,
        }
    }

    /// From a seed, for acquisitions of locks: what the authors advise for programs that lock everything.
    pub fn for_locks(seed: u64) -> Self {
        Surw { locks: true, ..Self::new(seed) }
    }

    /// Draws from another seed from now on.
    pub(super) fn draw_anew(&mut self, seed: u64) {
        self.rng = Pcg64Mcg::seed_from_u64(seed);
    }

    fn is_interesting(&self, event: &Event, vars: &[NameId]) -> bool {
        match (self.target, object(self.locks, event)) {
            (Some(target), Some(v)) => vars[v] == target,
            _ => false,
        }
    }

    fn weight(&self, thread: ThreadId) -> u64 {
        self.weights.get(&thread).copied().unwrap_or(0)
    }

    fn catch_up(&mut self, view: &View<'_>) {
        for e in &view.events[self.seen..] {
            if let Op::Spawn(child) = e.op {
                let (whole, part) = (self.weight(e.thread), self.weight(child));
                if self.next == Some(e.thread) && part > 0 && self.rng.random_range(0..whole.max(part)) < part
                {
                    self.next = Some(child);
                }
                self.weights.insert(e.thread, whole.saturating_sub(part));
            } else if self.is_interesting(e, view.vars) {
                let left = self.weight(e.thread).saturating_sub(1);
                self.weights.insert(e.thread, left);
                self.next = None;
                self.held.clear();
            }
        }
        self.seen = view.events.len();
    }

    /// Draws who makes the next interesting access; one of the enabled threads is about to make one.
    fn draw(&mut self, view: &View<'_>) -> ThreadId {
        let weight = |e: &Event| self.weight(e.thread).max(u64::from(self.is_interesting(e, view.vars)));
        let weights: Vec<u64> = view.enabled.iter().map(weight).collect();
        let mut at = self.rng.random_range(0..weights.iter().sum::<u64>());
        let drawn = weights.iter().position(|&w| {
            let here = at < w;
            at = at.wrapping_sub(w);
            here
        });
        view.enabled[drawn.expect("below the sum")].thread
    }
}

impl Strategy for Surw {
    fn begin(&mut self) -> bool {
        self.weights.clear();
        self.next = None;
        self.held.clear();
        self.priorities.clear();
        self.seen = 0;
        self.target = None;
        let Some(profile) = &self.profile else { return true };
        let total: u64 = profile.variables.iter().map(|v| v.1).sum();
        if total == 0 {
            return true;
        }
        let mut at = self.rng.random_range(0..total);
        for &(name, count) in &profile.variables {
            if at < count {
                self.target = Some(name);
                break;
            }
            at -= count;
        }
        for (&(name, thread), &count) in &profile.counts {
            if Some(name) == self.target {
                let mut up = Some(thread);
                while let Some(t) = up {
                    *self.weights.entry(t).or_insert(0) += count;
                    up = profile.parents.get(&t).copied();
                }
            }
        }
        true
    }

    fn choose(&mut self, view: &View<'_>) -> Choice {
        self.catch_up(view);
        self.priorities.draw(view.enabled, &mut self.rng);
        loop {
            let free = (0..view.enabled.len()).filter(|&i| !self.held.contains(&view.enabled[i].thread));
            let Some(i) = free.max_by_key(|&i| self.priorities.of(&view.enabled[i])) else {
                self.held.clear();
                self.next = Some(self.draw(view));
                continue;
            };
            let e = &view.enabled[i];
            if self.is_interesting(e, view.vars) {
                let next = match self.next {
                    Some(t) => t,
                    None => {
                        let drawn = self.draw(view);
                        self.next = Some(drawn);
                        drawn
                    }
                };
                if next != e.thread {
                    self.held.insert(e.thread);
                    continue;
                }
            }
            self.priorities.executed(e);
            return Choice::Run(i);
        }
    }

    fn listens(&self) -> bool {
        true
    }

    fn happened(&mut self, event: &Event) {
        self.priorities.executed(event);
    }

    fn end(&mut self, run: &Finished<'_>) {
        if *run.outcome != Outcome::Abandoned && (self.profile.is_none() || run.learned) {
            self.profile = Some(Profile::of(run.trace, self.locks));
        }
    }
}

impl Profile {
    fn of(trace: &Trace, locks: bool) -> Self {
        let mut profile = Profile::default();
        let mut threads = BTreeSet::new();
        let mut changed = BTreeSet::new();
        for e in &trace.events {
            threads.insert(e.thread);
            if let Op::Spawn(child) = e.op {
                profile.parents.insert(child, e.thread);
            }
            if let Some(v) = object(locks, e) {
                *profile.counts.entry((trace.vars[v], e.thread)).or_insert(0) += 1;
                if locks || e.is_write() {
                    changed.insert(trace.vars[v]);
                }
            }
        }
        let mut totals: BTreeMap<NameId, (u64, usize)> = BTreeMap::new();
        for (&(name, _), &count) in &profile.counts {
            let total = totals.entry(name).or_insert((0, 0));
            *total = (total.0 + count, total.1 + 1);
        }
        let touched_by = |least: usize| -> Vec<(NameId, u64)> {
            let shared = totals.iter().filter(|(n, t)| t.1 >= least && changed.contains(n));
            shared.map(|(&n, t)| (n, t.0)).collect()
        };
        profile.variables = touched_by(2.max(threads.len() / 2));
        if profile.variables.is_empty() {
            profile.variables = touched_by(2);
        }
        profile
    }
}

/// The variable or lock of an event that could be interesting.
fn object(locks: bool, event: &Event) -> Option<usize> {
    match event.op {
        Op::Acquire { lock, .. } | Op::TryAcquire { lock, .. } if locks => Some(lock.0 as usize),
        _ if locks => None,
        _ => event.access().map(|a| a.var.0 as usize),
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{Do, Program};
    use super::*;
    use statrs::distribution::{ChiSquared, ContinuousCDF};

    /// The p-value of the hypothesis that all `orders` orders of the accesses to variable 0 are equally likely.
    fn p_value(program: &Program, mut s: Surw, orders: usize, runs: usize) -> f64 {
        program.run(&mut s).unwrap();
        let mut counts: BTreeMap<Vec<u32>, usize> = BTreeMap::new();
        for _ in 0..runs {
            let run = program.run(&mut s).unwrap();
            assert_eq!(s.target, Some(NameId(0)));
            let events = run.trace.events.iter().filter(|e| object(s.locks, e) == Some(0));
            *counts.entry(events.map(|e| e.thread.0).collect()).or_insert(0) += 1;
        }
        assert_eq!(counts.len(), orders);
        let expected = runs as f64 / orders as f64;
        let x: f64 = counts.values().map(|&c| (c as f64 - expected).powi(2) / expected).sum();
        1.0 - ChiSquared::new(orders as f64 - 1.0).unwrap().cdf(x)
    }

    const X: Do = Do::Write(0);
    /// Only one thread touches these.
    const P: Do = Do::Write(1);
    const Q: Do = Do::Write(2);

    #[test]
    fn the_orders_of_the_chosen_variable_are_uniform_whatever_lies_between() {
        let program = Program::new(&[&[P, P, X, X, P, P, P, X], &[X, Q, X, X]]);
        let p = p_value(&program, Surw::new(11), 20, 10_000);
        assert!(p > 0.001, "p = {p}");
        let three = Program::new(&[&[P, X, P, P, X], &[X, X], &[X, Q, Q, Q, Q, X]]);
        let p = p_value(&three, Surw::new(12), 90, 18_000);
        assert!(p > 0.001, "p = {p}");
    }

    #[test]
    fn the_orders_of_acquisitions_are_uniform() {
        const SECTION: [Do; 3] = [Do::Lock(0), Do::Write(1), Do::Unlock(0)];
        let program = Program::new(&[&[SECTION, SECTION].concat(), &[SECTION, SECTION].concat()]);
        let p = p_value(&program, Surw::for_locks(13), 6, 6_000);
        assert!(p > 0.001, "p = {p}");
    }

    #[test]
    fn a_parents_share_passes_to_the_thread_it_creates() {
        let mut s = Surw::new(1);
        let spawn = Event::new(0, 0, Op::Spawn(ThreadId(1)));
        let events = [spawn, Event::write(1, 1, 0), Event::write(1, 2, 0), Event::write(0, 3, 0)];
        let trace = Trace::from_events(events);
        s.begin();
        s.end(&Finished { trace: &trace, outcome: &Outcome::Passed, learned: false });
        s.begin();
        assert_eq!((s.weight(ThreadId(0)), s.weight(ThreadId(1))), (3, 2));
        let enabled = [Event::write(0, 3, 0), Event::write(1, 1, 0)];
        let view = View {
            enabled: &enabled,
            last: ThreadId(0),
            events: &events[..1],
            vars: &trace.vars,
            decision: 0,
        };
        s.choose(&view);
        assert_eq!((s.weight(ThreadId(0)), s.weight(ThreadId(1))), (1, 2));
    }
}
