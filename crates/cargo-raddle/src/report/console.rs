//! Results for people: a listing like cargo's own, then the findings, then the totals.

use crate::error::Result;
use crate::exit::Exit;
use crate::findings::format::{Finding, next_step};
use crate::report::columns::Layout;
use crate::report::event::Summary;
use crate::report::failure_text::{brief, explain, many};
use crate::report::sources::Sources;
use crate::test::discover::Test;
use crate::test::supervise::{Tested, Verdict};
use indicatif::{ProgressBar, ProgressStyle};
use raddle_core::protocol::{Stats, Stop, Unexplored};
use std::fmt::Write as _;
use std::io::{IsTerminal, Write as _};
use std::path::PathBuf;
use std::time::Duration;

/// The width assumed when nobody looks.
const DEFAULT_WIDTH: usize = 120;

/// What has been shown, and what is to be shown at the end.
#[derive(Debug)]
pub struct Console {
    bar: ProgressBar,
    budget_ms: u64,
    target: Option<String>,
    stories: Vec<String>,
}

impl Console {
    /// With a progress bar if somebody watches.
    pub fn new() -> Self {
        let bar = ProgressBar::hidden();
        Console { bar, budget_ms: 0, target: None, stories: vec![] }
    }

    /// The search begins.
    pub fn start(&mut self, budget_ms: u64, tests: usize) {
        self.budget_ms = budget_ms;
        if std::io::stderr().is_terminal() {
            self.bar = ProgressBar::new(tests as u64);
            let style = ProgressStyle::with_template("{spinner} {pos}/{len} tests {elapsed} {msg}");
            self.bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
            self.bar.enable_steady_tick(Duration::from_millis(200));
        }
    }

    /// Only which tests there are, as cargo's own tests list themselves.
    pub fn list(&mut self, tests: &[Test]) {
        for test in tests {
            self.heading(test);
            self.say(&format!("{}: test", test.label()));
        }
        self.say(&format!("\n{}", many(tests.len() as u64, "test")));
    }

    /// The program of a test, unless it is that of the test before.
    fn heading(&mut self, test: &Test) {
        let id = test.target.id();
        if self.target.as_ref() != Some(&id) {
            self.say(&heading(test));
            self.target = Some(id);
        }
    }

    /// A handle that may be told about progress from any thread.
    pub fn bar(&self) -> ProgressBar {
        self.bar.clone()
    }

    /// A test ended; `files` are those of its findings.
    pub fn test(&mut self, test: &Test, tested: &Tested, files: &[Result<PathBuf>]) {
        self.heading(test);
        self.say(&format!("test {} ... {}", test.label(), self.outcome(tested)));
        for (finding, file) in tested.findings.iter().zip(files) {
            let mut sources = Sources::new(&test.target.source_roots);
            let story = explain(&finding.failure, &mut sources, layout(false));
            self.stories.push(format!("---- {} ----\n{story}\n{}", test.label(), repeat_with(finding, file)));
        }
        for failure in &tested.unconfirmed {
            self.stories.push(format!(
                "---- {}: not confirmed ----\n{}: {}\nA replay in a fresh process did not repeat it: {}. \
                 What differs from one process to the next is not under raddle's control: files, the network, random instructions.\n",
                test.label(),
                failure.failure.kind.as_str(),
                failure.failure.message.trim_end(),
                failure.instead
            ));
        }
        self.bar.inc(1);
    }

    /// Something that does not stop the command.
    pub fn warning(&self, message: &str) {
        self.bar.suspend(|| eprintln!("warning: {message}"));
    }

    /// The end.
    pub fn summary(&mut self, summary: &Summary) {
        self.bar.finish_and_clear();
        for story in std::mem::take(&mut self.stories) {
            self.say(&format!("\n{}", story.trim_end()));
        }
        self.say(&format!("\n{}", totals(summary)));
    }

