//! An interleaving as people read it: one column per thread, time downwards.
//!
//! A thread's consecutive steps at one line of source stand under one heading, which is the line itself. Only threads that
//! do something in the part that is shown have a column; where these are too many for columns, their steps stand below each
//! other, under the names of the threads.

use super::many;
use super::sources::Sources;
use raddle_core::protocol::Failure;
use raddle_core::{Access, Event, LockMode, Op, Site, ThreadId, Value, VarId};
use std::collections::BTreeMap;
use std::fmt::Write;

/// A column narrower than this says nothing.
const NARROWEST: usize = 30;
/// No terminal that anybody reads a diagram on is narrower.
const LEAST_WIDTH: usize = 40;
/// More columns than this cannot be read.
const MOST_COLUMNS: usize = 8;
/// Steps shown at the beginning and at the end of a long trace.
const HEAD: usize = 20;
const TAIL: usize = 60;

/// A stretch of at most so many steps that happens again at least so many times is shown once.
const LONGEST_LOOP: usize = 8;
const REPETITIONS: usize = 3;

/// What stands for what is cut off.
const CUT: &str = "...";

/// How wide, and how much.
#[derive(Clone, Copy, Debug)]
pub struct Layout {
    /// Characters per line, but at least [`LEAST_WIDTH`]. Where columns would become too narrow, there are none.
    pub width: usize,
    /// Every step, however many.
    pub full: bool,
}

/// What is to be said of some steps, by their numbers, instead of the usual.
pub type Labels = BTreeMap<usize, String>;

/// Renders the trace of a failure.
pub fn render(failure: &Failure, sources: &mut Sources, layout: Layout) -> String {
    render_labelled(failure, sources, layout, &Labels::new())
}

/// Renders the trace of a failure, with labels.
pub fn render_labelled(failure: &Failure, sources: &mut Sources, layout: Layout, labels: &Labels) -> String {
    let events = &failure.trace.events;
    if events.is_empty() {
        return String::new();
    }
    let items = if layout.full { (0..events.len()).map(Item::Step).collect() } else { fold(events) };
    let cut = if layout.full || items.len() <= HEAD + TAIL { None } else { Some(HEAD..items.len() - TAIL) };
    let shown = items.iter().enumerate().filter(|(at, _)| !cut.as_ref().is_some_and(|c| c.contains(at)));
    let mut threads: Vec<ThreadId> = shown
        .filter_map(|(_, item)| match item {
            Item::Step(i) => Some(events[*i].thread),
            Item::Again { .. } => None,
        })
        .collect();
    threads.sort();
    threads.dedup();
    let digits = events.len().to_string().len();
    let space = layout.width.max(LEAST_WIDTH).saturating_sub(digits + 1);
    let column = |columns: usize| (space / columns.max(1)).saturating_sub(3);
    let listed = threads.len() > MOST_COLUMNS || (threads.len() > 1 && column(threads.len()) < NARROWEST);
    let width = column(if listed { 1 } else { threads.len() });
    let mut page = Page { failure, sources, labels, threads, listed, width, digits, text: String::new() };
    if !page.listed {
        page.header();
    }
    let mut last: Option<Event> = None;
    for (at, item) in items.iter().enumerate() {
        if let Some(cut) = &cut
            && cut.contains(&at)
        {
            if at == cut.start {
                page.gap(items[cut.clone()].iter().map(Item::steps).sum());
            }
            last = None;
            continue;
        }
        let (i, event) = match *item {
            Item::Step(i) => (i, &events[i]),
            Item::Again { period, times } => {
                page.again(period, times);
                last = None;
                continue;
            }
        };
        if page.listed && last.is_none_or(|last| last.thread != event.thread) {
            page.turn(event.thread);
        }
        if labels.contains_key(&i) {
            page.apart(event.thread, last.map(|last| last.thread));
        } else if !last.is_some_and(|last| last.thread == event.thread && page.same_line(&last, event)) {
            page.heading(event, last.map(|last| last.thread));
        }
        page.step(i, event);
        last = Some(*event);
    }
    page.text
}

