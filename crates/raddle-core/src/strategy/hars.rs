//! Heuristic-enhanced adaptive randomised scheduling.

use super::adaptive::AdaptiveConfig;
use crate::pattern::PatternRange;

/// HARS ("Heuristic-Enhanced Adaptive Randomized Scheduling"): ARS with two additions. When several subtraces are
/// equally far from the passed traces, three heuristics rank them: thread switches at decisions (TSF), write
/// accesses (WOP, which the code counts though the paper calls it a proportion) and shared variables (SVC); the
/// heuristic whose first two values differ most, by the degree (1 + v1)/(1 + v2), decides. And subtraces with
/// nothing new below are not tried again. The search is that of the published code, with the paper's queue of 4; see
/// [`Adaptive`](super::Adaptive) for it and its deviations.
///
/// Three deviations are large. The distance uses patterns as the papers define them, all 17 and told apart by their variables, of
/// all accesses; the published code has patterns 1 to 8 without the object, and drops repeated accesses. The heuristics have a
/// say only at the very beginning, the cold start that the paper is about ([`AdaptiveConfig::cold`] says why). And when no scheduling points
/// have turned up for long the search goes on without looking at extensions, with lots that break ties ([`AdaptiveConfig::settle`] and
/// [`lots`](AdaptiveConfig::lots)); a heuristic too, though not one of the paper's. `hars:published` is the published code.
pub const HARS: AdaptiveConfig = AdaptiveConfig {
    queue: 4,
    patterns: PatternRange::All,
    drop_repeated: false,
    heuristics: true,
    prune: true,
    drain: false,
    keep_besides: false,
    enter_first: false,
    cold: true,
    names: true,
    settle: 200,
    lots: true,
};

#[cfg(test)]
mod tests {
    use super::super::testing::{Do, Program, Run};
    use super::super::{Adaptive, Choice, Finished, Selection, Strategy, View};
    use super::*;
    use crate::outcome::Outcome;
    use std::collections::{BTreeMap, BTreeSet};

    fn hars(seed: u64, words: &str) -> Adaptive {
        Adaptive::new(seed, HARS.with(words).unwrap())
    }

    /// The worked example of the paper: two threads add to a store without a lock.
    fn store() -> Program {
        let lost_update = |run: &Run| run.seen[&(0, 0)] == 0 && run.seen[&(1, 0)] == 0;
        let mut program = Program::same_code(2, &[Do::Read(0), Do::Write(0)]);
        program.fails = lost_update;
        program
    }

    /// Notes how each subtrace was chosen.
    #[derive(Debug)]
    struct Noting(Adaptive, Vec<Selection>);

    impl Noting {
        fn note(&mut self) {
            let news = self.0.selection().filter(|s| self.1.last() != Some(s));
            self.1.extend(news);
        }
    }

    impl Strategy for Noting {
        fn begin(&mut self) -> bool {
            let more = self.0.begin();
            self.note();
            more
        }
        fn choose(&mut self, view: &View<'_>) -> Choice {
            let choice = self.0.choose(view);
            self.note();
            choice
        }
        fn end(&mut self, run: &Finished<'_>) {
            self.0.end(run);
        }
    }

    #[test]
    fn the_worked_example_is_solved_by_its_second_trace_in_the_order_of_the_paper() {
        let mut solved = 0;
        for seed in 0..60 {
            let mut s = Noting(hars(seed, "published,2,first"), Vec::new());
            let program = store();
            let first = program.run(&mut s).unwrap();
            let runs = std::iter::from_fn(|| program.run(&mut s));
            let failing = runs.take(10).find(|r| r.complete() && r.outcome != Outcome::Passed);
            let same_beginning = failing.unwrap().order[0] == first.order[0];
            if first.outcome != Outcome::Passed || !same_beginning || s.0.taken() != 2 {
                // Not the paper's case, in which the prefix of the first trace is met again and pruned.
                continue;
            }
            let selection = |distance, tied, degree| Selection { distance, tied, degree };
            // First nothing tells the two threads' reads apart; then the thread switch does. Then both writes end in the
            // failure: the paper's last selection is between two traces of which neither has anything left to decide.
            assert_eq!(s.1, [selection(0, 2, (1, 1)), selection(0, 2, (2, 1))], "seed {seed}");
            solved += 1;
        }
        assert!(solved >= 10, "{solved}");
    }

