//! The oracle's verdicts, in words.

use crate::report::sources::Sources;
use raddle_core::Kind;
use raddle_core::protocol::Failure;
use raddle_core::strategy::order;
use raddle_hunt::group::Cause;
use raddle_hunt::minimise::Found;
use raddle_hunt::oracle::{Judgement, Oracle};
use raddle_hunt::protocol::ExecutorError;
use raddle_hunt::render::{Style, render};
use raddle_hunt::{CallResult, Execution, Executor, Harness, Test};

/// An execution of a test, if no sequential order of its calls explains it. What the program draws is decided by the
/// worker's seed, whatever the strategy's is.
pub fn violation(
    oracle: &mut Oracle,
    exec: &mut dyn Executor,
    test: &Test,
    seed: u64,
    execution: &Execution,
) -> Result<Option<Found>, ExecutorError> {
    let judgement = oracle.judge(exec, test, seed, execution)?;
    let Judgement::Wrong(verdict) = judgement else { return Ok(None) };
    Ok(Some(Found { test: test.clone(), execution: execution.clone(), verdict: *verdict }))
}

/// What tells a finding from others, in one line.
pub fn cause(harness: &Harness, found: &Found) -> String {
    in_words(Cause::of(harness, found))
}

/// A cause in one line.
pub fn in_words(cause: Cause) -> String {
    let methods: Vec<&str> = cause.methods.iter().map(String::as_str).collect();
    // Where this machine keeps other people's crates has nothing to do with it.
    match cause.at.map(|at| Sources::default().short(&at)) {
        Some(at) if methods.is_empty() => format!("{} at {at}", cause.kind.as_str()),
        Some(at) => format!("{} at {at} in {}", cause.kind.as_str(), methods.join(", ")),
        None => format!("{} of {}", cause.kind.as_str(), methods.join(", ")),
    }
}

/// The test as a person would write it, with the order of steps that breaks it. The schedule itself counts events of
/// one build, so it is of no use anywhere else.
pub fn source(harness: &Harness, found: &Found, failure: &Failure) -> String {
    let results = found.verdict.kind == Kind::NonLinearizable;
    let turns: Vec<String> =
        order::turns(&failure.trace, &failure.symbols.sites).iter().map(ToString::to_string).collect();
    let strategy = match turns.is_empty() {
        true => "dfs:2".to_owned(),
        false => format!("order:{}", turns.join(" ")),
    };
    let attribute = format!("#[raddle::test(strategy = {strategy:?})]");
    let style = Style { attribute, assert_results: results, ..Style::default() };
    render(harness, &found.test, Some(&found.execution), &style)
}

/// What a call did, after its name.
pub fn result(result: &CallResult) -> String {
    match result {
        CallResult::Value(value) => format!("returns {value}"),
        CallResult::Opaque => "returns".to_owned(),
        CallResult::Panic { at, message } => {
            format!("panics at {at}: {}", message.lines().next().unwrap_or_default())
        }
        CallResult::Skipped => "is not called".to_owned(),
        CallResult::Unfinished => "does not return".to_owned(),
    }
}
