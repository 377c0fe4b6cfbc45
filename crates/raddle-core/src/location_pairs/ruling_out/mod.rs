//! Rules out location pairs that no schedule can cover.
//!
//! This is the second half of the Location Pairs paper, its appendix, which was never published as a program. For a pair of methods
//! the coverage machine is abstracted to a boolean program, and a reachability search tells which of the machine's
//! [`Target`]s can be reached. The rest is ruled out, and nobody has to write a test for it.
//!
//! # What goes in
//! A [`Component`]: the methods of a type as control-flow graphs, written down by whoever can read the code (`raddle-mir`).
//! Locations are [`SiteId`](crate::SiteId)s of its choice; a location knows the calls that led to it, so a helper called from two
//! lines has different locations in both calls. To use the result on what was measured, the events of a trace have to be
//! given the same sites; then a [`Ruling`] is the [`Feasibility`] that [`Record::report`](super::Record::report) asks, and its
//! [`targets`](Ruling::targets) are what it takes as `more`. Where [`Ruling::blocks`] lists an atomic block, the measuring
//! [`Reduction`](super::Reduction) has to mark it, too. An assumption of the user's would enter as one more predicate that every
//! state has to satisfy.
//!
//! # What is in the paper
//! - Predicates: `lockheld(lock, thread)`; one per branch condition, if the locks of all globals that it depends on are
//!   held at the branch; `equal(v1, v2)` for locals of the two methods (`scenario`, `predicates`).
//! - A third component, the environment, that changes every global that is not protected (`search`).
//! - Dependence is assumed where aliasing cannot be ruled out.
//! - Section 4: method-local actions leave no step of their own, and an atomic block is two actions (`blocks`).
//!
//! # Where we depart from it
//! - The paper's environment never changes a global that is protected by a lock. But other threads can take that lock,
//!   too. Ours changes it whenever neither of the two threads holds the lock; without that the analysis would be unsound.
//! - Predicates are three-valued, with the same meaning as the paper's nondeterministic choice, and fewer states.
//! - Predicates of constants know of each other: what is 0 is not 1.
//! - "Actions that do not modify globals" are method-local in the paper. Reading what others write is not; we count as
//!   local what touches nothing that any method writes.
//! - Pure executions keep their steps: what is pure is not looked for. Measured without blocks marked pure, that is exact; with
//!   them, some targets stay open that measuring no longer offers.
//! - What a call does when it panics is not followed: pairs with a place in code that only unwinding reaches are
//!   neither targets nor ruled out.
//!
//! [`Beyond`] names what goes further than the paper.
//!
//! # What it promises
//! A target that is ruled out is covered by no schedule of the program that the component describes, whatever other threads do by calling its
//! methods, on the terms of a sequentially consistent memory. `tests/ruling_out.rs` compares with all executions of random programs.

mod blocks;
mod effects;
mod facts;
mod held;
mod predicates;
pub mod program;
mod scenario;
mod search;
mod side;

pub use program::{
    Action, Base, Change, Comparison, Component, Field, Method, Node, Object, Term, Test, Value,
};

use super::fsm::{Location, Place, Target};
use super::record::Feasibility;
use super::reduce::Block;
use crate::event::MethodId;
use facts::ComponentFacts;
use predicates::{Pair, Predicates};
use scenario::scenarios;
use search::{Search, TooMuch};
use std::collections::BTreeSet;

/// What is used beyond the paper. The default is nothing.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Beyond {
    /// Conditions on locals, whatever they depend on: a local stays what it was when it was looked at.
    pub locals: bool,
    /// Happens-before by atomics and monotone variables: a flag that is only ever set stays set, and a number that is only
    /// ever increased stays above what it was above.
    pub stable: bool,
    /// What a call has to itself (`&mut self`) is nobody else's.
    pub ownership: bool,
}

impl Beyond {
    /// Everything.
    pub const ALL: Beyond = Beyond { locals: true, stable: true, ownership: true };
}

/// What is known of the targets of a pair of methods.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Ruling {
    /// All: two dependent actions of the two methods, in an order.
    pub targets: BTreeSet<Target>,
    /// Those that are ruled out.
    pub ruled_out: BTreeSet<Target>,
    /// The atomic blocks whose members have one location.
    pub blocks: Vec<Block>,
    /// The most predicates that a search had.
    pub predicates: usize,
    /// The states that the searches met.
    pub states: usize,
    /// Some search met too many states and was given up; what it was to decide is not ruled out.
    pub gave_up: bool,
}

impl Feasibility for Ruling {
    fn ruled_out(&self, target: &Target) -> bool {
        self.ruled_out.contains(target)
    }
}