/// What is shown of a trace.
#[derive(Clone, Copy, PartialEq, Debug)]
enum Item {
    /// The step with this number.
    Step(usize),
    /// The steps just shown happened again.
    Again { period: usize, times: usize },
}

impl Item {
    fn steps(&self) -> usize {
        match self {
            Item::Step(_) => 1,
            Item::Again { period, times } => period * times,
        }
    }
}

/// Shows a stretch that repeats itself once: what a thread does that waits in a loop.
fn fold(events: &[Event]) -> Vec<Item> {
    let mut items = vec![];
    let mut i = 0;
    while i < events.len() {
        let again = |period: &usize| {
            let rest = &events[i..];
            rest.iter().zip(rest.iter().skip(*period)).take_while(|(a, b)| a == b).count() / period
        };
        let loops = (1..=LONGEST_LOOP).map(|period| (period, again(&period)));
        let found = loops.into_iter().find(|(_, times)| *times >= REPETITIONS);
        let (period, times) = found.unwrap_or((1, 0));
        items.extend((i..i + period).map(Item::Step));
        if times > 0 {
            items.push(Item::Again { period, times });
        }
        i += period * (times + 1);
    }
    items
}

/// The name of a thread, with its number.
pub fn thread_name(failure: &Failure, id: ThreadId) -> String {
    let name = failure.threads.iter().find(|t| t.id == id).and_then(|t| t.name.as_deref());
    match name {
        Some(name) => format!("thread {} ({name})", id.0),
        None => format!("thread {}", id.0),
    }
}

struct Page<'a> {
    failure: &'a Failure,
    sources: &'a mut Sources,
    labels: &'a Labels,
    threads: Vec<ThreadId>,
    /// Too many threads for columns, or too little room.
    listed: bool,
    width: usize,
    digits: usize,
    text: String,
}

