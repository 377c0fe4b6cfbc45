//! The hunt for one type: make tests, run them, and judge what came.

use super::confirm::violation;
use super::cpu_time::Reading;
use super::lab::{Lab, seeded};
use super::result::{End, Hunted, Progress, SearchSettings, Stages, has_settled};
use super::statics::{self, StaticCoverage};
use super::subject::Subject;
use crate::error::{Error, Result};
use crate::findings::hunt::HuntFinding;
use crate::interrupt;
use crate::report::type_stats::Sample;
use crate::worker::session::{Totals, Watched, Workers};
use raddle_core::protocol::Job;
use raddle_core::trace::Symbols;
use raddle_hunt::generate::{self, Generator, PatternCoverage, Plan};
use raddle_hunt::oracle::{Care, Oracle, OracleCost, OracleOptions};
use raddle_hunt::protocol::Rest;
use raddle_hunt::{BoundedSearch, Execution, ExecutorError, Run, RunReply, Search, wire};
use raddle_mir::TypeAccesses;
use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, Instant};

/// Tests that are run together, at most. The first are run almost one by one: what is found there should be said at once. It
/// depends on nothing but the number of tests so far, so that one seed gives one result.
const BATCH: u64 = 16;
/// Time for hearing what tests covered when a finding has ended the hunt, whatever its budget.
const LAST_WORDS: Duration = Duration::from_secs(5);
/// How often progress is told.
const TELL: Duration = Duration::from_millis(200);
/// Tests between two points of the curve grow by one in so many tests.
const DENSITY: u64 = 24;
/// How much more patience a confirmation has with code that hangs.
const CONFIRMING: u64 = 3;

impl SearchSettings {
    /// Whether memory-access patterns are followed: it costs time, and only some generators need it.
    fn follows(&self) -> bool {
        self.patterns || self.generator.follows_patterns()
    }

    fn make_generator(&self, subject: &Subject) -> Box<dyn Generator> {
        let options = generate::Options {
            suffixes: self.threads,
            runs: vec![Search::from(self.strategy.as_str()).most(self.per_test)],
            ..generate::Options::default()
        };
        let mut generator = self.generator.make(&subject.harness, self.limits.seed, options);
        if let Some(Ok(accesses)) = &subject.accesses {
            generator.inform(&statics::known(&subject.harness, accesses));
        }
        generator
    }
}

/// The oracle of a search, which is quick to suspect.
fn quick_oracle(subject: &Subject) -> Oracle {
    Oracle::new(&subject.harness, OracleOptions { care: Care::Suspects, ..OracleOptions::default() })
}

