//! What a hunt says to people.

use super::events::{Pairs, Patterns, Summary};
use super::hunted::{End, Hunted, Progress, Unconfirmed};
use super::judge;
use super::store::Kept;
use super::subject::Subject;
use crate::columns::{self, Labels, Layout};
use crate::error::Result;
use crate::exit::Exit;
use crate::explain::{self, many};
use crate::finding::next_step;
use crate::sources::Sources;
use raddle_core::pattern::{AccessKind, Step, Who};
use raddle_core::trace::Trace;
use raddle_core::{NameId, Op, SiteId};
use raddle_hunt::oracle::CallRef;
use raddle_hunt::render::call_text;
use raddle_hunt::{CallRecord, Harness, Role, Test};
use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::PathBuf;

/// A finding: what broke, the test, the interleaving, and why no sequential order explains it.
pub fn finding(subject: &Subject, found: &Kept, file: &Result<PathBuf>, layout: Layout) -> String {
    let mut sources = Sources::new(&subject.source_roots);
    let failure = &found.failure;
    let mut text = format!("---- {}: {} ----\n", subject.harness.target, failure.kind.as_str());
    text.push_str(&explain::what(failure, &sources));
    let _ = writeln!(text, "\nThe test, in Rust:\n");
    found.source.trim_end().lines().for_each(|line| {
        let _ = writeln!(text, "{}", format!("    {line}").trim_end());
    });
    let labels = labels(&subject.harness, &found.test, &found.calls, &failure.trace);
    let columns = columns::render_labelled(failure, &mut sources, layout, &labels);
    if !columns.is_empty() {
        let _ = write!(text, "\nHow the threads interleaved:\n\n{columns}");
    }
    if !found.why.is_empty() {
        let _ = writeln!(text, "\nWhy no sequential order of the calls explains it:");
        for line in &found.why {
            let _ = writeln!(text, "    {line}");
        }
    }
    text.push_str(&explain::printed(failure));
    // The compiler names files of a dependency from the root directory.
    for root in &subject.source_roots {
        text = text.replace(&format!("{}/", root.display()), "");
    }
    let _ = writeln!(text, "\n{}", next_step(file));
    text
}

/// What to say at the beginnings and ends of calls.
fn labels(harness: &Harness, test: &Test, calls: &[CallRecord], trace: &Trace) -> Labels {
    let mut enters = calls.iter();
    let mut ends: Vec<&CallRecord> = calls.iter().filter(|c| c.end.is_some()).collect();
    ends.sort_by_key(|c| c.end);
    let mut leaves = ends.into_iter();
    // The column says which thread it is.
    let name = |c: &CallRecord| {
        let text = call_text(harness, test, CallRef { thread: c.thread, step: c.step });
        let own = text.strip_prefix(&format!("T{} ", c.thread)).unwrap_or(&text);
        own.to_owned()
    };
    let mut labels = Labels::new();
    for (i, event) in trace.events.iter().enumerate() {
        let text = match event.op {
            Op::Enter(_) => enters.next().map(name),
            Op::Leave(_) => leaves.next().map(|c| {
                let name = name(c);
                format!("{} {}", name.split('(').next().unwrap_or_default(), judge::result(&c.result))
            }),
            // The harness's own, which has no place in the user's source.
            Op::Spawn(thread) if event.thread.0 == 0 => Some(format!("starts thread {}", thread.0)),
            Op::Join(thread) if event.thread.0 == 0 => Some(format!("joins thread {}", thread.0)),
            Op::Exit => Some("ends".to_owned()),
            _ => None,
        };
        if let Some(text) = text {
            labels.insert(i, text);
        }
    }
    labels
}

