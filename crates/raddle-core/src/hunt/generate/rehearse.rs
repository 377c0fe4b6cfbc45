//! Asking many questions at once.
//!
//! A generator tries its calls sequentially while it builds a test, one question after the other, and each question is
//! a message to another process and back. Nearly always the answer is that all is well. So a copy of the
//! generator builds the next tests as if it were, the tests are then run, each once and one call at a time, all in one
//! request, and the generator proper finds its questions answered. Where a call does not work it asks by itself,
//! as it would have done anyway. The tests that come out are the same, with one exception: a call that works only
//! after those of another suffix counts as one that works.

use super::tries::{self, Tries};
use super::{Generator, Plan};
use crate::hunt::protocol::{Executor, ExecutorError};
use crate::hunt::test::Test;
use crate::hunt::wire;

/// Rehearsals after which it is seen whether they are of use.
const TRIAL: u64 = 64;
/// They are if one in so many is.
const USEFUL: u64 = 4;

/// Tests that were built together, and what was asked on the way.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Group {
    /// The tests.
    pub tests: Vec<Test>,
    /// Each is a part of one of them.
    pub asked: Vec<Test>,
}

/// How rehearsals went.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Rehearsals {
    /// Groups rehearsed.
    pub all: u64,
    /// Groups whose tests all worked.
    pub useful: u64,
}

/// An executor that nobody should ask.
#[derive(Debug)]
pub struct Nobody;

impl Executor for Nobody {
    fn run(&mut self, _: Vec<crate::hunt::Run>) -> Result<Vec<crate::hunt::RunReply>, ExecutorError> {
        Err(ExecutorError::Over)
    }
}

/// The next tests of a generator's copy, whose questions are those of `tries`.
pub fn groups<G: Generator>(mut copy: G, tests: usize, tries: impl Fn(&mut G) -> &mut Tries) -> Vec<Group> {
    let mut groups: Vec<Group> = Vec::new();
    tries(&mut copy).rehearse();
    for _ in 0..tests {
        let Ok(Some(Plan { test, .. })) = copy.next(&mut Nobody) else { break };
        let asked = tries(&mut copy).rehearsed();
        match groups.last_mut() {
            Some(group) if asked.is_empty() => group.tests.push(test),
            _ => groups.push(Group { tests: vec![test], asked }),
        }
    }
    groups.retain(|g| !g.asked.is_empty());
    groups
}

impl Rehearsals {
    /// Whether to go on with them: a type whose calls mostly fail is better asked about one by one.
    pub fn worthwhile(&self) -> bool {
        self.all < TRIAL || self.useful * USEFUL >= self.all
    }

    /// Runs what was rehearsed, and puts the answers where they will be looked for.
    pub fn perform(
        &mut self,
        exec: &mut dyn Executor,
        seed: u64,
        groups: &[Group],
        tries: &mut Tries,
    ) -> Result<(), ExecutorError> {
        if groups.is_empty() {
            return Ok(());
        }
        let runs = groups.iter().flat_map(|g| &g.tests).map(|t| tries::alone(t, seed)).collect();
        let mut replies = exec.run(runs)?.into_iter();
        let mut unclear: Vec<&Test> = Vec::new();
        for group in groups {
            self.all += 1;
            let works = |t: &Test| replies.next().is_some_and(|r| tries::all_work(t, &r));
            // All replies have to be taken.
            let works: Vec<bool> = group.tests.iter().map(works).collect();
            if works.iter().all(|w| *w) {
                self.useful += 1;
                group.asked.iter().for_each(|t| tries.learn(wire::encode(t), None));
            } else {
                unclear.extend(&group.asked);
            }
        }
        if unclear.is_empty() {
            return Ok(());
        }
        let replies = exec.run(unclear.iter().map(|t| tries::alone(t, seed)).collect())?;
        for (test, reply) in unclear.into_iter().zip(&replies) {
            tries.learn(wire::encode(test), tries::fault(test, reply));
        }
        Ok(())
    }
}
