//! Why no sequential order explains an execution, in words.

use super::source;
use crate::generate::slots_in;
use crate::harness::Harness;
use crate::oracle::{CallRef, Order, Verdict, thunk_of};
use crate::protocol::CallResult;
use crate::test::Test;
use raddle_core::outcome::Kind;

/// A call in few words: `T1 push(3)`.
pub fn call_text(harness: &Harness, test: &Test, call: CallRef) -> String {
    let who = if call.thread == 0 { String::new() } else { format!("T{} ", call.thread) };
    let step = call.step as usize;
    let found = match call.thread {
        0 => test.setup.get(step).or_else(|| test.finally.get(step.checked_sub(test.setup.len())?)),
        t => test.suffixes.get(t as usize - 1).and_then(|s| s.get(step)),
    };
    let Some(found) = found else { return format!("{who}drop") };
    let thunk = harness.thunk(found.thunk);
    let data = thunk.params.iter().zip(&found.args).filter(|(_, v)| slots_in(v).is_empty());
    let args: Vec<String> = data.map(|(d, v)| source::value(d, v, &[])).collect();
    let name = thunk.name.rsplit("::").next().unwrap_or(&thunk.name);
    let name = if thunk.name.starts_with("drop::") { thunk.name.as_str() } else { name };
    format!("{who}{name}({})", args.join(", "))
}

/// The explanation of a verdict, line by line.
pub fn explanation(harness: &Harness, test: &Test, verdict: &Verdict) -> Vec<String> {
    let orders = verdict.explanation.orders;
    let how = match verdict.kind {
        Kind::NonLinearizable | Kind::Leak => "explains the results".to_owned(),
        Kind::Panic => match &verdict.at {
            Some(at) => format!("panics at {at}"),
            None => "panics".to_owned(),
        },
        kind => format!("ends in a {}", kind.as_str()),
    };
    let mut lines = vec![format!("none of the {orders} sequential orders that were run {how}")];
    if verdict.kind == Kind::NonLinearizable {
        lines.extend(verdict.explanation.nearest.iter().map(|order| order_text(harness, test, order)));
        let apart = &verdict.explanation.apart;
        if !apart.is_empty() {
            let names: Vec<String> = apart.iter().map(|n| format!("`{n}`")).collect();
            let short: Vec<&str> = apart.iter().map(|n| n.rsplit("::").next().unwrap_or(n)).collect();
            lines.push(format!(
                "Only what {} returned is unexplained. If that is meant to be approximate: --weak {}, or weak = {short:?} in the manifest",
                names.join(" and "),
                short.join(",")
            ));
        }
    }
    lines
}

fn order_text(harness: &Harness, test: &Test, order: &Order) -> String {
    let call = |c: CallRef| call_text(harness, test, c);
    let calls: Vec<String> = order.calls.iter().map(|c| call(*c)).collect();
    let mut why: Vec<String> = Vec::new();
    for d in &order.differences {
        let last = d.call.thread == 0 && thunk_of(test, d.call.thread, d.call.step).is_some();
        let at_the_end = if last { " at the end" } else { "" };
        why.push(format!("{}{at_the_end} {}, it {}", call(d.call), would(&d.expected), did(&d.seen)));
    }
    for (first, second) in &order.swapped {
        why.push(format!("{} had ended before {} began", call(*first), call(*second)));
    }
    if let Some(kind) = order.failed {
        why.push(format!("it ends in a {}", kind.as_str()));
    }
    format!("{}: {}", calls.join(", "), why.join("; "))
}

/// What it does in a sequential order.
fn would(result: &CallResult) -> String {
    match result {
        CallResult::Value(text) => format!("returns {text}"),
        CallResult::Opaque => "returns what cannot be printed".to_owned(),
        CallResult::Panic { at, .. } => format!("panics at {at}"),
        CallResult::Skipped => "is not made".to_owned(),
        CallResult::Unfinished => "never returns".to_owned(),
    }
}

/// What it did in the execution.
fn did(result: &CallResult) -> String {
    match result {
        CallResult::Value(text) => format!("returned {text}"),
        CallResult::Opaque => "returned what cannot be printed".to_owned(),
        CallResult::Panic { at, .. } => format!("panicked at {at}"),
        CallResult::Skipped => "was not made".to_owned(),
        CallResult::Unfinished => "never returned".to_owned(),
    }
}
