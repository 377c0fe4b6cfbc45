//! Comparing executions of one test.

use super::intervals::Intervals;
use super::verdict::{CallRef, Difference, Order};
use crate::harness::ThunkId;
use crate::protocol::{CallRecord, CallResult, Execution};
use crate::test::Test;
use std::collections::{BTreeMap, BTreeSet};

/// A call within an execution: thread, step, and how many calls of this step came before (it may be repeated).
pub type Key = (u32, u32, u32);

/// The calls of an execution, to be looked up.
#[derive(Clone, Debug)]
pub struct Calls {
    by_key: BTreeMap<Key, CallRecord>,
}

impl Calls {
    /// The calls of an execution.
    pub fn new(execution: &Execution) -> Self {
        let mut seen: BTreeMap<(u32, u32), u32> = BTreeMap::new();
        let keyed = execution.calls.iter().map(|c| {
            let n = seen.entry((c.thread, c.step)).or_default();
            *n += 1;
            ((c.thread, c.step, *n - 1), c.clone())
        });
        Calls { by_key: keyed.collect() }
    }

    /// All of them.
    pub fn iter(&self) -> impl Iterator<Item = (&Key, &CallRecord)> {
        self.by_key.iter()
    }

    /// What a call returned; one that was not made was skipped.
    pub fn result(&self, key: &Key) -> &CallResult {
        self.by_key.get(key).map_or(&CallResult::Skipped, |c| &c.result)
    }

    /// When the calls of the suffixes began and ended.
    pub fn intervals(&self) -> Intervals {
        Intervals::new(self.by_key.values().map(|c| (c.thread, c.start, c.end)))
    }

    /// The calls of the suffixes in the order in which they began.
    pub fn order(&self) -> Vec<CallRef> {
        let mut calls: Vec<&CallRecord> = self.by_key.values().filter(|c| c.thread > 0).collect();
        calls.sort_by_key(|c| c.start);
        calls.iter().map(|c| CallRef { thread: c.thread, step: c.step }).collect()
    }

    /// Pairs of suffix calls of different threads of which the first had ended when the second began.
    pub fn real_time(&self) -> Vec<(Key, Key)> {
        let suffixes = || self.by_key.iter().filter(|(_, c)| c.thread > 0);
        let mut pairs = Vec::new();
        for (a, first) in suffixes() {
            let Some(end) = first.end else { continue };
            let later = suffixes().filter(|(_, second)| second.thread != first.thread && end < second.start);
            pairs.extend(later.map(|(b, _)| (*a, *b)));
        }
        pairs
    }

    /// Whether the second call had ended before the first began.
    pub fn reversed(&self, first: &Key, second: &Key) -> bool {
        match (self.by_key.get(first), self.by_key.get(second)) {
            (Some(a), Some(b)) => b.end.is_some_and(|end| end < a.start),
            _ => false,
        }
    }

    /// Suffix calls that overlap with any of these.
    pub fn beside(&self, calls: &BTreeSet<CallRef>) -> Vec<CallRef> {
        let here = |c: &CallRecord| CallRef { thread: c.thread, step: c.step };
        let records: Vec<&CallRecord> = self.by_key.values().filter(|c| calls.contains(&here(c))).collect();
        let end = |c: &CallRecord| c.end.unwrap_or(u32::MAX);
        let overlaps = |c: &&CallRecord| {
            c.thread > 0
                && !calls.contains(&here(c))
                && records.iter().any(|r| r.thread != c.thread && r.start < end(c) && c.start < end(r))
        };
        self.by_key.values().filter(overlaps).map(here).collect()
    }
}

/// The thunk of a call; `None` for the dropping of what is left.
pub fn thunk_of(test: &Test, thread: u32, step: u32) -> Option<ThunkId> {
    let step = step as usize;
    let found = match thread {
        0 => test.setup.get(step).or_else(|| test.finally.get(step.checked_sub(test.setup.len())?)),
        t => test.suffixes.get(t as usize - 1)?.get(step),
    };
    found.map(|s| s.thunk)
}

