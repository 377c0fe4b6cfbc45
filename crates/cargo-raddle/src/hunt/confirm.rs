//! A violation becomes a finding when a process in which nothing has run before shows it again.
//!
//! The search runs thousands of tests in one process. What an earlier test left behind in a static, a pool or a
//! thread-local may have had a part in what was seen, and then its schedule means nothing elsewhere. In that case the
//! same search is done once more with a fresh process for every execution, within bounds.

use super::lab::seeded;
use crate::error::Result;
use crate::worker::session::Workers;
use raddle_core::Kind;
use raddle_core::protocol::Failure;
use raddle_core::schedule::Schedule;
use raddle_core::trace::Symbols;
use raddle_hunt::minimise::Found;
use raddle_hunt::oracle::{Judgement, Oracle, Verdict};
use raddle_hunt::{Execution, Executor, Fresh, Run, Search, Test, wire};
use std::time::Duration;

/// Executions of the second search.
const SEARCH: u64 = 300;
/// Time for all of it.
pub const PATIENCE: Duration = Duration::from_secs(30);

/// What a violation is compared by: its kind, and where it panicked if it did.
pub type Mark = (Kind, Option<String>);

/// A violation that a fresh process has repeated.
#[derive(Clone, Debug)]
pub struct Confirmed {
    /// As it was repeated.
    pub found: Found,
    /// For reports and files: with the trace of the repetition.
    pub failure: Failure,
}

/// What a violation of this kind at this place is compared by. Where a program crashes after it has gone wrong depends on what
/// happens to be in its memory, which is not the same in another process.
pub fn mark(kind: Kind, at: Option<&String>) -> Mark {
    (kind, at.filter(|_| kind != Kind::Crash).cloned())
}

fn mark_of(verdict: &Verdict) -> Mark {
    mark(verdict.kind, verdict.at.as_ref())
}

/// What became of a violation that was repeated where nothing had run.
#[derive(Debug)]
pub enum Proof {
    /// It came again.
    Confirmed(Box<Confirmed>),
    /// It did not.
    Refuted(Refuted),
}

/// What came instead of a violation.
#[derive(Debug)]
pub struct Refuted {
    /// In words.
    pub instead: String,
    /// The execution, if it says something.
    pub came: Came,
}

/// An execution that came instead of a violation.
#[derive(Debug)]
pub enum Came {
    /// A sequential order explains what its calls did. Where [`confirm`] says so, they also returned the same as in the original.
    Explained,
    /// It did not come back.
    Hung,
    /// Too many sequential orders could explain it. Where [`confirm`] says so, its calls also returned the same as in the original.
    Undecided,
    /// None of these.
    Other,
}

impl Proof {
    fn refuted(instead: &str, came: Came) -> Self {
        Proof::Refuted(Refuted { instead: instead.to_owned(), came })
    }
}

/// Repeats a violation, before the deadline of the workers.
pub fn confirm(
    workers: &mut Workers,
    oracle: &mut Oracle,
    found: &Found,
    search: Search,
    seed: u64,
) -> Result<Proof> {
    workers.renew();
    let mark = mark_of(&found.verdict);
    let known = oracle.knowledge();
    let (first, came) = attempt(workers, oracle, &found.test, seed, &found.execution.schedule, &mark)?;
    let Proof::Refuted(mut first) = first else { return Ok(first) };
    // Code that does not come back is waited for once, not in each of hundreds of executions.
    if matches!(first.came, Came::Hung) {
        return Ok(Proof::Refuted(first));
    }
    if !came.is_some_and(|came| oracle.same_results(&found.test, &came, &found.execution)) {
        first.came = Came::Other;
    }
    // What varies, or depends on who calls, will do so the next time as well.
    if !matches!(first.came, Came::Other) || oracle.knowledge() > known {
        return Ok(Proof::Refuted(first));
    }
    let Some(same) = found_again(workers, oracle, found, search, seed)? else {
        return Ok(Proof::Refuted(first));
    };
    workers.renew();
    match replay(workers, oracle, &same.test, seed, &same.execution.schedule, &mark)? {
        Proof::Refuted(refuted) => Ok(Proof::Refuted(Refuted { came: Came::Other, ..refuted })),
        confirmed => Ok(confirmed),
    }
}

