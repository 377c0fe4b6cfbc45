//! Dynamic partial order reduction.

mod races;

use super::{Choice, Finished, Strategy, View};
use crate::event::{Event, Op, ThreadId};
use races::{Races, Step};

/// Source-DPOR (Abdulla, Aronis, Jonsson and Sagonas, POPL 2014, Algorithm 1): one complete execution for each
/// Mazurkiewicz trace, that is, for each way to order the dependent steps.
///
/// After each execution its races are looked at: two dependent steps of different threads that nothing else
/// orders. For each of them the other order is planned: at the decision of the first step, a thread is added that
/// can begin what leads to the second step without the first, unless one that is planned there already does
/// (source sets). Sleep sets see to it that no two complete executions are equivalent: a thread that was
/// explored at a decision sleeps after the other choices there, until a step that depends on its own. An
/// execution in which all enabled threads sleep is given up; unlike Optimal-DPOR, source sets do not rule it out.
///
/// Locks: an acquisition cannot be moved before the release that enabled it, so it races with the acquisition of
/// the previous holder. An attempt that does not block can, and races with the release. When threads are stuck,
/// the acquisitions they wait for race with those of the holders.
///
/// Deviations: races are looked at once, at the end of an execution, which gives the same sets. A step is a choice at
/// a decision with all events up to the next one. Steps of two timed-out waits or sleeps depend on each other,
/// because time is one. So do steps of two threads that come with synchronisation that is not seen ([`Op::Pause`], and
/// waits). When new scheduling points were learned, the search starts again. Threads that a failure cut short have no
/// races for what they would have done.
#[derive(Debug, Default)]
pub struct Dpor {
    path: Vec<Node>,
    /// How much of `path` the current execution has followed.
    at: usize,
    /// So many steps at the beginning of `path` are the same as in the last execution, which looked at their races.
    known: usize,
    /// What threads wait for that can never go on.
    stuck: Vec<Event>,
    done: bool,
    restart: bool,
}

#[derive(Debug)]
struct Node {
    /// The pending events.
    enabled: Vec<Event>,
    chosen: ThreadId,
    /// Events before this decision.
    from: usize,
    /// To be explored, or explored.
    backtrack: Vec<ThreadId>,
    /// Threads that need not be explored here, and the step that each would make: those that sleep from the
    /// beginning and, behind them, those explored.
    sleep: Vec<Sleeper>,
}

#[derive(Clone, Debug)]
struct Sleeper {
    thread: ThreadId,
    events: Vec<Event>,
}

impl Node {
    /// The chosen thread's pending event, which is in no trace, if what follows it is not seen.
    fn pause(&self) -> Option<&Event> {
        self.enabled.iter().find(|e| e.thread == self.chosen && pauses(e))
    }
}

impl Dpor {
    /// A search from the beginning.
    pub fn new() -> Self {
        Self::default()
    }

    /// A decision that no execution came to before.
    fn discover(&mut self, view: &View<'_>) -> Option<Node> {
        // The end of the process cuts off whatever others would do, so it is tried at every decision.
        let end = view.enabled.iter().find(|e| e.op == Op::Exit).map(|e| e.thread);
        let mut sleep = match self.path.last() {
            None => Vec::new(),
            Some(before) => {
                let step: Vec<&Event> =
                    before.pause().into_iter().chain(&view.events[before.from..]).collect();
                let awake = |s: &Sleeper| step.iter().any(|e| s.events.iter().any(|f| dependent(e, f)));
                before.sleep.iter().filter(|s| s.thread != before.chosen && !awake(s)).cloned().collect()
            }
        };
        sleep.retain(|s| Some(s.thread) != end);
        let rested = |t: ThreadId| !sleep.iter().any(|s: &Sleeper| s.thread == t);
        let mut threads = view.enabled.iter().map(|e| e.thread).filter(|&t| rested(t));
        let goes_on = |t: &ThreadId| Some(*t) != end;
        let stays = threads.clone().find(|t| *t == view.last && goes_on(t));
        let first = stays.or_else(|| threads.find(goes_on)).or(end)?;
        let backtrack = [first].into_iter().chain(end.filter(|&t| t != first)).collect();
        let enabled = view.enabled.to_vec();
        Some(Node { enabled, chosen: first, from: view.events.len(), backtrack, sleep })
    }

    /// Plans the other orders of the races of the execution.
    fn plan(&mut self, run: &Finished<'_>) {
        let ends = self.path.iter().skip(1).map(|n| n.from).chain([run.trace.events.len()]);
        let steps = self.path.iter().zip(ends).map(|(node, to)| {
            let pending = node.enabled.iter().find(|e| e.thread == node.chosen);
            let tries = pending.is_some_and(|e| matches!(e.op, Op::TryAcquire { .. }));
            Step { thread: node.chosen, pause: node.pause(), events: &run.trace.events[node.from..to], tries }
        });
        let mut races = Races::new(&run.trace.events[..self.path.first().map_or(0, |n| n.from)]);
        for (i, step) in steps.enumerate() {
            races.push(step, i >= self.known);
        }
        races.stuck(&self.stuck);
        for race in races.found {
            let node = &mut self.path[race.at];
            let is_enabled = |t: &&ThreadId| node.enabled.iter().any(|e| e.thread == **t);
            if !race.initials.iter().any(|t| node.backtrack.contains(t))
                && let Some(&t) = race.initials.iter().rev().find(is_enabled)
            {
                node.backtrack.push(t);
            }
        }
    }
}

