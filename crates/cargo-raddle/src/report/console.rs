//! Results for people: a line per test or type as it ends, then the findings, then the totals.

use super::columns::Layout;
use super::event::{Event, Finding, FindingOf, Replay, Start, TestEnded, TestId, TypeEnded, UnconfirmedOf};
use super::failure_text::{brief, explain};
use super::hunt_text::{self, TypeFinding};
use super::sources::Sources;
use super::summary::{Counted, Summary};
use super::{ProgressLine, Reporter, many, test_text};
use crate::error::indented;
use crate::exit::Exit;
use indicatif::{ProgressBar, ProgressStyle};
use std::io::{IsTerminal, Write};
use std::time::Duration;

/// The width assumed when nobody looks.
const DEFAULT_WIDTH: usize = 120;

/// Text for a terminal.
pub struct Console<W = std::io::Stdout> {
    out: W,
    layout: Layout,
    bar: ProgressBar,
    /// Milliseconds per test; 0 for no limit.
    budget_ms: u64,
    /// Whether there is going to be a search, with totals.
    searches: bool,
    /// The program whose tests are being listed.
    title: Option<String>,
    /// Tests that have been listed.
    listed: u64,
    /// The findings, to be told at the end.
    findings: Vec<String>,
    /// Of the test or type under way: how it failed first, its findings, and how many of them an earlier hunt had found.
    under_way: (Option<String>, usize, usize),
}

impl Console {
    /// On standard output; `full`: with every step of an interleaving.
    pub fn new(full: bool) -> Self {
        Console::to(std::io::stdout(), layout(full))
    }
}

impl<W: Write> Console<W> {
    /// There, in this layout.
    pub fn to(out: W, layout: Layout) -> Self {
        Console {
            out,
            layout,
            bar: ProgressBar::hidden(),
            budget_ms: 0,
            searches: false,
            title: None,
            listed: 0,
            findings: vec![],
            under_way: (None, 0, 0),
        }
    }

    fn say(&mut self, text: &str) {
        let out = &mut self.out;
        self.bar.suspend(|| {
            let _ = writeln!(out, "{text}");
        });
    }

    fn start(&mut self, start: &Start<'_>) {
        self.searches = true;
        let (bar, template): (fn(u64) -> ProgressBar, _) = match start {
            Start::Tests { .. } => (ProgressBar::new, "{spinner} {pos}/{len} tests {elapsed} {msg}"),
            Start::Types { .. } => (|_| ProgressBar::new_spinner(), "{spinner} {elapsed} {msg}"),
        };
        let mut tests = 0;
        if let Start::Tests { budget_ms, tests: all, .. } = start {
            (self.budget_ms, tests) = (*budget_ms, *all as u64);
        }
        if std::io::stderr().is_terminal() {
            self.bar = bar(tests);
            let style = ProgressStyle::with_template(template);
            self.bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
            self.bar.enable_steady_tick(Duration::from_millis(200));
        }
    }

    /// Names the program of a test, unless it is that of the test before.
    fn heading(&mut self, id: &TestId<'_>) {
        if self.title.as_ref() != Some(&id.title) {
            self.say(&format!("\nrunning {}", id.title));
            self.title = Some(id.title.clone());
        }
    }

    fn finding(&mut self, found: &Finding<'_>) {
        let (first, findings, earlier) = &mut self.under_way;
        first.get_or_insert_with(|| brief(found.failure));
        *findings += 1;
        *earlier += usize::from(matches!(found.of, FindingOf::Type { saved: true, .. }));
        let text = self.story(found);
        self.findings.push(text);
    }

    /// All about a finding.
    fn story(&self, found: &Finding<'_>) -> String {
        match &found.of {
            FindingOf::Test { id, execution, .. } => test_text::finding(found, id, *execution, self.layout),
            FindingOf::Type { target, source, why, labels, .. } => {
                hunt_text::finding(found, &TypeFinding { target, source, why, labels }, self.layout)
            }
        }
    }

    fn test_ended(&mut self, ended: &TestEnded<'_>) {
        self.heading(&ended.id);
        let (failed, ..) = std::mem::take(&mut self.under_way);
        let outcome = test_text::outcome(ended, failed, self.budget_ms);
        self.say(&format!("test {} ... {outcome}", ended.id.test));
        self.bar.inc(1);
    }

