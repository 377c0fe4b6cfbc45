//! `cargo raddle hunt`: a type in, a verdict out.
//!
//! `prepare` says which types there are and builds a harness for each; `subject` is such a harness. `driver` makes tests
//! for it and has them run by the confined workers of `executor`; `judge` says what is wrong,
//! `prove` has `confirm` repeat it in a fresh process and makes it small, `store` keeps it in a file and `replay` repeats that. `report` and
//! `events` say so to people and to scripts.

pub mod confirm;
mod cpu_time;
pub mod judge;
mod places;
pub mod prepare;
mod prove;
pub mod replay;
pub mod result;
mod search;
pub mod statics;
pub mod subject;
mod watch;

use crate::build::compile::absolute;
use crate::build::runtime_lib::Runtime;
use crate::cli::{Format, HuntArgs, HuntSearchArgs};
use crate::error::{self, Error, Result};
use crate::exit::Exit;
pub use crate::findings::hunt::MODE;
use crate::host;
use crate::interrupt;
use crate::report::console;
use crate::report::failure_text::many;
use crate::report::hunt_event::{self as events, Event, Stats, Summary};
use crate::report::hunt_text as report;
use crate::sandbox;
use crate::worker::scratch::Scratch;
use indicatif::{ProgressBar, ProgressStyle};
use prepare::{Prepared, Prospect};
use raddle_hunt::Role;
use result::{End, Hunted, Progress, Settings};
use search::Lab;
use std::collections::BTreeMap;
use std::io::{IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::channel;
use std::time::{Duration, Instant};
use subject::Subject;

/// Time per type unless told otherwise.
const BUDGET: Duration = Duration::from_secs(30);
/// Time for all types of a crate together unless told otherwise, but at least [`LEAST`] for each.
const TOGETHER: Duration = Duration::from_secs(120);
/// A type's least share of that.
const LEAST: Duration = Duration::from_secs(5);

/// A type's time when so many are hunted without being named.
fn share(types: usize) -> Duration {
    (TOGETHER / u32::try_from(types.max(1)).unwrap_or(u32::MAX)).clamp(LEAST, BUDGET)
}

/// What is said about a type in the end.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Verdict {
    /// Tested, and nothing found.
    Clean,
    /// So many findings.
    Found(usize),
    /// Not tested, or not wholly; why.
    Untested(String),
    /// It cannot be hunted, and the user did not ask for it by name; why.
    Skipped(String),
    /// The tool failed; why.
    Error(String),
}

/// Hunts as the command line says.
pub fn run(args: &HuntArgs) -> Exit {
    let mut voice = Voice::new(args.format);
    let mut summary = Summary::new();
    if let Err(error) = whole(args, &mut voice, &mut summary) {
        voice.error(&interrupt::or(error));
        if summary.findings == 0 {
            summary.exit_code = Exit::Failed;
        }
    }
    voice.summary(&summary);
    summary.exit_code
}

fn whole(args: &HuntArgs, voice: &mut Voice, summary: &mut Summary) -> Result<()> {
    host::check_machine(None)?;
    let mut settings = settings(&args.search, !args.no_sandbox);
    let prepared = Prepared::new(args)?;
    if args.search.budget.is_none() && args.search.schedules.is_none() && !prepared.named() {
        settings.budget = Some(share(prepared.prospects.len()));
    }
    for warning in &prepared.warnings {
        voice.warning(warning);
    }
    if args.list {
        voice.list(&prepared);
        summary.exit_code = Exit::Clean;
        return Ok(());
    }
    if settings.sandbox {
        sandbox::check()?;
    }
    let out = match &args.out {
        Some(dir) => absolute(dir)?,
        None => prepared.out.clone(),
    };
    let runtime = Runtime::install(&prepared.out)?;
    let scratch = Scratch::new(&out)?;
    let findings = out.join("findings");
    let lab = Lab { settings: &settings, runtime: &runtime, scratch: scratch.path(), findings: &findings };
    voice.start(&settings, prepared.prospects.len());
    let jobs = jobs(args.jobs).min(prepared.prospects.len());
    in_order(&prepared, &lab, jobs, voice, |voice, prospect, hunted| {
        voice.hunted(args, prospect, &hunted);
        count(summary, &hunted);
    });
    if interrupt::interrupted() {
        return Err(Error::Interrupted);
    }
    Ok(())
}