impl Page<'_> {
    /// The name of the thread that goes on, where there are no columns to tell.
    fn turn(&mut self, thread: ThreadId) {
        self.text.push('\n');
        let name = thread_name(self.failure, thread);
        self.raw(&" ".repeat(self.digits), &fit(&name, self.width));
    }

    fn header(&mut self) {
        let names: Vec<String> = self.threads.iter().map(|t| thread_name(self.failure, *t)).collect();
        let cells: Vec<String> = names.iter().map(|n| fit(n, self.width)).collect();
        self.raw(&" ".repeat(self.digits), &cells.join(" | "));
        let rules = vec!["-".repeat(self.width); self.threads.len()];
        self.raw(&" ".repeat(self.digits), &rules.join("-+-"));
    }

    fn same_line(&self, a: &Event, b: &Event) -> bool {
        let line = |e: &Event| {
            self.failure.symbols.sites.get(e.site.0 as usize).map(|s| (&s.file, s.line, function(s)))
        };
        a.site == b.site || line(a) == line(b)
    }

    /// An empty line where another thread goes on.
    fn apart(&mut self, thread: ThreadId, before: Option<ThreadId>) {
        if !self.listed && before.is_some_and(|t| t != thread) {
            self.cell("", thread, "");
        }
    }

    /// The source line of a step; the place first when the thread or the line changes.
    fn heading(&mut self, event: &Event, before: Option<ThreadId>) {
        let Some(site) = self.failure.symbols.sites.get(event.site.0 as usize) else { return };
        if site.file.is_empty() && site.function.is_empty() {
            return;
        }
        self.apart(event.thread, before);
        let place = self.sources.place(site);
        let function = function(site);
        let place =
            if function.is_empty() || place == site.function { place } else { format!("{place} {function}") };
        // A path tells most at its end.
        self.cell("", event.thread, &tail(&place, self.width));
        if let Some(line) = self.sources.line(site).map(|l| format!("  {l}")) {
            self.cell("", event.thread, &line);
        }
    }

    fn step(&mut self, index: usize, event: &Event) {
        let label = self.labels.get(&index);
        let text = label.cloned().unwrap_or_else(|| self.describe(&event.op));
        let margin = if label.is_some() { "" } else { "    " };
        let mut number = index.to_string();
        for (i, line) in wrap(&text, self.width - 6).iter().enumerate() {
            let indent = format!("{margin}{}", if i == 0 { "" } else { "  " });
            self.cell(&number, event.thread, &format!("{indent}{line}"));
            number.clear();
        }
    }

    fn gap(&mut self, steps: usize) {
        self.text.push('\n');
        self.aside(&format!("... {} not shown (--full shows them) ...", many(steps as u64, "step")));
        self.text.push('\n');
    }

    /// Something about the steps, across all columns.
    fn aside(&mut self, text: &str) {
        let margin = " ".repeat(self.digits);
        wrap(text, self.width).iter().for_each(|line| self.raw(&margin, line));
    }

    fn again(&mut self, period: usize, times: usize) {
        let what = if period == 1 { "that step".to_owned() } else { format!("those {period} steps") };
        self.aside(&format!("... {what} {} ...", many(times as u64, "more time")));
    }

    fn cell(&mut self, number: &str, thread: ThreadId, text: &str) {
        if self.listed {
            let row = format!("  {}", fit(text, self.width));
            return self.raw(&format!("{number:>digits$}", digits = self.digits), &row);
        }
        let cells: Vec<String> =
            self.threads.iter().map(|t| fit(if *t == thread { text } else { "" }, self.width)).collect();
        self.raw(&format!("{number:>digits$}", digits = self.digits), &cells.join(" | "));
    }

    fn raw(&mut self, number: &str, row: &str) {
        let _ = writeln!(self.text, "{}", format!("{number} {row}").trim_end());
    }

    fn describe(&self, op: &Op) -> String {
        match op {
            Op::Read(a) => self.access("read", a, a.read.get()),
            Op::Write(a) => self.access("write", a, a.written.get()),
            Op::Rmw(a) => match (a.read.get(), a.written.get()) {
                (Some(from), Some(to)) => {
                    format!("update {}: {} -> {}", self.name(a.var), value(from), value(to))
                }
                _ => self.access("update", a, a.written.get()),
            },
            Op::Acquire { lock, mode } => format!("lock {}{}", self.name(*lock), shared(*mode)),
            Op::TryAcquire { lock, mode } => {
                format!("try to lock {}{}: taken", self.name(*lock), shared(*mode))
            }
            Op::Release { lock, mode } => format!("unlock {}{}", self.name(*lock), shared(*mode)),
            Op::Wait { on, timed_out: false } => format!("wait for {}", self.name(*on)),
            Op::Wait { on, timed_out: true } => format!("wait for {}: time ran out", self.name(*on)),
            Op::Wake { on } => format!("wake waiters of {}", self.name(*on)),
            Op::Sync { on, write: false } => format!("look at {}", self.name(*on)),
            Op::Sync { on, write: true } => format!("synchronise on {}", self.name(*on)),
            Op::Spawn(thread) => format!("spawn thread {}", thread.0),
            Op::Join(thread) => format!("join thread {}", thread.0),
            Op::Start => "start".into(),
            Op::Exit => "end".into(),
            Op::Yield => "yield".into(),
            Op::Pause => "pause".into(),
            Op::Sleep => "sleep".into(),
            Op::Fence(ordering) => format!("fence ({ordering:?})"),
            Op::Enter(method) => format!("enter method {}", method.0),
            Op::Leave(method) => format!("leave method {}", method.0),
        }
    }

    fn access(&self, verb: &str, access: &Access, seen: Option<Value>) -> String {
        let mut text = format!("{verb} {}", self.name(access.var));
        if let Some(seen) = seen {
            let _ = write!(text, " = {}", value(seen));
        }
        if let Some(ordering) = access.ordering {
            let _ = write!(text, " ({ordering:?})");
        }
        text
    }

    fn name(&self, var: VarId) -> String {
        let name = self.failure.trace.vars.get(var.0 as usize);
        let name = name.and_then(|n| self.failure.symbols.names.get(n.0 as usize));
        name.cloned().unwrap_or_else(|| format!("variable {}", var.0))
    }
}

