//! Types whose results depend on which thread calls.
//!
//! Such a type gives each thread a number, a shard or a slot of its own when it first meets it, and that is a step of its
//! own: a thread that came first may finish its first call last. No sequential order shows the numbers of the one and
//! the results of the other. So a thread's first call makes several steps if the same calls in the same order return
//! something else when one thread makes them all.

use super::Key;
use super::compare::{Calls, same, thunk_of};
use super::guided::{prepare, run_order};
use super::promises::overlapped;
use super::serials::Serial;
use super::verdict::{CallRef, Order};
use crate::edit;
use crate::harness::Harness;
use crate::protocol::{CallResult, Executor, ExecutorError, Fresh};
use crate::test::Test;

/// Whether another call ran beside the first one of a thread.
pub fn meets_threads(calls: &Calls) -> bool {
    let first = |key: &Key| key.0 > 0 && key.1 == 0 && key.2 == 0;
    calls.iter().any(|(key, _)| first(key) && overlapped(calls, key))
}

/// Whether one thread that makes all calls, in one of these orders, gets other results than the threads of the test get
/// each time.
pub fn matters(
    exec: &mut dyn Executor,
    harness: &Harness,
    test: &Test,
    seed: u64,
    orders: &[Order],
) -> Result<bool, ExecutorError> {
    for order in orders {
        let mut run = |test: &Test, threads: &[u32]| {
            let one = run_order(exec, &prepare(test, seed, Fresh::Once), threads)?;
            Ok(one.runs.into_iter().next().filter(|s| s.failed.is_none()))
        };
        let threads: Vec<u32> = order.calls.iter().map(|c| c.thread).collect();
        let (Some(first), Some(second)) = (run(test, &threads)?, run(test, &threads)?) else { continue };
        let result = |serial: &Serial, c: &CallRef| serial.calls.result(&(c.thread, c.step, 0)).clone();
        // What a thread drops at its end, one thread alone would drop later; and after a panic it would make no call at all.
        let returned = |c: &&CallRef| {
            let plain = matches!(result(&first, c), CallResult::Value(_) | CallResult::Opaque);
            plain && thunk_of(test, c.thread, c.step).is_some()
        };
        let calls: Vec<CallRef> = order.calls.iter().take_while(returned).copied().collect();
        if calls.iter().all(|c| c.thread == calls[0].thread) {
            continue;
        }
        let alone = run(&edit::in_one_thread(harness, test, &calls), &vec![1; calls.len()])?;
        let Some(alone) = alone else { continue };
        let differs = |(i, c): (usize, &CallRef)| {
            let (first, second) = (result(&first, c), result(&second, c));
            same(&first, &second, false) && !same(&first, alone.calls.result(&(1, i as u32, 0)), false)
        };
        if calls.iter().enumerate().any(differs) {
            return Ok(true);
        }
    }
    Ok(false)
}