/// What came of a type.
struct Outcome {
    subject: Option<Subject>,
    hunted: Option<Hunted>,
    verdict: Verdict,
    /// The compiler's words, if it was the build.
    details: Option<String>,
}

/// Hunts the types, several at a time; `each` hears of them in their order.
fn in_order(
    prepared: &Prepared,
    lab: &Lab<'_>,
    jobs: usize,
    voice: &mut Voice,
    mut each: impl FnMut(&mut Voice, &Prospect, Outcome),
) {
    let next = AtomicUsize::new(0);
    let (sender, receiver) = channel();
    let bar = voice.bar.clone();
    std::thread::scope(|scope| {
        for _ in 0..jobs {
            let (sender, next, bar) = (sender.clone(), &next, &bar);
            scope.spawn(move || {
                loop {
                    let i = next.fetch_add(1, Ordering::SeqCst);
                    let Some(prospect) = prepared.prospects.get(i) else { return };
                    if interrupt::interrupted()
                        || sender.send((i, one(prepared, prospect, lab, bar))).is_err()
                    {
                        return;
                    }
                }
            });
        }
        drop(sender);
        let mut waiting = BTreeMap::new();
        let mut at = 0;
        for (i, result) in receiver {
            waiting.insert(i, result);
            while let Some(result) = waiting.remove(&at) {
                each(voice, &prepared.prospects[at], result);
                at += 1;
            }
        }
    });
}

fn one(prepared: &Prepared, prospect: &Prospect, lab: &Lab<'_>, bar: &ProgressBar) -> Outcome {
    bar.set_message(format!("{}: building the harness", prospect.target));
    let failed = |verdict, details| Outcome { subject: None, hunted: None, verdict, details };
    let subject = match prepared.build(prospect, lab.runtime) {
        Ok(subject) => subject,
        Err(Error::Unfit(why)) if !prepared.named() => return failed(Verdict::Skipped(why), None),
        Err(_) if interrupt::interrupted() => return failed(Verdict::Error("interrupted".to_owned()), None),
        Err(error) => {
            return failed(Verdict::Error(error.to_string()), error.details().map(ToOwned::to_owned));
        }
    };
    if let Some(verdict) = unfit(&subject, prepared.named()) {
        return Outcome { subject: Some(subject), ..failed(verdict, None) };
    }
    let began = Instant::now();
    let progress = |p: &Progress| {
        let seconds = began.elapsed().as_secs_f64().max(0.001);
        bar.set_message(format!(
            "{}: {}, {:.0} executions/s, {} of {} pairs, {}",
            prospect.target,
            many(p.tests, "test"),
            p.executions as f64 / seconds,
            p.covered,
            p.pairs,
            many(p.findings as u64, "finding")
        ));
    };
    match lab.hunt(&subject, &progress) {
        Ok(hunted) => {
            let verdict = verdict(&hunted);
            Outcome { subject: Some(subject), hunted: Some(hunted), verdict, details: None }
        }
        Err(error) => Outcome { subject: Some(subject), ..failed(Verdict::Error(error.to_string()), None) },
    }
}

/// Why a harness cannot be hunted, if so.
fn unfit(subject: &Subject, named: bool) -> Option<Verdict> {
    let harness = &subject.harness;
    let made = |t: &raddle_hunt::Thunk| t.output.slots.iter().any(|s| harness.type_info(*s).subject);
    if !harness.thunks.iter().any(made) {
        let why = "no function was found that makes one; give an expression in [package.metadata.raddle]";
        let why = format!("no constructor: {why}");
        return Some(if named { Verdict::Error(why) } else { Verdict::Skipped(why) });
    }
    let none = harness.with_role(Role::Method).next().is_none();
    let why = "it has no method that could be called".to_owned();
    none.then_some(if named { Verdict::Untested(why) } else { Verdict::Skipped(why) })
}

