//! What a hunt says to people.

use super::columns::{self, Labels, Layout};
use super::event::{Finding, TypeEnded, TypeStatus, Unconfirmed};
use super::failure_text::{self, next_step};
use super::many;
use super::sources::Sources;
use super::summary::{Summary, TypeCounts};
use super::type_stats::{Expectation, HuntEnd, Patterns, TypeStats};
use crate::exit::Exit;
use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::PathBuf;

/// A finding: what broke, the test, the interleaving, and why no sequential order explains it.
pub fn finding(found: &Finding<'_>, of_type: &TypeFinding<'_>, layout: Layout) -> String {
    let mut sources = Sources::new(found.source_roots);
    let failure = found.failure;
    let mut text = format!("---- {}: {} ----\n", of_type.target, failure.kind.as_str());
    text.push_str(&failure_text::what(failure, &sources));
    let _ = writeln!(text, "\nThe test, in Rust:\n");
    of_type.source.trim_end().lines().for_each(|line| {
        let _ = writeln!(text, "{}", format!("    {line}").trim_end());
    });
    let columns = columns::render_labelled(failure, &mut sources, layout, of_type.labels);
    if !columns.is_empty() {
        let _ = write!(text, "\nHow the threads interleaved:\n\n{columns}");
    }
    if !of_type.why.is_empty() {
        let _ = writeln!(text, "\nWhy no sequential order of the calls explains it:");
        for line in of_type.why {
            let _ = writeln!(text, "    {line}");
        }
    }
    text.push_str(&failure_text::printed(failure));
    // The compiler names files of a dependency from the root directory.
    for root in found.source_roots {
        text = text.replace(&format!("{}/", root.display()), "");
    }
    let _ = writeln!(text, "\n{}", next_step(found));
    text
}

/// What only a type's finding has.
pub struct TypeFinding<'a> {
    /// The path of the type.
    pub target: &'a str,
    /// The test as Rust source.
    pub source: &'a str,
    /// Why no sequential order of the calls explains it.
    pub why: &'a [String],
    /// What the beginnings and ends of calls in the trace are.
    pub labels: &'a Labels,
}

/// A type in one line, and what was done below it.
pub fn outcome(ended: &TypeEnded<'_>, findings: usize, saved: usize) -> String {
    let why = ended.message.as_deref().unwrap_or_default();
    let said = match ended.status {
        TypeStatus::Ok => "ok".to_owned(),
        TypeStatus::Found => format!("FOUND {findings}"),
        TypeStatus::Untested => format!("NOT TESTED: {why}"),
        TypeStatus::Skipped => format!("skipped: {why}"),
        TypeStatus::Error => format!("ERROR: {why}"),
    };
    let Some(stats) = &ended.stats else { return format!("type {} ... {said}", ended.target) };
    let mut text = format!("type {} ... {said} ({}", ended.target, effort(stats, findings, saved));
    match stats.end {
        HuntEnd::Exhausted => text.push_str(", all that there are"),
        HuntEnd::Settled => text.push_str(", the last two thirds with hardly anything new"),
        _ => {}
    }
    text.push(')');
    text + &coverage(stats) + &times(stats) + &remarks(stats)
}

/// What was covered, and what could not be.
fn coverage(stats: &TypeStats) -> String {
    let mut text = String::new();
    for never in &stats.never_returned {
        let how = never.instead.lines().next().unwrap_or_default();
        let calls = many(never.calls, "call");
        let _ = write!(
            text,
            "\n     `{}` never went well, in {calls} with nothing beside it: {how}",
            never.method
        );
    }
    let pairs = &stats.pairs;
    let _ = write!(
        text,
        "\n     method pairs: {} of {} ran at the same time, {} open, {} never possible so far",
        pairs.covered, pairs.total, pairs.open, pairs.never
    );
    text + &stats.patterns.as_ref().map(covered).unwrap_or_default()
}

/// Where the processor's time went. On a machine that others use, too, the rest is waiting.
fn times(s: &TypeStats) -> String {
    let all = (s.generate_ms + s.execute_ms + s.cover_ms + s.judge_ms + s.prove_ms).max(1e-6);
    let share = |ms: f64| 100.0 * ms / all;
    format!(
        "\n     time: {:.0} % making tests, {:.0} % running them, {:.0} % counting what they cover, {:.0} % judging \
         ({}), {:.0} % proving",
        share(s.generate_ms),
        share(s.execute_ms),
        share(s.cover_ms),
        share(s.judge_ms),
        many(s.serial_executions, "sequential execution"),
        share(s.prove_ms)
    )
}

