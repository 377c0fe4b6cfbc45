//! Covering synchronisation pairs.

use super::{Choice, Finished, Strategy, View};
use crate::event::{Event, Op, SiteId, ThreadId, VarId};
use crate::outcome::Outcome;
use crate::trace::{NameId, Trace};
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64Mcg;
use std::collections::{BTreeMap, BTreeSet};

/// Random executions from which the first targets are estimated.
const ESTIMATION: u64 = 3;

/// TSA (Hong et al., "Testing Concurrent Programs to Achieve High Synchronization Coverage", ISSTA 2012): a
/// synchronisation pair is two places where a lock is taken, by different threads, one directly after the other.
/// A few random executions tell which pairs are possible: two acquisitions of one lock by different threads that
/// neither the creation and joining of threads nor a lock held at both of them orders. Then, where threads are
/// about to take locks: one that covers a missing pair goes first; else one after which a waiting thread can
/// cover one; else the one that uses up the fewest missing pairs. Equals are chosen at random. The search ends
/// when executions bring nothing new any more.
///
/// Deviations: all executions add to what is possible, not only the first; a step that takes no lock uses up
/// nothing, so threads run up to their acquisitions before one of these is decided; a lock is known by its
/// stable name; the number of executions without a new pair after which the search ends is a parameter.
#[derive(Debug)]
pub struct Tsa {
    rng: Pcg64Mcg,
    /// Executions without a new pair after which the search ends.
    patience: u32,
    idle: u32,
    executions: u64,
    possible: BTreeSet<Pair>,
    covered: BTreeSet<Pair>,
    /// By lock: who took it last, and where.
    last: BTreeMap<VarId, (ThreadId, SiteId)>,
    /// Events accounted for.
    seen: usize,
}

/// A lock, and two places where it is taken, in this order.
type Pair = (NameId, SiteId, SiteId);

impl Tsa {
    /// From a seed; ends after so many executions without a new pair.
    pub fn new(seed: u64, patience: u32) -> Self {
        Tsa {
            rng: Pcg64Mcg::seed_from_u64(seed),
            patience,
            idle: 0,
            executions: 0,
            possible: BTreeSet::new(),
            covered: BTreeSet::new(),
            last: BTreeMap::new(),
            seen: 0,
        }
    }

    /// Pairs covered so far.
    pub fn covered(&self) -> usize {
        self.covered.len()
    }

    fn catch_up(&mut self, events: &[Event], vars: &[NameId]) {
        for e in &events[self.seen..] {
            if let Op::Acquire { lock, .. } = e.op {
                if let Some(pair) = self.closes(e, lock, vars) {
                    self.covered.insert(pair);
                }
                self.last.insert(lock, (e.thread, e.site));
            }
        }
        self.seen = events.len();
    }

    /// The pair that an acquisition completes.
    fn closes(&self, e: &Event, lock: VarId, vars: &[NameId]) -> Option<Pair> {
        let &(thread, site) = self.last.get(&lock)?;
        (thread != e.thread).then(|| (vars[lock.0 as usize], site, e.site))
    }

    fn is_missing(&self, pair: &Pair) -> bool {
        self.possible.contains(pair) && !self.covered.contains(pair)
    }

    /// How urgent a step is; the highest goes first.
    fn urgency(&self, e: &Event, view: &View<'_>) -> i64 {
        let Some(lock) = acquires(e) else { return 0 };
        let name = view.vars[lock.0 as usize];
        if self.closes(e, lock, view.vars).is_some_and(|p| self.is_missing(&p)) {
            return 2;
        }
        let enables = |w: &Event| {
            w.thread != e.thread && acquires(w) == Some(lock) && self.is_missing(&(name, e.site, w.site))
        };
        if view.enabled.iter().any(enables) {
            return 1;
        }
        let uses_up = self.possible.iter().filter(|p| p.0 == name && (p.1 == e.site || p.2 == e.site));
        -1 - uses_up.filter(|p| !self.covered.contains(p)).count() as i64
    }
}

impl Strategy for Tsa {
    fn begin(&mut self) -> bool {
        self.last.clear();
        self.seen = 0;
        self.idle < self.patience
    }

    fn choose(&mut self, view: &View<'_>) -> Choice {
        self.catch_up(view.events, view.vars);
        if self.executions < ESTIMATION {
            return Choice::Run(self.rng.random_range(0..view.enabled.len()));
        }
        let urgency: Vec<i64> = view.enabled.iter().map(|e| self.urgency(e, view)).collect();
        let highest = urgency.iter().max();
        let equals: Vec<usize> = (0..urgency.len()).filter(|&i| Some(&urgency[i]) == highest).collect();
        Choice::Run(equals[self.rng.random_range(0..equals.len())])
    }

    fn end(&mut self, run: &Finished<'_>) {
        let before = (self.covered.len(), self.possible.len());
        self.catch_up(&run.trace.events, &run.trace.vars);
        estimate(run.trace, &mut self.possible);
        let new = before != (self.covered.len(), self.possible.len()) || run.learned;
        self.idle = if new { 0 } else { self.idle + 1 };
        self.executions += u64::from(*run.outcome != Outcome::Abandoned);
    }
}

fn acquires(e: &Event) -> Option<VarId> {
    match e.op {
        Op::Acquire { lock, .. } | Op::TryAcquire { lock, .. } => Some(lock),
        _ => None,
    }
}

