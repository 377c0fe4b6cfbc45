//! Asking many questions at once.
//!
//! A generator tries its calls sequentially while it builds a test, one question after the other, and each question is
//! a message to another process and back. Nearly always the answer is that all is well. So a copy of the
//! generator builds the next tests as if it were, and the tests are then run, each once and one call at a time, all in
//! one request. If all calls work, the copy takes the place of the generator. Otherwise the generator proper builds
//! the tests again and finds the questions answered where all was well; elsewhere it asks by itself, as it would
//! have done anyway. How many tests are rehearsed depends on how it went the last time. The tests that come out are the same, with one exception: a call that works only after
//! those of another suffix counts as one that works.

use super::builder::Builder;
use super::builder::{Tries, all_work, alone};
use super::plan::{Generator, Plan};
use crate::protocol::{Executor, ExecutorError};
use crate::test::Test;
use crate::wire;
use std::collections::VecDeque;

/// Tests that were built together, and what was asked on the way.
#[derive(Clone, PartialEq, Debug, Default)]
struct Group {
    /// The tests.
    tests: Vec<Test>,
    /// Each is a part of one of them.
    asked: Vec<Test>,
}

/// Tests that were rehearsed, and how that went.
#[derive(Clone, Debug, Default)]
pub struct Rehearsals {
    /// Tests that can be handed out.
    pub ready: VecDeque<Plan>,
    /// In how many tests all calls worked the last time, or should have.
    tests: usize,
}

/// An executor that nobody should ask.
#[derive(Debug)]
struct Nobody;

impl Executor for Nobody {
    fn run(&mut self, _: Vec<crate::Run>) -> Result<Vec<crate::RunReply>, ExecutorError> {
        Err(ExecutorError::Over)
    }
}

/// A generator that rehearses.
pub trait Rehearses: Generator + Clone {
    /// What asks, and what was rehearsed.
    fn parts(&mut self) -> (&mut Builder, &mut Rehearsals);
}

/// Rehearses up to so many of the next tests, unless some are ready.
pub fn prepare<G: Rehearses>(
    generator: &mut G,
    tests: usize,
    exec: &mut dyn Executor,
) -> Result<(), ExecutorError> {
    let (_, rehearsals) = generator.parts();
    if !rehearsals.ready.is_empty() {
        return Ok(());
    }
    let tests = rehearsals.ahead(tests);
    let mut copy = generator.clone();
    let (plans, groups) = plans(&mut copy, tests);
    let (builder, rehearsals) = generator.parts();
    if rehearsals.perform(exec, builder.seed(), &groups, &mut builder.tries)? {
        let tests = rehearsals.tests;
        *generator = copy;
        let (_, rehearsals) = generator.parts();
        let more = std::mem::take(&mut rehearsals.ready);
        *rehearsals = Rehearsals { ready: plans.into_iter().chain(more).collect(), tests };
    }
    Ok(())
}

/// The next tests of a generator's copy, and what it would have asked.
fn plans<G: Rehearses>(copy: &mut G, tests: usize) -> (Vec<Plan>, Vec<Group>) {
    let mut groups: Vec<Group> = Vec::new();
    let mut plans = Vec::new();
    copy.parts().0.tries.rehearse();
    while plans.len() < tests
        && let Ok(Some(plan)) = copy.next(&mut Nobody)
    {
        let asked = copy.parts().0.tries.rehearsed();
        match groups.last_mut() {
            Some(group) if asked.is_empty() => group.tests.push(plan.test.clone()),
            _ => groups.push(Group { tests: vec![plan.test.clone()], asked }),
        }
        plans.push(plan);
    }
    copy.parts().0.tries.perform();
    groups.retain(|g| !g.asked.is_empty());
    (plans, groups)
}

impl Rehearsals {
    /// How many tests to rehearse if so many are wanted: a call that fails may cost much, so few at first.
    fn ahead(&self, wanted: usize) -> usize {
        (2 * self.tests).clamp(1, wanted)
    }

    /// Runs what was rehearsed; whether all of it worked. If not, the answers are put where they will be looked for.
    fn perform(
        &mut self,
        exec: &mut dyn Executor,
        seed: u64,
        groups: &[Group],
        tries: &mut Tries,
    ) -> Result<bool, ExecutorError> {
        if groups.is_empty() {
            return Ok(true);
        }
        let runs = groups.iter().flat_map(|g| &g.tests).map(|t| alone(t, seed)).collect();
        let mut replies = exec.run(runs)?.into_iter();
        let mut clear: Vec<&Test> = Vec::new();
        let mut unclear = 0;
        self.tests = 0;
        for group in groups {
            let works = |t: &Test| replies.next().is_some_and(|r| all_work(t, &r));
            // All replies have to be taken.
            let works: Vec<bool> = group.tests.iter().map(works).collect();
            if works.iter().all(|w| *w) {
                self.tests += group.tests.len();
                group.tests.iter().for_each(|t| tries.all_returned(t));
                clear.extend(&group.asked);
            } else {
                unclear += 1;
            }
        }
        if unclear > 0 {
            clear.into_iter().for_each(|t| tries.learn(wire::encode(t), None));
            self.tests /= 1 + unclear;
        }
        Ok(unclear == 0)
    }
}
