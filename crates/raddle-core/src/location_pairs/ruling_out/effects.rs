//! What the step at a location does to objects, and whether two such steps depend on each other.

use super::program::{Action, Method, Object, Term, Value};
use crate::event::LockMode;

/// What a step may do to an object.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Touch {
    pub object: Object,
    pub reads: bool,
    pub writes: Option<Written>,
}

/// What a write leaves.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Written {
    Constant(i64),
    Anything,
}

impl Touch {
    /// Of an action; `None` if it is method-local. As [`Effect::of`](super::super::Effect::of) has it for events.
    pub fn of(action: &Action) -> Option<Touch> {
        let object = *action.object()?;
        let anything = Some(Written::Anything);
        let (reads, writes) = match action {
            Action::Read { .. } => (true, None),
            Action::Write { value: Value::Term(Term::Const(c)), .. } => (false, Some(Written::Constant(*c))),
            Action::Write { .. } => (false, anything),
            Action::Acquire { mode: LockMode::Shared, .. } => (true, None),
            Action::TryAcquire { mode: LockMode::Shared, .. } => (true, None),
            _ => (true, anything),
        };
        Some(Touch { object, reads, writes })
    }

    /// Whether the two depend on each other if the objects are one.
    pub fn conflicts_with(&self, other: &Touch) -> bool {
        match (self.writes, other.writes) {
            (None, None) => false,
            (Some(_), None) => other.reads,
            (None, Some(_)) => self.reads,
            (Some(a), Some(b)) => self.reads || other.reads || a == Written::Anything || a != b,
        }
    }
}

/// What the step at a node does: all of its atomic block, if it is in one.
pub fn touches(method: &Method, blocks: &[Option<usize>], n: usize) -> Vec<Touch> {
    match blocks[n] {
        None => Touch::of(&method.nodes[n].action).into_iter().collect(),
        Some(block) => {
            let members = (0..method.nodes.len()).filter(|&m| blocks[m] == Some(block));
            members.filter_map(|m| Touch::of(&method.nodes[m].action)).collect()
        }
    }
}