/// Searches for a violation once more, with a fresh process for every execution.
fn found_again(
    workers: &mut Workers,
    oracle: &mut Oracle,
    found: &Found,
    search: Search,
    seed: u64,
) -> Result<Option<Found>> {
    let again = Run {
        fresh: Fresh::Each,
        stop_at_failure: false,
        ..Run::new(wire::encode(&found.test), search, seeded(seed, 0), SEARCH)
    };
    let replies = workers.run(vec![again])?;
    for execution in replies.iter().flat_map(|r| &r.distinct) {
        let again = violation(oracle, workers, &found.test, seed, execution)?;
        if let Some(same) = again.filter(|v| mark_of(&v.verdict) == mark_of(&found.verdict)) {
            return Ok(Some(same));
        }
    }
    Ok(None)
}

/// An execution of a test, if no sequential order of its calls explains it. What the program draws is decided by the
/// worker's seed, whatever the strategy's is.
pub fn violation(
    oracle: &mut Oracle,
    exec: &mut dyn Executor,
    test: &Test,
    seed: u64,
    execution: &Execution,
) -> Result<Option<Found>> {
    let judgement = oracle.judge(exec, test, seed, execution)?;
    let Judgement::Wrong(verdict) = judgement else { return Ok(None) };
    Ok(Some(Found { test: test.clone(), execution: execution.clone(), verdict: *verdict }))
}

/// Repeats a schedule in a process in which nothing has run.
pub fn replay(
    workers: &mut Workers,
    oracle: &mut Oracle,
    test: &Test,
    seed: u64,
    schedule: &Schedule,
    mark: &Mark,
) -> Result<Proof> {
    attempt(workers, oracle, test, seed, schedule, mark).map(|(proof, _)| proof)
}

/// Repeats a schedule in a process in which nothing has run; also gives the execution if it is no violation.
fn attempt(
    workers: &mut Workers,
    oracle: &mut Oracle,
    test: &Test,
    seed: u64,
    schedule: &Schedule,
    mark: &Mark,
) -> Result<(Proof, Option<Execution>)> {
    let run = Run {
        fresh: Fresh::Once,
        replay: Some(schedule.clone()),
        traces: true,
        ..Run::new(wire::encode(test), Search::random(), 0, 1)
    };
    let mut replies = workers.run(vec![run])?;
    let instead = |what: &str| Ok((Proof::refuted(what, Came::Other), None));
    let Some(mut reply) = replies.pop() else { return instead("there was no answer") };
    if let Some(why) = reply.diverged {
        return instead(&why);
    }
    let Some(execution) = reply.distinct.pop() else { return instead("it did not run") };
    let verdict = match oracle.judge(workers, test, seed, &execution)? {
        Judgement::Wrong(verdict) if mark_of(&verdict) == *mark => *verdict,
        Judgement::Wrong(other) => return instead(&other.summary),
        Judgement::Right => {
            let why = "what its calls did has a sequential explanation";
            return Ok((Proof::refuted(why, Came::Explained), Some(execution)));
        }
        Judgement::Undecided => {
            let hung = execution.failed() == Some(Kind::Timeout);
            let came = if hung { Came::Hung } else { Came::Undecided };
            return Ok((Proof::refuted("it could not be decided", came), Some(execution)));
        }
    };
    let found = Found { test: test.clone(), execution, verdict };
    let failure = failure(&found, reply.symbols);
    Ok((Proof::Confirmed(Box::new(Confirmed { found, failure })), None))
}

fn failure(found: &Found, symbols: Symbols) -> Failure {
    let execution = &found.execution;
    let base = match &execution.failure {
        Some(failure) => (**failure).clone(),
        None => Failure {
            kind: found.verdict.kind,
            message: String::new(),
            thread: None,
            at: None,
            backtrace: vec![],
            threads: vec![],
            execution: 0,
            check: 0,
            schedule: execution.schedule.clone(),
            trace: execution.trace.clone().unwrap_or_default(),
            symbols,
            output: String::new(),
        },
    };
    let message = match &execution.failure {
        Some(failure) if failure.message != found.verdict.summary => {
            format!("{}\n{}", found.verdict.summary, failure.message)
        }
        _ => found.verdict.summary.clone(),
    };
    Failure { kind: found.verdict.kind, message, ..base }
}