/// What else people should know.
fn remarks(stats: &TypeStats) -> String {
    let mut text = String::new();
    if stats.isolated {
        text.push_str(
            "\n     it keeps something from test to test, so every execution had a process of its own",
        );
        if let Some((message, instead)) = &stats.isolated_because {
            let _ = write!(
                text,
                "\n     (seen among others, and not in a fresh process: {message}; there: {instead})"
            );
        }
    }
    if stats.per_thread {
        text.push_str(
            "\n     results depend on which thread calls: a thread's first call is not compared while others run beside it",
        );
    }
    if stats.lost > 0 {
        let why = stats.first_lost.as_deref().unwrap_or_default().lines().next().unwrap_or_default();
        let _ =
            write!(text, "\n     {} could not be done, the first because: {why}", many(stats.lost, "run"));
    }
    if !stats.outdated_files.is_empty() {
        let name = |file: &PathBuf| file.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let names: Vec<String> = stats.outdated_files.iter().map(name).collect();
        let _ = write!(text, "\n     saved, but not repeated or of another build: {}", names.join(", "));
    }
    text
}

/// How much was run for what was found.
fn effort(stats: &TypeStats, findings: usize, saved: usize) -> String {
    let mut text = match saved {
        0 => String::new(),
        n if n == findings => "found by an earlier hunt and repeated; ".to_owned(),
        n => format!("{n} found by an earlier hunt and repeated; "),
    };
    if stats.tests > 0 {
        let _ = write!(text, "{}, {}", many(stats.tests, "test"), many(stats.executions, "execution"));
        if stats.elapsed > 0.0 {
            let _ = write!(text, ", {:.0} tests/s", stats.tests as f64 / stats.elapsed);
        }
    } else if findings > saved {
        text.push_str("in the first test");
    } else {
        text.push_str("no new test");
    }
    text
}

/// Which methods are not held to take effect at one moment, and why.
pub fn expectations(all: &[Expectation]) -> String {
    let mut by_reason: BTreeMap<String, Vec<&str>> = BTreeMap::new();
    for expectation in all {
        let (reason, method) = match expectation {
            Expectation::NotCompared { method, because } => (format!("not compared ({because})"), method),
            Expectation::MayRefuse { method, answers, because } => {
                (format!("may return {} beside other calls ({because})", answers.join(", ")), method)
            }
        };
        by_reason.entry(reason).or_default().push(method);
    }
    let mut text = String::new();
    for (reason, names) in by_reason {
        let _ = writeln!(text, "     {}: {reason}", names.join(", "));
    }
    if !text.is_empty() {
        text.push_str("     (--strict NAME compares all the same)\n");
    }
    text.trim_end().to_owned()
}

/// MAP-coverage, over what was seen and over what the compiler's MIR allows.
fn covered(patterns: &Patterns) -> String {
    let share = |covered: u128, total: u128| 100.0 * covered as f64 / total.max(1) as f64;
    let mut text = format!(
        "\n     memory-access patterns: {} of {} instances of what was seen occurred ({:.1} %)",
        patterns.covered,
        patterns.total,
        share(patterns.covered, patterns.total)
    );
    if let Some(chance) = patterns.chance_of_new {
        let _ = write!(text, ", {:.0} % of the last tests showed a new one", 100.0 * chance);
    }
    if let Some(of) = &patterns.statics {
        let infeasible = of
            .all
            .infeasible
            .map_or(String::new(), |n| format!(", {n} take several calls of one thread, if they can occur"));
        let _ = write!(
            text,
            "\n     of what the code allows: {} of {} occurred ({:.1} %), {} open{infeasible}; by pattern:",
            of.all.covered,
            of.all.total,
            share(of.all.covered, of.all.total),
            of.all.open
        );
        for (i, counts) in of.by_pattern.iter().enumerate().filter(|(_, c)| c.total > 0) {
            let _ = write!(text, " P{} {}/{}", i + 1, counts.covered, counts.covered + counts.open);
        }
    }
    if let Some(why) = &patterns.unknown {
        let why = why.lines().next().unwrap_or_default();
        let _ = write!(text, "\n     what the code allows is not known: {why}");
    }
    text
}

/// A violation that did not repeat.
pub fn unconfirmed(target: &str, u: &Unconfirmed<'_>) -> String {
    format!(
        "---- {target}: not confirmed ----\n{}: {}\nA fresh process did not repeat it: {}. It depends on something that \
         raddle does not control, or on what earlier tests had left behind.\n",
        u.kind.as_str(),
        u.message.trim_end(),
        u.instead
    )
}

/// The last line.
pub fn totals(summary: &Summary, types: &TypeCounts) -> String {
    let verdict = match summary.exit_code {
        Exit::Clean => "ok",
        Exit::Found => "FOUND",
        Exit::Failed => "ERROR",
        Exit::Untested => "NOT TESTED",
    };
    let mut text = format!("raddle hunt: {verdict}. {} clean; {} with findings", types.clean, types.found);
    for (count, what) in
        [(summary.untested, "not tested"), (types.skipped, "skipped"), (summary.errors, "with an error")]
    {
        if count > 0 {
            let _ = write!(text, "; {count} {what}");
        }
    }
    if summary.unconfirmed > 0 {
        let _ = write!(text, "; {} not confirmed", many(summary.unconfirmed as u64, "violation"));
    }
    let _ = write!(text, "; {}, {}", many(types.tests, "test"), many(summary.executions, "execution"));
    text
}
