//! Making a finding small.
//!
//! A person has to understand it. Every change is kept only if the smaller test still breaks in the same way, which
//! takes a search over schedules for each; then the schedule itself is made simpler. The number of attempts is
//! bounded, and the same finding always becomes the same small one, unless the executor's time ends before.

use super::edit::{self, Place};
use super::harness::Harness;
use super::oracle::{Judgement, Oracle, Verdict};
use super::protocol::{Execution, Executor, ExecutorError, Fresh, Run};
use super::search::{BoundedSearch, Search};
use super::simplify;
use super::test::Test;
use super::wire;
use serde::{Deserialize, Serialize};

/// A test, an execution of it, and what is wrong with it.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Found {
    /// The test.
    pub test: Test,
    /// The execution, with its schedule.
    pub execution: Execution,
    /// What is wrong.
    pub verdict: Verdict,
}

/// How hard to try.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(default, rename_all = "kebab-case")]
pub struct MinimiseOptions {
    /// Smaller tests and simpler schedules tried.
    pub attempts: u64,
    /// Under which schedules a smaller test is searched: strategies and the most executions of each.
    pub runs: Vec<BoundedSearch>,
    /// The seed of the run that found it. It decides what is drawn in those, too.
    pub seed: u64,
}

/// What came of it.
#[derive(Clone, PartialEq, Debug)]
pub struct Minimised {
    /// The small finding.
    pub found: Found,
    /// Attempts made.
    pub attempts: u64,
    /// Whether nothing smaller was left to try; otherwise the attempts were used up, or the executor's time was.
    pub finished: bool,
}

impl Default for MinimiseOptions {
    fn default() -> Self {
        let runs = vec![Search::from("dfs:2").most(200), Search::random().most(100)];
        MinimiseOptions { attempts: 400, runs, seed: 0 }
    }
}

struct Minimiser<'a> {
    exec: &'a mut dyn Executor,
    oracle: &'a mut Oracle,
    harness: &'a Harness,
    options: &'a MinimiseOptions,
    best: Found,
    attempts: u64,
}

/// Makes a finding smaller as long as it breaks in the same way: the same kind, and for a panic the same place. When the
/// executor's time is over, the smallest so far is the result.
pub fn minimise(
    exec: &mut dyn Executor,
    oracle: &mut Oracle,
    harness: &Harness,
    found: Found,
    options: &MinimiseOptions,
) -> Result<Minimised, ExecutorError> {
    let mut m = Minimiser { exec, oracle, harness, options, best: found, attempts: 0 };
    let finished = match m.everything() {
        Ok(()) => m.may_go_on(),
        Err(ExecutorError::Over) => false,
        Err(error) => return Err(error),
    };
    Ok(Minimised { found: m.best, attempts: m.attempts, finished })
}

