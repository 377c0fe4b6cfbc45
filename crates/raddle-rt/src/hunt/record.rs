//! The calls of one execution, as the harness announces them.

use raddle_core::coverage::method_pairs::Running;
use raddle_core::{Event, MethodId, Op};
use raddle_hunt::oracle::Intervals;
use raddle_hunt::protocol::NO_THUNK;
use raddle_hunt::{CallRecord, CallResult};
use std::collections::BTreeMap;

#[derive(Clone, Copy, Debug)]
struct Call {
    thread: u32,
    step: u32,
    /// One of the harness's thunks.
    proper: bool,
    start: u32,
    end: Option<u32>,
    kind: Kind,
    /// Where in the texts its result stands.
    text: (usize, usize),
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
enum Kind {
    Value,
    Opaque,
    Panic,
    Unfinished,
}

/// Calls in the order in which they began, and what they returned.
#[derive(Clone, Debug, Default)]
pub struct Calls {
    calls: Vec<Call>,
    texts: Vec<u8>,
}

/// The record; persistent, and used again by the next execution.
#[derive(Default)]
pub struct Record {
    /// The calls of the execution.
    pub calls: Calls,
    /// Beginnings and ends so far.
    clock: u32,
    running: Running,
    /// Beginnings of calls that were scheduling points.
    pub points: u64,
    /// How often two methods ran at the same time, in all executions of a run.
    pub pairs: BTreeMap<(u32, u32), u64>,
    /// Executions that are not those of the run itself count for nothing.
    pub aside: bool,
    order: Vec<u32>,
    key: Vec<u8>,
}

impl Record {
    /// Another execution.
    pub fn begin(&mut self) {
        self.calls.calls.clear();
        self.calls.texts.clear();
        self.clock = 0;
        self.running = Running::default();
    }

    /// A call begins.
    pub fn enter(&mut self, thread: u32, step: u32, thunk: u32) {
        let start = self.clock;
        self.clock += 1;
        let at = self.calls.texts.len();
        let proper = thunk != NO_THUNK;
        self.calls.calls.push(Call {
            thread,
            step,
            proper,
            start,
            end: None,
            kind: Kind::Unfinished,
            text: (at, at),
        });
        if self.aside {
            return;
        }
        self.points += u64::from(thread != 0);
        if proper {
            let pairs = &mut self.pairs;
            self.running.step(&Event::new(thread, 0, Op::Enter(MethodId(thunk))), |pair| {
                let (a, b) = pair.methods();
                *pairs.entry((a.0, b.0)).or_default() += 1;
            });
        }
    }

    /// A call ends; `kind` and `text` as in [`raddle_rt_leave_1`](super::raddle_rt_leave_1).
    pub fn leave(&mut self, thread: u32, step: u32, thunk: u32, kind: u32, text: &[u8]) {
        let open = |c: &&mut Call| (c.thread, c.step) == (thread, step) && c.end.is_none();
        let Calls { calls, texts } = &mut self.calls;
        if let Some(call) = calls.iter_mut().rev().find(open) {
            call.end = Some(self.clock);
            call.kind = match kind {
                0 => Kind::Value,
                2 => Kind::Panic,
                _ => Kind::Opaque,
            };
            let from = texts.len();
            texts.extend_from_slice(text);
            call.text = (from, texts.len());
            self.clock += 1;
        }
        if thunk != NO_THUNK && !self.aside {
            self.running.step(&Event::new(thread, 0, Op::Leave(MethodId(thunk))), |_| ());
        }
    }