impl Strategy for Dpor {
    fn begin(&mut self) -> bool {
        if std::mem::take(&mut self.restart) {
            *self = Self::new();
        }
        self.at = 0;
        self.stuck.clear();
        !self.done
    }

    fn choose(&mut self, view: &View<'_>) -> Choice {
        if self.restart {
            return Choice::Run(0);
        }
        if self.at == self.path.len() {
            match self.discover(view) {
                Some(node) => self.path.push(node),
                None => return Choice::Abandon,
            }
        }
        let node = &mut self.path[self.at];
        node.from = view.events.len();
        self.at += 1;
        let here = view.enabled.iter().position(|e| e.thread == node.chosen);
        // A thread that is not enabled as it was before: only possible after learning.
        self.restart = here.is_none();
        Choice::Run(here.unwrap_or(0))
    }

    fn is_systematic(&self) -> bool {
        true
    }

    fn every_step(&self) -> bool {
        true
    }

    fn stuck(&mut self, pending: &[Event]) {
        self.stuck = pending.to_vec();
    }

    fn end(&mut self, run: &Finished<'_>) {
        if run.learned || self.restart {
            self.restart = true;
            return;
        }
        self.path.truncate(self.at);
        self.plan(run);
        let mut to = run.trace.events.len();
        while let Some(node) = self.path.last_mut() {
            let events = &run.trace.events[node.from..to];
            let own = events.iter().filter(|e| e.thread == node.chosen);
            let events = node.pause().into_iter().chain(own).copied().collect();
            node.sleep.push(Sleeper { thread: node.chosen, events });
            let sleeps = |t: &ThreadId| node.sleep.iter().any(|s| s.thread == *t);
            if let Some(&next) = node.backtrack.iter().find(|t| !sleeps(t)) {
                node.chosen = next;
                self.known = self.path.len() - 1;
                return;
            }
            to = node.from;
            self.path.pop();
        }
        self.done = true;
    }
}

/// Whether the order of two events can matter.
fn dependent(a: &Event, b: &Event) -> bool {
    a.thread == b.thread || a.conflicts_with(b) || timed(a) && timed(b) || pauses(a) && pauses(b)
}

/// Whether synchronisation that is not seen may come with the event.
fn pauses(e: &Event) -> bool {
    matches!(e.op, Op::Pause | Op::Wait { .. })
}

/// Whether the event makes time pass.
fn timed(e: &Event) -> bool {
    matches!(e.op, Op::Wait { timed_out: true, .. } | Op::Sleep)
}

#[cfg(test)]
mod tests {
    use super::super::Dfs;
    use super::super::testing::{Do, Program, Run};
    use super::*;
    use rand::{RngExt, SeedableRng};
    use rand_pcg::Pcg64Mcg;
    use std::collections::BTreeSet;

    fn complete(program: &Program) -> Vec<Run> {
        let all = program.run_all(&mut Dpor::new(), 100_000);
        all.into_iter().filter(Run::complete).collect()
    }

    /// DPOR makes one complete execution for each Mazurkiewicz trace that DFS finds, and sees the same results.
    fn assert_agrees(program: &Program, what: &str) -> usize {
        let all = program.run_all(&mut Dfs::new(None), 200_000);
        let reduced = complete(program);
        let traces = |runs: &[Run]| runs.iter().map(Run::dependences).collect::<BTreeSet<_>>();
        let results = |runs: &[Run]| -> BTreeSet<_> {
            runs.iter().map(|r| (r.seen.clone(), format!("{:?}", r.outcome))).collect()
        };
        assert_eq!(traces(&reduced), traces(&all), "{what}");
        assert_eq!(traces(&reduced).len(), reduced.len(), "{what}: a trace was executed twice");
        assert_eq!(results(&reduced), results(&all), "{what}");
        reduced.len()
    }

    #[test]
    fn n_writers_have_n_factorial_traces() {
        for (n, factorial) in [(1, 1), (2, 2), (3, 6), (4, 24), (5, 120)] {
            assert_eq!(complete(&Program::same_code(n, &[Do::Write(0)])).len(), factorial);
        }
    }

    #[test]
    fn k_readers_and_a_writer_have_2_to_the_k_traces() {
        for k in 0..7 {
            let mut threads: Vec<&[Do]> = vec![&[Do::Write(0)]];
            threads.extend(vec![&[Do::Read(0)][..]; k]);
            assert_eq!(complete(&Program::new(&threads)).len(), 1 << k);
        }
    }

