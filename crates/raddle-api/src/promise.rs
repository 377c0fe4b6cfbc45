//! What a function promises less than that it takes effect at one moment, as far as its documentation and its types
//! say so. A sentence of the documentation is only a hint: it decides what is compared unless the user says otherwise,
//! and it is shown.

use crate::model::{Api, Function, Receiver, Ty, Via};

/// Phrases after which a result may be old or rough, or another call's, whatever the function is for.
const ROUGH: [&str; 17] = [
    "stale",
    "outdated",
    "out of date",
    "old snapshot",
    "weakly consistent",
    "weak consistency",
    "eventually consistent",
    "approximat",
    "an estimate",
    "estimated number",
    "inaccura",
    "not be accurate",
    "overcount",
    "undercount",
    "may or may not",
    "racy",
    COALESCED,
];
/// By which several calls are made one: they have the effect of one of them, whichever that is.
const COALESCED: &str = "coalesced";
/// Phrases that count for functions that look at the whole object: they take nothing but `self`.
const WHOLE: [&str; 6] = [
    "not guarantee",
    "no guarantee",
    "[consistency]",
    "not atomic",
    "concurrent modification",
    "concurrent write",
];
/// Phrases of documentation that say when a `try_` gives up.
const GIVES_UP: [&str; 7] = ["lock", "block", "contend", "contention", "busy", "at this time", "spurious"];
/// Phrases of documentation that say that something is given back meanwhile, or that entries are visited one after the other.
const IN_PARTS: [&str; 5] =
    ["temporarily", "re-acquire", "reacquire", "spurious wakeup", "visited more than once"];
/// Names of answers that say that something was in the way.
const IN_THE_WAY: [&str; 9] = [
    "Locked",
    "WouldBlock",
    "Busy",
    "Contended",
    "Contention",
    "Retry",
    "InUse",
    "TryLockError",
    "LockError",
];
/// Traits of std that compare objects, each of which they read in turn.
const COMPARISONS: [&str; 3] = ["std::cmp::PartialEq", "std::cmp::PartialOrd", "std::cmp::Ord"];
/// The trait of std whose method takes one item after the other from an iterator.
const EXTEND: &str = "std::iter::Extend";

/// Whether a function takes nothing but `self`, so that it looks at the whole object.
pub fn takes_self_alone(receiver: &Receiver, inputs: usize) -> bool {
    inputs == 1 && *receiver != Receiver::None
}

/// Whether calls of a function may be one call if they overlap, by the sentence that takes something back.
pub fn coalesces(function: &Function) -> bool {
    function.caveat.as_ref().is_some_and(|sentence| sentence.to_lowercase().contains(COALESCED))
}

/// The sentence of a documentation that takes something back; `alone` for functions that take nothing but `self`.
pub fn caveat(docs: &str, alone: bool) -> Option<String> {
    let found = sentences(docs).into_iter().find(|sentence| {
        let lower = sentence.to_lowercase();
        ROUGH.iter().any(|p| lower.contains(p)) || (alone && WHOLE.iter().any(|p| lower.contains(p)))
    })?;
    Some(shortened(&found))
}

/// The sentence of a documentation by which a function makes several steps: it gives something back meanwhile, above all a lock,
/// to wait for a notification (it can be notified even if the time for which it waits is nothing), or it visits entries one
/// after the other while others come and go.
pub fn in_parts(docs: &str) -> Option<String> {
    let found = sentences(docs).into_iter().find(|sentence| {
        let lower = sentence.to_lowercase();
        IN_PARTS.iter().any(|p| lower.contains(p))
    })?;
    Some(shortened(&found))
}

/// The sentence of a documentation that says when a `try_` gives up.
pub fn gives_up(name: &str, docs: &str) -> Option<String> {
    if !name.starts_with("try_") {
        return None;
    }
    let found = sentences(docs).into_iter().find(|sentence| {
        let lower = sentence.to_lowercase();
        GIVES_UP.iter().any(|p| lower.contains(p))
    })?;
    Some(shortened(&found))
}

/// Why a function is weak, if it is: for people.
pub fn weak(function: &Function) -> Option<String> {
    if let Via::Trait(of) = &function.via
        && COMPARISONS.contains(&of.path.as_str())
    {
        return Some("it reads one object after the other".to_owned());
    }
    if let Via::Trait(of) = &function.via
        && of.path == EXTEND
    {
        return Some("it adds one item after the other".to_owned());
    }
    let called = function.receiver != Receiver::None;
    function.caveat.as_ref().filter(|_| called).map(|sentence| format!("documented: \"{sentence}\""))
}

