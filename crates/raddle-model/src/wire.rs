//! How a test and the runtime inside its process exchange data: bytes without a library for them.
//!
//! Whoever writes a test should not have to compile serde, its derives and a reader of JSON for it. Between the command and its
//! workers JSON stays, because people look at it and files keep it; what passes between two pieces of code in one process has
//! neither to last nor to be read. So values follow each other here without names, numbers at their full width.
//!
//! Both sides are compiled apart and may be of different versions. Each blob begins with the [`SHAPE`](Wire::SHAPE) of what
//! it holds, which changes with every name, type and order of a field: what another version has written is refused, never misread.
//! The lists of fields below cannot be forgotten: one that is missing does not compile.

use crate::event::{Access, Content, Event, LockMode, MethodId, Op, Ordering, SiteId, ThreadId, VarId};
use crate::outcome::Kind;
use crate::protocol::{
    Entry, Failure, Held, Job, Message, Stats, Stop, ThreadInfo, ThreadState, Timeouts, Uncontrolled,
    Unexplored,
};
use crate::schedule::{Early, Schedule, Transfer};
use crate::trace::{NameId, Site, Symbols, Trace};

/// What can be exchanged.
pub trait Wire: Sized {
    /// A number that two versions of a type share only if they are written alike.
    const SHAPE: u64;
    /// Writes it.
    fn write_to(&self, to: &mut Vec<u8>);
    /// Reads what [`write_to`](Wire::write_to) wrote and leaves the rest.
    fn read_from(from: &mut &[u8]) -> Option<Self>;
}

/// Bytes that are not what was expected.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Unreadable {
    /// Written by another version of raddle.
    Version,
    /// Cut short, or followed by something.
    Damaged,
}

impl std::fmt::Display for Unreadable {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Unreadable::Version => "it lays out its data in another way",
            Unreadable::Damaged => "its data are damaged",
        })
    }
}

impl std::error::Error for Unreadable {}

/// A value as bytes.
pub fn to_bytes<T: Wire>(value: &T) -> Vec<u8> {
    let mut bytes = T::SHAPE.to_le_bytes().to_vec();
    value.write_to(&mut bytes);
    bytes
}

/// The value that [`to_bytes`] wrote.
pub fn from_bytes<T: Wire>(mut bytes: &[u8]) -> Result<T, Unreadable> {
    if u64::read_from(&mut bytes) != Some(T::SHAPE) {
        return Err(Unreadable::Version);
    }
    T::read_from(&mut bytes).filter(|_| bytes.is_empty()).ok_or(Unreadable::Damaged)
}

/// A shape in the making: FNV-1a over names and the shapes of parts.
struct Shape(u64);

impl Shape {
    const fn of(name: &str) -> Self {
        Shape(0xcbf2_9ce4_8422_2325).name(name)
    }

    const fn name(self, name: &str) -> Self {
        let bytes = name.as_bytes();
        let mut shape = self.0;
        let mut i = 0;
        while i < bytes.len() {
            shape = (shape ^ bytes[i] as u64).wrapping_mul(0x0100_0000_01b3);
            i += 1;
        }
        Shape((shape ^ 0xff).wrapping_mul(0x0100_0000_01b3))
    }

    const fn part(self, name: &str, part: u64) -> Self {
        let named = self.name(name);
        Shape((named.0 ^ part).wrapping_mul(0x0100_0000_01b3).rotate_left(23))
    }
}

macro_rules! numbers {
    ($($type:ty)*) => {$(
        impl Wire for $type {
            const SHAPE: u64 = Shape::of(stringify!($type)).0;

            fn write_to(&self, to: &mut Vec<u8>) {
                to.extend_from_slice(&self.to_le_bytes());
            }

            fn read_from(from: &mut &[u8]) -> Option<Self> {
                let (bytes, rest) = from.split_first_chunk()?;
                *from = rest;
                Some(<$type>::from_le_bytes(*bytes))
            }
        }
    )*};
}