    #[test]
    fn pruning_visits_every_order_once_and_then_ends() {
        for words in ["4", "1", "4,drain", "2,besides,p17", "3,repeats,first", "3,drain,first"] {
            let program =
                Program::new(&[&[Do::Read(0), Do::Write(0), Do::Write(1)], &[Do::Write(0), Do::Read(1)]]);
            let mut s = hars(9, words);
            let runs = program.run_all(&mut s, 1000);
            let mut orders: BTreeMap<Vec<u32>, u32> = BTreeMap::new();
            let entered = usize::from(!words.contains("first"));
            let complete: Vec<&Run> = runs.iter().filter(|r| r.complete()).collect();
            for run in &complete[entered..] {
                *orders.entry(run.order.clone()).or_insert(0) += 1;
            }
            assert_eq!(orders.len(), 10, "{words}");
            assert!(orders.values().all(|&n| n == 1), "{words}: {orders:?}");
            assert_eq!(s.completed(), complete.len() as u64);
            assert_eq!(s.taken(), complete.len() as u64, "in the end all were taken");
            assert_eq!(s.executions(), runs.len() as u64);
        }
    }

    #[test]
    fn once_settled_every_execution_runs_to_its_end_and_none_is_made_twice() {
        let program = Program::same_code(3, &[Do::Read(0), Do::Write(0), Do::Write(1), Do::Read(0)]);
        let mut s = hars(5, "settle30");
        let runs: Vec<Run> = std::iter::from_fn(|| program.run(&mut s)).take(600).collect();
        let (looking, glancing) = runs.split_at(30);
        assert!(looking.iter().any(|r| !r.complete()));
        assert!(glancing.iter().all(Run::complete));
        let orders: BTreeSet<&Vec<u32>> = glancing.iter().map(|r| &r.order).collect();
        assert_eq!(orders.len(), glancing.len());
        assert_eq!((s.executions(), s.completed() - s.taken() <= 30), (600, true));
    }

    #[test]
    fn once_settled_a_step_with_a_new_pattern_is_taken_as_soon_as_it_is_pending() {
        // The only patterns are those of the read and the write. If the write comes first for the first time, nothing may come
        // between it and the read, although the third thread has much to do.
        let program = Program::new(&[&[Do::Write(1); 20], &[Do::Read(0)], &[Do::Write(0)]]);
        let mut new = 0;
        for seed in 0..60 {
            let mut s = hars(seed, "settle0");
            let [first, second] = [(); 2].map(|()| program.run(&mut s).unwrap().order);
            let place = |order: &[u32], t: u32| order.iter().position(|o| *o == t);
            if place(&first, 1) < place(&first, 2) && place(&second, 2) < place(&second, 1) {
                assert_eq!(place(&second, 2).map(|i| i + 1), place(&second, 1), "seed {seed}");
                new += 1;
            }
        }
        assert!(new > 5, "{new}");
    }

    #[test]
    fn lots_let_a_thread_get_far_ahead() {
        let program = Program::new(&[&[Do::Write(0); 6], &[Do::Write(1); 6]]);
        let ahead = |words| {
            let mut s = hars(8, words);
            let runs = std::iter::from_fn(|| program.run(&mut s)).take(200);
            runs.filter(|r| r.order[..4].iter().all(|t| *t == r.order[0])).count()
        };
        // Expected 2 of 5 and 2 of 16.
        let (lots, none) = (ahead("settle0,no-prune"), ahead("settle0,no-prune,no-lots"));
        assert!(lots > 55 && none < 45, "{lots} and {none}");
    }