fn shared(mode: LockMode) -> &'static str {
    match mode {
        LockMode::Exclusive => "",
        LockMode::Shared => " (shared)",
    }
}

/// Small numbers as people count, large ones as the machine does.
fn value(value: Value) -> String {
    if value < 1 << 32 { value.to_string() } else { format!("{value:#x}") }
}

/// The function's own name, without the path to it and the closures in it.
fn function(site: &Site) -> &str {
    let named = |part: &&str| !part.is_empty() && !part.starts_with('{');
    site.function.rsplit("::").find(named).unwrap_or_default()
}

/// Lines of at most `width` characters, broken between words. Of a longer word, which is the name of a variable, the end is kept:
/// it begins with where the variable is, which is the part that many have in common.
fn wrap(text: &str, width: usize) -> Vec<String> {
    let mut lines = vec![String::new()];
    for word in text.split(' ') {
        let word = &tail(word, width);
        let line = lines.last_mut().expect("there is always one");
        if line.is_empty() {
            line.push_str(word);
        } else if line.chars().count() + 1 + word.chars().count() <= width {
            line.push(' ');
            line.push_str(word);
        } else {
            lines.push(word.clone());
        }
    }
    lines
}

/// At most the last `width` characters.
fn tail(text: &str, width: usize) -> String {
    let extra = text.chars().count().saturating_sub(width);
    if extra == 0 {
        return text.to_owned();
    }
    let kept: String = text.chars().skip(extra + CUT.len()).collect();
    format!("{CUT}{kept}")
}

