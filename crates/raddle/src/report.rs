//! What came of a check, as data and in words.

use crate::{Config, schedule_text};
use raddle_model::protocol::{Failure, Stats, Stop};
use raddle_model::{Content, Event, Op, Symbols, Trace};
use std::fmt::Write;
use std::panic::Location;

/// What came of a check.
#[derive(Clone, PartialEq, Debug)]
pub struct Report {
    /// Totals: executions, steps, decisions and more.
    pub stats: Stats,
    /// Why the search ended.
    pub stop: Stop,
    /// The failed executions, in order.
    pub failures: Vec<Failure>,
    /// The traces that [`Config::traces`] asked for, with the meaning of their numbers.
    pub traces: Vec<(Trace, Symbols)>,
}

/// Steps shown in a message, counted from the end.
const SHOWN: usize = 40;

impl Report {
    pub(crate) fn new() -> Self {
        Report {
            stats: Stats::default(),
            stop: Stop::Error("the runtime did not answer".to_owned()),
            failures: Vec::new(),
            traces: Vec::new(),
        }
    }

    /// The first failure, if there was one.
    pub fn failure(&self) -> Option<&Failure> {
        self.failures.first()
    }

    /// Why a check with this result must not pass.
    pub(crate) fn problem(&self) -> Option<Problem<'_>> {
        if let Some(failure) = self.failure() {
            return Some(Problem::Failed(failure));
        }
        if let Stop::Error(why) = &self.stop {
            return Some(Problem::Untested(why.clone()));
        }
        if let Stop::Diverged(why) = &self.stop {
            return Some(Problem::Untested(format!("the schedule does not belong to this program: {why}")));
        }
        if let Some(u) = self.stats.uncontrolled.first() {
            return Some(Problem::Untested(format!(
                "the closure calls `{}`, which raddle cannot control",
                u.call
            )));
        }
        // Skipped altogether: the command replays another check of the same test.
        if self.stats.executions > 0 && self.stats.steps == 0 {
            return Some(Problem::Untested(
                "no execution had a scheduling point: do threads share anything?".into(),
            ));
        }
        None
    }
}

/// Why a check does not pass.
pub(crate) enum Problem<'a> {
    Failed(&'a Failure),
    Untested(String),
}

/// A problem in words.
pub(crate) fn explain(problem: &Problem<'_>, report: &Report, config: &Config, at: &Location<'_>) -> String {
    let failure = match problem {
        Problem::Untested(why) => return format!("raddle: the check at {at} tested nothing: {why}"),
        Problem::Failed(failure) => failure,
    };
    let mut text = format!(
        "raddle: {} in execution {} of {} of the check at {at}\n{}\n",
        failure.kind.as_str(),
        failure.execution,
        report.stats.executions,
        failure.message
    );
    if let Some(note) = failure.schedule.early_note() {
        let _ = writeln!(text, "{note}");
    }
    for site in &failure.backtrace {
        let _ = writeln!(text, "    in {} ({})", site.function, site.place());
    }
    text.push_str("\nhow the threads interleaved:\n");
    interleaving(&failure.trace, &failure.symbols, &mut text);
    let printed = failure.output.trim_end();
    if !printed.is_empty() {
        let _ = write!(text, "\nwhat the execution printed:\n{printed}\n");
    }
    let _ = write!(
        text,
        "\nto repeat it: `cargo raddle replay` with the finding file that `cargo raddle test` names, or in the test itself,\n\
         Config::new().seed({}).replay(raddle::parse_schedule(\"{}\").unwrap())",
        config.seed_used(),
        schedule_text(&failure.schedule)
    );
    text
}

fn interleaving(trace: &Trace, symbols: &Symbols, text: &mut String) {
    let steps: Vec<&Event> = trace.events.iter().filter(|e| words(e).is_some()).collect();
    let skipped = steps.len().saturating_sub(SHOWN);
    if skipped > 0 {
        let _ = writeln!(text, "    ({skipped} earlier steps)");
    }
    for event in &steps[skipped..] {
        let what = words(event).unwrap_or_default();
        let name = event.object().and_then(|v| symbols.names.get(trace.name(v).0 as usize));
        let _ = write!(text, "  thread {:<3} {what} {}", event.thread.0, name.map_or("", String::as_str));
        if let Some(site) = symbols.sites.get(event.site.0 as usize) {
            let _ = write!(text, "  {}", site.place());
        }
        text.push('\n');
    }
}

/// What a step does; `None` for steps that say nothing to a person.
fn words(event: &Event) -> Option<String> {
    let value = |v: Content| v.get().map_or(String::new(), |v| format!(" {v}"));
    Some(match &event.op {
        Op::Read(a) => format!("reads{} from", value(a.read)),
        Op::Write(a) => format!("writes{} to", value(a.written)),
        Op::Rmw(a) => match (a.read.get(), a.written.get()) {
            (Some(old), Some(new)) => format!("changes {old} to {new} in"),
            _ => "changes".to_owned(),
        },
        Op::Acquire { .. } => "takes".to_owned(),
        Op::TryAcquire { .. } => "fails to take".to_owned(),
        Op::Release { .. } => "releases".to_owned(),
        Op::Wait { timed_out: true, .. } => "stops waiting (time-out) on".to_owned(),
        Op::Wait { .. } => "has waited on".to_owned(),
        Op::Wake { .. } => "wakes".to_owned(),
        Op::Spawn(t) => format!("creates thread {}", t.0),
        Op::Join(t) => format!("joins thread {}", t.0),
        Op::Exit => "ends".to_owned(),
        Op::Sleep => "sleeps".to_owned(),
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn report(stop: Stop, steps: u64) -> Report {
        Report { stop, stats: Stats { executions: 1, steps, ..Stats::default() }, ..Report::new() }
    }

    #[test]
    fn an_answer_that_never_came_is_not_a_pass() {
        assert!(Report::new().problem().is_some());
    }

    #[test]
    fn executions_without_a_step_are_not_a_pass() {
        assert!(report(Stop::Budget, 0).problem().is_some());
        assert!(report(Stop::Budget, 1).problem().is_none());
    }

    #[test]
    fn a_replay_that_diverged_is_not_a_pass() {
        assert!(report(Stop::Diverged("x".into()), 1).problem().is_some());
        assert!(report(Stop::ReplayPassed, 1).problem().is_none());
    }
}
