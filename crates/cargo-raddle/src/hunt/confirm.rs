//! A violation becomes a finding when a process in which nothing has run before shows it again.
//!
//! The search runs thousands of tests in one process. What an earlier test left behind in a static, a pool or a
//! thread-local may have had a part in what was seen, and then its schedule means nothing elsewhere. In that case the
//! same search is done once more with a fresh process for every execution, within bounds.

use super::judge;
use super::search::seeded;
use crate::worker::session::Workers;
use raddle_core::Kind;
use raddle_core::protocol::Failure;
use raddle_core::schedule::Schedule;
use raddle_core::trace::Symbols;
use raddle_hunt::minimise::Found;
use raddle_hunt::oracle::{Judgement, Oracle, Verdict};
use raddle_hunt::protocol::ExecutorError;
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

/// What became of a violation that is not confirmed.
#[derive(Clone, Debug)]
pub struct Refuted {
    /// What came instead.
    pub instead: String,
    /// The execution that came instead, if a sequential order explains what its calls did; of a violation that was confirmed
    /// in vain, only if the same calls returned the same as before.
    pub explained: Option<Execution>,
    /// The execution that came instead, if it did not come back, or if too many sequential orders could explain it; of a violation
    /// that was confirmed in vain, the latter only if the same calls returned the same as before.
    pub undecided: Option<Execution>,
}

impl Refuted {
    fn by(instead: &str) -> Self {
        Refuted { instead: instead.to_owned(), explained: None, undecided: None }
    }
}

/// Repeats a violation, before the deadline of the workers.
pub fn confirm(
    workers: &mut Workers,
    oracle: &mut Oracle,
    found: &Found,
    search: Search,
    seed: u64,
) -> Result<Result<Confirmed, Refuted>, ExecutorError> {
    workers.renew();
    let mark = mark_of(&found.verdict);
    let known = oracle.knowledge();
    let mut first = match replay(workers, oracle, &found.test, seed, &found.execution.schedule, &mark)? {
        Ok(confirmed) => return Ok(Ok(confirmed)),
        Err(refuted) => refuted,
    };
    // Code that does not come back is waited for once, not in each of hundreds of executions.
    if first.undecided.as_ref().is_some_and(|e| e.failed() == Some(Kind::Timeout)) {
        return Ok(Err(first));
    }
    let same = |e: &Execution| oracle.same_results(&found.test, e, &found.execution);
    first.explained = first.explained.filter(same);
    first.undecided = first.undecided.filter(same);
    // What varies, or depends on who calls, will do so the next time as well.
    if first.explained.is_some() || first.undecided.is_some() || oracle.knowledge() > known {
        return Ok(Err(first));
    }
    let again = Run {
        fresh: Fresh::Each,
        stop_at_failure: false,
        ..Run::new(wire::encode(&found.test), search, seeded(seed, 0), SEARCH)
    };
    let replies = workers.run(vec![again])?;
    let mut same = None;
    for execution in replies.iter().flat_map(|r| &r.distinct) {
        let again = judge::violation(oracle, workers, &found.test, seed, execution)?;
        same = again.filter(|v| mark_of(&v.verdict) == mark);
        if same.is_some() {
            break;
        }
    }
    let Some(same) = same else { return Ok(Err(first)) };
    workers.renew();
    let confirmed = replay(workers, oracle, &same.test, seed, &same.execution.schedule, &mark)?;
    Ok(confirmed.map_err(|refuted| Refuted { explained: None, undecided: None, ..refuted }))
}

/// Repeats a schedule in a process in which nothing has run.
pub fn replay(
    workers: &mut Workers,
    oracle: &mut Oracle,
    test: &Test,
    seed: u64,
    schedule: &Schedule,
    mark: &Mark,
) -> Result<Result<Confirmed, Refuted>, ExecutorError> {
    let run = Run {
        fresh: Fresh::Once,
        replay: Some(schedule.clone()),
        traces: true,
        ..Run::new(wire::encode(test), "random", 0, 1)
    };
    let mut replies = workers.run(vec![run])?;
    let instead = |what: &str| Ok(Err(Refuted::by(what)));
    let Some(mut reply) = replies.pop() else { return instead("there was no answer") };
    if let Some(why) = reply.diverged {
        return instead(&why);
    }
    let Some(execution) = reply.distinct.pop() else { return instead("it did not run") };
    let verdict = match oracle.judge(workers, test, seed, &execution)? {
        Judgement::Wrong(verdict) if mark_of(&verdict) == *mark => *verdict,
        Judgement::Wrong(other) => return instead(&other.summary),
        Judgement::Right => {
            let refuted = Refuted::by("what its calls did has a sequential explanation");
            return Ok(Err(Refuted { explained: Some(execution), ..refuted }));
        }
        Judgement::Undecided => {
            let refuted = Refuted::by("it could not be decided");
            return Ok(Err(Refuted { undecided: Some(execution), ..refuted }));
        }
    };
    let found = Found { test: test.clone(), execution, verdict };
    let failure = failure(&found, reply.symbols);
    Ok(Ok(Confirmed { found, failure }))
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