macro_rules! newtypes {
    ($($name:ident($type:ty))*) => {$(
        impl Wire for $name {
            const SHAPE: u64 = Shape::of(stringify!($name)).part("", <$type>::SHAPE).0;

            fn write_to(&self, to: &mut Vec<u8>) {
                self.0.write_to(to);
            }

            fn read_from(from: &mut &[u8]) -> Option<Self> {
                <$type>::read_from(from).map($name)
            }
        }
    )*};
}

macro_rules! structs {
    ($($name:ident { $($field:ident: $type:ty),* $(,)? })*) => {$(
        impl Wire for $name {
            const SHAPE: u64 = Shape::of(stringify!($name))$(.part(stringify!($field), <$type>::SHAPE))*.0;

            fn write_to(&self, to: &mut Vec<u8>) {
                let $name { $($field),* } = self;
                $($field.write_to(to);)*
            }

            fn read_from(from: &mut &[u8]) -> Option<Self> {
                Some($name { $($field: <$type>::read_from(from)?),* })
            }
        }
    )*};
}

/// A variant is written as its number, then what it holds.
macro_rules! enums {
    ($($name:ident {
        $($tag:literal: $variant:ident $(($inner:ident: $held:ty))? $({ $($field:ident: $type:ty),* })?),* $(,)?
    })*) => {$(
        impl Wire for $name {
            const SHAPE: u64 = Shape::of(stringify!($name))
                $(.part(stringify!($variant), $tag)$(.part("", <$held>::SHAPE))?$($(.part(stringify!($field), <$type>::SHAPE))*)?)*
                .0;

            fn write_to(&self, to: &mut Vec<u8>) {
                match self {
                    $($name::$variant $(($inner))? $({ $($field),* })? => {
                        to.push($tag);
                        $($inner.write_to(to);)?
                        $($($field.write_to(to);)*)?
                    })*
                }
            }

            fn read_from(from: &mut &[u8]) -> Option<Self> {
                Some(match u8::read_from(from)? {
                    $($tag => $name::$variant $((<$held>::read_from(from)?))? $({ $($field: <$type>::read_from(from)?),* })?,)*
                    _ => return None,
                })
            }
        }
    )*};
}

numbers! { u8 u32 u64 u128 i32 f64 }

newtypes! { ThreadId(u32) SiteId(u32) VarId(u32) MethodId(u32) NameId(u32) }

enums! {
    Ordering { 0: Relaxed, 1: Acquire, 2: Release, 3: AcqRel, 4: SeqCst }
    LockMode { 0: Exclusive, 1: Shared }
    Op {
        0: Read(a: Access),
        1: Write(a: Access),
        2: Rmw(a: Access),
        3: Acquire { lock: VarId, mode: LockMode },
        4: TryAcquire { lock: VarId, mode: LockMode },
        5: Release { lock: VarId, mode: LockMode },
        6: Wait { on: VarId, timed_out: bool },
        7: Wake { on: VarId },
        8: Sync { on: VarId, write: bool },
        9: Spawn(t: ThreadId),
        10: Join(t: ThreadId),
        11: Start,
        12: Exit,
        13: Yield,
        14: Pause,
        15: Sleep,
        16: Fence(o: Ordering),
        17: Enter(m: MethodId),
        18: Leave(m: MethodId),
    }
    Kind {
        0: Panic,
        1: Deadlock,
        2: Livelock,
        3: Crash,
        4: Race,
        5: UseAfterFree,
        6: Leak,
        7: NonLinearizable,
        8: Timeout,
    }
    Entry { 0: Libtest, 1: Main }
    Timeouts { 0: Never, 1: Late, 2: Any }
    Unexplored { 0: EarlyTimeouts, 1: EarlySleeps, 2: SpuriousWakeups, 3: RandomData, 4: Clock }
    Message {
        0: Progress(s: Stats),
        1: Failure(f: Box<Failure>),
        2: Trace { execution: u64, trace: Trace, symbols: Symbols },
        3: Done { stats: Stats, reason: Stop },
    }
    Stop {
        0: Budget,
        1: Exhausted,
        2: Failures,
        3: NoThreads(status: i32),
        4: ReplayPassed,
        5: Diverged(why: String),
        6: Error(why: String),
    }
    ThreadState { 0: Runnable, 1: Spinning, 2: Blocked { on: String, by: Vec<ThreadId> }, 3: Panicked, 4: Ended }
}

