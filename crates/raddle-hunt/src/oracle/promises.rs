//! What methods promise less than atomicity.
//!
//! Linearizability is what a user expects of a thread-safe type unless its author says otherwise, and some methods
//! say otherwise in ways that are the same for all types:
//!
//! - A call may *refuse* because another one is in its way: `try_lock` returns `None`, `steal` returns `Retry`, a future
//!   that is polled once is pending. A refusal beside another call needs no reason, but it must have done nothing: the
//!   others are judged as if it had not been made. Answers that speak of the state of the object (`Empty`, `Full`, the
//!   `None` of a queue's `pop`) are no refusals.
//! - A call may consist of *several steps*: collecting a lazy iterator, or clearing shard after shard; making a future,
//!   polling it once and dropping it, for it may be served in between; dropping several things at the end of a thread. While
//!   others run beside it, only panics, deadlocks and the like count.
//! - Calls that overlap may be *coalesced*: made one, with the effect of one of them, whichever that is. No order of both has
//!   that effect, so then, too, only panics, deadlocks and the like count.

use super::compare::{Calls, thunk_of};
use super::{Key, reference};
use crate::harness::{Domain, Harness, Pass, Thunk};
use crate::protocol::{CallRecord, CallResult, Execution};
use crate::test::{Step, Test};
use crate::value::Value;
use std::collections::BTreeSet;

/// Whether an answer is one of these refusals: the whole of it, or a name in it.
fn is_refusal(refuses: &[String], text: &str) -> bool {
    let is_name = |w: &str| !matches!(w, "None" | "false");
    let mut words = text.split(|c: char| !c.is_alphanumeric() && c != '_').filter(|w| is_name(w));
    refuses.iter().any(|r| r == text) || words.any(|w| refuses.iter().any(|r| r == w))
}

/// The suffix call of a step, if the test has it.
fn step_of<'t>(test: &'t Test, key: &Key) -> Option<&'t Step> {
    test.suffixes.get((key.0 as usize).checked_sub(1)?)?.get(key.1 as usize)
}

/// Whether another call ran beside this one.
pub(super) fn overlapped(calls: &Calls, key: &Key) -> bool {
    !calls.beside(&BTreeSet::from([reference(key)])).is_empty()
}

/// Whether a call consists of several steps.
fn is_compound(thunk: &Thunk, step: &Step, result: &CallResult) -> bool {
    let choices = thunk.params.iter().zip(&step.args).filter_map(|(d, v)| match (d, v) {
        (Domain::Choice(of), Value::Choice(i)) => Some((of, of.get(*i as usize)?.as_str())),
        _ => None,
    });
    let (mut is_held, mut polled) = (false, false);
    for (of, chosen) in choices {
        is_held |= chosen.is_empty() && may_collect(of);
        polled |= chosen == POLL_ONCE;
    }
    let nothing = matches!(result, CallResult::Value(text) if text == "()");
    (thunk.compound && !is_held) || (thunk.weak && nothing) || polled
}

/// Whether an iterator may be collected at once.
fn may_collect(ways: &[String]) -> bool {
    ways.iter().any(|way| way.starts_with(".collect"))
}

/// What is done with a future that a call makes, besides waiting for it.
const POLL_ONCE: &str = "poll_once";

/// Whether a suffix may have more than one thing to drop at its end.
fn drops_several(harness: &Harness, test: &Test, thread: u32) -> bool {
    let Some(suffix) = (thread as usize).checked_sub(1).and_then(|i| test.suffixes.get(i)) else {
        return false;
    };
    let given = test.give.iter().filter(|(_, to)| *to + 1 == thread).count();
    let made: usize = suffix.iter().map(|s| harness.thunk(s.thunk).output.slots.len()).sum();
    let moves = |step: &Step| {
        let params = harness.thunk(step.thunk).params.iter().zip(&step.args);
        params.filter(|(d, _)| matches!(d, Domain::Slot { pass: Pass::Move, .. })).count()
    };
    given + made > 1 + suffix.iter().map(moves).sum::<usize>()
}

