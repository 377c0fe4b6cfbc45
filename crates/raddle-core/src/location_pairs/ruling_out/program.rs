//! Methods as the analysis sees them: small control-flow graphs over objects, locks and locals.
//!
//! Whoever has the code, such as `raddle-mir`, writes it down in these terms, calls inlined. Everything that is not known may
//! stay so: an unknown value is [`Value::Unknown`], an unknown object [`Base::Any`], an unknown way [`Action::Choose`].
//! Each only makes the analysis rule out less.

use crate::event::{LockMode, SiteId};
use std::collections::BTreeSet;

/// Methods that work on one kind of object, and what they work on.
///
/// The methods are also the environment: whatever other threads do to the object meanwhile, they do by calling these, or a
/// field is [`open`](Field::open).
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Component {
    /// The methods.
    pub methods: Vec<Method>,
    /// What objects consist of.
    pub fields: Vec<Field>,
}

/// Part of an object: data, a lock or a condition variable.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Field {
    /// For people.
    pub name: String,
    /// Other fields that may mean the same memory: a part of this one, or this one under another name.
    pub overlaps: BTreeSet<usize>,
    /// Other code than the methods may write it.
    pub open: bool,
}

/// A method with everything that it calls.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Method {
    /// For people.
    pub name: String,
    /// So many locals, from 0, have their value from the caller.
    pub params: usize,
    /// No other thread can reach the object of parameter 0 while the method runs (`&mut self`).
    pub exclusive: bool,
    /// The control-flow graph; execution begins at node 0.
    pub nodes: Vec<Node>,
}

/// A step of a method.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Node {
    /// What is done.
    pub action: Action,
    /// Where control goes next. A branch has two: if the test holds, and if not.
    pub next: Vec<usize>,
    /// The location before the step. Different for different steps of all methods, except that steps that are made of one
    /// place in the source may share it.
    pub site: SiteId,
}

/// What a step does, to whatever objects are written as.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Action<O = Object> {
    /// Sets a local.
    Assign {
        /// Which.
        local: usize,
        /// To what.
        value: Value,
    },
    /// Goes one of two ways.
    Branch(Test),
    /// Goes any of its ways.
    Choose,
    /// Reads an object.
    Read {
        /// Which.
        object: O,
        /// The local that gets the value.
        into: Option<usize>,
    },
    /// Writes an object.
    Write {
        /// Which.
        object: O,
        /// What it is set to.
        value: Value,
    },
    /// Reads and writes an object in one step, or only reads it.
    Update {
        /// Which.
        object: O,
        /// The local that gets the old value.
        into: Option<usize>,
        /// What it may be set to.
        change: Change,
    },
    /// Waits for or wakes through a condition variable, or anything else of which only the object is known.
    Signal(O),
    /// Takes a lock, as soon as that is possible.
    Acquire {
        /// Which.
        lock: O,
        /// How.
        mode: LockMode,
    },
    /// Takes a lock if that is possible now.
    TryAcquire {
        /// Which.
        lock: O,
        /// How.
        mode: LockMode,
        /// The local that becomes 1 if it was taken, 0 if not.
        into: Option<usize>,
    },
    /// Gives a lock back, if the thread has it.
    Release {
        /// Which.
        lock: O,
    },
    /// The end.
    Return,
}

/// How an update changes a value.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Change {
    /// It does not get smaller.
    Grows,
    /// To this, if it changes at all.
    To(i64),
    /// Anyhow.
    Any,
}

/// An object by the way to it.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Object {
    /// Where the way begins.
    pub base: Base,
    /// Number of the field.
    pub field: usize,
    /// Whether base, field and index mean just one object. If not, it may be one of several each time.
    pub single: bool,
    /// Whether it lies inside of what the base means, so that it is another object if the base is another.
    pub owned: bool,
    /// Which element of the field.
    pub index: Option<Term>,
}

/// Where the way to an object begins.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Base {
    /// What a local refers to.
    Local(usize),
    /// A static.
    Static,
    /// Nothing is known about it.
    Any,
}

/// A value.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Value {
    /// A constant or local.
    Term(Term),
    /// 1 if the test holds, else 0.
    Test(Test),
    /// Nothing is known about it.
    Unknown,
}

/// A number that can be compared.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Term {
    /// A constant.
    Const(i64),
    /// A local.
    Local(usize),
}

