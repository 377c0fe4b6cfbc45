//! What a generated harness offers.
//!
//! Everything lives in *slots*: the object under test, its handles, guards, iterators, other types of the crate.
//! A thunk takes slots and data and makes data and new slots. Data is described by a [`Domain`], from which a
//! generator draws a [`Value`](super::Value) and which a report needs to print that value as Rust source.

use serde::{Deserialize, Serialize};

/// A concrete Rust type known to the harness: an index into [`Harness::types`].
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[serde(transparent)]
pub struct TypeId(pub u32);

/// A thunk: an index into [`Harness::thunks`]. It is also the [`MethodId`](raddle_core::MethodId) of its
/// [`Enter`](raddle_core::Op::Enter) and [`Leave`](raddle_core::Op::Leave) events.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[serde(transparent)]
pub struct ThunkId(pub u32);

/// A generated harness for one type under test.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Harness {
    /// The crate under test, as Rust code names it.
    pub crate_name: String,
    /// Its version.
    pub version: String,
    /// The path of the type under test, as a user would write it: `crossbeam_queue::SegQueue`.
    pub target: String,
    /// The type under test and every type that may be in a slot.
    pub types: Vec<TypeInfo>,
    /// All thunks that the compiler accepted.
    pub thunks: Vec<Thunk>,
    /// Lines that make the names in [`Thunk::source`] mean something: `use crossbeam_queue::SegQueue;`, or the definition of a
    /// type that implements a trait for the test.
    pub imports: Vec<String>,
}

/// A type that may be in a slot.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct TypeInfo {
    /// As Rust source: `SegQueue<u64>`.
    pub name: String,
    /// How threads may share it.
    pub sharing: Sharing,
    /// The type under test itself, or one of the handles its constructors return.
    pub subject: bool,
}

/// How threads may share a value.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Sharing {
    /// `Sync`: every thread may use it by reference. If also given to one thread, that thread owns it.
    Shared,
    /// `Send` only: it is given to exactly one thread.
    Owned,
    /// Neither, or it borrows: it stays with the thread that made it (guards, iterators, futures).
    Local,
}

/// What a thunk is for.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Role {
    /// Makes an object or handles under test from nothing but data and helper slots.
    Constructor,
    /// Makes a value of another type that some call needs.
    Helper,
    /// A public method of the type under test or of one of its handles, or a free function over it.
    Method,
    /// An operation on something a method returned: a guard, an iterator, a future.
    Continuation,
    /// Clones a handle.
    Clone,
    /// Drops what is in a slot.
    Drop,
}

/// How a call takes a slot.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Pass {
    /// By `&`.
    Shared,
    /// By `&mut`: only the thread that owns it may.
    Exclusive,
    /// By value: the slot is empty afterwards. Only the thread that owns it may.
    Move,
}

/// How a list is written in Rust.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ListForm {
    /// `vec![..]`
    Vec,
    /// `&[..]`
    Slice,
    /// `[..]`
    Array,
    /// `(.., ..)`; the elements have domains of their own, so this is only for [`Domain::Tuple`].
    Tuple,
}

/// The values a parameter may take.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Domain {
    /// `()`
    Unit,
    /// `false`, `true`
    Bool,
    /// An integer within the bounds of its type, and how the type is called: `u8`.
    Int {
        /// Least.
        min: i128,
        /// Greatest.
        max: i128,
        /// The Rust type.
        ty: String,
    },
    /// A floating-point number.
    Float,
    /// A character.
    Char,
    /// A string; `owned` for `String`, otherwise `&str`.
    Str {
        /// Whether it is a `String`.
        owned: bool,
    },
    /// A span of time, as [`Value::Int`](super::Value::Int) in milliseconds.
    Duration,
    /// One of a few expressions, given as Rust source: `Ordering::SeqCst`, variants of an enum, values from the
    /// user's settings, what to do with a returned iterator or future.
    Choice(Vec<String>),
    /// Elements of one domain.
    List {
        /// Of what.
        of: Box<Domain>,
        /// Fewest.
        min: usize,
        /// Most.
        max: usize,
        /// How it is written.
        form: ListForm,
    },
    /// Elements of different domains.
    Tuple(Vec<Domain>),
    /// `a..b`, as a list of two.
    Range(Box<Domain>),
    /// `Some` or `None`.
    Option(Box<Domain>),
    /// `Ok` or `Err`.
    Result(Box<Domain>, Box<Domain>),
    /// A closure that returns a value of the domain, or panics on demand.
    Closure {
        /// What it returns; a [`Domain::Choice`] for shapes such as `|old| old + 1`.
        returns: Box<Domain>,
        /// Its parameters, as they are written: `|x|`, `|_, _|`, `||`.
        params: String,
    },
    /// What is in a slot.
    Slot {
        /// Its type.
        ty: TypeId,
        /// How it is taken.
        pass: Pass,
    },
    /// Something around a value that only matters when it is written out: `&`, `Arc::new(` and `)`.
    Wrapped {
        /// Before the value.
        before: String,
        /// The value.
        inner: Box<Domain>,
        /// After the value.
        after: String,
    },
}

/// What a thunk returns.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Output {
    /// The new slots it fills, in order; a slot stays empty when there is nothing to put in (a `None`).
    pub slots: Vec<TypeId>,
    /// Whether its result is printed with `Debug` and may be compared. Otherwise it is opaque from the start.
    pub printed: bool,
}

/// One operation of the harness.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Thunk {
    /// Its number.
    pub id: ThunkId,
    /// For people, and the method's name in coverage: `SegQueue::push`.
    pub name: String,
    /// What it is for.
    pub role: Role,
    /// What it takes, the receiver first.
    pub params: Vec<Domain>,
    /// What it returns.
    pub output: Output,
    /// The call as Rust source, with `{0}`, `{1}`, ... for the parameters: `{0}.push({1})`.
    pub source: String,
    /// Its results are never compared: it is weakly consistent. If it returns nothing, it is its effect that is not
    /// atomic, and what ran beside it is not compared either.
    #[serde(default)]
    pub weak: bool,
    /// Answers by which it refuses because another call is in its way, having done nothing: `Locked`, `Retry`, the
    /// `None` of a `try_lock`, `Pending` of a future.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub refuses: Vec<String>,
    /// It makes several steps of which others may come in between: it exhausts an iterator. What ran beside it is not
    /// compared.
    #[serde(default)]
    pub compound: bool,
    /// Two calls of such functions that overlap may be one, with the effect of either. What ran beside them is not compared then.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub coalesces: bool,
    /// Why it is weak, may refuse or is compound; for people.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub because: Option<String>,
    /// At most one suffix of a test may call it (and others of the same group): single producer, single consumer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exclusive: Option<String>,
}

impl Harness {
    /// A thunk by its number.
    pub fn thunk(&self, id: ThunkId) -> &Thunk {
        &self.thunks[id.0 as usize]
    }

    /// A type by its number.
    pub fn type_info(&self, id: TypeId) -> &TypeInfo {
        &self.types[id.0 as usize]
    }

    /// The thunks with a role.
    pub fn with_role(&self, role: Role) -> impl Iterator<Item = &Thunk> {
        self.thunks.iter().filter(move |t| t.role == role)
    }
}
