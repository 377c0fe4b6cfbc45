//! An order of steps, given by places in the source.

use super::{Choice, Finished, Strategy, View};
use crate::event::{Event, Op, SiteId, ThreadId};
use crate::trace::{Site, Trace};
use std::collections::BTreeMap;
use std::fmt;

/// Executions that are needed at most until all steps of the order are scheduling points.
const MOST: u32 = 50;

/// Lets threads run in turns: each until it has done something at a place so many times.
///
/// A schedule counts raw events and so belongs to one build. This belongs to the source: `1@src/lib.rs:22:30*2` means
/// that thread 1 goes on until it has taken two steps at that place, of which column and line are known from the
/// debug information. It is what a report gives to a test that a person pastes somewhere else.
///
/// Some steps become scheduling points only after an execution has shown that they matter, so the order is tried
/// again as long as something is learned.
#[derive(Debug)]
pub struct Order {
    turns: Vec<Turn>,
    /// The turn that is being taken, and how often its step has been.
    at: usize,
    done: u32,
    /// The turns that end at a site.
    sites: BTreeMap<SiteId, Vec<usize>>,
    tries: u32,
    over: bool,
}

/// A thread runs until it has taken a step at a place so many times.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Turn {
    /// Who.
    pub thread: ThreadId,
    /// The end of the file's path.
    pub file: String,
    /// In that file.
    pub line: u32,
    /// In that line.
    pub column: u32,
    /// How often.
    pub times: u32,
}

impl Turn {
    fn parse(word: &str) -> Option<Self> {
        let (thread, place) = word.split_once('@')?;
        let (place, times) = place.split_once('*').unwrap_or((place, "1"));
        let mut parts = place.rsplitn(3, ':');
        let (column, line, file) = (parts.next()?, parts.next()?, parts.next()?);
        Some(Turn {
            thread: ThreadId(thread.parse().ok()?),
            file: Some(file).filter(|f| !f.is_empty())?.to_owned(),
            line: line.parse().ok()?,
            column: column.parse().ok()?,
            times: times.parse().ok().filter(|n| *n > 0)?,
        })
    }

    fn is_at(&self, site: &Site) -> bool {
        (self.line, self.column) == (site.line, site.column)
            && site.file.strip_suffix(&self.file).is_some_and(|rest| rest.is_empty() || rest.ends_with('/'))
    }
}

impl fmt::Display for Turn {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}@{}:{}:{}", self.thread.0, self.file, self.line, self.column)?;
        if self.times > 1 { write!(f, "*{}", self.times) } else { Ok(()) }
    }
}

/// The turns of a trace, thread 0 left out, which is alone whenever it does something.
pub fn turns(trace: &Trace, sites: &[Site]) -> Vec<Turn> {
    let mut turns: Vec<Turn> = Vec::new();
    // How often the thread of the last turn has been at each place in it.
    let mut seen: BTreeMap<(String, u32, u32), u32> = BTreeMap::new();
    for event in trace.events.iter().filter(|e| e.thread.0 > 0 && is_step(e)) {
        let Some(site) = sites.get(event.site.0 as usize).filter(|s| s.line > 0) else { continue };
        let (thread, file) = (event.thread, short(&site.file));
        if turns.last().is_none_or(|t| t.thread != thread) {
            seen.clear();
            turns.push(Turn { thread, file: file.clone(), line: 0, column: 0, times: 0 });
        }
        let times = seen.entry((file.clone(), site.line, site.column)).or_default();
        *times += 1;
        if let Some(turn) = turns.last_mut() {
            *turn = Turn { thread, file, line: site.line, column: site.column, times: *times };
        }
    }
    turns
}

/// Whether an event is something that a thread does at a place, not its beginning or end.
fn is_step(event: &Event) -> bool {
    !matches!(event.op, Op::Start | Op::Exit | Op::Enter(_) | Op::Leave(_))
}

/// The last two parts of a path: the rest depends on where the crate lies.
fn short(path: &str) -> String {
    let mut parts = path.rsplit('/');
    match (parts.next(), parts.next()) {
        (Some(file), Some(dir)) if !dir.is_empty() => format!("{dir}/{file}"),
        _ => path.to_owned(),
    }
}