structs! {
    Access { var: VarId, size: u8, ordering: Option<Ordering>, read: Content, written: Content }
    Event { thread: ThreadId, site: SiteId, op: Op }
    Site { function: String, file: String, line: u32, column: u32, inlined: Vec<String> }
    Symbols { sites: Vec<Site>, names: Vec<String> }
    Trace { events: Vec<Event>, vars: Vec<NameId> }
    Transfer { at: u64, to: ThreadId, timeout: bool }
    Early { thread: ThreadId, able: ThreadId, sleep: bool, ns: u64 }
    Schedule { transfers: Vec<Transfer>, stream: u64, early: Vec<Early> }
    Uncontrolled { call: String, at: Option<Site> }
    Held { lock: String, at: Option<Site> }
    ThreadInfo { id: ThreadId, name: Option<String>, stack: Vec<Site>, state: ThreadState, holds: Vec<Held> }
    Job {
        entry: Entry,
        message_fd: i32,
        seed: u64,
        strategy: String,
        schedules: u64,
        budget_ms: u64,
        max_failures: u64,
        every_access: bool,
        max_steps: u64,
        memory_mb: u64,
        hang_ms: u64,
        crates: Vec<String>,
        ok_exit: Vec<i32>,
        timeouts: Timeouts,
        replay: Option<Schedule>,
        traces: u64,
        jobs: u64,
        check: u64,
        given: Vec<String>,
        request_fd: Option<i32>,
        places: Option<String>,
    }
    Stats {
        executions: u64,
        completed: u64,
        steps: u64,
        decisions: u64,
        threads: u64,
        points: u64,
        uncontrolled: Vec<Uncontrolled>,
        too_long: u64,
        unjoined: Vec<String>,
        unexplored: Vec<Unexplored>,
        failures: u64,
        elapsed_ms: u64,
        notes: Vec<f64>,
    }
    Failure {
        kind: Kind,
        message: String,
        thread: Option<ThreadId>,
        at: Option<Site>,
        backtrace: Vec<Site>,
        threads: Vec<ThreadInfo>,
        execution: u64,
        check: u64,
        schedule: Schedule,
        trace: Trace,
        symbols: Symbols,
        output: String,
    }
}

impl Wire for bool {
    const SHAPE: u64 = Shape::of("bool").0;

    fn write_to(&self, to: &mut Vec<u8>) {
        to.push(u8::from(*self));
    }

    fn read_from(from: &mut &[u8]) -> Option<Self> {
        u8::read_from(from).map(|b| b != 0)
    }
}

impl Wire for Content {
    const SHAPE: u64 = Shape::of("Content").part("", Option::<u128>::SHAPE).0;

    fn write_to(&self, to: &mut Vec<u8>) {
        self.get().write_to(to);
    }

    fn read_from(from: &mut &[u8]) -> Option<Self> {
        Option::<u128>::read_from(from).map(Content::from)
    }
}

impl Wire for String {
    const SHAPE: u64 = Shape::of("String").0;

    fn write_to(&self, to: &mut Vec<u8>) {
        (self.len() as u64).write_to(to);
        to.extend_from_slice(self.as_bytes());
    }

    fn read_from(from: &mut &[u8]) -> Option<Self> {
        let len = usize::try_from(u64::read_from(from)?).ok()?;
        let (text, rest) = from.split_at_checked(len)?;
        *from = rest;
        String::from_utf8(text.to_vec()).ok()
    }
}

impl<T: Wire> Wire for Vec<T> {
    const SHAPE: u64 = Shape::of("Vec").part("", T::SHAPE).0;

    fn write_to(&self, to: &mut Vec<u8>) {
        (self.len() as u64).write_to(to);
        self.iter().for_each(|item| item.write_to(to));
    }