impl Minimiser<'_> {
    fn may_go_on(&self) -> bool {
        self.attempts < self.options.attempts
    }

    fn everything(&mut self) -> Result<(), ExecutorError> {
        self.shorter_setup()?;
        let mut smaller = true;
        while smaller && self.may_go_on() {
            smaller = self.fewer_threads()?;
            smaller |= self.fewer_steps()?;
            smaller |= self.earlier_calls()?;
            smaller |= self.fewer_repeats()?;
            smaller |= self.simpler_arguments()?;
        }
        self.fewer_preemptions()?;
        self.fewer_transfers()
    }

    /// Takes the test if it breaks in the same way.
    fn attempt(&mut self, test: Option<Test>) -> Result<bool, ExecutorError> {
        let Some(test) = test.filter(|_| self.may_go_on()) else { return Ok(false) };
        self.attempts += 1;
        for BoundedSearch { search, executions } in &self.options.runs {
            // Most executions are right, and the worker can tell that by itself.
            let run = Run {
                explain: true,
                ..Run::new(wire::encode(&test), search.clone(), self.options.seed, *executions)
            };
            if let Some(found) = self.run(&test, run)? {
                self.best = found;
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// The first execution that breaks in the same way.
    fn run(&mut self, test: &Test, run: Run) -> Result<Option<Found>, ExecutorError> {
        let replies = self.exec.run(vec![run])?;
        for execution in replies.iter().filter(|r| r.diverged.is_none()).flat_map(|r| &r.distinct) {
            if let Judgement::Wrong(verdict) =
                self.oracle.judge(self.exec, test, self.options.seed, execution)?
                && verdict.kind == self.best.verdict.kind
                && verdict.at == self.best.verdict.at
            {
                let (test, execution) = (test.clone(), execution.clone());
                return Ok(Some(Found { test, execution, verdict: *verdict }));
            }
        }
        Ok(None)
    }

    /// Leaves out at once what often does not matter and can take most of an execution's time: all repetitions, and all calls
    /// on what was made.
    fn shorter_setup(&mut self) -> Result<(), ExecutorError> {
        let mut once = self.best.test.clone();
        once.setup.iter_mut().for_each(|s| s.repeat = 1);
        let repeats = once != self.best.test;
        self.attempt(repeats.then_some(once))?;
        let bare = edit::without_setup_calls(self.harness, &self.best.test);
        self.attempt(bare.filter(|t| *t != self.best.test))?;
        Ok(())
    }

    fn fewer_threads(&mut self) -> Result<bool, ExecutorError> {
        let mut smaller = false;
        let mut i = self.best.test.suffixes.len();
        while i > 0 {
            i -= 1;
            smaller |= self.attempt(edit::without_suffix(&self.best.test, i))?;
        }
        Ok(smaller)
    }

    fn fewer_steps(&mut self) -> Result<bool, ExecutorError> {
        // All checks at once first: there may be many.
        let mut smaller = false;
        if self.best.test.finally.len() > 1 {
            smaller |= self.attempt(Some(Test { finally: Vec::new(), ..self.best.test.clone() }))?;
        }
        loop {
            let mut removed = false;
            for place in edit::places(&self.best.test) {
                // A removal may take other steps with it; places are then no longer what they were.
                if edit::places(&self.best.test).contains(&place) {
                    let fewer = edit::without_step(self.harness, &self.best.test, place);
                    removed |= self.attempt(fewer)?;
                }
            }
            smaller |= removed;
            if !removed || !self.may_go_on() {
                return Ok(smaller);
            }
        }
    }

    /// What need not happen beside other calls happens before.
    fn earlier_calls(&mut self) -> Result<bool, ExecutorError> {
        let mut smaller = false;
        for suffix in 0..self.best.test.suffixes.len() {
            while self.attempt(edit::with_first_call_earlier(self.harness, &self.best.test, suffix))? {
                smaller = true;
            }
        }
        Ok(smaller)
    }

    fn fewer_repeats(&mut self) -> Result<bool, ExecutorError> {
        let mut smaller = false;
        for i in 0..self.best.test.setup.len() {
            let mut again = true;
            while std::mem::take(&mut again) {
                let now = self.best.test.setup[i].repeat;
                for fewer in [1, now / 2, now - 1].into_iter().filter(|f| *f > 0 && *f < now) {
                    let mut test = self.best.test.clone();
                    test.setup[i].repeat = fewer;
                    if self.attempt(Some(test))? {
                        (smaller, again) = (true, true);
                        break;
                    }
                }
            }
        }
        Ok(smaller)
    }

    fn simpler_arguments(&mut self) -> Result<bool, ExecutorError> {
        let mut smaller = false;
        for place in edit::places(&self.best.test) {
            let args = edit::step_mut(&mut self.best.test, place).args.len();
            for argument in 0..args {
                while self.simpler_argument(place, argument)? {
                    smaller = true;
                }
            }
        }
        Ok(smaller)
    }

    fn simpler_argument(&mut self, place: Place, argument: usize) -> Result<bool, ExecutorError> {
        let step = edit::step_mut(&mut self.best.test, place).clone();
        let Some(domain) = self.harness.thunk(step.thunk).params.get(argument) else { return Ok(false) };
        for value in simplify::simpler(domain, &step.args[argument]) {
            let mut test = self.best.test.clone();
            edit::step_mut(&mut test, place).args[argument] = value;
            if self.attempt(Some(test))? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Looks for an execution of the same test with as few preemptions as possible.
    fn fewer_preemptions(&mut self) -> Result<(), ExecutorError> {
        let most = self.options.runs.iter().map(|r| r.executions).max().unwrap_or(0);
        for bound in 0..4 {
            if !self.may_go_on() {
                return Ok(());
            }
            self.attempts += 1;
            let test = self.best.test.clone();
            let run = Run::new(wire::encode(&test), format!("dfs:{bound}"), self.options.seed, most);
            if let Some(found) = self.run(&test, run)? {
                if transfers(&found) < transfers(&self.best) {
                    self.best = found;
                }
                return Ok(());
            }
        }
        Ok(())
    }

    /// Takes single transfers of control, and neighbours, out of the schedule.
    fn fewer_transfers(&mut self) -> Result<(), ExecutorError> {
        let mut i = 0;
        while i < transfers(&self.best) {
            let mut removed = false;
            for count in [2, 1] {
                if i + count > transfers(&self.best) || !self.may_go_on() {
                    continue;
                }
                self.attempts += 1;
                let mut fewer = self.best.execution.schedule.clone();
                fewer.transfers.drain(i..i + count);
                let test = self.best.test.clone();
                let run = Run {
                    replay: Some(fewer),
                    fresh: Fresh::Once,
                    ..Run::new(wire::encode(&test), "random", self.options.seed, 1)
                };
                if let Some(found) = self.run(&test, run)?
                    && transfers(&found) < transfers(&self.best)
                {
                    self.best = found;
                    removed = true;
                    break;
                }
            }
            i += usize::from(!removed);
        }
        Ok(())
    }
}

fn transfers(found: &Found) -> usize {
    found.execution.schedule.transfers.len()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::oracle::OracleOptions;
    use crate::testing::{Simulator, objects};
    use crate::{Step, Value};
    use raddle_core::outcome::Kind;

    fn steps(ty: &objects::Type, calls: &[&str]) -> Vec<Step> {
        let step = |name: &&str| {
            let thunk = ty.id(name);
            let extra = (ty.harness.thunk(thunk).params.len() > 1).then_some(Value::Int(77));
            Step::new(thunk, std::iter::once(Value::Slot(0)).chain(extra).collect())
        };
        calls.iter().map(step).collect()
    }

    /// Answers so many requests.
    struct Limited(Simulator, u64);

    impl Executor for Limited {
        fn run(&mut self, runs: Vec<Run>) -> Result<Vec<crate::RunReply>, ExecutorError> {
            self.1 = self.1.checked_sub(1).ok_or(ExecutorError::Over)?;
            self.0.run(runs)
        }
    }

    fn broken(sim: &mut Simulator, oracle: &mut Oracle, test: &Test, kind: Kind) -> Found {
        let run = Run { stop_at_failure: false, ..Run::new(wire::encode(test), "random", 3, 500) };
        let reply = sim.run(vec![run]).unwrap().remove(0);
        let found = reply.distinct.iter().find_map(|e| match oracle.judge(sim, test, 3, e).unwrap() {
            Judgement::Wrong(v) if v.kind == kind => {
                Some(Found { test: test.clone(), execution: e.clone(), verdict: *v })
            }
            _ => None,
        });
        found.expect("it breaks under some schedule")
    }

    fn minimal(ty: &objects::Type, test: &Test, kind: Kind) -> Minimised {
        let mut sim = Simulator::new(ty.clone());
        let mut oracle = Oracle::new(&ty.harness, OracleOptions::default());
        let options = MinimiseOptions::default();
        let found = broken(&mut sim, &mut oracle, test, kind);
        let small = minimise(&mut sim, &mut oracle, &ty.harness, found.clone(), &options).unwrap();
        let again = minimise(&mut sim, &mut oracle, &ty.harness, found, &options).unwrap();
        assert_eq!(small, again);
        // What is left is repeated by its schedule.
        let replay = Run {
            replay: Some(small.found.execution.schedule.clone()),
            ..Run::new(wire::encode(&small.found.test), "random", 0, 1)
        };
        let reply = sim.run(vec![replay]).unwrap().remove(0);
        assert_eq!(reply.diverged, None);
        assert_eq!(reply.distinct[0].calls, small.found.execution.calls);
        small
    }

    fn many_calls(ty: &objects::Type) -> Test {
        let mut test = Test {
            setup: vec![Step::new(ty.id("List::new"), vec![])],
            suffixes: vec![
                steps(ty, &["List::first", "List::push", "List::first"]),
                steps(ty, &["List::push", "List::clear", "List::push"]),
                steps(ty, &["List::push"]),
            ],
            finally: steps(ty, &["List::first"]),
            ..Test::default()
        };
        test.setup.extend(steps(ty, &["List::push", "List::clear", "List::push"]));
        test.setup[3].repeat = 9;
        test
    }

    #[test]
    fn a_panic_among_many_calls_becomes_three_calls() {
        let ty = objects::checks();
        let test = many_calls(&ty);
        let small = minimal(&ty, &test, Kind::Panic);
        assert!(small.finished);
        let t = &small.found.test;
        let names = |s: &[Step]| s.iter().map(|s| ty.harness.thunk(s.thunk).name.clone()).collect::<Vec<_>>();
        assert_eq!(names(&t.setup), ["List::new", "List::push"]);
        let mut suffixes = [names(&t.suffixes[0]), names(&t.suffixes[1])];
        suffixes.sort();
        assert_eq!(suffixes, [["List::clear"], ["List::first"]]);
        assert_eq!((t.suffixes.len(), t.finally.len(), t.setup[1].repeat), (2, 0, 1));
        assert_eq!(t.setup[1].args[1], Value::Int(0));
        // Into the check, over to the other thread, and back.
        assert!(transfers(&small.found) <= 3, "{:?}", small.found.execution.schedule);
    }

    #[test]
    fn the_setup_is_shortened_first_and_what_is_reached_in_time_counts() {
        let ty = objects::checks();
        let mut sim = Simulator::new(ty.clone());
        let mut oracle = Oracle::new(&ty.harness, OracleOptions::default());
        let found = broken(&mut sim, &mut oracle, &many_calls(&ty), Kind::Panic);
        let mut in_time = |requests| {
            let mut limited = Limited(Simulator::new(ty.clone()), requests);
            let options = MinimiseOptions::default();
            minimise(&mut limited, &mut oracle, &ty.harness, found.clone(), &options).unwrap()
        };
        let small =
            (0..100).map(&mut in_time).find(|m| m.found.test != found.test).expect("something is smaller");
        assert!(!small.finished);
        let mut once = many_calls(&ty);
        once.setup[3].repeat = 1;
        assert_eq!(small.found.test, once, "{}", wire::encode(&small.found.test));
    }

    #[test]
    fn a_lost_update_keeps_what_shows_it() {
        let ty = objects::counter();
        let calls = ["Counter::get", "Counter::add", "Counter::get"];
        let test = Test {
            setup: vec![Step::new(ty.id("Counter::new"), vec![])],
            suffixes: vec![steps(&ty, &calls), steps(&ty, &calls)],
            finally: steps(&ty, &["Counter::get"]),
            ..Test::default()
        };
        let small = minimal(&ty, &test, Kind::NonLinearizable);
        // Two updates and one look at the result, or an update and two looks around it.
        assert!(edit::calls(&ty.harness, &small.found.test) <= 3, "{}", wire::encode(&small.found.test));
    }

    #[test]
    fn attempts_are_bounded() {
        let ty = objects::checks();
        let test = Test {
            setup: [vec![Step::new(ty.id("List::new"), vec![])], steps(&ty, &["List::push"])].concat(),
            suffixes: vec![steps(&ty, &["List::first"; 3]), steps(&ty, &["List::clear"; 3])],
            ..Test::default()
        };
        let mut sim = Simulator::new(ty.clone());
        let mut oracle = Oracle::new(&ty.harness, OracleOptions::default());
        let found = broken(&mut sim, &mut oracle, &test, Kind::Panic);
        let options = MinimiseOptions { attempts: 2, ..MinimiseOptions::default() };
        let small = minimise(&mut sim, &mut oracle, &ty.harness, found, &options).unwrap();
        assert_eq!((small.attempts, small.finished), (2, false));
    }
}
