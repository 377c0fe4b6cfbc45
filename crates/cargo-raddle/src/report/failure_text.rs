//! A failure in words: what happened, where, and what every thread was doing.

use super::columns::{self, Layout, thread_name};
use super::event::Finding;
use super::many;
use super::sources::Sources;
use raddle_core::outcome::Kind;
use raddle_core::protocol::{Failure, ThreadInfo, ThreadState};
use raddle_core::trace::Site;
use std::fmt::Write;

/// Frames of a stack shown.
const FRAMES: usize = 8;
/// Threads described.
const THREADS: usize = 16;
/// Threads named that could end a wait.
const NAMED: usize = 4;
/// Lines of a program's output shown.
const OUTPUT_LINES: usize = 20;

/// The whole story.
pub fn explain(failure: &Failure, sources: &mut Sources, layout: Layout) -> String {
    let mut text = what(failure, sources);
    let columns = columns::render(failure, sources, layout);
    if !columns.is_empty() {
        let _ = write!(text, "\n{columns}");
    }
    text + &printed(failure)
}

/// What happened, where, and what every thread was doing in the end.
pub fn what(failure: &Failure, sources: &Sources) -> String {
    let mut text = headline(failure, sources);
    if !failure.backtrace.is_empty() {
        stack(&mut text, &failure.backtrace, sources);
    }
    if matches!(failure.kind, Kind::Deadlock | Kind::Livelock | Kind::Timeout) {
        let alive = || failure.threads.iter().filter(|t| t.state != ThreadState::Ended);
        for thread in alive().take(THREADS) {
            describe_thread(&mut text, failure, thread, sources);
        }
        let more = alive().count().saturating_sub(THREADS);
        if more > 0 {
            let _ = writeln!(text, "  ... {}", many(more as u64, "more thread"));
        }
    }
    text
}

/// What to do with a finding: repeat it, if it could be saved.
pub fn next_step(finding: &Finding<'_>) -> String {
    match finding.file {
        Some(file) => {
            let here = std::env::current_dir().unwrap_or_default();
            format!(
                "repeat it with: cargo raddle replay {}",
                file.strip_prefix(here).unwrap_or(file).display()
            )
        }
        None => format!(
            "it cannot be repeated, for it could not be saved: {}",
            finding.unsaved.as_deref().unwrap_or_default()
        ),
    }
}

/// What the program printed, its end if it is long.
pub fn printed(failure: &Failure) -> String {
    let mut text = String::new();
    let output = failure.output.trim_end();
    if !output.is_empty() {
        let lines: Vec<&str> = output.lines().collect();
        let first = lines.len().saturating_sub(OUTPUT_LINES);
        let _ = writeln!(text, "\nthe program printed:");
        if first > 0 {
            let _ = writeln!(text, "    ... {} not shown ...", many(first as u64, "line"));
        }
        for line in &lines[first..] {
            let _ = writeln!(text, "    {line}");
        }
    }
    text
}

fn headline(failure: &Failure, sources: &Sources) -> String {
    let mut text = failure.kind.as_str().to_owned();
    if let Some(thread) = failure.thread {
        let _ = write!(text, " in {}", thread_name(failure, thread));
    }
    if let Some(at) = &failure.at {
        let _ = write!(text, " at {}", sources.place(at));
    }
    let message = told(failure, failure.message.trim_end());
    let (first, rest) = message.split_once('\n').map_or((message, ""), |(first, rest)| (first, rest));
    let _ = writeln!(text, ": {first}{}", early(failure));
    if !rest.is_empty() {
        let _ = writeln!(text, "{rest}");
    }
    text
}

/// The message, without the kind that has been named already, and without the list of threads that follows.
fn told<'a>(failure: &Failure, message: &'a str) -> &'a str {
    let message =
        message.strip_prefix(failure.kind.as_str()).and_then(|m| m.strip_prefix(": ")).unwrap_or(message);
    if failure.kind == Kind::Deadlock && !failure.threads.is_empty() { first_line(message) } else { message }
}

/// A failure in one line.
pub fn brief(failure: &Failure) -> String {
    format!("{}: {}{}", failure.kind.as_str(), first_line(told(failure, &failure.message)), early(failure))
}

/// What else the first line says of an execution in which a wait ended early.
fn early(failure: &Failure) -> String {
    failure.schedule.early_note().map_or(String::new(), |note| format!("; {note}"))
}

fn first_line(text: &str) -> &str {
    text.lines().next().unwrap_or_default()
}

fn describe_thread(text: &mut String, failure: &Failure, thread: &ThreadInfo, sources: &Sources) {
    let name = thread_name(failure, thread.id);
    let place = thread.stack.first().map(|site| format!(" at {}", sources.place(site))).unwrap_or_default();
    let state = match &thread.state {
        ThreadState::Ended => return,
        ThreadState::Runnable => format!("could go on{place}"),
        ThreadState::Spinning => format!("spins{place}"),
        ThreadState::Panicked => format!("panicked{place}"),
        ThreadState::Blocked { on, by } if by.is_empty() => format!("waits for {on}{place}"),
        ThreadState::Blocked { on, by } => {
            let more = by.len().saturating_sub(NAMED);
            let mut by: Vec<String> = by.iter().take(NAMED).map(|t| format!("thread {}", t.0)).collect();
            if more > 0 {
                by.push(many(more as u64, "other"));
            }
            format!("waits for {on}{place}, which {} could end", by.join(" or "))
        }
    };
    let _ = writeln!(text, "  {name} {state}");
    for held in &thread.holds {
        let at =
            held.at.as_ref().map(|site| format!(", taken at {}", sources.place(site))).unwrap_or_default();
        let _ = writeln!(text, "    holds {}{at}", held.lock);
    }
}

fn stack(text: &mut String, frames: &[Site], sources: &Sources) {
    for site in frames.iter().take(FRAMES) {
        let _ = writeln!(text, "    {} ({})", site.function, sources.place(site));
    }
    if frames.len() > FRAMES {
        let _ = writeln!(text, "    ... {} more", frames.len() - FRAMES);
    }
}