    fn say(&self, text: &str) {
        self.bar.suspend(|| {
            let _ = writeln!(std::io::stdout().lock(), "{text}");
        });
    }

    fn outcome(&self, tested: &Tested) -> String {
        let stats = &tested.stats;
        match &tested.verdict {
            Verdict::Passed => {
                format!("ok ({}{}{})", self.counts(stats), self.why(tested), unjoined(stats))
            }
            Verdict::Failed => {
                let first = tested.findings.first().map(|f| &f.failure);
                let text = first.map(brief);
                format!("FAILED: {} ({})", text.unwrap_or_default(), self.counts(stats))
            }
            Verdict::NoThreads => "skipped: creates no threads".into(),
            Verdict::NoSteps => format!(
                "NOT TESTED: its threads never meet at a lock or in memory that raddle sees ({})",
                self.counts(stats)
            ),
            Verdict::Uncontrolled => format!("NOT TESTED: {} ({})", uncontrolled(stats), self.counts(stats)),
            Verdict::TooLong => format!(
                "NOT TESTED: executions come to no end within ten times --max-steps or the --budget, or to no visible step within --hang; allow more or make it smaller ({})",
                self.counts(stats)
            ),
            Verdict::Unconfirmed => format!("NOT CONFIRMED ({})", self.counts(stats)),
            Verdict::Killed(why) => format!("NOT TESTED: killed, because {why} ({})", self.counts(stats)),
            Verdict::Error(why) => format!("ERROR: {why}"),
        }
    }

    fn counts(&self, stats: &Stats) -> String {
        let executions = many(stats.executions, "schedule");
        format!("{executions}, {}, {}", many(stats.threads, "thread"), many(stats.decisions, "decision"))
    }

    fn why(&self, tested: &Tested) -> String {
        match tested.stop {
            Some(Stop::Exhausted) => all_but(&tested.stats.unexplored),
            Some(Stop::Budget) if self.budget_ms > 0 && tested.stats.elapsed_ms >= self.budget_ms => {
                ", stopped by time".into()
            }
            _ => String::new(),
        }
    }
}

/// How wide the terminal is.
pub fn layout(full: bool) -> Layout {
    let out = std::io::stdout();
    let size = if out.is_terminal() { rustix::termios::tcgetwinsize(&out).ok() } else { None };
    let width = size.map(|s| usize::from(s.ws_col)).filter(|w| *w > 0).unwrap_or(DEFAULT_WIDTH);
    Layout { width, full }
}

fn heading(test: &Test) -> String {
    let target = &test.target;
    match target.kind.as_str() {
        "executable" => format!("\nrunning {}", target.executable.display()),
        kind => format!("\nrunning {} {} of {} {}", kind, target.name, target.package, target.version),
    }
}

fn repeat_with(finding: &Finding, file: &Result<PathBuf>) -> String {
    format!("execution {}; {}\n", finding.failure.execution, next_step(file))
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

fn totals(summary: &Summary) -> String {
    let verdict = match summary.exit_code {
        Exit::Clean => "ok",
        Exit::Found => "FAILED",
        Exit::Failed => "ERROR",
        Exit::Untested => "NOT TESTED",
    };
    let mut text = format!("raddle result: {verdict}. {} passed; {} failed", summary.passed, summary.failed);
    for (count, what) in [
        (summary.no_threads, "without threads"),
        (summary.untested, "not tested"),
        (summary.errors, "with an error"),
        (summary.ignored, "ignored"),
        (summary.filtered_out, "filtered out"),
    ] {
        if count > 0 {
            let _ = write!(text, "; {count} {what}");
        }
    }
    let _ = write!(text, "; {}, {}", many(summary.executions, "schedule"), many(summary.steps, "step"));
    if summary.tests == 0 {
        text.push_str("\nno test was run");
    } else if summary.passed + summary.failed + summary.untested + summary.errors == 0 {
        text.push_str("\nno test creates threads: there is nothing to schedule");
    }
    text
}
