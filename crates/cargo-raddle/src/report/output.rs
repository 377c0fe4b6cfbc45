//! Where results go: to people or to scripts.

use crate::cli::Format;
use crate::error::{Error, Result};
use crate::report::console::Console;
use crate::report::event::{Event, Summary};
use crate::test::discover::Test;
use crate::test::supervise::Tested;
use indicatif::ProgressBar;
use raddle_core::protocol::Job;
use std::path::PathBuf;

/// One of the two.
#[derive(Debug)]
pub enum Output {
    /// Text.
    Human(Box<Console>),
    /// JSON lines.
    Json,
}

impl Output {
    /// As the user wants it.
    pub fn new(format: Format) -> Self {
        match format {
            Format::Human => Output::Human(Box::new(Console::new())),
            Format::Json => Output::Json,
        }
    }

    /// The search begins.
    pub fn start(&mut self, job: &Job, rustc: &str, tests: usize) {
        match self {
            Output::Human(console) => console.start(job.budget_ms, tests),
            Output::Json => Event::start(job, rustc, tests).print(),
        }
    }

    /// Only which tests there are.
    pub fn list(&mut self, tests: &[Test]) {
        match self {
            Output::Human(console) => console.list(tests),
            Output::Json => tests.iter().for_each(|test| Event::listed(test).print()),
        }
    }

    /// A bar to tell progress to.
    pub fn bar(&self) -> ProgressBar {
        match self {
            Output::Human(console) => console.bar(),
            Output::Json => ProgressBar::hidden(),
        }
    }

    /// Something that does not stop the command.
    pub fn warning(&self, message: &str) {
        match self {
            Output::Human(console) => console.warning(message),
            Output::Json => Event::Warning { message }.print(),
        }
    }

    /// A test ended; `files` are those of its findings.
    pub fn test(&mut self, test: &Test, tested: &Tested, files: &[Result<PathBuf>]) {
        match self {
            Output::Human(console) => console.test(test, tested, files),
            Output::Json => {
                for (finding, file) in tested.findings.iter().zip(files) {
                    let failure = &finding.failure;
                    Event::Finding {
                        target: test.label(),
                        test: test.label(),
                        program: test.target.id(),
                        kind: failure.kind,
                        message: &failure.message,
                        at: failure.at.as_ref(),
                        execution: failure.execution,
                        steps: failure.trace.events.len(),
                        early: failure.schedule.early.iter().map(ToString::to_string).collect(),
                        file: file.as_deref().ok(),
                    }
                    .print();
                }
                for unconfirmed in &tested.unconfirmed {
                    Event::unconfirmed(test, unconfirmed).print();
                }
                Event::test(test, tested).print();
            }
        }
    }

    /// What was asked could not be done.
    pub fn error(&mut self, error: &Error) {
        match self {
            Output::Human(_) => eprintln!("error: {}", error.in_full()),
            Output::Json => Event::Error { message: error.to_string(), details: error.details() }.print(),
        }
    }

    /// The end.
    pub fn summary(&mut self, summary: &Summary) {
        match self {
            Output::Human(console) => console.summary(summary),
            Output::Json => Event::Summary(summary).print(),
        }
    }
}