fn verdict(hunted: &Hunted) -> Verdict {
    if !hunted.findings.is_empty() {
        return Verdict::Found(hunted.findings.len());
    }
    let untested = |why: String| Verdict::Untested(why);
    match &hunted.end {
        End::Broken(why) => return Verdict::Error(why.clone()),
        End::Interrupted => return Verdict::Error("interrupted".to_owned()),
        _ => {}
    }
    let calls: Vec<String> = hunted.totals.uncontrolled.iter().take(3).map(uncontrolled).collect();
    if hunted.progress.executions == 0 {
        let none = match hunted.end {
            End::Budget => {
                "the time was over before the first test: calls that do not come back, or end the process, take long to try; \
                 leave them out with --exclude, or give more time with --budget"
            }
            _ => "no test could be made of its methods",
        };
        let why = hunted.lost.1.clone().unwrap_or_else(|| none.to_owned());
        untested(why)
    } else if !calls.is_empty() {
        untested(format!("calls that raddle cannot control: {}", calls.join(", ")))
    } else if hunted.steps == 0 {
        untested("no scheduling point: its methods change nothing that threads share".to_owned())
    } else if !hunted.unconfirmed.is_empty() {
        untested(format!("{} not confirmed", many(hunted.unconfirmed.len() as u64, "violation")))
    } else if hunted.coverage.counts.report().covered.is_empty() {
        untested("no two of its methods ever ran at the same time, as far as raddle sees".to_owned())
    } else if hunted.oracle.serial == 0 {
        untested("nothing that its methods did was compared with a sequential order".to_owned())
    } else {
        Verdict::Clean
    }
}

fn uncontrolled(call: &raddle_core::protocol::Uncontrolled) -> String {
    match &call.at {
        Some(at) => format!("{} at {}", call.call, at.place()),
        None => call.call.clone(),
    }
}

fn count(summary: &mut Summary, result: &Outcome) {
    summary.types += 1;
    match result.verdict {
        Verdict::Clean => summary.clean += 1,
        Verdict::Found(_) => summary.found += 1,
        Verdict::Untested(_) => summary.untested += 1,
        Verdict::Skipped(_) => summary.skipped += 1,
        Verdict::Error(_) => summary.errors += 1,
    }
    if let Some(hunted) = &result.hunted {
        summary.findings += hunted.findings.len();
        summary.unconfirmed += hunted.unconfirmed.len();
        summary.tests += hunted.progress.tests;
        summary.executions += hunted.progress.executions;
    }
    summary.exit_code = summary.exit();
}

fn settings(args: &HuntSearchArgs, sandbox: bool) -> Settings {
    let budget = match (args.budget, args.schedules) {
        (Some(Duration::ZERO), _) | (None, Some(_)) => None,
        (Some(budget), _) => Some(budget),
        (None, None) => Some(BUDGET),
    };
    Settings {
        seed: args.seed,
        generator: args.generator,
        strategy: args.strategy.clone(),
        per_test: args.per_test,
        threads: usize::try_from(args.threads).unwrap_or(2),
        schedules: args.schedules,
        budget,
        until_settled: args.until_settled,
        max_findings: args.max_findings,
        timeouts: args.timeouts,
        max_steps: args.max_steps,
        memory_mb: args.memory,
        hang_ms: u64::try_from(args.hang.as_millis()).unwrap_or(u64::MAX),
        sandbox,
        patterns: args.patterns,
    }
}

fn jobs(asked: Option<u64>) -> usize {
    let cores = || std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    asked.and_then(|n| usize::try_from(n).ok()).unwrap_or_else(cores)
}

/// Where results go: to people or to scripts.
struct Voice {
    format: Format,
    bar: ProgressBar,
    stories: Vec<String>,
}

impl Voice {
    fn new(format: Format) -> Self {
        Voice { format, bar: ProgressBar::hidden(), stories: vec![] }
    }

