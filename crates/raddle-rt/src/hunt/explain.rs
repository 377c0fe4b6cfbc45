//! Sequential orders of the calls of an execution, run where it ran.
//!
//! Most executions are right, and most of those are explained by the order in which their calls ended. So that is run
//! at once, calls-only, then a few other orders that respect real time; the command hears only of executions that
//! none of these explains. An execution whose calls did not overlap is a sequential order itself. What an order
//! returns is remembered for the other executions of the same test.

use super::record::Calls;
use super::{Hunt, push};
use crate::store::Store;
use raddle_core::Schedule;
use raddle_core::strategy::{Serial, Strategy};
use raddle_hunt::oracle::Intervals;
use std::collections::BTreeMap;

/// Orders looked at for one execution.
const MOST: u32 = 12;

/// An execution that has not been explained yet, and what has to be put back when it is.
struct Doubt {
    index: u64,
    calls: Calls,
    intervals: Intervals,
    left_bytes: u64,
    schedule: Schedule,
    order: Vec<u32>,
    looked_at: u32,
    /// The search that the order interrupts.
    strategy: Option<(Box<dyn Strategy>, bool)>,
    /// Steps and decisions of the run itself.
    totals: (u64, u64),
}

/// What came of an order.
struct Order {
    calls: Calls,
    /// Bytes that were left.
    left: u64,
    /// A call was blocked and resumed: other executions of this order may return something else.
    resumed: bool,
}

/// What is known about the test of the run; persistent.
#[derive(Default)]
pub struct Explain {
    /// What orders returned; nothing for one that cannot be run, or that was not kept.
    known: BTreeMap<Vec<u32>, Option<Order>>,
    doubt: Option<Doubt>,
}

impl Explain {
    /// Another run, of the same test or of another one.
    pub fn begin(&mut self, same: bool) {
        if !same {
            self.known.clear();
        }
        self.doubt = None;
    }

    /// Whether there is an execution to be explained.
    pub fn doubts(&self) -> bool {
        self.doubt.is_some()
    }

    /// Whether an order is being run.
    pub fn running(&self) -> bool {
        self.doubt.as_ref().is_some_and(|d| d.strategy.is_some())
    }
}

/// Takes the execution that has just ended; `false` if it needs no explanation, because it is a sequential order.
pub fn doubt(store: &mut Store, hunt: &mut Hunt, index: u64, left_bytes: u64) -> bool {
    let intervals = hunt.record.calls.intervals();
    if !intervals.overlap() {
        return false;
    }
    let order = intervals.first().unwrap_or_default();
    hunt.explain.doubt = Some(Doubt {
        index,
        calls: std::mem::take(&mut hunt.record.calls),
        intervals,
        left_bytes,
        // Not taken: the transfers of the next execution have to go to where these are.
        schedule: store.schedule.clone(),
        order,
        looked_at: 0,
        strategy: None,
        totals: (store.stats.steps, store.stats.decisions),
    });
    true
}

/// Looks at orders that are known; prepares the next one that has to be run, if there is one.
pub fn next(store: &mut Store, hunt: &mut Hunt) -> bool {
    loop {
        let Some(doubt) = &mut hunt.explain.doubt else { return false };
        let next = match hunt.explain.known.get(&doubt.order) {
            None => {
                let order = doubt.order.iter().map(|&t| t as usize).collect();
                let serial: Box<dyn Strategy> = Box::new(Serial::with_order(order));
                let search = std::mem::replace(&mut store.strategy, serial);
                doubt.strategy = Some((search, std::mem::replace(&mut store.strategy_listens, true)));
                store.strategy.begin();
                store.begin();
                hunt.record.aside = true;
                hunt.record.begin();
                return true;
            }
            Some(None) => doubt.intervals.after(&doubt.order, doubt.order.len()),
            Some(Some(order)) => match order.calls.first_difference(&doubt.calls) {
                None => {
                    let leaks = doubt.left_bytes > order.left;
                    settle(store, hunt, true, leaks);
                    return false;
                }
                Some(at) => {
                    let wrong = if order.resumed { doubt.order.len() } else { at };
                    doubt.intervals.after(&doubt.order, wrong)
                }
            },
        };
        doubt.looked_at += 1;
        match next.filter(|_| doubt.looked_at < MOST) {
            Some(order) => doubt.order = order,
            None => {
                settle(store, hunt, false, false);
                return false;
            }
        }
    }
}

/// The order that was prepared has been run to its end, or could not be.
pub fn came(store: &mut Store, hunt: &mut Hunt, left: Option<u64>) {
    hunt.record.aside = false;
    let calls = std::mem::take(&mut hunt.record.calls);
    let Some(doubt) = &mut hunt.explain.doubt else { return };
    let guessed = store.guessed || store.strategy.guessed();
    if let Some((strategy, listens)) = doubt.strategy.take() {
        store.strategy = strategy;
        store.strategy_listens = listens;
    }
    (store.stats.steps, store.stats.decisions) = doubt.totals;
    store.failure = None;
    let intervals = calls.intervals();
    // Only where each call came in its turn does it respect real time; and one that was interrupted because it seemed to wait is
    // no order at all, unless it did wait.
    let followed = intervals.order() == doubt.order && !guessed;
    let resumed = intervals.overlap();
    let result = left.filter(|_| followed).map(|left| Order { calls, left, resumed });
    hunt.explain.known.insert(doubt.order.clone(), result);
    if let Some(reply) = &mut hunt.reply {
        reply.serial += 1;
    }
}

/// An execution that left more behind than the order that explains it is sent nevertheless.
fn settle(store: &mut Store, hunt: &mut Hunt, explained: bool, leaks: bool) {
    let Some(doubt) = hunt.explain.doubt.take() else { return };
    let Some(reply) = &mut hunt.reply else { return };
    if explained && !leaks {
        reply.explained += 1;
    } else {
        let calls = doubt.calls.records();
        push(store, hunt, doubt.index, calls, doubt.left_bytes, explained, None, doubt.schedule);
    }
}
