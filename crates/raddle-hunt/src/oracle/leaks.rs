//! Memory that nobody frees.
//!
//! Much is left over rightly: a static that is made when it is first needed, a cache, the garbage of an
//! epoch that ends later. All of that comes to rest when the same is done again and again. So an execution leaks only if
//! its schedule, repeated in one process, holds more memory after each repetition, to the last; and if no sequential
//! order of the same calls, repeated as often, comes to as much.

use super::compare::Calls;
use super::serials::Serials;
use super::verdict::{Explanation, Verdict};
use crate::protocol::{Execution, Executor, ExecutorError, Fresh, Run};
use crate::test::Test;
use crate::wire;
use raddle_core::outcome::Kind;

/// Repetitions in one process.
const TIMES: usize = 24;
/// So many of them may be needed until things come to rest.
const WARM: usize = 12;
/// With more sequential orders than this nothing is said.
const MOST_ORDERS: u64 = 100;

/// Looks whether an execution leaks that leaves more behind than sequential ones do.
pub fn leak(
    exec: &mut dyn Executor,
    test: &Test,
    seed: u64,
    execution: &Execution,
) -> Result<Option<Verdict>, ExecutorError> {
    let text = wire::encode(test);
    let replay =
        Run { replay: Some(execution.schedule.clone()), ..Run::new(text.clone(), "random", seed, 1) };
    let Some(growth) = growth(exec, replay)? else { return Ok(None) };
    let Some(least) = growth.iter().copied().min().filter(|least| *least > 0) else { return Ok(None) };
    let serials = Serials::run(exec, test, seed, MOST_ORDERS + 1, Fresh::No, false)?;
    if !serials.complete || serials.all.is_empty() || serials.all.len() as u64 > MOST_ORDERS {
        return Ok(None);
    }
    let mut most = 0;
    for serial in &serials.all {
        let order: Vec<String> = serial.calls.order().iter().map(|c| c.thread.to_string()).collect();
        let run = Run::new(text.clone(), format!("serial:{}", order.join(",")), seed, 1);
        // An order that cannot be repeated may leak as much as anything.
        let Some(growth) = self::growth(exec, run)? else { return Ok(None) };
        most = most.max(growth.iter().copied().max().unwrap_or(0));
        if least <= most {
            return Ok(None);
        }
    }
    let calls = Calls::new(execution);
    let allowed = match most {
        0 => "nothing is lost in any sequential order".to_owned(),
        n => format!("at most {n} in any sequential order"),
    };
    Ok(Some(Verdict {
        kind: Kind::Leak,
        summary: format!("{least} bytes are never freed, each time again; {allowed}"),
        at: None,
        culprits: calls.order(),
        beside: Vec::new(),
        explanation: Explanation { orders: serials.all.len() as u64, ..Explanation::default() },
    }))
}

/// By how much a run, repeated in one process in which nothing else has run, holds more memory each time, once it
/// has had time to come to rest; 0 where it holds less. `None` if it cannot be repeated.
fn growth(exec: &mut dyn Executor, run: Run) -> Result<Option<Vec<u64>>, ExecutorError> {
    let runs = (0..TIMES).map(|i| Run { fresh: if i == 0 { Fresh::Once } else { Fresh::No }, ..run.clone() });
    let replies = exec.run(runs.collect())?;
    let mut held = Vec::new();
    for reply in &replies {
        match reply.distinct.first() {
            Some(e) if e.failure.is_none() && reply.diverged.is_none() => held.push(e.held_bytes),
            _ => return Ok(None),
        }
    }
    if held.len() < TIMES {
        return Ok(None);
    }
    Ok(Some(held[WARM..].windows(2).map(|w| w[1].saturating_sub(w[0])).collect()))
}