impl Order {
    /// Takes these turns.
    pub fn new(turns: Vec<Turn>) -> Self {
        Order { turns, at: 0, done: 0, sites: BTreeMap::new(), tries: 0, over: false }
    }

    /// Reads turns such as `1@src/lib.rs:22:30 2@src/lib.rs:23:9*2`.
    pub(super) fn parse(text: &str) -> Option<Self> {
        let turns: Vec<Turn> = text.split_whitespace().map(Turn::parse).collect::<Option<_>>()?;
        (!turns.is_empty()).then(|| Order::new(turns))
    }
}

impl Strategy for Order {
    fn begin(&mut self) -> bool {
        (self.at, self.done) = (0, 0);
        self.tries += 1;
        !self.over && self.tries <= MOST
    }

    fn choose(&mut self, view: &View<'_>) -> Choice {
        let find = |t: ThreadId| view.enabled.iter().position(|e| e.thread == t);
        let turn = self.turns.get(self.at).and_then(|t| find(t.thread));
        Choice::Run(turn.or_else(|| find(view.last)).unwrap_or(0))
    }

    fn is_systematic(&self) -> bool {
        true
    }

    fn listens(&self) -> bool {
        true
    }

    fn happened(&mut self, event: &Event) {
        let ends = |at: usize| self.sites.get(&event.site).is_some_and(|turns| turns.contains(&at));
        if let Some(turn) = self.turns.get(self.at)
            && turn.thread == event.thread
            && is_step(event)
            && ends(self.at)
        {
            self.done += 1;
            if self.done == turn.times {
                (self.at, self.done) = (self.at + 1, 0);
            }
        }
    }

    fn wants_place(&self, site: SiteId) -> bool {
        !self.sites.contains_key(&site)
    }

    fn place(&mut self, site: SiteId, frames: &[Site]) {
        let here = |t: &Turn| frames.iter().any(|f| t.is_at(f));
        let turns = self.turns.iter().enumerate().filter(|(_, t)| here(t)).map(|(i, _)| i).collect();
        self.sites.insert(site, turns);
    }

    fn end(&mut self, run: &Finished<'_>) {
        self.over = !run.learned;
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{Do, Program};
    use super::*;

    fn site(file: &str, line: u32) -> Site {
        Site { file: file.to_owned(), line, column: 5, ..Site::default() }
    }

    #[test]
    fn turns_survive_the_way_through_text() {
        let text = "1@src/lib.rs:22:30 2@src/a.rs:1:9*2";
        let order = Order::parse(text).unwrap();
        let words: Vec<String> = order.turns.iter().map(Turn::to_string).collect();
        assert_eq!(words.join(" "), text);
        for wrong in ["", "1", "1@", "1@a.rs", "1@a.rs:1", "x@a.rs:1:1", "1@a.rs:1:1*0", "1@:1:1"] {
            assert!(Order::parse(wrong).is_none(), "{wrong}");
        }
    }

    #[test]
    fn a_turn_is_known_by_the_end_of_the_path() {
        let turn = Turn::parse("1@src/lib.rs:3:5").unwrap();
        assert!(turn.is_at(&site("/home/x/src/lib.rs", 3)) && turn.is_at(&site("src/lib.rs", 3)));
        assert!(!turn.is_at(&site("/home/x/other_src/lib.rs", 3)) && !turn.is_at(&site("src/lib.rs", 4)));
    }

    #[test]
    fn the_turns_of_a_trace_bring_about_the_same_trace() {
        // Each thread reads and writes; the simulated sites are numbered by what is done where.
        let body = [Do::Read(0), Do::Write(0), Do::Read(0), Do::Write(0)];
        let program = Program::new(&[&[], &body, &body]);
        let mut any = super::super::Random::new(5);
        let seen = program.run(&mut any).unwrap();
        let count = seen.trace.events.iter().map(|e| e.site.0).max().unwrap_or(0) + 1;
        let sites: Vec<Site> = (0..count).map(|i| site("a/b.rs", i + 1)).collect();
        let mut order = Order::new(turns(&seen.trace, &sites));
        for (i, s) in sites.iter().enumerate() {
            order.place(SiteId(i as u32), std::slice::from_ref(s));
        }
        let again = program.run(&mut order).unwrap();
        assert_eq!(again.order, seen.order);
    }
}
