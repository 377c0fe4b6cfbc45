//! What a search suspects is proved: confirmed by processes in which nothing has run, made small, and kept.

use super::confirm::{self, Came, Confirmed, Proof, Refuted};
use super::cpu_time::Reading;
use super::keep;
use super::result::Unconfirmed;
use super::search::Hunt;
use crate::error::{Error, Result};
use crate::findings::hunt::HuntFinding;
use crate::findings::read::earlier;
use crate::findings::store::Keep;
use crate::interrupt;
use crate::worker::session::Workers;
use raddle_core::Kind;
use raddle_core::protocol::{Failure, RUNAWAY};
use raddle_hunt::generate::{Fault, NeverReturned, Plan};
use raddle_hunt::group::Cause;
use raddle_hunt::minimise::{Found, MinimiseOptions, Minimised, minimise};
use raddle_hunt::oracle::Oracle;
use raddle_hunt::{Execution, Executor, ExecutorError, Fresh, Run, Search, Test, wire};
use std::collections::BTreeSet;
use std::time::{Duration, Instant};

/// Attempts to confirm violations of the same cause.
const ATTEMPTS: u32 = 3;
/// A test with more calls side by side than this is large: its calls can come in hundreds of orders, and each has to run in a
/// process of its own before a violation is believed.
const LARGE: usize = 6;
/// After so many cases of wrong results that came down to a finding, those of small tests that make all calls of one are taken for
/// that finding as well.
const REPEATED: u32 = 3;
/// So many violations that a sequential order explains after all say nothing about the program.
const BY_CHANCE: u32 = 2;
/// Time for making a confirmed test small.
const MINIMISING: Duration = Duration::from_secs(15);
/// Time for making a large test small before that.
const SHRINKING: Duration = Duration::from_secs(5);
/// How long proving may go on when the time of the hunt is over. The help of `--budget` says so.
const GRACE: Duration = Duration::from_secs(15);