    #[test]
    fn n_protected_sections_have_n_factorial_traces() {
        let section = [Do::Lock(0), Do::Read(1), Do::Write(1), Do::Unlock(0)];
        for silent in [false, true] {
            for (n, factorial) in [(2, 2), (3, 6), (4, 24)] {
                let mut program = Program::same_code(n, &section);
                program.silent_unlock = silent;
                assert_eq!(complete(&program).len(), factorial);
            }
        }
        let twice = Program::new(&[&[section, section].concat(), &[section, section].concat()]);
        assert_eq!(complete(&twice).len(), 6, "the interleavings of two sections with two");
    }

    #[test]
    fn sections_whose_reads_are_part_of_the_acquisition_and_whose_writes_are_not_have_all_their_orders() {
        // What the runtime makes of a read that only happens under the lock and a write that somebody else sees without.
        let mut program = Program::new(&[
            &[Do::Lock(0), Do::Read(1), Do::Unlock(0), Do::Lock(0), Do::Read(1), Do::Write(2), Do::Unlock(0)],
            &[
                Do::Lock(0),
                Do::Write(1),
                Do::Unlock(0),
                Do::Lock(0),
                Do::Read(2),
                Do::Write(1),
                Do::Unlock(0),
            ],
        ]);
        program.silent_unlock = true;
        for variable in [1, 2] {
            program.silent_variable = Some(variable);
            assert_eq!(assert_agrees(&program, "sections"), 6, "the interleavings of two sections with two");
        }
    }

    #[test]
    fn independent_threads_have_one_trace() {
        assert_eq!(
            complete(&Program::new(&[&[Do::Write(0); 5], &[Do::Write(1); 5], &[Do::Read(2); 5]])).len(),
            1
        );
    }

    #[test]
    fn two_locks_in_opposite_order_have_two_traces_and_a_deadlock() {
        let program = Program::new(&[
            &[Do::Lock(0), Do::Lock(1), Do::Unlock(1), Do::Unlock(0)],
            &[Do::Lock(1), Do::Lock(0), Do::Unlock(0), Do::Unlock(1)],
        ]);
        assert_eq!(assert_agrees(&program, "two locks"), 3);
    }

    #[test]
    fn three_philosophers_deadlock_in_one_trace() {
        let eat = |l, r| [Do::Lock(l), Do::Lock(r), Do::Unlock(r), Do::Unlock(l)];
        let program = Program::new(&[&eat(0, 1), &eat(1, 2), &eat(2, 0)]);
        assert_agrees(&program, "philosophers");
        let deadlocks = complete(&program).iter().filter(|r| r.outcome != crate::Outcome::Passed).count();
        assert_eq!(deadlocks, 1);
    }

    #[test]
    fn an_attempt_at_a_lock_is_tried_before_and_after_its_release() {
        let program = Program::new(&[
            &[Do::Lock(0), Do::Write(1), Do::Unlock(0)],
            &[Do::TryLock(0), Do::Write(1), Do::Unlock(0)],
        ]);
        assert_agrees(&program, "attempt");
    }

    #[test]
    fn dfs_agrees_on_traces_and_results_of_random_programs() {
        let mut rng = Pcg64Mcg::seed_from_u64(17);
        let mut sizes = 0;
        for i in 0..80 {
            let n = rng.random_range(2..=3);
            let threads: Vec<Vec<Do>> =
                (0..n).map(|_| random_thread(&mut rng, if n == 2 { 4 } else { 1 })).collect();
            let mut program = Program::new(&threads.iter().map(|t| &t[..]).collect::<Vec<_>>());
            program.silent_unlock = rng.random();
            program.silent_variable = Some(rng.random_range(0..3)).filter(|_| program.silent_unlock);
            sizes += assert_agrees(&program, &format!("program {i}: {threads:?}"));
        }
        assert!(sizes > 300, "{sizes} traces are too few to tell");
    }

    /// Accesses, some of them between a lock and its release, perhaps nested, perhaps only attempted.
    fn random_thread(rng: &mut Pcg64Mcg, len: usize) -> Vec<Do> {
        let mut ops = Vec::new();
        let access = |rng: &mut Pcg64Mcg| {
            let v = rng.random_range(0..2);
            if rng.random() { Do::Read(v) } else { Do::Write(v) }
        };
        while ops.len() < len {
            let (l, m) = (2 + rng.random_range(0..2), rng.random_range(0..6));
            match m {
                0 => ops.extend([Do::Lock(l), access(rng), Do::Unlock(l)]),
                1 => ops.extend([Do::TryLock(l), access(rng), Do::Unlock(l)]),
                2 => ops.extend([Do::Lock(l), Do::Lock(5 - l), Do::Unlock(5 - l), Do::Unlock(l)]),
                _ => ops.push(access(rng)),
            }
        }
        ops
    }
}