/// An acquisition of a trace.
struct Taken {
    thread: ThreadId,
    site: SiteId,
    /// Locks held besides.
    held: Vec<VarId>,
    /// By thread, how many of its acquisitions come before because of creation and joining.
    after: BTreeMap<ThreadId, u32>,
    number: u32,
}

/// Adds the pairs that are possible by one trace.
fn estimate(trace: &Trace, possible: &mut BTreeSet<Pair>) {
    let mut held: BTreeMap<ThreadId, Vec<VarId>> = BTreeMap::new();
    let mut clocks: BTreeMap<ThreadId, BTreeMap<ThreadId, u32>> = BTreeMap::new();
    let mut taken: BTreeMap<VarId, Vec<Taken>> = BTreeMap::new();
    for e in &trace.events {
        match e.op {
            Op::Spawn(other) | Op::Join(other) => {
                let spawned = matches!(e.op, Op::Spawn(_));
                let (from, to) = if spawned { (e.thread, other) } else { (other, e.thread) };
                let clock = clocks.get(&from).cloned().unwrap_or_default();
                let mine = clocks.entry(to).or_default();
                for (t, n) in clock {
                    let m = mine.entry(t).or_insert(0);
                    *m = n.max(*m);
                }
            }
            Op::Acquire { lock, .. } => {
                let clock = clocks.entry(e.thread).or_default();
                let after = clock.clone();
                let number = clock.entry(e.thread).or_insert(0);
                *number += 1;
                let locks = held.entry(e.thread).or_default();
                let t = Taken { thread: e.thread, site: e.site, held: locks.clone(), after, number: *number };
                locks.push(lock);
                taken.entry(lock).or_default().push(t);
            }
            Op::Release { lock, .. } => {
                let locks = held.entry(e.thread).or_default();
                if let Some(i) = locks.iter().rposition(|l| *l == lock) {
                    locks.remove(i);
                }
            }
            _ => {}
        }
    }
    for (lock, all) in &taken {
        let name = trace.vars[lock.0 as usize];
        for (i, a) in all.iter().enumerate() {
            for b in &all[i + 1..] {
                let ordered = b.after.get(&a.thread).is_some_and(|&n| n >= a.number);
                let guarded = a.held.iter().any(|l| b.held.contains(l));
                if a.thread == b.thread || guarded {
                    continue;
                }
                possible.insert((name, a.site, b.site));
                if !ordered {
                    possible.insert((name, b.site, a.site));
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{Do, Program};
    use super::super::{Dfs, Random};
    use super::*;

    fn pairs_of(trace: &Trace) -> BTreeSet<Pair> {
        let mut s = Tsa::new(0, 1);
        s.catch_up(&trace.events, &trace.vars);
        s.covered
    }

    /// The pairs that some execution covers.
    fn coverable(program: &Program) -> BTreeSet<Pair> {
        let all = program.run_all(&mut Dfs::new(None), 1_000_000);
        all.iter().flat_map(|r| pairs_of(&r.trace)).collect()
    }

    #[test]
    fn all_pairs_of_a_small_lock_program_are_covered() {
        const S: [Do; 2] = [Do::Lock(0), Do::Unlock(0)];
        let mut program = Program::new(&[&[S, S, S].concat(), &[S, S].concat(), &S]);
        program.silent_unlock = true;
        let expected = coverable(&program);
        assert_eq!(expected.len(), 2 * (3 * 2 + 3 + 2), "every two acquisitions of different threads");
        for seed in 0..10 {
            let mut s = Tsa::new(seed, 20);
            let runs = program.run_all(&mut s, 1_000).len();
            assert_eq!(s.covered, expected, "seed {seed} after {runs} executions");
        }
    }

    #[test]
    fn it_covers_them_in_fewer_executions_than_chance() {
        const S: [Do; 4] = [Do::Lock(0), Do::Write(1), Do::Unlock(0), Do::Write(2)];
        let mut program = Program::new(&[&[S; 6].concat(), &[S; 6].concat()]);
        program.silent_unlock = true;
        let until = |s: &mut dyn Strategy| {
            let mut covered = BTreeSet::new();
            (1..=5_000).find(|_| {
                covered.extend(pairs_of(&program.run(s).unwrap().trace));
                covered.len() == 72
            })
        };
        let sum = |f: &dyn Fn(u64) -> Option<i32>| -> i32 { (0..10).map(|s| f(s).unwrap_or(5_000)).sum() };
        let tsa = sum(&|seed| until(&mut Tsa::new(seed, 5_000)));
        let random = sum(&|seed| until(&mut Random::new(seed)));
        assert!(2 * tsa < random, "{tsa} against {random}");
    }

    #[test]
    fn acquisitions_ordered_by_creation_are_a_target_in_that_order_only() {
        use crate::event::LockMode::Exclusive;
        let lock = VarId(0);
        let acquire = |t, site| Event::new(t, site, Op::Acquire { lock, mode: Exclusive });
        let release = |t, site| Event::new(t, site, Op::Release { lock, mode: Exclusive });
        let spawn = |t, child| Event::new(t, 0, Op::Spawn(ThreadId(child)));
        let trace = Trace::from_events([
            acquire(0, 1),
            release(0, 1),
            spawn(0, 1),
            acquire(1, 2),
            release(1, 2),
            acquire(0, 3),
            release(0, 3),
        ]);
        let mut possible = BTreeSet::new();
        estimate(&trace, &mut possible);
        let pair = |a, b| (NameId(0), SiteId(a), SiteId(b));
        assert_eq!(possible, BTreeSet::from([pair(1, 2), pair(2, 3), pair(3, 2)]));
    }
}
