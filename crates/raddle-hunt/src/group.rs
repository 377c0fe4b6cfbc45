//! Findings that have the same cause.
//!
//! One bug shows in many tests. Panics and crashes at a place are the same bug where the same method comes to that place
//! (a helper may be called by many); deadlocks, and crashes without a place, where the same methods are involved; wrong results
//! where the same methods returned them or ran beside.

use super::harness::Harness;
use super::minimise::Found;
use super::oracle::thunk_of;
use super::protocol::{CallRecord, CallResult};
use super::test::Test;
use raddle_core::outcome::Kind;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

/// What findings of one group have in common.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
pub struct Cause {
    /// What kind of wrong.
    pub kind: Kind,
    /// Where, if it was at a place.
    pub at: Option<String>,
    /// The names of the methods involved; where there is a place, of the one that was there.
    pub methods: BTreeSet<String>,
}

impl Cause {
    /// The cause of a finding, best of a minimised one: what is not needed is not involved.
    pub fn of(harness: &Harness, found: &Found) -> Self {
        let verdict = &found.verdict;
        let calls = verdict.culprits.iter().chain(&verdict.beside);
        let name = |t| harness.thunk(t).name.clone();
        let mut methods: BTreeSet<String> =
            calls.filter_map(|c| thunk_of(&found.test, c.thread, c.step)).map(name).collect();
        if verdict.kind == Kind::NonLinearizable {
            // A check at the end may have shown it; the suffixes did it.
            methods = found.test.suffixes.iter().flatten().map(|s| name(s.thunk)).collect();
        }
        if verdict.at.is_some() {
            let failed = found.execution.failure.as_ref().and_then(|f| f.thread).map(|t| t.0);
            let here = verdict.culprits.iter().filter(|c| failed.is_none_or(|t| t == c.thread));
            methods = here.filter_map(|c| thunk_of(&found.test, c.thread, c.step)).map(name).collect();
        }
        Cause { kind: verdict.kind, at: verdict.at.clone(), methods }
    }

    /// The cause that a finding would have if what this call of a test did is wrong, and it panicked.
    pub fn of_panic(harness: &Harness, test: &Test, call: &CallRecord) -> Option<Self> {
        let CallResult::Panic { at, .. } = &call.result else { return None };
        let thunk = thunk_of(test, call.thread, call.step);
        let methods = thunk.map(|t| harness.thunk(t).name.clone()).into_iter().collect();
        Some(Cause { kind: Kind::Panic, at: Some(at.clone()), methods })
    }
}

/// Findings by cause, each group in the order in which they were found; the groups in the order of their first.
pub fn group<'f>(harness: &Harness, found: &'f [Found]) -> Vec<(Cause, Vec<&'f Found>)> {
    let mut groups: BTreeMap<Cause, (usize, Vec<&Found>)> = BTreeMap::new();
    for (i, f) in found.iter().enumerate() {
        groups.entry(Cause::of(harness, f)).or_insert((i, Vec::new())).1.push(f);
    }
    let mut groups: Vec<_> = groups.into_iter().collect();
    groups.sort_by_key(|(_, (first, _))| *first);
    groups.into_iter().map(|(cause, (_, members))| (cause, members)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::oracle::{CallRef, Explanation, Verdict};
    use crate::testing::objects;
    use crate::{Execution, Step};

    #[test]
    fn panics_are_grouped_by_place_and_method_and_wrong_results_by_methods() {
        let ty = objects::checks();
        let found = |kind, at: Option<&str>, calls: [&str; 2]| Found {
            test: Test {
                suffixes: calls.iter().map(|c| vec![Step::new(ty.id(c), vec![])]).collect(),
                ..Test::default()
            },
            execution: Execution::default(),
            verdict: Verdict {
                kind,
                summary: String::new(),
                at: at.map(str::to_owned),
                culprits: vec![CallRef { thread: 1, step: 0 }],
                beside: vec![CallRef { thread: 2, step: 0 }],
                explanation: Explanation::default(),
            },
        };
        let all = [
            found(Kind::Panic, Some("a.rs:1:1"), ["List::first", "List::clear"]),
            found(Kind::NonLinearizable, None, ["List::first", "List::clear"]),
            found(Kind::Panic, Some("a.rs:1:1"), ["List::push", "List::clear"]),
            found(Kind::Panic, Some("a.rs:1:1"), ["List::first", "List::push"]),
            found(Kind::NonLinearizable, None, ["List::clear", "List::first"]),
            found(Kind::NonLinearizable, None, ["List::clear", "List::push"]),
        ];
        let groups = group(&ty.harness, &all);
        assert_eq!(groups.iter().map(|(_, m)| m.len()).collect::<Vec<_>>(), [2, 2, 1, 1]);
        assert_eq!(groups[0].0.kind, Kind::Panic);
    }

    #[test]
    fn the_cause_of_a_panic_can_be_told_before_it_is_judged() {
        let ty = objects::checks();
        let calls = ["List::first", "List::clear"];
        let suffixes = calls.iter().map(|c| vec![Step::new(ty.id(c), vec![])]).collect();
        let test = Test { suffixes, ..Test::default() };
        let call = |thread, result| CallRecord { thread, step: 0, start: 0, end: Some(1), result };
        let panic = CallResult::Panic { at: "a.rs:1:1".to_owned(), message: String::new() };
        let cause = Cause::of_panic(&ty.harness, &test, &call(1, panic)).unwrap();
        let verdict = Verdict {
            kind: Kind::Panic,
            summary: String::new(),
            at: Some("a.rs:1:1".to_owned()),
            culprits: vec![CallRef { thread: 1, step: 0 }],
            beside: vec![CallRef { thread: 2, step: 0 }],
            explanation: Explanation::default(),
        };
        let found = Found { test: test.clone(), execution: Execution::default(), verdict };
        assert_eq!(cause, Cause::of(&ty.harness, &found));
        assert_eq!(Cause::of_panic(&ty.harness, &test, &call(2, CallResult::Opaque)), None);
    }
}