/// Hunts a type.
pub fn hunt(
    lab: &Lab<'_>,
    settings: &SearchSettings,
    subject: &Subject,
    progress: &dyn Fn(&Progress),
) -> Result<Hunted> {
    let began = Instant::now();
    let clock = Reading::now(&Totals::default());
    let job = lab.job(subject);
    let patient = Job { hang_ms: job.hang_ms * CONFIRMING, ..job.clone() };
    let until = settings.budget.map(|b| began + b);
    let mut generator = settings.make_generator(subject);
    let mut hunt = Hunt {
        lab,
        settings,
        subject,
        search: lab.workers(subject, job, "search", until)?,
        proof: lab.workers(subject, patient, "proof", None)?,
        oracle: quick_oracle(subject),
        causes: BTreeMap::new(),
        kept: BTreeSet::new(),
        repeated: 0,
        explained: 0,
        next_run: 0,
        began,
        until,
        last_progress: began,
        progress,
        done: Hunted {
            findings: vec![],
            first: None,
            saved: 0,
            outdated: vec![],
            unconfirmed: vec![],
            isolated: false,
            per_thread: false,
            isolated_because: None,
            never_returned: vec![],
            coverage: generator.coverage().clone(),
            patterns: (settings.follows() && generator.patterns().is_none()).then(PatternCoverage::default),
            statics: None,
            curve: vec![],
            symbols: Symbols::default(),
            progress: Progress::default(),
            steps: 0,
            lost: (0, None),
            totals: Totals::default(),
            oracle: OracleCost::default(),
            stages: Stages::default(),
            processor: Duration::ZERO,
            elapsed: Duration::ZERO,
            end: End::Exhausted,
        },
    };
    hunt.done.progress.pairs = generator.coverage().counts.len();
    let mut ran = hunt.all(&mut *generator);
    hunt.done.never_returned = generator.never_returned();
    let over = matches!(ran, Err(Error::Workers(ExecutorError::Over))) && !interrupt::interrupted();
    if over || ran.is_ok() {
        ran = hunt.prove_what_always_crashes().and(ran);
    }
    let end = match ran {
        Ok(end) => end,
        Err(Error::Workers(ExecutorError::Broken(why))) => End::Broken(why),
        Err(Error::Workers(ExecutorError::Over)) if interrupt::interrupted() => End::Interrupted,
        Err(Error::Workers(ExecutorError::Over)) => End::Budget,
        Err(error) => return Err(error),
    };
    let done = &mut hunt.done;
    done.end = end;
    done.coverage = generator.coverage().clone();
    done.patterns = generator.patterns().cloned().or(done.patterns.take());
    done.elapsed = began.elapsed();
    done.stages.start += Duration::from_micros(hunt.search.totals.spent.start);
    done.processor = clock.spent(&hunt.search.totals) + Duration::from_micros(hunt.proof.totals.spent.all);
    done.symbols = std::mem::take(&mut hunt.search.ids.symbols);
    if let (Some(patterns), Some(accesses)) = (&done.patterns, &subject.accesses) {
        let cover = |a: &TypeAccesses| StaticCoverage::new(a, patterns, &done.symbols);
        done.statics = Some(accesses.as_ref().map(cover).map_err(Clone::clone));
    }
    done.totals = std::mem::take(&mut hunt.search.totals);
    done.oracle = hunt.oracle.cost;
    done.per_thread = hunt.oracle.is_thread_dependent();
    Ok(hunt.done)
}
/// The executions that have been dealt with: numbers of their runs, and their own.
type DealtWith = BTreeSet<(usize, u64)>;

/// A hunt under way.
pub(super) struct Hunt<'a> {
    pub(super) lab: &'a Lab<'a>,
    pub(super) settings: &'a SearchSettings,
    pub(super) subject: &'a Subject,
    /// The worker of the search keeps what it has learned.
    pub(super) search: Workers,
    /// Confirmations and minimising happen elsewhere.
    pub(super) proof: Workers,
    pub(super) oracle: Oracle,
    /// Causes of violations that have been dealt with, and how often in vain.
    pub(super) causes: BTreeMap<String, u32>,
    /// Causes of findings.
    pub(super) kept: BTreeSet<String>,
    /// Cases of wrong results that were proved and came down to one of those.
    pub(super) repeated: u32,
    /// Violations that a sequential order explained after all.
    pub(super) explained: u32,
    next_run: u64,
    began: Instant,
    /// When its time is over.
    pub(super) until: Option<Instant>,
    last_progress: Instant,
    progress: &'a dyn Fn(&Progress),
    pub(super) done: Hunted,
}