    #[test]
    fn every_extension_of_a_taken_subtrace_is_executed_before_the_next_is_taken() {
        // Only the very first choice is wrong, and only for thread 2; whatever is chosen, it has been tried before the
        // second step of any trace.
        let mut program = Program::same_code(3, &[Do::Read(0), Do::Write(0), Do::Read(0)]);
        program.fails = |run: &Run| run.order[0] == 2;
        for seed in 0..20 {
            let mut s = hars(seed, "4");
            let first = program.run(&mut s).unwrap();
            if first.order[0] == 2 {
                continue;
            }
            let begun: Vec<u32> = (0..3).map(|_| program.run(&mut s).unwrap().order[0]).collect();
            assert!(begun.contains(&2), "{begun:?}");
        }
    }

    #[test]
    fn what_is_known_about_a_subtrace_is_what_its_events_tell() {
        use crate::pattern::{CutConfig, CutMatcher, patterns_of};
        let program = Program::same_code(3, &[Do::Read(0), Do::Write(0), Do::Write(1), Do::Read(0)]);
        let mut s = hars(6, "published");
        for _ in 0..300 {
            let run = program.run(&mut s).unwrap();
            if run.complete() {
                let patterns = patterns_of(&mut CutMatcher::new(CutConfig::default()), &run.trace);
                let patterns = patterns.into_iter().map(crate::pattern::Instance::without_names).collect();
                assert_eq!(s.known_patterns(), patterns);
            }
        }
        assert!(s.completed() < 300, "some executions went on from a remembered subtrace");
    }

    #[test]
    fn after_the_first_descent_chance_breaks_the_ties_unless_the_search_is_as_published() {
        let program = Program::same_code(2, &[Do::Write(0); 6]);
        let degrees = |words| {
            let mut s = hars(3, words);
            (0..60).for_each(|_| drop(program.run(&mut s)));
            s.notes()[1..].iter().filter(|d| **d > 1.0).count()
        };
        assert!(degrees("4") < degrees("published"), "{} and {}", degrees("4"), degrees("published"));
    }

    #[test]
    fn a_trace_counts_when_it_is_taken_and_not_when_it_is_seen_to_end() {
        let program = Program::same_code(3, &[Do::Read(0), Do::Write(0), Do::Read(0)]);
        let mut s = hars(2, "4");
        (0..200).for_each(|_| drop(program.run(&mut s)));
        assert!(s.taken() < s.completed() && s.completed() < s.executions());
        assert!(s.taken() > 3);
    }

    #[test]
    fn a_program_without_a_choice_is_run_once() {
        let program = Program::new(&[&[Do::Write(0), Do::Write(0)]]);
        assert_eq!(program.run_all(&mut hars(0, "4"), 10).len(), 1);
    }

    #[test]
    fn a_program_that_ends_before_a_remembered_subtrace_starts_the_search_again() {
        let code = [Do::Read(0), Do::Write(0), Do::Write(1), Do::Read(0)];
        let (long, short) = (Program::same_code(3, &code), Program::same_code(3, &code[..1]));
        let mut s = hars(3, "4");
        for i in 0..400 {
            let program = if i % 7 == 6 { &short } else { &long };
            match program.run(&mut s) {
                Some(run) if run.complete() => assert!(s.completed() > 0),
                Some(_) => {}
                None => s = hars(i, "4"),
            }
        }
    }

    #[test]
    fn words_set_the_variants() {
        let c = HARS.with("7,p17,drain,settle5,no-lots").unwrap();
        assert_eq!((c.queue, c.drain, c.prune, c.settle, c.lots), (7, true, true, 5, false));
        assert_eq!(HARS.with("look").unwrap().settle, u32::MAX);
        assert_eq!(HARS.with("0"), None);
        assert_eq!(HARS.with("4,fast"), None);
    }
}
