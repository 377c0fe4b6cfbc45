//! MIR as data: what the parser makes of the compiler's text.

use crate::ty::Ty;
use std::collections::BTreeMap;
use std::sync::Arc;

/// The functions of a crate.
#[derive(Clone, Debug, Default)]
pub struct Mir {
    /// In the order of the text.
    pub functions: Vec<Function>,
    /// The files that positions refer to.
    pub files: Vec<String>,
    /// The statics, by the number that MIR gives their memory.
    pub statics: BTreeMap<String, String>,
}

/// A place in the source: where a span begins.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct Pos {
    /// An index into [`Mir::files`].
    pub file: u32,
    /// From 1; 0 when unknown.
    pub line: u32,
    /// From 1; 0 when unknown.
    pub column: u32,
}

/// A function, method or closure.
#[derive(Clone, Debug)]
pub struct Function {
    /// As MIR names it: `queue::<impl at src/queue.rs:9:1: 9:11>::push`.
    pub name: String,
    /// The number of parameters; they are the locals from 1.
    pub params: usize,
    /// The types of the locals; 0 is the result.
    pub locals: Vec<Arc<Ty>>,
    /// The names of variables.
    pub names: Vec<(String, Place)>,
    /// The control-flow graph. The first block is the entry.
    pub blocks: Vec<Block>,
    /// Why the function could not be understood; it then has no blocks.
    pub unknown: Option<String>,
}

/// Statements that run one after the other.
#[derive(Clone, Debug, Default)]
pub struct Block {
    /// The statements.
    pub statements: Vec<(Statement, Pos)>,
    /// Where control goes.
    pub end: Terminator,
    /// Where the terminator stands; of a call, where the name of the called function stands, as debug
    /// information has it.
    pub pos: Pos,
    /// Whether it runs only while a panic unwinds.
    pub cleanup: bool,
}

/// One statement.
#[derive(Clone, PartialEq, Debug)]
pub enum Statement {
    /// `place = value`.
    Assign(Place, Rvalue),
    /// Changes the variant of an enum.
    SetDiscriminant(Place),
    /// The storage of a local ends.
    Dead(usize),
    /// Nothing that matters here.
    Nothing,
}

/// The end of a block.
#[derive(Clone, PartialEq, Debug, Default)]
pub enum Terminator {
    /// Jumps, depending on the operands.
    Jump {
        /// What is looked at.
        operands: Vec<Operand>,
        /// The values of the operand that lead to the first targets; `None` for one whose sign the text does not tell.
        values: Vec<Option<i64>>,
        /// Where to.
        targets: Vec<usize>,
    },
    /// Returns.
    Return,
    /// Never gets further.
    #[default]
    Stop,
    /// Drops a place.
    Drop {
        /// Which.
        place: Place,
        /// Where to.
        targets: Vec<usize>,
    },
    /// Calls a function.
    Call {
        /// Where the result goes.
        dest: Place,
        /// What is called.
        callee: Callee,
        /// With what.
        args: Vec<Operand>,
        /// Where to: the block after the return first, if there is one.
        targets: Vec<usize>,
        /// Whether the first target is reached by returning.
        returns: bool,
    },
}

/// What is called.
#[derive(Clone, PartialEq, Debug)]
pub enum Callee {
    /// A function by its path.
    Path(String),
    /// A function pointer.
    Pointer(Operand),
}

/// A place: a local and a way from there.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Place {
    /// The local.
    pub local: usize,
    /// The way.
    pub steps: Vec<Step>,
}

/// One step of a way.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Step {
    /// What a pointer points to.
    Deref,
    /// A field by its number, with its type.
    Field(usize, Arc<Ty>),
    /// One variant of an enum.
    Variant(String),
    /// An element or a part of an array or slice.
    Index,
}

/// A value that is used.
#[derive(Clone, PartialEq, Debug)]
pub enum Operand {
    /// Copied or moved from a place.
    Place(Place),
    /// A constant, as its text.
    Const(String),
}

/// What is assigned.
#[derive(Clone, PartialEq, Debug)]
pub enum Rvalue {
    /// A value as it is.
    Use(Operand),
    /// A value as another type.
    Cast(Operand),
    /// The address of a place.
    Address {
        /// Of what.
        place: Place,
        /// Whether it may be written through.
        mutable: bool,
    },
    /// The length or variant of a place.
    Inspect(Place),
    /// A struct, enum, tuple, array or closure.
    Aggregate {
        /// The type as MIR writes it; empty for tuples and arrays.
        head: String,
        /// Whether it is an array.
        array: bool,
        /// The fields in the order of their numbers, with their names if they have any.
        fields: Vec<(Option<String>, Operand)>,
    },
    /// Anything computed from values.
    Compute(Operator, Vec<Operand>),
    /// The address of a thread-local static.
    ThreadLocal(String),
}

/// How a value is computed, as far as conditions are concerned.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Operator {
    /// `==`.
    Eq,
    /// `!=`.
    Ne,
    /// `<`.
    Lt,
    /// `<=`.
    Le,
    /// `>`.
    Gt,
    /// `>=`.
    Ge,
    /// `!`.
    Not,
    /// Any other.
    Other,
}

impl Terminator {
    /// The blocks that can come next.
    pub fn targets(&self) -> &[usize] {
        match self {
            Terminator::Jump { targets, .. }
            | Terminator::Drop { targets, .. }
            | Terminator::Call { targets, .. } => targets,
            Terminator::Return | Terminator::Stop => &[],
        }
    }
}

impl Place {
    /// A local as a whole.
    pub fn local(local: usize) -> Place {
        Place { local, steps: vec![] }
    }

    /// Whether it is reached through a pointer.
    pub fn is_indirect(&self) -> bool {
        self.steps.contains(&Step::Deref)
    }
}

impl Function {
    /// The type of a local.
    pub fn local_type(&self, local: usize) -> Arc<Ty> {
        self.locals.get(local).cloned().unwrap_or_else(Ty::unknown)
    }

    /// Which blocks can run more than once in one call.
    pub fn loops(&self) -> Vec<bool> {
        crate::graph::on_cycles(self.blocks.len(), |b| self.blocks[b].end.targets())
    }
}
