//! One step of one thread.
//!
//! An [`Event`] is both what a thread *did* (an entry of a trace) and what a thread is *about to do* (a
//! pending event offered to a strategy). A pending event differs only in that the values it will read and,
//! for plain stores, write are not known yet.

use crate::json::{Deserialize, Serialize};

/// A thread of one execution, numbered in order of creation; the thread that runs the test is 0.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct ThreadId(pub u32);

/// A static instruction, interned: an index into [`Symbols::sites`](crate::Symbols::sites).
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct SiteId(pub u32);

/// A shared location inside one execution: an index into [`Trace::vars`](crate::Trace::vars), which gives
/// the name that is stable across executions.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct VarId(pub u32);

/// A public method of the type under test.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct MethodId(pub u32);

/// The bytes of an access of at most 16 bytes, as a little-endian number.
pub type Value = u128;

/// A value that may be unknown: an `Option<Value>`, also in its serialised form, in little space, because traces are
/// long.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(from = "Option<Value>", into = "Option<Value>")]
pub struct Content {
    bytes: [u8; 16],
    known: bool,
}

impl Content {
    /// Not known.
    pub const UNKNOWN: Content = Content { bytes: [0; 16], known: false };

    /// Known.
    #[inline]
    pub fn of(value: Value) -> Self {
        Content { bytes: value.to_le_bytes(), known: true }
    }

    /// The value, once known.
    #[inline]
    pub fn get(self) -> Option<Value> {
        self.known.then(|| Value::from_le_bytes(self.bytes))
    }
}

impl From<Option<Value>> for Content {
    #[inline]
    fn from(value: Option<Value>) -> Self {
        value.map_or(Content::UNKNOWN, Content::of)
    }
}

impl std::fmt::Debug for Content {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.get().fmt(f)
    }
}

impl From<Content> for Option<Value> {
    #[inline]
    fn from(content: Content) -> Self {
        content.get()
    }
}

/// The memory ordering of an atomic access.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Ordering {
    /// `Relaxed`
    Relaxed,
    /// `Acquire`
    Acquire,
    /// `Release`
    Release,
    /// `AcqRel`
    AcqRel,
    /// `SeqCst`
    SeqCst,
}

/// How a lock is held.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LockMode {
    /// By one thread alone: a mutex, or a reader-writer lock taken for writing.
    Exclusive,
    /// Together with other readers.
    Shared,
}

/// The memory touched by a data access.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
pub struct Access {
    /// The location.
    pub var: VarId,
    /// Bytes touched; 0 when larger than 255.
    pub size: u8,
    /// `None` for a plain, non-atomic access.
    pub ordering: Option<Ordering>,
    /// The value read, once known and at most 16 bytes.
    pub read: Content,
    /// The value written, once known and at most 16 bytes.
    pub written: Content,
}

/// What a step does. Only [`Op::Read`], [`Op::Write`] and [`Op::Rmw`] are data; everything else is
/// synchronisation or structure and never takes part in a memory-access pattern.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Op {
    /// A load, or a compare-exchange that failed.
    Read(Access),
    /// A store.
    Write(Access),
    /// An atomic read-modify-write that took effect: a write that includes the read.
    Rmw(Access),
    /// A lock is taken. As a pending event it is enabled only while the lock is free.
    Acquire {
        /// The lock.
        lock: VarId,
        /// Exclusive or shared.
        mode: LockMode,
    },
    /// An attempt to take a lock that does not block. Pending, and in the trace when it failed; a
    /// successful attempt is recorded as [`Op::Acquire`].
    TryAcquire {
        /// The lock.
        lock: VarId,
        /// Exclusive or shared.
        mode: LockMode,
    },
    /// A lock is given back.
    Release {
        /// The lock.
        lock: VarId,
        /// Exclusive or shared.
        mode: LockMode,
    },
    /// The thread waits on a word, condition or semaphore until woken; as a pending event, it is the
    /// continuation after the wake-up.
    Wait {
        /// What it waits for.
        on: VarId,
        /// The wait ended because its time ran out.
        timed_out: bool,
    },
    /// Wake the waiters of a word, condition or semaphore.
    Wake {
        /// What they wait for.
        on: VarId,
    },
    /// An operation on a word that belongs to a synchronisation primitive (a channel's state, a once flag),
    /// not to the program's data.
    Sync {
        /// The word.
        on: VarId,
        /// Whether it may change the word.
        write: bool,
    },
    /// Another thread is created.
    Spawn(ThreadId),
    /// Another thread has ended and is joined.
    Join(ThreadId),
    /// First step of a thread.
    Start,
    /// Last step of a thread.
    Exit,
    /// The thread gives way.
    Yield,
    /// Nothing, at a place where the thread may be stopped all the same, because what it does next is not seen.
    Pause,
    /// The thread sleeps.
    Sleep,
    /// A memory fence.
    Fence(Ordering),
    /// A method of the type under test is entered.
    Enter(MethodId),
    /// A method of the type under test is left.
    Leave(MethodId),
}

