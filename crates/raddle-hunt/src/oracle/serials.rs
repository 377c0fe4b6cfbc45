//! The sequential executions of a test.

use super::compare::{Calls, same, thunk_of};
use super::verdict::CallRef;
use crate::harness::{Harness, ThunkId};
use crate::protocol::{CallResult, Execution, Executor, ExecutorError, Fresh, Run};
use crate::test::Test;
use crate::wire;
use raddle_core::outcome::Kind;
use std::collections::{BTreeMap, BTreeSet};

/// A sequential execution of a test.
#[derive(Clone, Debug)]
pub struct Serial {
    /// Its calls.
    pub calls: Calls,
    /// How it failed.
    pub failed: Option<Kind>,
    /// What it did not free.
    pub left_bytes: u64,
}

/// Some or all of them.
#[derive(Clone, Debug, Default)]
pub struct Serials {
    /// The sequential executions that were run.
    pub all: Vec<Serial>,
    /// There are no others, and each of them was run to its end, with no call interrupted that may only have seemed to wait.
    pub complete: bool,
}

impl Serials {
    /// Runs all sequential orders, at most `most`.
    pub fn run(
        exec: &mut dyn Executor,
        test: &Test,
        seed: u64,
        most: u64,
        fresh: Fresh,
        calm: bool,
    ) -> Result<Self, ExecutorError> {
        let all = Run::new(wire::encode(test), "serial", seed, most);
        let run = Run { stop_at_failure: false, fresh, calm, ..all };
        let mut replies = exec.run(vec![run])?;
        let Some(reply) = replies.pop() else { return Ok(Serials::default()) };
        let all: Vec<Serial> = reply.distinct.iter().map(Serial::new).collect();
        let complete = reply.exhausted && reply.unsure == 0 && !all.iter().any(Serial::is_given_up);
        Ok(Serials { all, complete })
    }

    /// Whether orders are missing although it is said that there are no others: all calls came back in all orders, and yet
    /// there are fewer orders than ways to arrange the calls.
    pub fn lacks_orders(&self, test: &Test) -> bool {
        let back = |r: &CallResult| matches!(r, CallResult::Value(_) | CallResult::Opaque);
        let plain =
            self.all.iter().all(|s| s.failed.is_none() && s.calls.iter().all(|(_, c)| back(&c.result)));
        let proper = |s: &Serial| -> Vec<CallRef> {
            s.calls.order().into_iter().filter(|c| thunk_of(test, c.thread, c.step).is_some()).collect()
        };
        // Where a call blocks and is resumed, one order may have several executions.
        let orders: BTreeSet<Vec<CallRef>> = self.all.iter().map(proper).collect();
        let enough = orders.len() as u64 + 1;
        plain && arrangements(test.suffixes.iter().map(|s| s.len() as u64), enough) >= enough
    }

    /// Whether an order panics at this place.
    pub fn panics_at(&self, place: &str) -> bool {
        let here = |r: &CallResult| matches!(r, CallResult::Panic { at, .. } if at == place);
        self.all.iter().any(|s| s.calls.iter().any(|(_, c)| here(&c.result)))
    }

    /// Whether an order fails like this.
    pub fn fails(&self, kind: Kind) -> bool {
        self.all.iter().any(|s| s.failed == Some(kind))
    }

    /// The thunks that returned different things in the same sequential order.
    pub fn differing(&self, again: &Serials, test: &Test) -> BTreeSet<ThunkId> {
        let by_order: BTreeMap<_, &Serial> = self.all.iter().map(|s| (s.calls.order(), s)).collect();
        let mut differing = BTreeSet::new();
        for second in &again.all {
            let Some(first) = by_order.get(&second.calls.order()) else { continue };
            for (key, call) in second.calls.iter() {
                if !same(&call.result, first.calls.result(key), false) {
                    differing.extend(thunk_of(test, key.0, key.1));
                }
            }
        }
        differing
    }
}

impl Serial {
    /// Of an execution in which no call was interrupted.
    pub fn new(execution: &Execution) -> Self {
        Serial { calls: Calls::new(execution), failed: execution.failed(), left_bytes: execution.left_bytes }
    }

    /// Whether it was ended because it seemed to get nowhere, which need not be so: it may have come to any end.
    pub fn is_given_up(&self) -> bool {
        matches!(self.failed, Some(Kind::Livelock | Kind::Timeout))
    }
}

/// In how many orders the calls of the suffixes can come, if each is made and none blocks; `most` if more. What a
/// suffix made is dropped at its end, which counts as a call.
pub fn orders(harness: &Harness, test: &Test, most: u64) -> u64 {
    let drops = |s: &[crate::Step]| s.iter().any(|s| !harness.thunk(s.thunk).output.slots.is_empty());
    arrangements(test.suffixes.iter().map(|s| s.len() as u64 + u64::from(drops(s))), most)
}

/// In how many orders so many calls of each thread can be arranged, at most `most`.
fn arrangements(lengths: impl Iterator<Item = u64>, most: u64) -> u64 {
    let mut total = 0;
    let mut orders: u64 = 1;
    for n in lengths {
        for k in 1..=n {
            total += 1;
            // Stays whole: the product of k consecutive numbers over k!.
            match orders.checked_mul(total) {
                Some(product) if product / k <= most => orders = product / k,
                _ => return most,
            }
        }
    }
    orders
}
