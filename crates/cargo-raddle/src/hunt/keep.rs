//! What is kept of a confirmed violation, and what tells it from others.

use super::confirm::Confirmed;
use super::subject::Subject;
use crate::build::runtime_lib::Runtime;
use crate::findings::hunt::{HuntFinding, MODE};
use crate::findings::store::relative;
use crate::findings::{FORMAT, VERSION};
use crate::report::sources::Sources;
use raddle_core::Kind;
use raddle_core::protocol::Failure;
use raddle_core::protocol::Job;
use raddle_core::strategy::order;
use raddle_hunt::Harness;
use raddle_hunt::group::Cause;
use raddle_hunt::minimise::Found;
use raddle_hunt::render::{Style, explanation, render};
use std::path::Path;

/// A violation of a subject, found under the limits of a job, for a file in the directory `dir`.
pub fn finding(
    subject: &Subject,
    runtime: &Runtime,
    job: &Job,
    dir: &Path,
    confirmed: Confirmed,
) -> HuntFinding {
    let Confirmed { found, failure } = confirmed;
    let harness = &subject.harness;
    HuntFinding {
        format: FORMAT.into(),
        version: VERSION,
        mode: MODE.into(),
        raddle: env!("CARGO_PKG_VERSION").into(),
        runtime: runtime.fingerprint.clone(),
        crate_name: harness.crate_name.clone(),
        crate_version: harness.version.clone(),
        target: harness.target.clone(),
        origin: subject.origin.clone().map_paths(|p| relative(dir, p)),
        fingerprint: subject.fingerprint.clone(),
        job: Job { places: None, ..job.clone() },
        source: source(harness, &found, &failure),
        why: explanation(harness, &found.test, &found.verdict),
        cause: cause(harness, &found),
        at: found.verdict.at,
        test: found.test,
        calls: found.execution.calls,
        failure,
    }
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
fn source(harness: &Harness, found: &Found, failure: &Failure) -> String {
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::findings::hunt::Origin;
    use crate::findings::read::tests::{changed, failure, job};
    use crate::findings::store::Keep;
    use crate::findings::{FORMAT, VERSION};
    use crate::hunt::events;
    use crate::report::event::Event;
    use crate::report::tests::as_people_read;
    use serde_json::{Value, json};
    use std::path::Path;

    /// The fixture's harness; nothing is run.
    fn subject() -> Subject {
        let descriptor =
            Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/harness-fixture/harness.json");
        Subject::ready_made(&Origin::default(), &descriptor, &descriptor).unwrap()
    }

    #[test]
    fn a_file_that_was_changed_is_refused_or_shown_and_never_a_panic() {
        let subject = subject();
        let add = json!({ "thunk": 1, "args": [{ "slot": 0 }], "repeat": 1 });
        let call = |thread, step| json!({ "thread": thread, "step": step, "start": 0, "end": 1, "result": { "value": "1" } });
        let file = json!({
            "format": FORMAT, "version": VERSION, "mode": MODE, "raddle": "0.1.0", "runtime": "0", "crate_name": "c",
            "crate_version": "1", "target": "c::T", "origin": { "target": "c::T" }, "fingerprint": "0", "job": job(),
            "test": { "setup": [{ "thunk": 0, "args": [] }], "give": [[0, 1]], "suffixes": [[add], [add]], "finally": [add] },
            "source": "fn found() {}", "calls": [call(0, 0), call(1, 0), call(0, 2)], "why": ["so"], "cause": "of add",
            "at": "src/lib.rs:1:2", "failure": failure(),
        });
        let shown = |file: &Value| {
            let saved: HuntFinding = serde_json::from_str(&file.to_string()).map_err(|e| e.to_string())?;
            saved.check(&subject.harness)?;
            assert!(saved.file_name().len() < 400);
            let found = events::finding(&subject, &saved, true, Ok(Path::new("f")));
            Ok(as_people_read(&[Event::Finding(found)]))
        };
        assert_eq!(shown(&file).map(|text| text.contains("fn found()")), Ok(true));
        let changed = changed(&file);
        let refused: Vec<String> = changed.iter().filter_map(|f| shown(f).err()).collect();
        for part in
            ["no call 99999", "does not take what it", "cannot be called", "no slot", "`memory_mb` cannot be"]
        {
            assert!(refused.iter().any(|why| why.contains(part)), "{part} in {refused:#?}");
        }
    }
}