impl Hunt<'_> {
    /// Starts the worker of the search.
    fn start(&mut self) -> Result<()> {
        let clock = Reading::now(&self.search.totals);
        let started = self.search.begin();
        clock.charge(&self.search.totals, &mut self.done.stages, |s| &mut s.start);
        Ok(started?)
    }

    fn all(&mut self, generator: &mut dyn Generator) -> Result<End> {
        self.start()?;
        self.repeat_saved()?;
        if self.enough() {
            return Ok(End::Findings);
        }
        let settings = self.settings;
        let mut left = settings.schedules.unwrap_or(u64::MAX);
        while left > 0 {
            let plans = self.make(generator)?;
            if plans.is_empty() {
                return Ok(End::Exhausted);
            }
            let (plans, runs) = self.limit(plans, &mut left);
            let isolated = self.done.isolated;
            let (replies, dealt_with) = self.watch(&plans, runs)?;
            let mut replies = replies.into_iter();
            let mut first_run = 0;
            for plan in &plans {
                let replies: Vec<RunReply> = replies.by_ref().take(plan.runs.len()).collect();
                if replies.is_empty() {
                    break;
                }
                let clock = Reading::now(&self.search.totals);
                generator.feedback(plan, &replies);
                self.count(&replies);
                clock.charge(&self.search.totals, &mut self.done.stages, |s| &mut s.cover);
                let new = replies.iter().zip(first_run..).flat_map(|(reply, run)| {
                    let dealt_with = &dealt_with;
                    reply.distinct.iter().filter(move |e| !dealt_with.contains(&(run, e.index)))
                });
                first_run += plan.runs.len();
                // What ran before it was known that executions need processes of their own says nothing.
                let wanted = self.done.isolated == isolated && !self.enough();
                let taken = if wanted { self.take(plan, new) } else { Ok(()) };
                self.sample(generator);
                taken?;
            }
            if self.enough() {
                return Ok(End::Findings);
            }
            self.tell(generator);
            let early = |after: Duration| self.began.elapsed() < after;
            if settings.until_settled.is_some_and(|after| !early(after) && has_settled(&self.done.curve)) {
                return Ok(End::Settled);
            }
        }
        Ok(End::Budget)
    }

    /// Says how far it has come, now and then.
    fn tell(&mut self, generator: &dyn Generator) {
        if self.last_progress.elapsed() >= TELL {
            self.last_progress = Instant::now();
            self.done.progress.covered = generator.coverage().counts.report().covered.len();
            (self.progress)(&self.done.progress);
        }
    }

    /// Notes how far it has come, at tests that lie ever further apart.
    fn sample(&mut self, generator: &dyn Generator) {
        let Progress { tests, executions, .. } = self.done.progress;
        let next = self.done.curve.last().map_or(1, |s| s.tests + 1 + s.tests / DENSITY);
        if tests < next && !self.enough() {
            return;
        }
        let millis = |time: Duration| u64::try_from(time.as_millis()).unwrap_or(u64::MAX);
        let at_ms = millis(self.done.stages.search());
        let followed = generator.patterns().or(self.done.patterns.as_ref());
        let (patterns, locations) = followed.map_or((0, 0), |p| (p.covered().len(), p.locations()));
        let pairs = generator.coverage().progress().0;
        let place = |f: &HuntFinding| (f.failure.kind, f.at.clone().unwrap_or_else(|| f.cause.clone()));
        let bugs: BTreeSet<_> = self.done.findings.iter().map(|(f, _)| place(f)).collect();
        self.done.curve.push(Sample {
            tests,
            executions,
            at_ms,
            elapsed_ms: millis(self.began.elapsed()),
            pairs,
            patterns,
            locations,
            bugs: bugs.len(),
        });
    }

    pub(super) fn enough(&self) -> bool {
        self.done.findings.len() as u64 >= self.settings.max_findings
    }

    /// The next tests.
    fn make(&mut self, generator: &mut dyn Generator) -> Result<Vec<Plan>> {
        let clock = Reading::now(&self.search.totals);
        let mut plans = vec![];
        let most = BATCH.min(1 + self.done.progress.tests / 2) as usize;
        while plans.len() < most {
            generator.prepare(most - plans.len(), &mut self.search)?;
            let Some(plan) = generator.next(&mut self.search)? else { break };
            plans.push(plan);
        }
        clock.charge(&self.search.totals, &mut self.done.stages, |s| &mut s.generate);
        Ok(plans)
    }

    /// As many of the plans as the limit on executions allows, and their runs.
    fn limit(&mut self, plans: Vec<Plan>, left: &mut u64) -> (Vec<Plan>, Vec<Run>) {
        let (mut kept, mut all) = (vec![], vec![]);
        for mut plan in plans {
            for run in &mut plan.runs {
                run.executions = run.executions.min(*left);
                *left -= run.executions;
            }
            plan.runs.retain(|run| run.executions > 0);
            if plan.runs.is_empty() {
                continue;
            }
            let test = wire::encode(&plan.test);
            // Judging wrong results is dear, because many orders of the calls have to be looked at.
            let only_failures = self.is_known(&plan.test);
            for BoundedSearch { search, executions } in &plan.runs {
                let seed = seeded(self.settings.limits.seed, self.next_run);
                self.next_run += 1;
                all.push(Run {
                    stop_at_failure: false,
                    stop_at_runaway: true,
                    patterns: self.settings.follows(),
                    explain: true,
                    only_failures,
                    ..Run::new(test.clone(), search.clone(), seed, *executions)
                });
            }
            kept.push(plan);
        }
        (kept, all)
    }

    /// Runs tests. An execution that the worker cannot explain is dealt with at once, while the rest waits; if nothing more is
    /// wanted of these tests then, the rest is left out. Replies are fewer than runs in this case.
    fn watch(&mut self, plans: &[Plan], runs: Vec<Run>) -> Result<(Vec<RunReply>, DealtWith)> {
        let isolated = self.done.isolated;
        let mut dealt_with = DealtWith::new();
        let mut came = self.executing(|search| search.watch(runs));
        loop {
            let (run, execution) = match came? {
                Watched::Doubt(run, execution) => (run, execution),
                Watched::Done(replies) => return Ok((replies, dealt_with)),
            };
            dealt_with.insert((run, execution.index));
            if let Some(plan) = plan_of(plans, run) {
                self.take(plan, [&*execution])?;
            }
            if self.enough() {
                self.search.set_deadline(Some(Instant::now() + LAST_WORDS));
            }
            let done = self.enough() || self.done.isolated != isolated;
            let rest = if done { Rest::Drop } else { Rest::Run };
            came = self.executing(|search| search.go_on(rest));
        }
    }

    fn executing<T>(
        &mut self,
        what: impl FnOnce(&mut Workers) -> std::result::Result<T, ExecutorError>,
    ) -> Result<T> {
        let clock = Reading::now(&self.search.totals);
        let came = what(&mut self.search);
        clock.charge(&self.search.totals, &mut self.done.stages, |s| &mut s.execute);
        Ok(came?)
    }

    /// Counts what was done for a plan.
    fn count(&mut self, replies: &[RunReply]) {
        let done = &mut self.done;
        done.progress.tests += 1;
        if let Some(patterns) = &mut done.patterns {
            patterns.tested(replies);
        }
        for reply in replies {
            self.oracle.cost.explained_by_worker(reply);
            done.progress.executions += reply.executions;
            done.steps += reply.steps;
            if let Some(why) = &reply.diverged {
                done.lost.0 += 1;
                done.lost.1.get_or_insert_with(|| why.clone());
            }
        }
    }

    /// Judges executions of a test.
    pub(super) fn take<'e>(
        &mut self,
        plan: &Plan,
        executions: impl IntoIterator<Item = &'e Execution>,
    ) -> Result<()> {
        let isolated = self.done.isolated;
        for execution in executions {
            let clock = Reading::now(&self.search.totals);
            let found = match self.may_be_new(&plan.test, execution) {
                true => {
                    let (seed, oracle) = (self.settings.limits.seed, &mut self.oracle);
                    violation(oracle, &mut self.search, &plan.test, seed, execution)
                }
                false => Ok(None),
            };
            clock.charge(&self.search.totals, &mut self.done.stages, |s| &mut s.judge);
            let Some(found) = found? else { continue };
            let at = self.done.stages.search();
            self.prove(plan, found)?;
            if self.done.findings.len() > self.done.saved {
                self.done.first.get_or_insert(at);
            }
            if self.enough() || self.done.isolated != isolated {
                break;
            }
        }
        Ok(())
    }
}

/// The test that a run is of.
fn plan_of(plans: &[Plan], run: usize) -> Option<&Plan> {
    let mut before = 0;
    plans.iter().find(|plan| {
        before += plan.runs.len();
        run < before
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use raddle_hunt::{Search, Test};

    #[test]
    fn runs_belong_to_tests_in_their_order() {
        let plan = |runs: usize| Plan {
            test: Test::default(),
            runs: vec![Search::random().most(1); runs],
            pair: None,
        };
        let plans = [plan(2), plan(1), plan(3)];
        let which = |run| plan_of(&plans, run).map(|p| p.runs.len());
        assert_eq!([0, 1, 2, 3, 5, 6].map(which), [Some(2), Some(2), Some(1), Some(3), Some(3), None]);
    }
}