    fn type_ended(&mut self, ended: &TypeEnded<'_>) {
        let (_, findings, saved) = std::mem::take(&mut self.under_way);
        self.say(&hunt_text::outcome(ended, findings, saved));
        if let Some(details) = ended.details {
            self.say(&indented(details));
        }
        let expectations = hunt_text::expectations(&ended.expectations);
        let more =
            [(!expectations.is_empty()).then_some(&expectations), ended.open.as_ref(), ended.matrix.as_ref()];
        more.into_iter().flatten().for_each(|text| self.say(text));
    }

    fn replay(&mut self, replay: &Replay<'_>) {
        let mut text = format!("replay of {}: {}\n", replay.target, replay.message);
        if replay.times > 1 && matches!(replay.shown.of, FindingOf::Test { .. }) {
            text.push_str(&format!("({} of {} times in the same way)\n", replay.reproduced, replay.times));
        }
        let shown = &replay.shown;
        match &shown.of {
            FindingOf::Test { .. } => {
                if replay.verdict.is_reproduced() && replay.same_trace == Some(false) {
                    text.push_str("(the steps on the way differ from the recorded ones)\n");
                }
                if replay.kind.is_none() {
                    text.push_str("\nwhat had been recorded:\n");
                }
                let mut sources = Sources::new(shown.source_roots);
                text = format!("{text}\n{}", explain(shown.failure, &mut sources, self.layout));
            }
            FindingOf::Type { .. } => text = format!("{text}\n{}", self.story(shown)),
        }
        self.say(text.strip_suffix('\n').unwrap_or(&text));
    }

    /// A failed command has no totals, and neither has one that searched nothing.
    fn summary(&mut self, summary: &Summary) {
        self.bar.finish_and_clear();
        for finding in std::mem::take(&mut self.findings) {
            self.say(&format!("\n{}", finding.trim_end()));
        }
        if self.searches && (summary.units() > 0 || summary.exit_code != Exit::Failed) {
            let totals = match &summary.counted {
                Counted::Tests(tests) => test_text::totals(summary, tests),
                Counted::Types(types) => hunt_text::totals(summary, types),
            };
            self.say(&format!("\n{totals}"));
        } else if self.listed > 0 {
            self.say(&format!("\n{}", many(self.listed, "test")));
        }
    }
}

impl<W: Write> Reporter for Console<W> {
    fn event(&mut self, event: &Event<'_>) {
        match event {
            Event::Start(start) => self.start(start),
            Event::Warning { message } => self.bar.suspend(|| eprintln!("warning: {message}")),
            Event::Built { executable, .. } => self.say(&executable.display().to_string()),
            Event::Listed(id) => {
                self.heading(id);
                self.say(&format!("{}: test", id.test));
                self.listed += 1;
            }
            Event::List(listing) => self.say(listing.text.trim_end()),
            Event::Harness(_) => {}
            Event::Finding(found) => self.finding(found),
            Event::Unconfirmed(u) => self.findings.push(match &u.of {
                UnconfirmedOf::Test(id) => test_text::unconfirmed(id, u),
                UnconfirmedOf::Type { target } => hunt_text::unconfirmed(target, u),
            }),
            Event::Test(ended) => self.test_ended(ended),
            Event::Type(ended) => self.type_ended(ended),
            Event::Replay(replay) => self.replay(replay),
            Event::Error { in_full, .. } => self.bar.suspend(|| eprintln!("error: {in_full}")),
            Event::Summary(summary) => self.summary(summary),
        }
    }

    fn progress(&self) -> Option<ProgressLine> {
        Some(ProgressLine(self.bar.clone()))
    }
}

/// How wide the terminal is.
fn layout(full: bool) -> Layout {
    let out = std::io::stdout();
    let size = if out.is_terminal() { rustix::termios::tcgetwinsize(&out).ok() } else { None };
    let width = size.map(|s| usize::from(s.ws_col)).filter(|w| *w > 0).unwrap_or(DEFAULT_WIDTH);
    Layout { width, full }
}
