//! The accesses of every function with everything that it calls inside the crate.
//!
//! Callees come first, so that each function is analysed once with complete summaries; functions that call each other are
//! analysed in a few rounds. A summary names memory by paths from the function's parameters. A caller puts its
//! arguments in the place of the parameters and adds the locks that it holds at the call.

use crate::effects::Kind;
use crate::flow::{Flow, Value};
use crate::graph;
use crate::locks;
use crate::mir::Pos;
use crate::paths::{PathId, Paths};
use crate::program::{Program, Reason};
use crate::walk::Walk;
use raddle_core::LockMode;
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// Rounds over functions that call each other.
const ROUNDS: usize = 3;
/// A function with more accesses than this keeps them without locks.
const ACCESSES: usize = 20_000;

/// An access in the summary of a function.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(crate) struct Access {
    pub path: PathId,
    pub kind: Kind,
    pub pos: Pos,
    /// The function whose code it is.
    pub function: u32,
    /// Interned by [`Analysis`].
    pub locks: u32,
    /// One call can make it more than once.
    pub again: bool,
}

/// A lock that is held at an access.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(crate) struct Held {
    pub lock: PathId,
    pub mode: LockMode,
    /// One continuous holding; interned calls and blocks.
    pub section: Option<u32>,
}

/// What a function does, with all that it calls.
#[derive(Debug, Default)]
pub(crate) struct Summary {
    pub accesses: BTreeSet<Access>,
    /// What was approximated in the function itself.
    pub counts: BTreeMap<Reason, u64>,
    /// The functions of the crate that it calls.
    pub calls: BTreeSet<usize>,
}

impl Summary {
    /// Whether an access is known to be made, once or more often.
    pub fn makes(&self, access: &Access) -> bool {
        [false, true].iter().any(|&again| self.accesses.contains(&Access { again, ..*access }))
    }

    /// Adds an access. One that is known to be made more than once stays so.
    pub fn add(&mut self, access: Access) {
        if access.again {
            self.accesses.remove(&Access { again: false, ..access });
        }
        if access.again || !self.makes(&access) {
            self.accesses.insert(access);
        }
    }
}

/// The summaries of all functions.
#[derive(Debug)]
pub struct Analysis {
    /// The crate.
    pub program: Program,
    pub(crate) paths: Paths,
    pub(crate) locks: Interner<Vec<Held>>,
    pub(crate) sections: Interner<(usize, usize, Option<u32>)>,
    pub(crate) summaries: Vec<Summary>,
    /// What each function returns.
    pub(crate) returns: Vec<Value>,
}

/// Numbers for values.
#[derive(Clone, Debug)]
pub(crate) struct Interner<T> {
    list: Vec<T>,
    numbers: HashMap<T, u32>,
}

impl<T> Default for Interner<T> {
    fn default() -> Self {
        Interner { list: vec![], numbers: HashMap::new() }
    }
}

impl<T: Clone + Eq + std::hash::Hash> Interner<T> {
    pub fn intern(&mut self, value: T) -> u32 {
        if let Some(id) = self.numbers.get(&value) {
            return *id;
        }
        let id = self.list.len() as u32;
        self.list.push(value.clone());
        self.numbers.insert(value, id);
        id
    }

    pub fn get(&self, id: u32) -> &T {
        &self.list[id as usize]
    }
}

impl Analysis {
    /// Analyses all functions of a crate.
    pub fn new(program: Program) -> Analysis {
        let count = program.mir.functions.len();
        let successors: Vec<Vec<usize>> = (0..count).map(|f| program.successors(f)).collect();
        let components = graph::components(count, |f| &successors[f]);
        let mut analysis = Analysis {
            program,
            paths: Paths::default(),
            locks: Interner::default(),
            sections: Interner::default(),
            summaries: (0..count).map(|_| Summary::default()).collect(),
            returns: vec![],
        };
        analysis.locks.intern(vec![]);
        let mut returns: Vec<Value> = vec![Value::new(); count];
        for component in &components {
            let cyclic = component.len() > 1 || successors[component[0]].contains(&component[0]);
            for _ in 0..if cyclic { ROUNDS } else { 1 } {
                let mut changed = false;
                for &f in component {
                    let (summary, value) = analysis.function(f, &returns, cyclic);
                    changed |= summary.accesses != analysis.summaries[f].accesses || value != returns[f];
                    analysis.summaries[f] = summary;
                    returns[f] = value;
                }
                if !changed {
                    break;
                }
            }
        }
        analysis.returns = returns;
        analysis
    }

    fn function(&mut self, id: usize, returns: &[Value], cyclic: bool) -> (Summary, Value) {
        let function = &self.program.mir.functions[id];
        let guards = locks::guards(function);
        let loops = function.loops();
        let flow = Flow::new(&self.program, &mut self.paths, id, returns);
        let mut walk = Walk {
            id,
            flow,
            locks: &mut self.locks,
            sections: &mut self.sections,
            summaries: &self.summaries,
            summary: Summary::default(),
            loops,
            cyclic,
            block: 0,
            held: 0,
        };
        for (b, block) in function.blocks.iter().enumerate() {
            walk.block = b;
            let mut state = guards[b].clone();
            walk.hold(&state);
            for (statement, pos) in &block.statements {
                walk.statement(statement, *pos);
                let before = state.len();
                locks::step(function, statement, &mut state);
                if before != 0 || !state.is_empty() {
                    walk.hold(&state);
                }
            }
            walk.terminator(&block.end, block.pos);
        }
        let value = walk.flow.result();
        let mut summary = walk.summary;
        for (reason, n) in walk.flow.counts {
            *summary.counts.entry(reason).or_default() += n;
        }
        if summary.accesses.len() > ACCESSES {
            summary.accesses = summary.accesses.into_iter().map(|a| Access { locks: 0, ..a }).collect();
            *summary.counts.entry(Reason::TooMany).or_default() += 1;
        }
        (summary, value)
    }
}
