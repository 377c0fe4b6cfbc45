//! What is said of results.
//!
//! Commands say what happened as [`Event`]s, to a [`Report`], which counts them and hands them to its [`Reporter`]s. An event is
//! plain data and holds all that any reporter may want, so a new reporter needs nothing from the commands; one that writes a
//! document at the end does so at [`Event::Summary`], which always comes last.

pub mod columns;
mod console;
mod count;
pub mod event;
mod failure_text;
mod hunt_text;
mod json;
pub mod sources;
pub mod summary;
mod test_text;
pub mod type_stats;
mod words;

#[cfg(test)]
pub mod tests;

use crate::cli::Format;
use crate::error::Error;
use crate::exit::Exit;
use console::Console;
use event::Event;
use indicatif::ProgressBar;
use json::Json;
use summary::Summary;
pub use words::many;

/// Says results to somebody, as they come.
pub trait Reporter {
    /// Something happened.
    fn event(&mut self, event: &Event<'_>);

    /// Where it shows what is going on, if it does.
    fn progress(&self) -> Option<ProgressLine> {
        None
    }
}

/// Shows what is going on right now; may be told from any thread.
#[derive(Clone, Debug)]
pub struct ProgressLine(ProgressBar);

impl ProgressLine {
    /// Replaces what was shown.
    pub fn say(&self, text: String) {
        self.0.set_message(text);
    }
}

/// All that a command says.
pub struct Report {
    reporters: Vec<Box<dyn Reporter>>,
    /// The totals so far.
    pub summary: Summary,
}

impl Report {
    /// In the format that the user wants; `full`: with every step of an interleaving.
    pub fn new(format: Format, full: bool, summary: Summary) -> Self {
        let reporter: Box<dyn Reporter> = match format {
            Format::Human => Box::new(Console::new(full)),
            Format::Json => Box::new(Json::to(std::io::stdout())),
        };
        Report { reporters: vec![reporter], summary }
    }

    /// Counts and says that something happened.
    pub fn event(&mut self, event: &Event<'_>) {
        self.summary.count(event);
        self.reporters.iter_mut().for_each(|reporter| reporter.event(event));
    }

    /// Says something that does not stop the command.
    pub fn warning(&mut self, message: &str) {
        self.event(&Event::Warning { message });
    }

    /// Says that something could not be done.
    pub fn error(&mut self, error: &Error) {
        let (message, details, in_full) = (error.to_string(), error.details(), error.in_full());
        self.event(&Event::Error { message, details, in_full });
    }

    /// Where to say what is going on.
    pub fn progress(&self) -> ProgressLine {
        let shown = self.reporters.iter().find_map(|reporter| reporter.progress());
        shown.unwrap_or_else(|| ProgressLine(ProgressBar::hidden()))
    }

    /// Says the totals; there is nothing to say after that.
    pub fn end(mut self) -> Exit {
        let event = Event::Summary(&self.summary);
        self.reporters.iter_mut().for_each(|reporter| reporter.event(&event));
        self.summary.exit_code
    }
}
