//! Looking for a sequential order that explains one execution, where there are too many to run them all.
//!
//! Depth first over the orders that keep the execution's real-time order. Each attempt runs one complete order;
//! the first call whose result is wrong rules out every order that begins in the same way, because what a call
//! returns depends on the calls that began before it ended, and on nothing else. Where an order stands for several
//! executions, because a call blocks and is resumed or a time runs out, it rules out nothing but may still explain, and most
//! executions have an explanation: so the search goes on, and only its failure decides nothing.

use super::compare::{Calls, Key, agree, breaks_off};
use super::serials::Serial;
use crate::harness::ThunkId;
use crate::protocol::{Executor, ExecutorError, Fresh, Run};
use crate::test::Test;
use crate::wire;
use std::collections::{BTreeMap, BTreeSet};

/// What a search came to.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Sought {
    /// The last order that was run explains the execution.
    Explained,
    /// None does.
    None,
    /// None of those that were run, but too many were, or a call was resumed, so that an order stands for several executions,
    /// or a call was not made in its turn, or an order was given up or broke off.
    Undecided,
}

/// The search and what it has learned.
struct Guide<'a> {
    test: &'a Test,
    seen: &'a Calls,
    uncompared: &'a BTreeSet<ThunkId>,
}

/// The orders of a test that were run, by the threads of their calls.
pub type Orders = BTreeMap<Vec<u32>, OneOrder>;

/// What came of one order.
#[derive(Clone, Debug, Default)]
pub struct OneOrder {
    /// The first two executions of it, if they differ.
    pub runs: Vec<Serial>,
    /// The order does not decide everything: a time runs out before or after another call, or a thread that has made
    /// its calls gives something back when it ends. Or it was not run to its end, or may not have been run as it was meant.
    pub several: bool,
}

/// Orders looked at after one that does not decide everything.
const DOUBTFUL: usize = 60;

/// Looks at no more than `most` orders; those that are not among `known` are run, as `run` says, and put there. Returns
/// those it looked at.
pub fn search(
    exec: &mut dyn Executor,
    test: &Test,
    run: &Run,
    seen: &Calls,
    uncompared: &BTreeSet<ThunkId>,
    known: &mut Orders,
    most: u64,
) -> Result<(Sought, Vec<Serial>), ExecutorError> {
    let guide = Guide { test, seen, uncompared };
    let intervals = seen.intervals();
    let mut looked_at = Vec::new();
    let mut doubtful = 0;
    let mut order = intervals.first();
    while let Some(threads) = order {
        if looked_at.len() as u64 >= most || doubtful > DOUBTFUL {
            return Ok((Sought::Undecided, looked_at));
        }
        if !known.contains_key(&threads) {
            let one = run_order(exec, run, &threads)?;
            known.insert(threads.clone(), one);
        }
        let OneOrder { runs, several } = &known[&threads];
        if let Some(explains) = runs.iter().find(|s| guide.first_difference(&s.calls).is_none()) {
            looked_at.push(explains.clone());
            return Ok((Sought::Explained, looked_at));
        }
        let ruled_out = match runs.last() {
            Some(serial) if !several => {
                let made: Vec<u32> = serial.calls.order().iter().map(|c| c.thread).collect();
                let bad = guide.first_difference(&serial.calls);
                // A call that panicked here and not there, or the other way round, changes what is called at all.
                let other = threads.iter().zip(&made).position(|(a, b)| a != b);
                let astray = other.is_some_and(|at| bad.is_some_and(|bad| at <= bad));
                let broke_off =
                    guide.broke_off(&serial.calls).is_some_and(|at| bad.is_some_and(|bad| at <= bad));
                let sure = !serial.calls.intervals().overlap() && !astray && !broke_off;
                sure.then_some(bad.unwrap_or(0))
            }
            _ => None,
        };
        doubtful += usize::from(doubtful > 0 || ruled_out.is_none());
        looked_at.extend(runs.last().cloned());
        order = intervals.after(&threads, ruled_out.unwrap_or(threads.len()));
    }
    let found = if doubtful > 0 { Sought::Undecided } else { Sought::None };
    Ok((found, looked_at))
}

/// A run of a sequential order that [`run_order`] is yet to choose.
pub fn prepare(test: &Test, seed: u64, fresh: Fresh) -> Run {
    Run { fresh, stop_at_failure: false, ..Run::new(wire::encode(test), "serial", seed, 2) }
}

/// Runs one order, once more if it can go in several ways.
pub fn run_order(exec: &mut dyn Executor, run: &Run, threads: &[u32]) -> Result<OneOrder, ExecutorError> {
    let listed: Vec<String> = threads.iter().map(u32::to_string).collect();
    let replies =
        exec.run(vec![Run { search: format!("serial:{}", listed.join(",")).into(), ..run.clone() }])?;
    let Some(reply) = replies.first() else { return Ok(OneOrder::default()) };
    let runs: Vec<Serial> = reply.distinct.iter().map(Serial::new).collect();
    let several = reply.executions > 1 || reply.unsure > 0 || runs.iter().any(Serial::is_given_up);
    Ok(OneOrder { runs, several })
}

impl Guide<'_> {
    /// Which call of the order returned something else first. What differs only in the checks at the end counts
    /// for the whole order.
    fn first_difference(&self, serial: &Calls) -> Option<usize> {
        let differs = |key: &Key| {
            !agree(self.test, key, self.seen, serial, self.uncompared) && !self.breaks_off(key, serial)
        };
        let calls = in_order(serial);
        let first = calls.iter().position(differs);
        let anywhere = self.seen.iter().chain(serial.iter()).any(|(key, _)| differs(key));
        first.or_else(|| anywhere.then(|| calls.len().saturating_sub(1)))
    }

    /// Which call of the order was the first after which it says nothing.
    fn broke_off(&self, serial: &Calls) -> Option<usize> {
        in_order(serial).iter().position(|key| self.breaks_off(key, serial))
    }

    fn breaks_off(&self, key: &Key, serial: &Calls) -> bool {
        breaks_off(self.test, key, self.seen, serial, self.uncompared)
    }
}

/// The calls of the suffixes in the order in which they began.
fn in_order(serial: &Calls) -> Vec<Key> {
    let mut calls: Vec<(u32, Key)> =
        serial.iter().filter(|(k, _)| k.0 > 0).map(|(k, c)| (c.start, *k)).collect();
    calls.sort_unstable();
    calls.into_iter().map(|(_, key)| key).collect()
}