    fn start(&mut self, settings: &Settings, types: usize) {
        match self.format {
            Format::Json => Event::start(settings, types).print(),
            Format::Human if std::io::stderr().is_terminal() => {
                self.bar = ProgressBar::new_spinner();
                let style = ProgressStyle::with_template("{spinner} {elapsed} {msg}");
                self.bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_spinner()));
                self.bar.enable_steady_tick(Duration::from_millis(200));
            }
            Format::Human => {}
        }
    }

    fn say(&self, text: &str) {
        self.bar.suspend(|| {
            let _ = writeln!(std::io::stdout().lock(), "{text}");
        });
    }

    fn warning(&self, message: &str) {
        match self.format {
            Format::Json => Event::Warning { message }.print(),
            Format::Human => eprintln!("warning: {message}"),
        }
    }

    fn error(&self, error: &Error) {
        match self.format {
            Format::Json => Event::Error { message: error.to_string(), details: error.details() }.print(),
            Format::Human => self.bar.suspend(|| eprintln!("error: {}", error.in_full())),
        }
    }

    fn list(&self, prepared: &Prepared) {
        match self.format {
            Format::Json => Event::List(&prepared.list_json()).print(),
            Format::Human => self.say(prepared.list().trim_end()),
        }
    }

    /// A type came to its end.
    fn hunted(&mut self, args: &HuntArgs, prospect: &Prospect, result: &Outcome) {
        let target = prospect.target.as_str();
        if self.format == Format::Json {
            return json(target, result, args.open);
        }
        self.say(&report::outcome(target, &result.verdict, result.hunted.as_ref()));
        if let Some(details) = &result.details {
            self.say(&error::indented(details));
        }
        let (Some(subject), Some(hunted)) = (&result.subject, &result.hunted) else { return };
        let promises = report::promises(&subject.harness);
        if !promises.is_empty() {
            self.say(&promises);
        }
        if args.open > 0 {
            self.say(&report::open(hunted, args.open));
        }
        if args.matrix {
            self.say(&report::matrix(&subject.harness, hunted));
        }
        for (found, file) in &hunted.findings {
            self.stories.push(report::finding(subject, found, file, console::layout(false)));
        }
        unsaved(hunted).for_each(|error| self.error(error));
        self.stories.extend(hunted.unconfirmed.iter().map(|u| report::unconfirmed(target, u)));
    }

    fn summary(&mut self, summary: &Summary) {
        self.bar.finish_and_clear();
        if self.format == Format::Json {
            return Event::Summary(summary).print();
        }
        for story in std::mem::take(&mut self.stories) {
            self.say(&format!("\n{}", story.trim_end()));
        }
        if summary.types > 0 {
            self.say(&format!("\n{}", report::summary(summary)));
        }
    }
}

/// Why findings could not be saved.
fn unsaved(hunted: &Hunted) -> impl Iterator<Item = &Error> {
    hunted.findings.iter().filter_map(|(_, file)| file.as_ref().err())
}

fn json(target: &str, result: &Outcome, open: usize) {
    if let Some(subject) = &result.subject {
        Event::harness(subject).print();
    }
    if let (Some(subject), Some(hunted)) = (&result.subject, &result.hunted) {
        for (i, (found, file)) in hunted.findings.iter().enumerate() {
            Event::finding(subject, found, i < hunted.saved, file.as_deref().ok()).print();
        }
        for error in unsaved(hunted) {
            Event::Error { message: error.to_string(), details: None }.print();
        }
        for unconfirmed in &hunted.unconfirmed {
            Event::unconfirmed(subject, unconfirmed).print();
        }
    }
    let (status, message) = match &result.verdict {
        Verdict::Clean => ("ok", None),
        Verdict::Found(_) => ("found", None),
        Verdict::Untested(why) => ("untested", Some(why.clone())),
        Verdict::Skipped(why) => ("skipped", Some(why.clone())),
        Verdict::Error(why) => ("error", Some(why.clone())),
    };
    if let Some(details) = &result.details {
        Event::Error { message: message.clone().unwrap_or_default(), details: Some(details) }.print();
    }
    let offers = result.subject.as_ref().map(|s| Box::new(events::Offers::of(s)));
    let stats = result.hunted.as_ref().map(|h| Box::new(Stats::of(h, open)));
    let version = result.subject.as_ref().map(|s| s.harness.version.as_str());
    Event::Type { target, version, status, message, offers, stats }.print();
}

/// A directory, by default `target/raddle` here.
fn default_out() -> Result<PathBuf> {
    absolute(Path::new("target/raddle"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn many_types_share_the_time_and_few_have_as_much_as_a_named_one() {
        assert_eq!((share(1), share(4)), (BUDGET, BUDGET));
        assert_eq!(share(12), Duration::from_secs(10));
        assert_eq!(share(1000), LEAST);
    }
}