    fn read_from(from: &mut &[u8]) -> Option<Self> {
        let len = u64::read_from(from)?;
        (0..len).map(|_| T::read_from(from)).collect()
    }
}

impl<T: Wire> Wire for Option<T> {
    const SHAPE: u64 = Shape::of("Option").part("", T::SHAPE).0;

    fn write_to(&self, to: &mut Vec<u8>) {
        self.is_some().write_to(to);
        self.iter().for_each(|value| value.write_to(to));
    }

    fn read_from(from: &mut &[u8]) -> Option<Self> {
        Some(if bool::read_from(from)? { Some(T::read_from(from)?) } else { None })
    }
}

impl<T: Wire> Wire for Box<T> {
    const SHAPE: u64 = T::SHAPE;

    fn write_to(&self, to: &mut Vec<u8>) {
        T::write_to(self, to);
    }

    fn read_from(from: &mut &[u8]) -> Option<Self> {
        T::read_from(from).map(Box::new)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn site(function: &str) -> Site {
        Site { function: function.into(), file: "a.rs".into(), line: 3, column: 4, inlined: vec!["b".into()] }
    }

    fn failure() -> Failure {
        let access = Access { written: Content::of(u128::MAX), ..Access::plain(VarId(0), 16) };
        let blocked = ThreadState::Blocked { on: "lock".into(), by: vec![ThreadId(1)] };
        let held = Held { lock: "other".into(), at: None };
        let thread = ThreadInfo {
            id: ThreadId(0),
            name: None,
            stack: vec![site("f")],
            state: blocked,
            holds: vec![held],
        };
        let early = Early { thread: ThreadId(1), able: ThreadId(0), sleep: true, ns: 7 };
        let transfer = Transfer { at: 9, to: ThreadId(1), timeout: true };
        Failure {
            kind: Kind::Deadlock,
            message: "why, ä".into(),
            thread: Some(ThreadId(1)),
            at: Some(site("g")),
            backtrace: vec![],
            threads: vec![thread],
            execution: 17,
            check: 2,
            schedule: Schedule { transfers: vec![transfer], stream: 5, early: vec![early] },
            trace: Trace {
                events: vec![
                    Event::new(0, 1, Op::Write(access)),
                    Event::new(1, 2, Op::Wait { on: VarId(0), timed_out: false }),
                    Event::new(1, 2, Op::Fence(Ordering::SeqCst)),
                ],
                vars: vec![NameId(0)],
            },
            symbols: Symbols { sites: vec![site("h")], names: vec!["x".into()] },
            output: String::new(),
        }
    }

    #[test]
    fn a_message_comes_back_as_it_was() {
        let stats = Stats { steps: u64::MAX, notes: vec![-0.5], ..Stats::default() };
        let done = Message::Done { stats: stats.clone(), reason: Stop::NoThreads(-3) };
        for message in [Message::Failure(Box::new(failure())), Message::Progress(stats), done] {
            assert_eq!(from_bytes::<Message>(&to_bytes(&message)), Ok(message));
        }
    }

    #[test]
    fn what_was_cut_short_or_goes_on_is_refused() {
        let bytes = to_bytes(&failure());
        for len in 0..bytes.len() {
            assert!(from_bytes::<Failure>(&bytes[..len]).is_err(), "{len}");
        }
        assert_eq!(from_bytes::<Failure>(&[bytes, vec![0]].concat()), Err(Unreadable::Damaged));
    }

    #[test]
    fn what_is_laid_out_in_another_way_is_refused() {
        mod old {
            use super::super::*;
            pub struct Transfer {
                pub to: ThreadId,
                pub at: u64,
                pub timeout: bool,
            }
            structs! { Transfer { to: ThreadId, at: u64, timeout: bool } }
        }
        let old = to_bytes(&old::Transfer { to: ThreadId(1), at: 2, timeout: true });
        assert_eq!(old.len(), to_bytes(&Transfer { at: 2, to: ThreadId(1), timeout: true }).len());
        assert_eq!(from_bytes::<Transfer>(&old), Err(Unreadable::Version));
    }
}