    /// What makes this execution another one than those before: what every call returned, and which calls of
    /// other threads had ended before it began.
    pub fn key(&mut self, failure: &str) -> &[u8] {
        let (calls, texts, key) = (&self.calls.calls, &self.calls.texts, &mut self.key);
        self.order.clear();
        self.order.extend(0..calls.len() as u32);
        self.order.sort_by_key(|&i| (calls[i as usize].thread, calls[i as usize].step));
        key.clear();
        for &i in &self.order {
            let call = &calls[i as usize];
            key.extend_from_slice(&[call.thread as u8, call.kind as u8]);
            key.extend_from_slice(&call.step.to_le_bytes());
            let text = &texts[call.text.0..call.text.1];
            key.extend_from_slice(&(text.len() as u32).to_le_bytes());
            key.extend_from_slice(text);
            // The calls of a thread follow each other, so their number says which they are.
            let mut from = 0;
            while from < self.order.len() {
                let thread = calls[self.order[from] as usize].thread;
                let of_thread = |j: &&u32| calls[**j as usize].thread == thread;
                let theirs = self.order[from..].iter().take_while(of_thread);
                let before = |j: &&u32| calls[**j as usize].end.is_some_and(|end| end < call.start);
                let (mut all, mut ended) = (0, 0u16);
                for j in theirs {
                    all += 1;
                    ended += u16::from(before(&j));
                }
                if thread != call.thread {
                    key.extend_from_slice(&ended.to_le_bytes());
                }
                from += all;
            }
        }
        key.extend_from_slice(failure.as_bytes());
        key
    }
}

impl Calls {
    /// When those of the suffixes began and ended.
    pub fn intervals(&self) -> Intervals {
        Intervals::new(self.calls.iter().map(|c| (c.thread, c.start, c.end)))
    }

    /// How many of the harness's thunks returned; `None` if anything panicked or did not return.
    pub fn returned(&self) -> Option<u32> {
        let well = |c: &Call| matches!(c.kind, Kind::Value | Kind::Opaque);
        self.calls.iter().all(well).then(|| self.calls.iter().filter(|c| c.proper).count() as u32)
    }

    fn text(&self, call: &Call) -> &[u8] {
        &self.texts[call.text.0..call.text.1]
    }

    /// Whether a call did the same elsewhere. Panics are the same if they happened at the same place.
    fn same(&self, call: &Call, elsewhere: &Calls) -> bool {
        let same_call = |c: &&Call| (c.thread, c.step) == (call.thread, call.step);
        elsewhere.calls.iter().find(same_call).is_some_and(|other| {
            let (a, b) = (self.text(call), elsewhere.text(other));
            let place = |text: &[u8]| text.iter().position(|&b| b == b'\n').unwrap_or(text.len());
            call.kind == other.kind
                && match call.kind {
                    Kind::Panic => a[..place(a)] == b[..place(b)],
                    _ => a == b,
                }
        })
    }

    /// Which call of the suffixes, in the order of this execution, did something else there first. What differs only
    /// outside of the suffixes counts for the last of them.
    pub fn first_difference(&self, there: &Calls) -> Option<usize> {
        let suffixes = || self.calls.iter().filter(|c| c.thread > 0);
        let first = suffixes().position(|c| !self.same(c, there));
        let others = || {
            self.calls.len() != there.calls.len()
                || self.calls.iter().filter(|c| c.thread == 0).any(|c| !self.same(c, there))
        };
        first.or_else(|| others().then(|| suffixes().count().saturating_sub(1)))
    }

    /// The calls for the outside world.
    pub fn records(&self) -> Vec<CallRecord> {
        let record = |c: &Call| CallRecord {
            thread: c.thread,
            step: c.step,
            start: c.start,
            end: c.end,
            result: self.result(c),
        };
        self.calls.iter().map(record).collect()
    }

    fn result(&self, call: &Call) -> CallResult {
        let text = String::from_utf8_lossy(self.text(call));
        match call.kind {
            Kind::Value => CallResult::Value(text.into_owned()),
            Kind::Opaque => CallResult::Opaque,
            Kind::Panic => {
                let (at, message) = text.split_once('\n').unwrap_or((&text, ""));
                CallResult::Panic { at: at.to_owned(), message: message.to_owned() }
            }
            Kind::Unfinished => CallResult::Unfinished,
        }
    }
}
