//! What the execution under way has come to: each thread's own history, what memory holds, who holds which lock.

use crate::event::{Content, Event, LockMode, Op, ThreadId, VarId};
use crate::pattern::fixed::FixedMap;
use crate::trace::NameId;

/// Follows an execution by its events.
#[derive(Debug, Default)]
pub(super) struct Tracker {
    /// Events accounted for.
    seen: usize,
    /// Names accounted for.
    named: usize,
    /// By thread.
    histories: Vec<History>,
    /// By variable; a lock that somebody has for itself holds 1.
    memory: Vec<Cell>,
    /// By lock: who has it for itself.
    holders: Vec<Option<ThreadId>>,
    /// The variable with a name; `None` when there are several.
    by_name: FixedMap<NameId, Option<VarId>>,
}

/// What a thread did, as numbers.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) struct History {
    /// Where it has been.
    pub path: u64,
    /// The values it read on the way.
    pub values: u64,
    /// Where it was last.
    pub last: u32,
}

/// What a variable holds, as far as the events tell.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) enum Cell {
    /// What it held when the execution began.
    #[default]
    Untouched,
    /// This.
    Holds(u128),
    /// More than events can tell.
    Unknown,
}

impl From<Content> for Cell {
    fn from(content: Content) -> Self {
        content.get().map_or(Cell::Unknown, Cell::Holds)
    }
}

impl Tracker {
    /// Another execution begins.
    pub fn begin(&mut self) {
        (self.seen, self.named) = (0, 0);
        self.histories.clear();
        self.memory.clear();
        self.holders.clear();
        self.by_name.clear();
    }

    /// Accounts for the events that have happened.
    pub fn catch_up(&mut self, events: &[Event], vars: &[NameId]) {
        for (i, name) in vars.iter().enumerate().skip(self.named) {
            let var = VarId(i as u32);
            self.by_name.entry(*name).and_modify(|v| *v = None).or_insert(Some(var));
        }
        self.named = self.named.max(vars.len());
        for e in events.get(self.seen..).unwrap_or_default() {
            self.happened(e, vars);
        }
        self.seen = events.len();
    }

    fn happened(&mut self, e: &Event, vars: &[NameId]) {
        let name = e.object().and_then(|v| vars.get(v.0 as usize)).map_or(0, |n| n.0 + 1);
        let t = e.thread.0 as usize;
        if self.histories.len() <= t {
            self.histories.resize(t + 1, History::default());
        }
        let history = &mut self.histories[t];
        history.path = mix(mix(history.path, u64::from(e.site.0) << 32 | u64::from(name)), kind(&e.op));
        history.last = e.site.0;
        match e.op {
            Op::Read(a) | Op::Write(a) | Op::Rmw(a) => {
                if !matches!(e.op, Op::Write(_)) {
                    let read = a.read.get().unwrap_or(u128::MAX);
                    history.values = mix(mix(history.values, read as u64), (read >> 64) as u64);
                }
                let now = if matches!(e.op, Op::Read(_)) { a.read } else { a.written };
                *slot(&mut self.memory, a.var) = now.into();
            }
            Op::Acquire { lock, mode: LockMode::Exclusive } => {
                *slot(&mut self.holders, lock) = Some(e.thread);
                *slot(&mut self.memory, lock) = Cell::Holds(1);
            }
            Op::Release { lock, .. } => {
                *slot(&mut self.holders, lock) = None;
                *slot(&mut self.memory, lock) = Cell::Untouched;
            }
            _ => {}
        }
    }

    /// What a thread did.
    pub fn history(&self, thread: ThreadId) -> History {
        self.histories.get(thread.0 as usize).copied().unwrap_or_default()
    }

    /// What a variable holds.
    pub fn holds(&self, var: VarId) -> Cell {
        self.memory.get(var.0 as usize).copied().unwrap_or_default()
    }

    /// Who has a lock for itself.
    pub fn holder(&self, lock: VarId) -> Option<ThreadId> {
        self.holders.get(lock.0 as usize).copied().flatten()
    }

    /// The variable with a name: `Some(None)` when nobody has come to it yet, `None` when there are several.
    pub fn variable(&self, name: NameId) -> Option<Option<VarId>> {
        match self.by_name.get(&name) {
            None => Some(None),
            Some(var) => var.map(Some),
        }
    }
}

/// Combines two numbers into one that hardly any others give.
pub(super) fn mix(a: u64, b: u64) -> u64 {
    let n = (a.rotate_left(23) ^ b).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    n ^ n >> 29
}

/// Tells operations apart, apart from what they act on and which values they see.
pub(super) fn kind(op: &Op) -> u64 {
    let mode = |m: LockMode| u64::from(m == LockMode::Shared);
    match *op {
        Op::Read(_) => 0,
        Op::Write(_) => 1,
        Op::Rmw(_) => 2,
        Op::Acquire { mode: m, .. } => 3 + mode(m),
        Op::TryAcquire { mode: m, .. } => 5 + mode(m),
        Op::Release { mode: m, .. } => 7 + mode(m),
        Op::Wait { timed_out, .. } => 9 + u64::from(timed_out),
        Op::Wake { .. } => 11,
        Op::Sync { write, .. } => 12 + u64::from(write),
        Op::Start => 14,
        Op::Exit => 15,
        Op::Yield => 16,
        Op::Pause => 17,
        Op::Sleep => 18,
        Op::Fence(_) => 19,
        Op::Spawn(t) => 20 | u64::from(t.0) << 8,
        Op::Join(t) => 21 | u64::from(t.0) << 8,
        Op::Enter(m) => 22 | u64::from(m.0) << 8,
        Op::Leave(m) => 23 | u64::from(m.0) << 8,
    }
}

fn slot<T: Clone + Default>(of: &mut Vec<T>, at: VarId) -> &mut T {
    let at = at.0 as usize;
    if of.len() <= at {
        of.resize(at + 1, T::default());
    }
    &mut of[at]
}