/// Whether a call that is documented to give something back meanwhile, such as a lock, ran beside another one. What it finds
/// when it goes on, no sequential order shows; not even that it panics.
pub fn gave_back(harness: &Harness, test: &Test, calls: &Calls, key: &Key) -> bool {
    let collects = |d: &Domain| matches!(d, Domain::Choice(of) if may_collect(of));
    let gives_back = |thunk: &Thunk| thunk.compound && !thunk.params.iter().any(collects);
    let thunk = thunk_of(test, key.0, key.1).filter(|_| key.0 > 0);
    thunk.is_some_and(|thunk| gives_back(harness.thunk(thunk))) && overlapped(calls, key)
}

/// Whether a call that may be coalesced ran beside another such call.
fn is_coalesced(harness: &Harness, test: &Test, calls: &Calls, key: &Key) -> bool {
    let coalesces = |thread, step| thunk_of(test, thread, step).is_some_and(|t| harness.thunk(t).coalesces);
    coalesces(key.0, key.1)
        && calls.beside(&BTreeSet::from([reference(key)])).iter().any(|c| coalesces(c.thread, c.step))
}

/// Whether another call ran beside one that consists of several steps, or two calls may have been one.
pub fn is_diffuse(harness: &Harness, test: &Test, calls: &Calls) -> bool {
    let compound = |(key, call): (&Key, &CallRecord)| {
        if key.0 == 0 {
            return false;
        }
        let several = match (thunk_of(test, key.0, key.1), step_of(test, key)) {
            (Some(thunk), Some(step)) => is_compound(harness.thunk(thunk), step, &call.result),
            _ => drops_several(harness, test, key.0),
        };
        several && overlapped(calls, key) || is_coalesced(harness, test, calls, key)
    };
    calls.iter().any(compound)
}

