//! Actions: the steps of a method execution as the coverage machines see them.

use crate::event::{Event, LockMode, Op, SiteId, Value, VarId};
use serde::{Deserialize, Serialize};

/// What an action does to one object.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Effect {
    /// The variable, lock or condition.
    pub object: VarId,
    /// Whether the action depends on the object's state.
    pub reads: bool,
    /// What it leaves there, if it writes.
    pub writes: Option<Written>,
}

/// What a write leaves.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub enum Written {
    /// This value in so many bytes.
    Value {
        /// Bytes written.
        size: u8,
        /// The value.
        value: Value,
    },
    /// A value that the trace does not tell, or a state that differs from thread to thread, as the owner of a lock.
    Unknown,
}

/// One step of a method execution.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Action {
    /// Where the thread stands before the action: the site of its first event, or for the second half of an
    /// atomic block the site of its last event.
    pub site: SiteId,
    /// The index in the trace of the event with which the action is complete.
    pub at: usize,
    /// Where its effects end in those of its execution; they begin where those of the action before end.
    pub(super) effects_end: usize,
}

impl Effect {
    /// The effect of an event on the object it acts on, if it acts on one.
    pub fn of(event: &Event) -> Option<Effect> {
        let object = event.object()?;
        let (reads, writes) = match event.op {
            Op::Read(_) => (true, None),
            Op::Write(a) => (false, Some(written(a.size, a.written.get()))),
            Op::Rmw(a) => (true, Some(written(a.size, a.written.get()))),
            Op::Acquire { mode: LockMode::Shared, .. } | Op::Release { mode: LockMode::Shared, .. } => {
                (true, None)
            }
            // In a trace, an attempt that failed: it learned the state of the lock and changed nothing.
            Op::TryAcquire { .. } => (true, None),
            _ => (true, Some(Written::Unknown)),
        };
        Some(Effect { object, reads, writes })
    }

    fn conflicts_with(&self, other: &Effect) -> bool {
        self.object == other.object
            && match (self.writes, other.writes) {
                (None, None) => false,
                (Some(_), None) => other.reads,
                (None, Some(_)) => self.reads,
                (Some(a), Some(b)) => self.reads || other.reads || a.may_differ_from(b),
            }
    }

    /// The effect of this followed by another one on the same object by the same thread.
    fn then(&self, next: &Effect) -> Effect {
        Effect {
            object: self.object,
            reads: self.reads || (next.reads && self.writes.is_none()),
            writes: next.writes.or(self.writes),
        }
    }
}

impl Written {
    fn may_differ_from(self, other: Written) -> bool {
        self == Written::Unknown || self != other
    }
}

fn written(size: u8, value: Option<Value>) -> Written {
    value.map_or(Written::Unknown, |value| Written::Value { size, value })
}

/// Whether two actions of different threads are dependent: one of them writes an object that the other reads,
/// or to which the other writes something else.
///
/// ```
/// use raddle_core::location_pairs::{Effect, dependent};
/// use raddle_core::{Access, Event, Op, VarId};
/// let store = |value: u128| Event::new(1, 0, Op::Write(Access { written: Some(value).into(), ..Access::plain(VarId(0), 8) }));
/// let effects = |event| Vec::from_iter(Effect::of(&event));
/// assert!(dependent(&effects(store(1)), &effects(store(2))));
/// assert!(!dependent(&effects(store(1)), &effects(store(1))));
/// assert!(dependent(&effects(store(1)), &effects(Event::read(2, 0, 0))));
/// ```
pub fn dependent(a: &[Effect], b: &[Effect]) -> bool {
    a.iter().any(|e| b.iter().any(|f| e.conflicts_with(f)))
}

/// Appends an effect to those from index `start` on, all of one action: what is read after it was written stays
/// inside the action, and only the last value written is left.
pub(super) fn append(effects: &mut Vec<Effect>, start: usize, next: Effect) {
    match effects[start..].iter_mut().find(|e| e.object == next.object) {
        Some(known) => *known = known.then(&next),
        None => effects.push(next),
    }
}