/// A type in one line.
pub fn outcome(target: &str, verdict: &super::Verdict, hunted: Option<&Hunted>) -> String {
    let said = match verdict {
        super::Verdict::Clean => "ok".to_owned(),
        super::Verdict::Found(n) => format!("FOUND {n}"),
        super::Verdict::Untested(why) => format!("NOT TESTED: {why}"),
        super::Verdict::Skipped(why) => format!("skipped: {why}"),
        super::Verdict::Error(why) => format!("ERROR: {why}"),
    };
    let Some(h) = hunted else { return format!("type {target} ... {said}") };
    let mut text = format!("type {target} ... {said} ({}", effort(h));
    match h.end {
        End::Exhausted => text.push_str(", all that there are"),
        End::Settled => text.push_str(", the last two thirds with hardly anything new"),
        _ => {}
    }
    text.push(')');
    for never in &h.never_returned {
        let how = never.instead.how.lines().next().unwrap_or_default();
        let calls = many(never.instead.calls, "call");
        let _ = write!(
            text,
            "\n     `{}` never went well, in {calls} with nothing beside it: {how}",
            never.method
        );
    }
    let pairs = Pairs::of(&h.coverage);
    let _ = write!(
        text,
        "\n     method pairs: {} of {} ran at the same time, {} open, {} never possible so far",
        pairs.covered, pairs.total, pairs.open, pairs.never
    );
    if let Some(patterns) = Patterns::of(h, 0) {
        text.push_str(&covered(&patterns, h.statics.as_ref().and_then(|s| s.as_ref().err())));
    }
    let s = &h.stages;
    // Of the processor's time: on a machine that others use, too, the rest is waiting.
    let all = (s.generate + s.execute + s.cover + s.judge + s.prove).as_secs_f64().max(1e-9);
    let share = |d: std::time::Duration| 100.0 * d.as_secs_f64() / all;
    let _ = write!(
        text,
        "\n     time: {:.0} % making tests, {:.0} % running them, {:.0} % counting what they cover, {:.0} % judging \
         ({}), {:.0} % proving",
        share(s.generate),
        share(s.execute),
        share(s.cover),
        share(s.judge),
        many(h.oracle.serial, "sequential execution"),
        share(s.prove)
    );
    if h.isolated {
        text.push_str(
            "\n     it keeps something from test to test, so every execution had a process of its own",
        );
        if let Some(Unconfirmed { message, instead, .. }) = &h.isolated_because {
            let _ = write!(
                text,
                "\n     (seen among others, and not in a fresh process: {message}; there: {instead})"
            );
        }
    }
    if h.per_thread {
        text.push_str(
            "\n     results depend on which thread calls: a thread's first call is not compared while others run beside it",
        );
    }
    if h.lost.0 > 0 {
        let why = h.lost.1.as_deref().unwrap_or_default().lines().next().unwrap_or_default().to_owned();
        let _ = write!(text, "\n     {} could not be done, the first because: {why}", many(h.lost.0, "run"));
    }
    if !h.outdated.is_empty() {
        let name = |file: &PathBuf| file.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let names: Vec<String> = h.outdated.iter().map(name).collect();
        let _ = write!(text, "\n     saved, but not repeated or of another build: {}", names.join(", "));
    }
    text
}

/// How much was run for what was found.
fn effort(h: &Hunted) -> String {
    let mut text = match h.saved {
        0 => String::new(),
        n if n == h.findings.len() => "found by an earlier hunt and repeated; ".to_owned(),
        n => format!("{n} found by an earlier hunt and repeated; "),
    };
    let Progress { tests, executions, .. } = h.progress;
    if tests > 0 {
        let _ = write!(text, "{}, {}", many(tests, "test"), many(executions, "execution"));
        let seconds = h.elapsed.as_secs_f64();
        if seconds > 0.0 {
            let _ = write!(text, ", {:.0} tests/s", tests as f64 / seconds);
        }
    } else if h.findings.len() > h.saved {
        text.push_str("in the first test");
    } else {
        text.push_str("no new test");
    }
    text
}