/// Whether two results count as the same. Panics are the same where they happen at the same place; a result that
/// may not be compared is the same as any other that is no panic.
pub fn same(a: &CallResult, b: &CallResult, uncompared: bool) -> bool {
    use CallResult::{Opaque, Panic, Value};
    match (a, b) {
        (Panic { at: a, .. }, Panic { at: b, .. }) => a == b,
        (Value(a), Value(b)) => uncompared || a == b || without_addresses(a) == without_addresses(b),
        (Value(_) | Opaque, Value(_) | Opaque) => uncompared || a == b,
        (a, b) => a == b,
    }
}

/// Whether a call counts as having returned the same in two executions. Whether a thread had anything to drop at its
/// end, its other calls say; that the dropping panicked, only itself.
pub fn agree(test: &Test, key: &Key, a: &Calls, b: &Calls, uncompared: &BTreeSet<ThunkId>) -> bool {
    let (a, b) = (a.result(key), b.result(key));
    match thunk_of(test, key.0, key.1) {
        Some(thunk) => same(a, b, uncompared.contains(&thunk)),
        None => {
            let made = |r: &CallResult| match r {
                CallResult::Skipped => CallResult::Opaque,
                made => made.clone(),
            };
            same(&made(a), &made(b), true)
        }
    }
}

/// Whether a call that is not compared panicked in a sequential execution and returned in the execution to be explained. What it does
/// in one order says nothing about what it may do beside others: its panic is no difference. But it ends its thread, and may leave
/// other things behind than a call that returns, so what comes after it in that order says nothing either.
pub fn breaks_off(
    test: &Test,
    key: &Key,
    execution: &Calls,
    serial: &Calls,
    uncompared: &BTreeSet<ThunkId>,
) -> bool {
    matches!(serial.result(key), CallResult::Panic { .. })
        && matches!(execution.result(key), CallResult::Value(_) | CallResult::Opaque)
        && thunk_of(test, key.0, key.1).is_some_and(|thunk| uncompared.contains(&thunk))
}

/// An address says where something is, not what it is.
fn without_addresses(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some(i) = rest.find("0x") {
        let digits = rest[i + 2..].chars().take_while(char::is_ascii_hexdigit).count();
        out.push_str(&rest[..i + 2]);
        if digits < 6 {
            out.push_str(&rest[i + 2..i + 2 + digits]);
        }
        rest = &rest[i + 2 + digits..];
    }
    out.push_str(rest);
    out
}

/// How a serial execution differs from an execution.
pub fn order(
    test: &Test,
    execution: &Calls,
    real_time: &[(Key, Key)],
    serial: &Calls,
    uncompared: &BTreeSet<ThunkId>,
) -> Order {
    let keys: BTreeSet<&Key> = execution.by_key.keys().chain(serial.by_key.keys()).collect();
    let call = |k: &Key| CallRef { thread: k.0, step: k.1 };
    let mut differences = Vec::new();
    for key in keys {
        if !agree(test, key, execution, serial, uncompared)
            && !breaks_off(test, key, execution, serial, uncompared)
        {
            let (seen, expected) = (execution.result(key), serial.result(key));
            differences.push(Difference { call: call(key), seen: seen.clone(), expected: expected.clone() });
        }
    }
    let swapped = real_time.iter().filter(|(a, b)| serial.reversed(a, b)).map(|(a, b)| (call(a), call(b)));
    Order { calls: serial.order(), differences, swapped: swapped.collect(), failed: None }
}

/// Whether two executions returned the same, but for what is not compared.
pub fn same_results(test: &Test, a: &Calls, b: &Calls, uncompared: &BTreeSet<ThunkId>) -> bool {
    a.by_key.keys().chain(b.by_key.keys()).all(|key| agree(test, key, a, b, uncompared))
}

/// Whether a serial execution explains an execution.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Answer {
    /// [`order`] would find no difference at all.
    Yes,
    /// It differs.
    No,
    /// It [broke off](breaks_off) before it differed.
    Open,
}