/// The answers of a function that may mean no more than that another call was in the way, and why.
pub fn refusals(
    api: &Api,
    function: &Function,
    keeps: &dyn Fn(&Ty) -> bool,
) -> (Vec<String>, Option<String>) {
    let mut answers: Vec<String> = Vec::new();
    function.output.walk(&mut |ty| {
        let Some(path) = ty.path() else { return };
        let name = path.rsplit("::").next().unwrap_or(path);
        let variants = api.type_at(path).map(|t| t.variants.as_slice()).unwrap_or_default();
        let names = variants.iter().map(|v| v.name.as_str()).filter(|v| IN_THE_WAY.contains(v));
        answers.extend(names.map(str::to_owned));
        if name == "TryLockError" {
            answers.extend(["WouldBlock".to_owned(), "TryLockError".to_owned()]);
        }
    });
    if !answers.is_empty() {
        let said = answers.join(", ");
        return (answers, Some(format!("{said}: something was in the way")));
    }
    let Some(sentence) = &function.gives_up else { return (answers, None) };
    let name = function.output.path().and_then(|p| p.rsplit("::").next()).unwrap_or_default();
    let inside = function.output.type_args();
    // What is in a queue or not is its state; a guard or an entry that could not be had was in use.
    match (name, inside.first()) {
        ("Option", Some(inner)) if keeps(inner) => answers.push("None".to_owned()),
        ("Result", Some(inner)) if keeps(inner) => answers.push("Err(())".to_owned()),
        _ if function.output == Ty::Primitive("bool".to_owned()) && function.name.contains("lock") => {
            answers.push("false".to_owned());
        }
        _ => return (answers, None),
    }
    (answers, Some(format!("documented: \"{sentence}\"")))
}

/// The sentences of a documentation without its examples.
fn sentences(docs: &str) -> Vec<String> {
    let mut text = String::new();
    let mut example = false;
    for line in docs.lines().map(str::trim) {
        if line.starts_with("```") {
            example = !example;
        } else if !example {
            text.push_str(if line.is_empty() || line.starts_with('#') { "\n" } else { line });
            text.push(' ');
        }
    }
    let ends = text.replace(". ", ".\n").replace("; ", ";\n");
    ends.lines().map(str::trim).filter(|s| !s.is_empty()).map(str::to_owned).collect()
}

fn shortened(sentence: &str) -> String {
    const MOST: usize = 160;
    let text = sentence.replace(['`', '"', '*', '_'], "");
    if text.chars().count() <= MOST { text } else { text.chars().take(MOST).collect::<String>() + "..." }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sentence_that_takes_something_back_is_found_and_examples_are_not_read() {
        let docs = "Returns the number of entries.\n\n# Note\nThe result _may be stale_ when others write. It is fast.\n";
        assert_eq!(caveat(docs, false).as_deref(), Some("The result may be stale when others write."));
        assert_eq!(caveat("Takes one out.\n```\n// stale\n```\n", true), None);
    }

    #[test]
    fn a_missing_guarantee_counts_only_where_the_whole_object_is_looked_at() {
        let docs = "Keys that are inserted meanwhile are not guaranteed to be visited.";
        assert!(caveat(docs, true).is_some() && caveat(docs, false).is_none());
    }

    #[test]
    fn only_a_try_gives_up() {
        let docs = "Returns None if the shard is currently locked.";
        assert!(gives_up("try_entry", docs).is_some() && gives_up("entry", docs).is_none());
        assert_eq!(gives_up("try_push", "Returns the value if the queue is full."), None);
    }

    #[test]
    fn a_wait_for_some_time_and_what_is_given_back_meanwhile_are_several_steps() {
        let wait = "Waits for a notification. Like `wait`, the lock will be re-acquired before this function returns.";
        assert!(in_parts(wait).is_some());
        assert!(in_parts("Temporarily unlocks the lock to execute the given function.").is_some());
        let retain =
            "Entries are visited if they are not removed, but the same entry can be visited more than once.";
        assert!(in_parts(retain).is_some());
        assert_eq!(in_parts("Takes roughly constant time. Blocks until there is room."), None);
    }
}