/// The analysis of a component.
///
/// ```
/// use raddle_core::{LockMode, SiteId};
/// use raddle_core::location_pairs::ruling_out::*;
///
/// // fn add(&self) { let mut n = self.n.lock(); *n += 1; }, and fn peek(&self) -> u8, which reads `n` without the lock.
/// let object = |field| Object { base: Base::Local(0), field, single: true, owned: true, index: None };
/// let (lock, n) = (object(0), object(1));
/// let method = |name: &str, first: u32, actions: Vec<Action>| {
///     let node = |(i, action)| Node { action, next: vec![i + 1], site: SiteId(first + i as u32) };
///     let mut nodes: Vec<Node> = actions.into_iter().enumerate().map(node).collect();
///     nodes.push(Node { action: Action::Return, next: vec![], site: SiteId(first + 9) });
///     Method { name: name.into(), params: 1, exclusive: false, nodes }
/// };
/// let add = method("add", 0, vec![
///     Action::Acquire { lock, mode: LockMode::Exclusive },
///     Action::Read { object: n, into: None },
///     Action::Write { object: n, value: Value::Unknown },
///     Action::Release { lock },
/// ]);
/// let peek = method("peek", 10, vec![Action::Read { object: n, into: None }]);
/// let field = |name: &str| Field { name: name.into(), ..Field::default() };
/// let component = Component { methods: vec![add, peek], fields: vec![field("m"), field("n")] };
///
/// let analysis = Analysis::new(&component, Beyond::default());
/// // Two calls of `add`: only the release can be followed by an action of the other that depends on it.
/// let ruling = analysis.pair(0, 0);
/// assert_eq!((ruling.targets.len(), ruling.ruled_out.len()), (7, 6));
/// // Nothing keeps `peek` from reading at any time.
/// assert!(analysis.pair(0, 1).ruled_out.is_empty());
/// ```
pub struct Analysis<'a> {
    component: &'a Component,
    beyond: Beyond,
    facts: ComponentFacts,
}

impl<'a> Analysis<'a> {
    /// Of a component.
    pub fn new(component: &'a Component, beyond: Beyond) -> Analysis<'a> {
        let facts = ComponentFacts::new(component, beyond.ownership);
        Analysis { component, beyond, facts }
    }

    /// Rules out targets of two methods, which may be the same.
    pub fn pair(&self, a: usize, b: usize) -> Ruling {
        let mut ruling = Ruling::default();
        let mut open = BTreeSet::new();
        for scenario in scenarios(self.component, [a, b], self.beyond.ownership) {
            let pair = Pair {
                component: self.component,
                facts: &self.facts,
                methods: [a, b],
                scenario: &scenario,
                locals: self.beyond.locals,
                stable: self.beyond.stable,
            };
            let none = Predicates::default();
            let by_locks = Search::new(&pair, &none);
            let all = by_locks.all();
            let mut reached = all.clone();
            let predicates = Predicates::new(&pair);
            // What locks alone rule out need not be asked for again, and stays ruled out if the rest is too much.
            for search in [by_locks, Search::new(&pair, &predicates)] {
                match search.run(&reached) {
                    Ok((found, states)) => {
                        ruling.states += states;
                        reached = found;
                    }
                    Err(TooMuch) => ruling.gave_up = true,
                }
            }
            ruling.predicates = ruling.predicates.max(predicates.list.len());
            ruling.targets.extend(all.iter().map(|found| self.target([a, b], *found)));
            open.extend(reached.iter().map(|found| self.target([a, b], *found)));
        }
        ruling.ruled_out = ruling.targets.difference(&open).copied().collect();
        ruling.blocks = self.blocks(BTreeSet::from([a, b]));
        ruling
    }

    fn target(&self, methods: [usize; 2], (first, at, then): search::Found) -> Target {
        let place = |side: usize, node: usize| {
            let site = self.component.methods[methods[side]].nodes[node].site;
            Place { method: MethodId(methods[side] as u32), at: Location::At(site) }
        };
        Target { first: place(first, at), second: place(1 - first, then) }
    }

    fn blocks(&self, methods: BTreeSet<usize>) -> Vec<Block> {
        let mut all = Vec::new();
        for m in methods {
            let method = &self.component.methods[m];
            let of = blocks::blocks(method, &self.facts, &self.facts.held[m]);
            for (n, node) in method.nodes.iter().enumerate() {
                let begins = matches!(node.action, Action::Acquire { .. }) && of[n].is_none();
                if let Some(end) = node.next.first().and_then(|&m| of[m]).filter(|_| begins) {
                    all.push(Block { begin: method.nodes[n].site, end: method.nodes[end].site });
                }
            }
        }
        all
    }
}