/// Whether a serial execution explains an execution.
pub fn explains(
    test: &Test,
    execution: &Calls,
    real_time: &[(Key, Key)],
    serial: &Calls,
    uncompared: &BTreeSet<ThunkId>,
) -> Answer {
    if real_time.iter().any(|(a, b)| serial.reversed(a, b)) {
        return Answer::No;
    }
    let broke_off = broke_off(test, execution, serial, uncompared);
    let mut answer = Answer::Yes;
    for key in execution.by_key.keys().chain(serial.by_key.keys()) {
        if agree(test, key, execution, serial, uncompared)
            || breaks_off(test, key, execution, serial, uncompared)
        {
            continue;
        }
        let end = serial.by_key.get(key).and_then(|c| c.end);
        match broke_off {
            Some(at) if end.is_none_or(|end| end > at) => answer = Answer::Open,
            _ => return Answer::No,
        }
    }
    answer
}

/// When the first call of a serial execution began that [breaks off](breaks_off), if one does.
fn broke_off(test: &Test, execution: &Calls, serial: &Calls, uncompared: &BTreeSet<ThunkId>) -> Option<u32> {
    let breaks = |key: &Key| breaks_off(test, key, execution, serial, uncompared);
    serial.iter().filter(|(key, _)| breaks(key)).map(|(_, c)| c.start).min()
}

/// Whether a serial execution [broke off](breaks_off) and lacks a call that the execution made.
pub fn is_cut_short(test: &Test, execution: &Calls, serial: &Calls, uncompared: &BTreeSet<ThunkId>) -> bool {
    let lacks = |key: &Key| !serial.by_key.contains_key(key) && thunk_of(test, key.0, key.1).is_some();
    execution.by_key.keys().any(lacks) && broke_off(test, execution, serial, uncompared).is_some()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn value(text: &str) -> CallResult {
        CallResult::Value(text.to_owned())
    }

    #[test]
    fn panics_are_compared_by_place_and_values_by_text_without_addresses() {
        let panic =
            |at: &str, message: &str| CallResult::Panic { at: at.to_owned(), message: message.to_owned() };
        assert!(same(&panic("a.rs:1:2", "index 3"), &panic("a.rs:1:2", "index 4"), false));
        assert!(!same(&panic("a.rs:1:2", ""), &panic("a.rs:1:3", ""), true));
        assert!(same(&value("Ok(0x7ffff7a01040)"), &value("Ok(0x7ffff7a02080)"), false));
        assert!(!same(&value("0x10"), &value("0x11"), false));
        assert!(same(&value("0x10"), &value("0x11"), true));
        assert!(!same(&value("1"), &CallResult::Skipped, true));
    }

    fn record(thread: u32, step: u32, start: u32, end: u32) -> CallRecord {
        CallRecord { thread, step, start, end: Some(end), result: CallResult::Opaque }
    }

    #[test]
    fn real_time_order_holds_between_calls_that_do_not_overlap() {
        let calls = vec![record(1, 0, 0, 2), record(2, 0, 1, 4), record(1, 1, 3, 5), record(2, 1, 6, 7)];
        let calls = Calls::new(&Execution { calls, ..Execution::default() });
        assert_eq!(calls.real_time(), [((1, 0, 0), (2, 1, 0)), ((1, 1, 0), (2, 1, 0))]);
        assert!(calls.reversed(&(2, 1, 0), &(1, 1, 0)));
        let beside = calls.beside(&BTreeSet::from([CallRef { thread: 2, step: 0 }]));
        assert_eq!(beside, [CallRef { thread: 1, step: 0 }, CallRef { thread: 1, step: 1 }]);
    }

    #[test]
    fn a_thread_may_have_nothing_to_drop_but_may_not_panic_there() {
        let test = Test { suffixes: vec![vec![]], ..Test::default() };
        let calls = |calls: Vec<CallRecord>| Calls::new(&Execution { calls, ..Execution::default() });
        let panic = CallResult::Panic { at: "a.rs:1:2".to_owned(), message: String::new() };
        let (none, dropped) = (calls(vec![]), calls(vec![record(1, 0, 0, 1)]));
        let panicked = calls(vec![CallRecord { result: panic, ..record(1, 0, 0, 1) }]);
        let explains =
            |a: &Calls, b: &Calls| super::explains(&test, a, &[], b, &BTreeSet::new()) == Answer::Yes;
        assert!(explains(&dropped, &none) && explains(&none, &dropped));
        assert!(!explains(&panicked, &none) && !explains(&none, &panicked) && !explains(&panicked, &dropped));
    }
}