/// One step of one thread, done or pending.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
pub struct Event {
    /// Who.
    pub thread: ThreadId,
    /// Where in the program.
    pub site: SiteId,
    /// What.
    pub op: Op,
}

impl Access {
    /// A plain access of unknown values.
    pub fn plain(var: VarId, size: u8) -> Self {
        Access { var, size, ordering: None, read: Content::UNKNOWN, written: Content::UNKNOWN }
    }
}

impl Event {
    /// An event from its parts.
    pub fn new(thread: u32, site: u32, op: Op) -> Self {
        Event { thread: ThreadId(thread), site: SiteId(site), op }
    }

    /// A plain read of `var`, for tests and examples.
    pub fn read(thread: u32, site: u32, var: u32) -> Self {
        Self::new(thread, site, Op::Read(Access::plain(VarId(var), 8)))
    }

    /// A plain write of `var`, for tests and examples.
    pub fn write(thread: u32, site: u32, var: u32) -> Self {
        Self::new(thread, site, Op::Write(Access::plain(VarId(var), 8)))
    }

    /// The data access, if this is one.
    pub fn access(&self) -> Option<&Access> {
        match &self.op {
            Op::Read(a) | Op::Write(a) | Op::Rmw(a) => Some(a),
            _ => None,
        }
    }

    /// Whether it writes data.
    pub fn is_write(&self) -> bool {
        matches!(self.op, Op::Write(_) | Op::Rmw(_))
    }

    /// The object the event acts on: the variable of a data access, or the lock, condition or semaphore.
    pub fn object(&self) -> Option<VarId> {
        match self.op {
            Op::Read(a) | Op::Write(a) | Op::Rmw(a) => Some(a.var),
            Op::Acquire { lock, .. } | Op::TryAcquire { lock, .. } | Op::Release { lock, .. } => Some(lock),
            Op::Wait { on, .. } | Op::Wake { on } | Op::Sync { on, .. } => Some(on),
            _ => None,
        }
    }

    /// Whether the order of the two events can matter: different threads, the same object, and not both
    /// plain reads or shared acquisitions.
    pub fn conflicts_with(&self, other: &Event) -> bool {
        if self.thread == other.thread {
            return false;
        }
        match (self.object(), other.object()) {
            (Some(a), Some(b)) if a == b => !(self.only_observes() && other.only_observes()),
            _ => false,
        }
    }

    fn only_observes(&self) -> bool {
        matches!(
            self.op,
            Op::Read(_)
                | Op::Sync { write: false, .. }
                | Op::Acquire { mode: LockMode::Shared, .. }
                | Op::Release { mode: LockMode::Shared, .. }
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_content_reads_and_writes_like_an_option() {
        for value in [None, Some(0), Some(7), Some(u128::MAX)] {
            let text = serde_json::to_string(&Content::from(value)).unwrap();
            assert_eq!(text, serde_json::to_string(&value).unwrap());
            assert_eq!(serde_json::from_str::<Content>(&text).unwrap().get(), value);
        }
    }

    #[test]
    fn an_event_is_small() {
        assert!(size_of::<Event>() <= 56, "{}", size_of::<Event>());
    }
}