/// The test and its execution without the calls that refused beside others; `None` if none did.
pub fn without_refusals(harness: &Harness, test: &Test, execution: &Execution) -> Option<(Test, Execution)> {
    let calls = Calls::new(execution);
    let refused = |(key, call): (&Key, &CallRecord)| match (&call.result, step_of(test, key)) {
        (CallResult::Value(text), Some(step)) => {
            is_refusal(&harness.thunk(step.thunk).refuses, text) && overlapped(&calls, key)
        }
        _ => false,
    };
    let gone: BTreeSet<(u32, u32)> =
        calls.iter().filter(|c| refused(*c)).map(|(key, _)| (key.0, key.1)).collect();
    if gone.is_empty() {
        return None;
    }
    let (fewer, renumbered) = crate::edit::without_calls(harness, test, &gone);
    let mut execution = execution.clone();
    execution.calls.retain(|c| c.thread == 0 || renumbered.contains_key(&(c.thread, c.step)));
    for call in execution.calls.iter_mut().filter(|c| c.thread > 0) {
        call.step = renumbered[&(call.thread, call.step)];
    }
    Some((fewer, execution))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::harness::TypeId;
    use crate::testing::objects;

    /// An execution of two suffixes that overlap: `List::push` twice and the drop at the end beside `List::first`.
    fn beside_first(result: &str) -> (Harness, Test, Calls) {
        let ty = objects::checks();
        let step = |name: &str| Step::new(ty.id(name), vec![]);
        let suffixes = vec![vec![step("List::push"), step("List::push")], vec![step("List::first")]];
        let test = Test { suffixes, ..Test::default() };
        let call = |thread, step, start, end, text: &str| CallRecord {
            thread,
            step,
            start,
            end: Some(end),
            result: CallResult::Value(text.to_owned()),
        };
        let calls = vec![
            call(1, 0, 0, 1, "()"),
            call(1, 1, 2, 3, "()"),
            call(1, 2, 4, 7, "()"),
            call(2, 0, 5, 6, result),
        ];
        (ty.harness, test, Calls::new(&Execution { calls, ..Execution::default() }))
    }

    #[test]
    fn what_gives_something_back_meanwhile_is_excused_only_beside_others() {
        let (mut harness, test, calls) = beside_first("None");
        let first = test.suffixes[1][0].thunk;
        let gave = |harness: &Harness, key: Key| gave_back(harness, &test, &calls, &key);
        let keys: Vec<Key> = calls.iter().map(|(key, _)| *key).collect();
        let [push, of_first] = [(1, 0), (2, 0)].map(|k| *keys.iter().find(|x| (x.0, x.1) == k).unwrap());
        assert!(!gave(&harness, of_first), "it does not say so");
        harness.thunks[first.0 as usize].compound = true;
        assert!(gave(&harness, of_first));
        harness.thunks[first.0 as usize].params = vec![Domain::Choice(vec![".collect()".to_owned()])];
        assert!(!gave(&harness, of_first), "an iterator gives nothing back");
        harness.thunks[test.suffixes[0][0].thunk.0 as usize].compound = true;
        assert!(!gave(&harness, push), "nobody ran beside it");
    }

    #[test]
    fn dropping_one_thing_is_one_step_and_dropping_two_is_not() {
        let (mut harness, mut test, calls) = beside_first("None");
        assert!(!is_diffuse(&harness, &test, &calls));
        let push = test.suffixes[0][0].thunk;
        harness.thunks[push.0 as usize].output.slots = vec![TypeId(0)];
        assert!(is_diffuse(&harness, &test, &calls));
        test.suffixes[0].truncate(1);
        assert!(!is_diffuse(&harness, &test, &calls));
        test.give = vec![(0, 0)];
        assert!(is_diffuse(&harness, &test, &calls), "what the thread was given is dropped there, too");
    }

    #[test]
    fn calls_that_may_be_one_are_not_compared_while_they_overlap_each_other() {
        let (mut harness, test, calls) = beside_first("None");
        let first = test.suffixes[1][0].thunk;
        harness.thunks[first.0 as usize].coalesces = true;
        let other = Step::new(first, vec![]);
        assert!(!is_diffuse(&harness, &test, &calls), "the drop beside it cannot be the same call");
        // As if the drop at the end were another call of `first`.
        let suffixes = vec![[&test.suffixes[0][..], &[other]].concat(), test.suffixes[1].clone()];
        let test = Test { suffixes, ..test };
        assert!(is_diffuse(&harness, &test, &calls));
        harness.thunks[first.0 as usize].coalesces = false;
        assert!(!is_diffuse(&harness, &test, &calls));
    }

    #[test]
    fn a_future_that_is_made_polled_once_and_dropped_makes_several_steps() {
        let (mut harness, mut test, calls) = beside_first("Pending");
        assert!(!is_diffuse(&harness, &test, &calls));
        let first = test.suffixes[1][0].thunk;
        let ways = Domain::Choice(vec!["block_on".to_owned(), "poll_once".to_owned()]);
        harness.thunks[first.0 as usize].params = vec![ways];
        for (way, several) in [(0, false), (1, true)] {
            test.suffixes[1][0].args = vec![Value::Choice(way)];
            assert_eq!(is_diffuse(&harness, &test, &calls), several);
        }
    }

    #[test]
    fn an_answer_is_a_refusal_only_if_it_is_known_as_one() {
        let refuses = ["None".to_owned(), "Locked".to_owned()];
        for refusal in ["None", "Locked", "Err(Locked(3))"] {
            assert!(is_refusal(&refuses, refusal), "{refusal}");
        }
        for answer in ["Err(Empty)", "Absent", "Some(None)", "false", "Unlocked"] {
            assert!(!is_refusal(&refuses, answer), "{answer}");
        }
    }
}
