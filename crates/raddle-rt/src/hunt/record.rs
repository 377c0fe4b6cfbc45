//! The calls of one execution, as the harness announces them.

use raddle_core::coverage::method_pairs::Running;
use raddle_core::hunt::{CallRecord, CallResult};
use raddle_core::{Event, MethodId, Op};
use std::collections::BTreeMap;

/// The number of a call that is none of the harness's thunks: dropping what a thread made.
const NO_THUNK: u32 = u32::MAX;

#[derive(Clone, Copy, Debug)]
struct Call {
    thread: u32,
    step: u32,
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

/// The record; persistent, and used again by the next execution.
#[derive(Default)]
pub struct Record {
    calls: Vec<Call>,
    texts: Vec<u8>,
    /// Beginnings and ends so far.
    clock: u32,
    running: Running,
    /// Beginnings of calls that were scheduling points.
    pub points: u64,
    /// How often two methods ran at the same time, in all executions of a run.
    pub pairs: BTreeMap<(u32, u32), u64>,
    order: Vec<u32>,
    key: Vec<u8>,
}

impl Record {
    /// Another execution.
    pub fn begin(&mut self) {
        self.calls.clear();
        self.texts.clear();
        self.clock = 0;
        self.running = Running::default();
    }

    /// A call begins.
    pub fn enter(&mut self, thread: u32, step: u32, thunk: u32) {
        let start = self.clock;
        self.clock += 1;
        let text = (self.texts.len(), self.texts.len());
        self.calls.push(Call { thread, step, start, end: None, kind: Kind::Unfinished, text });
        if thunk != NO_THUNK {
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
        if let Some(call) = self.calls.iter_mut().rev().find(open) {
            call.end = Some(self.clock);
            call.kind = match kind {
                0 => Kind::Value,
                2 => Kind::Panic,
                _ => Kind::Opaque,
            };
            let from = self.texts.len();
            self.texts.extend_from_slice(text);
            call.text = (from, self.texts.len());
            self.clock += 1;
        }
        if thunk != NO_THUNK {
            self.running.step(&Event::new(thread, 0, Op::Leave(MethodId(thunk))), |_| ());
        }
    }

    /// What makes this execution another one than those before: what every call returned, and which calls of
    /// other threads had ended before it began.
    pub fn key(&mut self, failure: &str) -> &[u8] {
        let (calls, texts, key) = (&self.calls, &self.texts, &mut self.key);
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

    /// The calls for the outside world, in the order in which they began.
    pub fn calls(&self) -> Vec<CallRecord> {
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
        let text = String::from_utf8_lossy(&self.texts[call.text.0..call.text.1]);
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