/// A comparison.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Test {
    /// Left.
    pub left: Term,
    /// How.
    pub by: Comparison,
    /// Right.
    pub right: Term,
}

/// The two comparisons that the others are made of.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Comparison {
    /// Left and right are equal.
    Equal,
    /// They are not.
    Unequal,
    /// Left is less.
    Less,
    /// Left is not less.
    NotLess,
}

impl<O> Action<O> {
    /// The object that it acts on.
    pub fn object(&self) -> Option<&O> {
        match self {
            Action::Read { object, .. } | Action::Write { object, .. } | Action::Update { object, .. } => {
                Some(object)
            }
            Action::Signal(object) => Some(object),
            Action::Acquire { lock, .. } | Action::TryAcquire { lock, .. } | Action::Release { lock } => {
                Some(lock)
            }
            Action::Assign { .. } | Action::Branch(_) | Action::Choose | Action::Return => None,
        }
    }

    /// The data that it accesses, and whether it writes it.
    pub fn access(&self) -> Option<(&O, bool)> {
        match self {
            Action::Read { object, .. } => Some((object, false)),
            Action::Write { object, .. } | Action::Update { object, .. } => Some((object, true)),
            _ => None,
        }
    }

    /// The local that it sets.
    pub fn sets(&self) -> Option<usize> {
        match self {
            Action::Assign { local, .. } => Some(*local),
            Action::Read { into, .. } | Action::Update { into, .. } | Action::TryAcquire { into, .. } => {
                *into
            }
            _ => None,
        }
    }

    /// The action on another object, with other numbers for locals.
    pub fn map<P>(&self, object: impl FnOnce(&O) -> P, local: impl Fn(usize) -> usize) -> Action<P> {
        let into = |into: &Option<usize>| into.map(&local);
        match self {
            Action::Assign { local: l, value } => {
                Action::Assign { local: local(*l), value: value.map(&local) }
            }
            Action::Branch(test) => Action::Branch(test.map(&local)),
            Action::Choose => Action::Choose,
            Action::Read { object: o, into: i } => Action::Read { object: object(o), into: into(i) },
            Action::Write { object: o, value } => {
                Action::Write { object: object(o), value: value.map(&local) }
            }
            Action::Update { object: o, into: i, change } => {
                Action::Update { object: object(o), into: into(i), change: *change }
            }
            Action::Signal(o) => Action::Signal(object(o)),
            Action::Acquire { lock, mode } => Action::Acquire { lock: object(lock), mode: *mode },
            Action::TryAcquire { lock, mode, into: i } => {
                Action::TryAcquire { lock: object(lock), mode: *mode, into: into(i) }
            }
            Action::Release { lock } => Action::Release { lock: object(lock) },
            Action::Return => Action::Return,
        }
    }
}

impl Term {
    fn map(self, local: impl Fn(usize) -> usize) -> Term {
        match self {
            Term::Local(l) => Term::Local(local(l)),
            Term::Const(_) => self,
        }
    }
}

impl Test {
    fn map(&self, local: impl Fn(usize) -> usize) -> Test {
        Test { left: self.left.map(&local), by: self.by, right: self.right.map(&local) }
    }
}

impl Value {
    fn map(&self, local: impl Fn(usize) -> usize) -> Value {
        match self {
            Value::Term(term) => Value::Term(term.map(local)),
            Value::Test(test) => Value::Test(test.map(local)),
            Value::Unknown => Value::Unknown,
        }
    }
}

impl Component {
    /// Whether two fields may mean the same memory.
    pub fn overlap(&self, a: usize, b: usize) -> bool {
        a == b || self.fields[a].overlaps.contains(&b) || self.fields[b].overlaps.contains(&a)
    }
}

impl Method {
    /// Whether a local keeps the value that the caller gave it.
    pub fn is_constant(&self, local: usize) -> bool {
        local < self.params && !self.nodes.iter().any(|node| node.action.sets() == Some(local))
    }

    /// The nodes that a node can follow.
    pub fn predecessors(&self) -> Vec<Vec<usize>> {
        let mut all = vec![Vec::new(); self.nodes.len()];
        for (n, node) in self.nodes.iter().enumerate() {
            node.next.iter().for_each(|&m| all[m].push(n));
        }
        all
    }
}