/// Exactly `width` characters.
fn fit(text: &str, width: usize) -> String {
    let length = text.chars().count();
    if length <= width {
        return format!("{text}{}", " ".repeat(width - length));
    }
    let mut cut: String = text.chars().take(width.saturating_sub(CUT.len())).collect();
    cut.push_str(CUT);
    cut
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_step_goes_on_below() {
        assert_eq!(
            wrap("read stack of thread 1, 2308 bytes", 16),
            ["read stack of", "thread 1, 2308", "bytes"]
        );
        assert_eq!(wrap("", 5), [""]);
        assert_eq!(
            wrap("lock tests::share_one_connection::conn::pool.idle", 18),
            ["lock", "...conn::pool.idle"]
        );
    }

    #[test]
    fn a_loop_is_shown_once() {
        let (a, b, c) = (Event::read(0, 0, 0), Event::read(0, 1, 1), Event::write(1, 2, 0));
        let events = [c, a, b, a, b, a, b, a, b, a, c];
        let shown = [Item::Step(0), Item::Step(1), Item::Step(2), Item::Again { period: 2, times: 3 }];
        assert_eq!(fold(&events), [&shown[..], &[Item::Step(9), Item::Step(10)]].concat());
        assert_eq!(fold(&events).iter().map(Item::steps).sum::<usize>(), events.len());
        assert_eq!(fold(&[a, b, a, b, a, b]).len(), 6);
        assert_eq!(fold(&[]), []);
    }

    #[test]
    fn a_cell_is_as_wide_as_its_column() {
        assert_eq!(fit("abc", 5), "abc  ");
        assert_eq!(fit("abcdefgh", 6), "abc...");
        assert_eq!(fit("äöüß", 4), "äöüß");
    }

    #[test]
    fn a_closure_is_named_after_its_function() {
        let named = |function: &str| {
            self::function(&Site { function: function.into(), ..Site::default() }).to_owned()
        };
        assert_eq!(named("mixed::tests::together::{closure#0}::{closure#1}"), "together");
        assert_eq!(named("add"), "add");
    }

    #[test]
    fn large_values_are_hexadecimal() {
        assert_eq!((value(4_294_967_295), value(4_294_967_296)), ("4294967295".into(), "0x100000000".into()));
    }

    /// A failure in which each of the threads writes in turn, so many times.
    fn turns(threads: u32, times: usize) -> Failure {
        let events = (0..times).flat_map(|_| (0..threads).map(|t| Event::write(t, 0, 0))).collect();
        let trace = raddle_core::Trace { events, vars: vec![raddle_core::trace::NameId(0)] };
        let sites =
            vec![Site { function: "run".into(), file: "a.rs".into(), line: 3, column: 1, inlined: vec![] }];
        let symbols = raddle_core::trace::Symbols { sites, names: vec!["count".into()] };
        Failure {
            kind: raddle_core::Kind::Panic,
            message: String::new(),
            thread: None,
            at: None,
            backtrace: vec![],
            threads: vec![],
            execution: 0,
            check: 0,
            schedule: raddle_core::Schedule::default(),
            trace,
            symbols,
            output: String::new(),
        }
    }

    fn shown(failure: &Failure, full: bool) -> String {
        render(failure, &mut Sources::new(&[]), Layout { width: 100, full })
    }

    #[test]
    fn a_thousand_threads_stand_below_each_other_and_no_line_is_long() {
        let text = shown(&turns(1000, 1), true);
        let longest = text.lines().map(str::len).max().unwrap();
        assert!(longest <= 100, "{longest}");
        assert!(text.contains("\n\n     thread 999\n       a.rs:3 run\n 999       write count"), "{text}");
        assert!(!text.contains(" | "));
    }

    #[test]
    fn no_line_is_wider_than_a_narrow_terminal() {
        let mut failure = turns(2, 100);
        failure.symbols.names = vec!["three_workers_share_one_connection::pool.idle".into()];
        failure.symbols.sites[0].file = "some/directory/with/a/long/name/src/lib.rs".into();
        for (i, event) in failure.trace.events.iter_mut().enumerate() {
            // Most of the steps differ, so that some are left out; the last repeat themselves.
            if let Op::Write(access) = &mut event.op {
                access.written = raddle_core::Content::of(i.min(180) as u128);
            }
        }
        for width in [40, 50, 60, 72, 80, 120] {
            let layout = Layout { width, full: false };
            let text = render(&failure, &mut Sources::new(&[]), layout);
            let widest = text.lines().max_by_key(|line| line.chars().count()).unwrap();
            assert!(widest.chars().count() <= width, "{width}: {widest}");
            assert!(text.contains("pool.idle") && text.contains("src/lib.rs:3 run"), "{text}");
            assert!(text.contains("not shown") && text.contains("more times"), "{text}");
            assert_eq!(text.contains(" | "), width >= 72, "{text}");
        }
    }

    #[test]
    fn threads_that_do_nothing_in_what_is_shown_have_no_column() {
        // Threads 2 to 11 come only in the middle, which is cut out.
        let mut failure = turns(2, 100);
        let middle = (2..12).map(|t| Event::write(t, 0, 0));
        failure.trace.events.splice(50..50, middle);
        for (i, event) in failure.trace.events.iter_mut().enumerate() {
            // What repeats itself would be shown once, and nothing cut out.
            if let Op::Write(access) = &mut event.op {
                access.written = raddle_core::Content::of(i as u128);
            }
        }
        let text = shown(&failure, false);
        assert!(text.lines().next().unwrap().contains("thread 1"), "{text}");
        assert!(!text.contains("thread 2"), "{text}");
        assert!(shown(&failure, true).contains("thread 11"));
    }
}