impl Hunt<'_> {
    /// Confirms, minimises and keeps a violation, unless its cause is known.
    pub(super) fn prove(&mut self, plan: &Plan, found: Found) -> Result<()> {
        if found.verdict.kind == Kind::NonLinearizable && self.is_known(&found.test) {
            return Ok(());
        }
        let cause = keep::cause(&self.subject.harness, &found);
        let attempts = self.causes.entry(cause.clone()).or_default();
        if *attempts >= ATTEMPTS {
            return Ok(());
        }
        *attempts += 1;
        let (kind, message) = (found.verdict.kind, found.verdict.summary.clone());
        let clock = Reading::now(&self.proof.totals);
        self.oracle.thorough = true;
        let (known, test) = (self.oracle.knowledge(), found.test.clone());
        let proof = self.proved(plan, found);
        let learned = self.oracle.knowledge() > known;
        self.oracle.thorough = false;
        self.done.stages.prove += clock.spent(&self.proof.totals);
        match proof {
            // Proving has a time of its own, and that it has passed says nothing about the hunt's.
            Err(Error::Workers(ExecutorError::Over)) if !interrupt::interrupted() => {
                self.causes.insert(cause, ATTEMPTS);
                let instead = "it could not be repeated in time".to_owned();
                self.done.unconfirmed.push(Unconfirmed { kind, message, instead });
            }
            Err(error) => return Err(error),
            Ok(Proof::Confirmed(confirmed)) => self.confirmed(cause, kind, *confirmed),
            // It is known now what must not be compared.
            Ok(Proof::Refuted(_)) if learned || self.varies(&test)? => {}
            Ok(Proof::Refuted(Refuted { instead, came })) => {
                self.refuted(cause, came, Unconfirmed { kind, message, instead });
            }
        }
        Ok(())
    }

    /// Whether results of a test that was not confirmed vary by themselves, or depend on who calls.
    fn varies(&mut self, test: &Test) -> Result<bool> {
        if self.done.isolated {
            return Ok(false);
        }
        let clock = Reading::now(&self.search.totals);
        let varies = self.oracle.look_into(&mut self.search, test, self.settings.limits.seed);
        clock.charge(&self.search.totals, &mut self.done.stages, |s| &mut s.judge);
        Ok(varies?)
    }

    /// Keeps a violation that was confirmed. Many tests show one bug; the minimal one says which.
    fn confirmed(&mut self, cause: String, kind: Kind, confirmed: Confirmed) {
        self.causes.insert(cause, ATTEMPTS);
        let smaller = keep::cause(&self.subject.harness, &confirmed.found);
        if self.kept.insert(smaller.clone()) {
            self.keep(confirmed);
        } else {
            self.repeated += u32::from(kind == Kind::NonLinearizable);
        }
        self.causes.insert(smaller, ATTEMPTS);
    }

    /// Notes that a violation did not come again.
    fn refuted(&mut self, cause: String, came: Came, unconfirmed: Unconfirmed) {
        match came {
            // It would not come back the next time either.
            Came::Hung => _ = self.causes.insert(cause, ATTEMPTS),
            // It went as before, with too many calls side by side to be sure. That says nothing about the program.
            Came::Undecided => {}
            // The search had not run all sequential orders, or others. That may be chance; where something is kept from test to
            // test it happens again.
            Came::Explained if self.done.isolated || self.explained < BY_CHANCE => self.explained += 1,
            Came::Explained | Came::Other if self.done.isolated => self.done.unconfirmed.push(unconfirmed),
            Came::Explained | Came::Other => self.isolate(unconfirmed),
        }
    }

    /// Whether wrong results of a test would say nothing new: it makes all calls of a finding, and is large, or is like others
    /// that came down to what was known.
    pub(super) fn is_known(&self, test: &Test) -> bool {
        if !is_large(test) && self.repeated < REPEATED {
            return false;
        }
        let here: BTreeSet<_> = test.suffixes.iter().flatten().map(|s| s.thunk).collect();
        let within = |f: &HuntFinding| f.test.suffixes.iter().flatten().all(|s| here.contains(&s.thunk));
        let mut findings = self.done.findings.iter().map(|(f, _)| f);
        findings.any(|f| f.failure.kind == Kind::NonLinearizable && within(f))
    }

    /// Whether an execution could be wrong in a way that is not known. To find out whether it is wrong at all takes many
    /// sequential orders of its calls.
    pub(super) fn may_be_new(&self, test: &Test, execution: &Execution) -> bool {
        if execution.explained || execution.failure.is_some() {
            return true;
        }
        if execution.is_quiet() {
            return !self.is_known(test);
        }
        let harness = &self.subject.harness;
        let mut panics = execution.calls.iter().filter_map(|c| Cause::of_panic(harness, test, c));
        let dealt_with = |cause| self.causes.get(&keep::in_words(cause)).is_some_and(|n| *n >= ATTEMPTS);
        !panics.all(dealt_with)
    }

    /// A violation did not repeat where nothing had run before: the program keeps something from test to test, in a
    /// static or in thread-locals. What was seen so far says little then, so it is looked at again without that.
    fn isolate(&mut self, because: Unconfirmed) {
        self.done.isolated = true;
        self.done.isolated_because = Some(because);
        self.search.isolated = true;
        self.proof.isolated = true;
        self.oracle.forget();
        self.causes = self.kept.iter().map(|cause| (cause.clone(), ATTEMPTS)).collect();
    }

    /// Repeats a violation, and makes it small.
    fn proved(&mut self, plan: &Plan, found: Found) -> Result<Proof> {
        let settings = self.settings;
        let (found, small) = if is_large(&found.test) { self.shrunk(found)? } else { (found, false) };
        let searched = plan.runs.first().map(|run| run.search.clone());
        let search = searched.unwrap_or_else(|| settings.strategy.as_str().into());
        // The sequential orders are run anew as well: a set of them that is not complete makes anything a violation.
        let mut anew = self.lab.last_word(self.subject);
        self.proof.set_deadline(Some(self.proved_by(confirm::PATIENCE)));
        let first = confirm::confirm(&mut self.proof, &mut anew, &found, search, settings.limits.seed)?;
        self.oracle.learn(&anew);
        let Proof::Confirmed(first) = first else { return Ok(first) };
        if small {
            return Ok(Proof::Confirmed(first));
        }
        let small = self.minimised(first.found.clone(), MINIMISING)?.found;
        if small == first.found {
            return Ok(Proof::Confirmed(first));
        }
        let mark = confirm::mark(small.verdict.kind, small.verdict.at.as_ref());
        self.proof.set_deadline(Some(self.proved_by(confirm::PATIENCE)));
        self.proof.renew();
        let schedule = &small.execution.schedule;
        let mut anew = self.lab.last_word(self.subject);
        match confirm::replay(&mut self.proof, &mut anew, &small.test, settings.limits.seed, schedule, &mark)
        {
            // The smaller one may not stand by itself, or not in time; the larger one does.
            Ok(Proof::Refuted(_)) | Err(Error::Workers(ExecutorError::Over)) => Ok(Proof::Confirmed(first)),
            smaller => smaller,
        }
    }

    /// When something that may take so long has to be done.
    fn proved_by(&self, patience: Duration) -> Instant {
        deadline(Instant::now() + patience, self.until)
    }

    /// The smallest test that shows a violation and is found in this time.
    fn minimised(&mut self, found: Found, patience: Duration) -> Result<Minimised> {
        let options = MinimiseOptions { seed: self.settings.limits.seed, ..MinimiseOptions::default() };
        self.proof.set_deadline(Some(self.proved_by(patience)));
        Ok(minimise(&mut self.proof, &mut self.oracle, &self.subject.harness, found, &options)?)
    }

    /// A violation of a large test in a smaller one, before anything about it is proved, and whether that is as small as it
    /// gets.
    fn shrunk(&mut self, found: Found) -> Result<(Found, bool)> {
        self.proof.renew();
        let shrunk = self.minimised(found, SHRINKING)?;
        Ok((shrunk.found, shrunk.finished))
    }

    fn keep(&mut self, confirmed: Confirmed) {
        let finding = self.finding(confirmed);
        let file = finding.save(self.lab.findings);
        self.done.findings.push((finding, file));
        self.done.progress.findings = self.done.findings.len();
    }

    /// What is to be kept of a confirmed violation.
    fn finding(&self, confirmed: Confirmed) -> HuntFinding {
        let job = self.lab.job(self.subject);
        keep::finding(self.subject, self.lab.runtime, &job, self.lab.findings, confirmed)
    }

    /// Methods that end the process whenever they are called: there is nothing to search, but safe code never may.
    pub(super) fn prove_what_always_crashes(&mut self) -> Result<()> {
        let crashes = |n: &&NeverReturned| n.instead.fault == Fault::Crashed;
        let tests: Vec<Test> =
            self.done.never_returned.iter().filter(crashes).map(|n| n.instead.test.clone()).collect();
        for test in tests {
            if self.enough() {
                break;
            }
            self.proof.set_deadline(Some(Instant::now() + confirm::PATIENCE));
            match self.crashed_alone(&test) {
                Ok(Some(confirmed))
                    if self.kept.insert(keep::cause(&self.subject.harness, &confirmed.found)) =>
                {
                    self.keep(*confirmed);
                }
                Ok(_) => {}
                Err(Error::Workers(ExecutorError::Over)) if !interrupt::interrupted() => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    /// A crash in a test without anything concurrent, once a second process has repeated it. One that takes all memory, or leaves
    /// no trace of its place, may be due to the limits of the worker.
    fn crashed_alone(&mut self, test: &Test) -> Result<Option<Box<Confirmed>>> {
        let seed = self.settings.limits.seed;
        self.proof.renew();
        let run = Run { fresh: Fresh::Once, ..Run::new(wire::encode(test), Search::random(), seed, 1) };
        let replies = self.proof.run(vec![run])?;
        let Some(execution) = replies.iter().flat_map(|r| &r.distinct).next() else { return Ok(None) };
        let mut anew = self.lab.last_word(self.subject);
        let found = confirm::violation(&mut anew, &mut self.proof, test, seed, execution)?;
        let placed = |f: &Failure| f.at.is_some() && !f.message.starts_with(RUNAWAY);
        let Some(found) = found.filter(|f| f.execution.failure.as_deref().is_some_and(placed)) else {
            return Ok(None);
        };
        let mark = confirm::mark(found.verdict.kind, found.verdict.at.as_ref());
        self.proof.renew();
        let schedule = &found.execution.schedule;
        match confirm::replay(&mut self.proof, &mut anew, test, seed, schedule, &mark)? {
            Proof::Confirmed(confirmed) => Ok(Some(confirmed)),
            Proof::Refuted(_) => Ok(None),
        }
    }

    /// What earlier hunts found comes first.
    pub(super) fn repeat_saved(&mut self) -> Result<()> {
        for (file, saved) in earlier(self.lab.findings, &self.subject.harness.target) {
            let harness = &self.subject.harness;
            if saved.other_build(&self.subject.fingerprint, self.lab.runtime).is_some()
                || saved.check(harness).is_err()
            {
                self.done.outdated.push(file);
                continue;
            }
            self.proof.renew();
            self.proof.set_deadline(Some(self.proved_by(confirm::PATIENCE)));
            let mut anew = self.lab.last_word(self.subject);
            match repeat(&mut self.proof, &mut anew, &saved) {
                Ok(Proof::Confirmed(confirmed)) => {
                    let found = self.finding(*confirmed);
                    self.kept.insert(found.cause.clone());
                    self.causes.insert(found.cause.clone(), ATTEMPTS);
                    self.causes.insert(saved.cause.clone(), ATTEMPTS);
                    self.done.saved += 1;
                    self.done.findings.push((found, Ok(file)));
                }
                Ok(Proof::Refuted(_)) => self.done.outdated.push(file),
                // It took too long.
                Err(Error::Workers(ExecutorError::Over)) if !interrupt::interrupted() => {
                    self.done.outdated.push(file);
                }
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }
}

/// What is to be done by `wanted` is done soon after the end of the hunt's time.
fn deadline(wanted: Instant, until: Option<Instant>) -> Instant {
    until.map_or(wanted, |until| wanted.min(until + GRACE))
}

/// Whether a test makes so many calls side by side that it is better made small before anything is proved.
fn is_large(test: &Test) -> bool {
    test.suffixes.iter().map(Vec::len).sum::<usize>() > LARGE
}

/// Repeats a saved finding.
pub fn repeat(workers: &mut Workers, oracle: &mut Oracle, saved: &HuntFinding) -> Result<Proof> {
    let mark = confirm::mark(saved.failure.kind, saved.at.as_ref());
    confirm::replay(workers, oracle, &saved.test, saved.job.seed, &saved.failure.schedule, &mark)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn proving_ends_soon_after_the_time_of_the_hunt() {
        let now = Instant::now();
        let later = |seconds| now + Duration::from_secs(seconds);
        assert_eq!(deadline(later(30), None), later(30));
        assert_eq!(deadline(later(30), Some(later(60))), later(30));
        assert_eq!(deadline(later(30), Some(later(5))), later(20));
    }
}