/// Which methods are not held to take effect at one moment, and why.
pub fn promises(harness: &Harness) -> String {
    let mut by_reason: BTreeMap<String, Vec<&str>> = BTreeMap::new();
    let calls = harness.thunks.iter().filter(|t| t.role == Role::Method);
    for thunk in calls {
        let name = thunk.name.as_str();
        let because = thunk.because.as_deref().unwrap_or_default();
        if thunk.weak {
            by_reason.entry(format!("not compared ({because})")).or_default().push(name);
        } else if thunk.refuses.iter().any(|r| r != "Pending") {
            let answers = thunk.refuses.join(", ");
            by_reason
                .entry(format!("may return {answers} beside other calls ({because})"))
                .or_default()
                .push(name);
        }
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
fn covered(patterns: &Patterns, unknown: Option<&String>) -> String {
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
    if let Some(why) = unknown {
        let why = why.lines().next().unwrap_or_default();
        let _ = write!(text, "\n     what the code allows is not known: {why}");
    }
    text
}

/// A violation that did not repeat.
pub fn unconfirmed(target: &str, u: &super::hunted::Unconfirmed) -> String {
    format!(
        "---- {target}: not confirmed ----\n{}: {}\nA fresh process did not repeat it: {}. It depends on something that \
         raddle does not control, or on what earlier tests had left behind.\n",
        u.kind.as_str(),
        u.message.trim_end(),
        u.instead
    )
}

/// For each pair of methods, how often it ran at the same time.
pub fn matrix(harness: &Harness, hunted: &Hunted) -> String {
    let legend = "times that two methods ran at the same time, by test (. open, - never possible so far):";
    format!("{legend}\n{}", hunted.coverage.matrix(harness))
}

/// Instances of memory-access patterns that have not occurred, most bug-prone patterns first.
pub fn open(hunted: &Hunted, most: usize) -> String {
    let Some(patterns) = &hunted.patterns else {
        return "open patterns: the generator does not follow them; use maptest\n".to_owned();
    };
    if let Some(Ok(statics)) = &hunted.statics {
        let mut text =
            String::from("memory-access patterns that the code allows and that have not been seen:\n");
        statics.open(most).iter().for_each(|line| _ = writeln!(text, "  {line}: not yet seen"));
        return text;
    }
    let mut text = String::from("memory-access patterns that have not occurred:\n");
    for instance in patterns.open(most) {
        let steps = instance.pattern().pattern().steps.iter().zip(instance.steps());
        let step = |(step, (kind, site, name)): (&Step, (AccessKind, SiteId, NameId))| {
            let symbols = &hunted.symbols;
            let site = symbols.sites.get(site.0 as usize);
            let (function, at) = site.map_or(("?", String::new()), |s| {
                let function = s.function.rsplit("::").next().unwrap_or(&s.function);
                let place = s.place();
                (function, place.rsplit('/').next().unwrap_or(&place).to_owned())
            });
            let does = if kind == AccessKind::Read { "reads" } else { "writes" };
            let name = symbols.names.get(name.0 as usize).map_or("?", String::as_str);
            let thread = if step.who == Who::A { "a" } else { "b" };
            format!("{thread}: `{function}` at {at} {does} `{name}`")
        };
        let steps: Vec<String> = steps.map(step).collect();
        let _ = writeln!(text, "  {:3} {}", instance.pattern().to_string(), steps.join(", then "));
    }
    text
}

/// The last line.
pub fn summary(summary: &Summary) -> String {
    let verdict = match summary.exit_code {
        Exit::Clean => "ok",
        Exit::Found => "FOUND",
        Exit::Failed => "ERROR",
        Exit::Untested => "NOT TESTED",
    };
    let mut text =
        format!("raddle hunt: {verdict}. {} clean; {} with findings", summary.clean, summary.found);
    for (count, what) in
        [(summary.untested, "not tested"), (summary.skipped, "skipped"), (summary.errors, "with an error")]
    {
        if count > 0 {
            let _ = write!(text, "; {count} {what}");
        }
    }
    if summary.unconfirmed > 0 {
        let _ = write!(text, "; {} not confirmed", many(summary.unconfirmed as u64, "violation"));
    }
    let _ = write!(text, "; {}, {}", many(summary.tests, "test"), many(summary.executions, "execution"));
    text
}
