//! What must hold for any type.

use super::compare::{Calls, thunk_of};
use super::reference;
use super::serials::Serial;
use super::verdict::{CallRef, Explanation, Verdict};
use crate::harness::{Domain, Harness, ThunkId};
use crate::protocol::CallResult;
use crate::test::Test;
use raddle_core::outcome::Kind;

/// What the checks at the end counted, and how many items came out; `None` if they did not do both.
fn counted_and_taken(harness: &Harness, test: &Test, calls: &Calls) -> Option<(i128, i128)> {
    let len = test.finally.first()?;
    let drain = test.finally.get(1)?.thunk;
    let short = |t: ThunkId| harness.thunk(t).name.rsplit("::").next().unwrap_or_default().to_owned();
    let takes_one_out = matches!(harness.thunk(drain).params[..], [Domain::Slot { .. }]);
    if short(len.thunk) != "len" || !takes_one_out || test.finally[1..].iter().any(|s| s.thunk != drain) {
        return None;
    }
    let at = test.setup.len() as u32;
    let text = |i: usize| match calls.result(&(0, at + i as u32, 0)) {
        CallResult::Value(text) => Some(text.as_str()),
        _ => None,
    };
    let counted = text(0)?.parse().ok()?;
    let mut taken = 0;
    for i in 1..test.finally.len() {
        match text(i)? {
            t if t.starts_with("Some(") || t.starts_with("Ok(") => taken += 1,
            t if t == "None" || t.starts_with("Err(") => return Some((counted, taken)),
            _ => return None,
        }
    }
    None
}

/// The number of items disagrees with what an exhausting drain yields, and does so in no sequential order.
pub fn len_disagrees(harness: &Harness, test: &Test, calls: &Calls, serials: &[Serial]) -> Option<Verdict> {
    let (counted, taken) = counted_and_taken(harness, test, calls)?;
    let agrees = |s: &Serial| matches!(counted_and_taken(harness, test, &s.calls), Some((counted, taken)) if counted == taken);
    if counted == taken || serials.is_empty() || !serials.iter().all(agrees) {
        return None;
    }
    let at = test.setup.len() as u32;
    let last: Vec<CallRef> = calls.iter().filter(|(k, _)| k.0 > 0).map(|(k, _)| reference(k)).collect();
    let name = |i: u32| thunk_of(test, 0, at + i).map_or("", |t| harness.thunk(t).name.as_str());
    Some(Verdict {
        kind: Kind::NonLinearizable,
        summary: format!("`{}` says {counted}, but `{}` yields {taken} items", name(0), name(1)),
        at: None,
        culprits: vec![CallRef { thread: 0, step: at }],
        beside: last,
        explanation: Explanation { orders: serials.len() as u64, ..Explanation::default() },
    })
}
