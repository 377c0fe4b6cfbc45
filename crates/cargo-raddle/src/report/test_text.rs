//! What is said of tests to people: a listing like cargo's own, then the findings, then the totals.

use super::columns::Layout;
use super::event::{Finding, TestEnded, TestId, TestStatus, Unconfirmed};
use super::failure_text::{explain, next_step};
use super::many;
use super::sources::Sources;
use super::summary::{Summary, TestCounts};
use crate::exit::Exit;
use raddle_core::protocol::{Stats, Stop, Unexplored};
use std::fmt::Write;

/// A finding: what went wrong, how the threads interleaved, and how to repeat it.
pub fn finding(found: &Finding<'_>, id: &TestId<'_>, execution: u64, layout: Layout) -> String {
    let mut sources = Sources::new(found.source_roots);
    let story = explain(found.failure, &mut sources, layout);
    format!("---- {} ----\n{story}\nexecution {execution}; {}\n", id.test, next_step(found))
}

/// A failure that did not repeat.
pub fn unconfirmed(id: &TestId<'_>, u: &Unconfirmed<'_>) -> String {
    format!(
        "---- {}: not confirmed ----\n{}: {}\nA replay in a fresh process did not repeat it: {}. \
         What differs from one process to the next is not under raddle's control: files, the network, random instructions.\n",
        id.test,
        u.kind.as_str(),
        u.message.trim_end(),
        u.instead
    )
}

/// A test in one line. `failed` says how it failed, `budget_ms` how long it was allowed to take.
pub fn outcome(ended: &TestEnded<'_>, failed: Option<String>, budget_ms: u64) -> String {
    let stats = ended.stats;
    let why = ended.message.unwrap_or_default();
    match ended.status {
        TestStatus::Ok => {
            format!("ok ({}{}{})", counts(stats), stopped(ended, budget_ms), unjoined(stats))
        }
        TestStatus::Failed => format!("FAILED: {} ({})", failed.unwrap_or_default(), counts(stats)),
        TestStatus::NoThreads => "skipped: creates no threads".into(),
        TestStatus::NoSteps => format!(
            "NOT TESTED: its threads never meet at a lock or in memory that raddle sees ({})",
            counts(stats)
        ),
        TestStatus::Uncontrolled => format!("NOT TESTED: {} ({})", uncontrolled(stats), counts(stats)),
        TestStatus::TooLong => format!(
            "NOT TESTED: executions come to no end within ten times --max-steps or the --budget, or to no visible step within --hang; allow more or make it smaller ({})",
            counts(stats)
        ),
        TestStatus::Unconfirmed => format!("NOT CONFIRMED ({})", counts(stats)),
        TestStatus::Killed => format!("NOT TESTED: killed, because {why} ({})", counts(stats)),
        TestStatus::Error => format!("ERROR: {why}"),
    }
}

fn counts(stats: &Stats) -> String {
    let executions = many(stats.executions, "schedule");
    format!("{executions}, {}, {}", many(stats.threads, "thread"), many(stats.decisions, "decision"))
}

/// Why the search ended, where that says something.
fn stopped(ended: &TestEnded<'_>, budget_ms: u64) -> String {
    match ended.stop {
        Some(Stop::Exhausted) => all_but(&ended.stats.unexplored),
        Some(Stop::Budget) if budget_ms > 0 && ended.stats.elapsed_ms >= budget_ms => {
            ", stopped by time".into()
        }
        _ => String::new(),
    }
}

/// Says that all schedules were tried, and what the test used that was not tried in all ways.
fn all_but(unexplored: &[Unexplored]) -> String {
    let names: Vec<&str> = unexplored.iter().map(|u| u.as_str()).collect();
    match &*names {
        [] => ", all of them".into(),
        [one] => format!(", all of them but for {one}"),
        [some @ .., last] => format!(", all of them but for {} and {last}", some.join(", ")),
    }
}

/// Panics that the test is taken to expect.
fn unjoined(stats: &Stats) -> String {
    match &*stats.unjoined {
        [] => String::new(),
        places => format!("; threads that nobody joins panic whatever the schedule: {}", places.join(", ")),
    }
}

fn uncontrolled(stats: &Stats) -> String {
    let mut text = String::from("calls that raddle cannot control:");
    for (i, call) in stats.uncontrolled.iter().take(3).enumerate() {
        let _ = write!(text, "{} {}", if i > 0 { "," } else { "" }, call.call);
        if let Some(at) = &call.at {
            let _ = write!(text, " at {}", at.place());
        }
    }
    if stats.uncontrolled.len() > 3 {
        let _ = write!(text, " and {} more", stats.uncontrolled.len() - 3);
    }
    text
}

/// The totals.
pub fn totals(summary: &Summary, tests: &TestCounts) -> String {
    let verdict = match summary.exit_code {
        Exit::Clean => "ok",
        Exit::Found => "FAILED",
        Exit::Failed => "ERROR",
        Exit::Untested => "NOT TESTED",
    };
    let mut text = format!("raddle result: {verdict}. {} passed; {} failed", tests.passed, tests.failed);
    for (count, what) in [
        (tests.no_threads, "without threads"),
        (summary.untested, "not tested"),
        (summary.errors, "with an error"),
        (tests.ignored, "ignored"),
        (tests.filtered_out, "filtered out"),
    ] {
        if count > 0 {
            let _ = write!(text, "; {count} {what}");
        }
    }
    let _ = write!(text, "; {}, {}", many(summary.executions, "schedule"), many(tests.steps, "step"));
    if tests.tests == 0 {
        text.push_str("\nno test was run");
    } else if tests.passed + tests.failed + summary.untested + summary.errors == 0 {
        text.push_str("\nno test creates threads: there is nothing to schedule");
    }
    text
}
