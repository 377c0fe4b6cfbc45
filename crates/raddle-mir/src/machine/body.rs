//! One function, written down as a graph: statements and jumps. `calls` has what calls and drops become.

use super::graph::{Graph, Spot, Step};
use crate::locks::{self, Guards, guard_mode};
use crate::mir::{Function, Operand, Operator, Place, Pos, Rvalue, Statement, Step as Hop, Terminator};
use crate::paths::PathId;
use crate::ty::Ty;
use crate::walk::Walk;
use raddle_core::location_pairs::ruling_out::{Action, Comparison, Term, Test, Value};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::rc::Rc;

/// The graph of a function being made.
pub(super) struct Body<'w, 'a> {
    pub walk: &'w mut Walk<'a>,
    pub function: &'a Function,
    pub id: usize,
    pub graph: Graph,
    /// The step that the next one follows.
    pub at: usize,
    /// The graphs of the functions that can be called.
    pub callees: &'w HashMap<usize, Option<Rc<Graph>>>,
    /// Locals that may change behind a pointer.
    escaped: BTreeSet<usize>,
    guards: Vec<Guards>,
    spots: BTreeMap<Pos, Rc<Spot>>,
}

impl<'w, 'a> Body<'w, 'a> {
    /// Writes the function down.
    pub fn write(
        walk: &'w mut Walk<'a>,
        function: &'a Function,
        callees: &'w HashMap<usize, Option<Rc<Graph>>>,
    ) -> Graph {
        let id = walk.id;
        let mut body = Body {
            walk,
            function,
            id,
            graph: Graph { steps: vec![], locals: function.locals.len() },
            at: 0,
            callees,
            escaped: escaped(function),
            guards: locks::guards(function),
            spots: BTreeMap::new(),
        };
        for block in &function.blocks {
            body.push(Action::Choose, block.pos);
        }
        for (b, block) in function.blocks.iter().enumerate().filter(|(_, block)| !block.cleanup) {
            body.at = b;
            body.walk.block = b;
            let mut state = body.guards[b].clone();
            for (statement, pos) in &block.statements {
                body.statement(statement, *pos);
                let before = state.clone();
                locks::step(function, statement, &mut state);
                let moved = matches!(statement, Statement::Assign(..)) && state.len() >= before.len();
                if !moved {
                    body.lose(&before, &state, *pos);
                }
            }
            body.end(b, &block.end, &state, block.pos);
        }
        body.graph.compact()
    }

    fn push(&mut self, action: Action<PathId>, pos: Pos) -> usize {
        let function = self.id;
        let spot =
            self.spots.entry(pos).or_insert_with(|| Rc::new(Spot { function, pos, caller: None })).clone();
        self.graph.steps.push(Step { action, next: vec![], spot });
        self.graph.steps.len() - 1
    }

    /// Adds a step that follows the last one.
    pub fn then(&mut self, action: Action<PathId>, pos: Pos) {
        let n = self.push(action, pos);
        self.graph.steps[self.at].next.push(n);
        self.at = n;
    }

    /// One of several steps follows the last one, or none of them.
    pub fn one_of(&mut self, actions: Vec<Action<PathId>>, or_none: bool, pos: Pos) {
        let from = self.at;
        let join = self.push(Action::Choose, pos);
        for action in actions {
            let n = self.push(action, pos);
            self.graph.steps[from].next.push(n);
            self.graph.steps[n].next.push(join);
        }
        if or_none {
            self.graph.steps[from].next.push(join);
        }
        self.at = join;
    }

    /// Any of several steps follow the last one, in any order and number.
    pub fn any_of(&mut self, actions: Vec<Action<PathId>>, pos: Pos) {
        if actions.is_empty() {
            return;
        }
        self.then(Action::Choose, pos);
        let hub = self.at;
        for action in actions {
            let n = self.push(action, pos);
            self.graph.steps[hub].next.push(n);
            self.graph.steps[n].next.push(hub);
        }
        // The way out is a step of its own, for what follows is appended to it.
        self.then(Action::Choose, pos);
    }

    pub fn temporary(&mut self) -> usize {
        self.graph.locals += 1;
        self.graph.locals - 1
    }

    /// The paths of a set that other threads can reach, and whether there are others.
    pub fn shared(&self, paths: BTreeSet<PathId>) -> (Vec<PathId>, bool) {
        let all = paths.len();
        let shared: Vec<PathId> =
            paths.into_iter().filter(|p| self.walk.flow.paths.get(*p).is_shared()).collect();
        let others = shared.len() < all;
        (shared, others)
    }

    /// Follows a place; pointers that are loaded from shared memory on the way are read.
    pub fn reach(&mut self, place: &Place, pos: Pos) -> BTreeSet<PathId> {
        let mut loads = Vec::new();
        let found = self.walk.flow.trace(place, &mut |_, p| loads.push(p));
        for load in loads {
            if self.walk.flow.paths.get(load).is_shared() {
                self.one_of(vec![Action::Read { object: load, into: None }], true, pos);
            }
        }
        found
    }

    /// Reads an operand. What it is, as far as that can be told.
    pub fn operand(&mut self, operand: &Operand, pos: Pos) -> Option<Term> {
        let place = match operand {
            Operand::Const(text) => return constant(text).map(Term::Const),
            Operand::Place(place) => place,
        };
        if let Some(local) = self.tracked(place) {
            return Some(Term::Local(local));
        }
        if !place.is_indirect() {
            return None;
        }
        let found = self.reach(place, pos);
        let (shared, others) = self.shared(found);
        if shared.is_empty() {
            return None;
        }
        let into = Some(self.temporary());
        let reads = shared.into_iter().map(|object| Action::Read { object, into });
        let mut ways: Vec<_> = reads.collect();
        if others {
            ways.push(Action::Assign { local: into?, value: Value::Unknown });
        }
        self.one_of(ways, false, pos);
        into.map(Term::Local)
    }

    /// The local that a place is, if its value can be followed.
    fn tracked(&self, place: &Place) -> Option<usize> {
        (place.steps.is_empty() && !self.escaped.contains(&place.local)).then_some(place.local)
    }

    /// Sets a place.
    pub fn set(&mut self, place: &Place, value: Value, pos: Pos) {
        if !place.is_indirect() {
            if !self.escaped.contains(&place.local) {
                let value = if place.steps.is_empty() { value } else { Value::Unknown };
                self.then(Action::Assign { local: place.local, value }, pos);
            }
            return;
        }
        let found = self.reach(place, pos);
        let (shared, others) = self.shared(found);
        if !shared.is_empty() {
            let writes = shared.into_iter().map(|object| Action::Write { object, value });
            self.one_of(writes.collect(), others, pos);
        }
    }

    fn statement(&mut self, statement: &Statement, pos: Pos) {
        match statement {
            Statement::Assign(dest, value) => {
                if let Rvalue::Use(Operand::Place(from)) | Rvalue::Cast(Operand::Place(from)) = value {
                    self.leave(from, pos);
                }
                let value = self.value(value, pos);
                self.set(dest, value, pos);
            }
            Statement::SetDiscriminant(place) => self.set(place, Value::Unknown, pos),
            Statement::Dead(_) | Statement::Nothing => {}
        }
    }

    /// What may hold a guard goes away as a whole: the lock is taken to be given back.
    pub fn leave(&mut self, place: &Place, pos: Pos) {
        let ty = self.function.local_type(place.local);
        if place.steps.is_empty() && guard_mode(&ty).is_none() && holds_guard(&ty) {
            self.release(place.local, pos);
        }
    }

    fn value(&mut self, value: &Rvalue, pos: Pos) -> Value {
        let known = |term: Option<Term>| term.map_or(Value::Unknown, Value::Term);
        match value {
            Rvalue::Use(operand) => known(self.operand(operand, pos)),
            Rvalue::Cast(operand) => {
                self.operand(operand, pos);
                Value::Unknown
            }
            Rvalue::Address { place, .. } => {
                self.reach(place, pos);
                Value::Unknown
            }
            Rvalue::Inspect(place) => {
                let ty = self.walk.flow.place_type(place);
                let term = self.operand(&Operand::Place(place.clone()), pos);
                if matches!(&*ty, Ty::Array(_) | Ty::Slice(_)) { Value::Unknown } else { known(term) }
            }
            Rvalue::Aggregate { head, fields, .. } => {
                for (_, operand) in fields {
                    self.operand(operand, pos);
                }
                variant(head).map_or(Value::Unknown, |v| Value::Term(Term::Const(v)))
            }
            Rvalue::Compute(operator, operands) => {
                let terms: Vec<Option<Term>> = operands.iter().map(|o| self.operand(o, pos)).collect();
                let of_number = |o: &Operand| match o {
                    Operand::Place(place) => !self.walk.flow.place_type(place).is_library(&["bool"]),
                    Operand::Const(_) => true,
                };
                if *operator == Operator::Not && operands.iter().any(of_number) {
                    return Value::Unknown;
                }
                test(*operator, &terms).map_or(Value::Unknown, Value::Test)
            }
            Rvalue::ThreadLocal(_) => Value::Unknown,
        }
    }

    /// The lock that the guard in a local belongs to is given back.
    pub fn release(&mut self, local: usize, pos: Pos) {
        let lock = self.walk.lock_of(local).unwrap_or_else(|| self.unknown_lock());
        self.then(Action::Release { lock }, pos);
    }

    /// Some lock, nobody knows which.
    pub fn unknown_lock(&mut self) -> PathId {
        self.walk.flow.paths.object(Ty::parse("std::sync::Mutex<?>"), false)
    }

    /// Gives back the locks of guards that are there no longer.
    fn lose(&mut self, before: &Guards, after: &Guards, pos: Pos) {
        for local in before.keys().filter(|local| !after.contains_key(local)) {
            self.release(*local, pos);
        }
    }

    fn end(&mut self, b: usize, end: &Terminator, state: &Guards, pos: Pos) {
        match end {
            Terminator::Jump { operands, values, .. } => {
                let term = operands.first().and_then(|operand| self.operand(operand, pos));
                if !values.is_empty() {
                    return self.switch(b, end, term, values, state, pos);
                }
            }
            Terminator::Return => self.then(Action::Return, pos),
            Terminator::Stop => {}
            Terminator::Drop { place, .. } => self.drop(place, pos),
            Terminator::Call { dest, callee, args, .. } => self.call(dest, callee, args, pos),
        }
        let from = self.at;
        for (i, &target) in end.targets().iter().enumerate() {
            self.at = from;
            self.go(b, end, i, target, state, pos);
        }
    }

    /// Asks for the values one after the other.
    fn switch(
        &mut self,
        b: usize,
        end: &Terminator,
        term: Option<Term>,
        values: &[Option<i64>],
        state: &Guards,
        pos: Pos,
    ) {
        let targets = end.targets();
        for (i, &target) in targets.iter().enumerate() {
            let last = i + 1 == targets.len();
            let from = self.at;
            if !last {
                let asked = term.zip(values.get(i).copied().flatten());
                let action = asked.map_or(Action::Choose, |(left, v)| {
                    Action::Branch(Test { left, by: Comparison::Equal, right: Term::Const(v) })
                });
                self.then(action, pos);
            }
            let branch = self.at;
            self.then(Action::Choose, pos);
            self.go(b, end, i, target, state, pos);
            self.at = branch;
            if last {
                self.at = from;
            } else {
                self.then(Action::Choose, pos);
            }
        }
    }

    /// Goes on in another block. Unwinding is not followed.
    fn go(&mut self, b: usize, end: &Terminator, i: usize, target: usize, state: &Guards, pos: Pos) {
        if self.function.blocks[target].cleanup {
            return;
        }
        let mut after = state.clone();
        let repeats = self.walk.loops[b];
        locks::finish(self.function, end, b, repeats, i == 0, &mut after);
        // One guard may come back as another; of two, nobody knows which.
        let gone = state.keys().filter(|local| !after.contains_key(local)).count();
        let carried = matches!(end, Terminator::Call { dest, .. } if after.contains_key(&dest.local));
        if !carried || gone > 1 {
            self.lose(state, &after, pos);
        }
        let there = self.guards[target].clone();
        self.lose(&after, &there, pos);
        self.graph.steps[self.at].next.push(target);
    }
}

/// Whether a value can have a guard in it. A pointer to one does not count.
pub(super) fn holds_guard(ty: &Ty) -> bool {
    match ty {
        Ty::Named { args, .. } => guard_mode(ty).is_some() || args.iter().any(|t| holds_guard(t)),
        Ty::Tuple(parts) => parts.iter().any(|t| holds_guard(t)),
        Ty::Array(t) | Ty::Slice(t) => holds_guard(t),
        _ => false,
    }
}

/// Locals that are written through pointers, too.
fn escaped(function: &Function) -> BTreeSet<usize> {
    let statements = function.blocks.iter().flat_map(|b| &b.statements);
    let addressed = statements.filter_map(|(statement, _)| match statement {
        Statement::Assign(_, Rvalue::Address { place, mutable: true })
            if !place.steps.contains(&Hop::Deref) =>
        {
            Some(place.local)
        }
        _ => None,
    });
    addressed.collect()
}

fn constant(text: &str) -> Option<i64> {
    match text {
        "true" => return Some(1),
        "false" => return Some(0),
        _ => {}
    }
    let digits = text.find('_').map_or(text, |at| &text[..at]);
    digits.parse().ok()
}

/// The number of the variant that is built.
fn variant(head: &str) -> Option<i64> {
    let plain = crate::items::without_generics(head);
    let (ty, variant) = plain.rsplit_once("::")?;
    match (ty.rsplit("::").next()?, variant) {
        ("Option", "None") | ("Result", "Ok") => Some(0),
        ("Option", "Some") | ("Result", "Err") => Some(1),
        _ => None,
    }
}

fn test(operator: Operator, terms: &[Option<Term>]) -> Option<Test> {
    let left = *terms.first()?;
    if operator == Operator::Not {
        return Some(Test { left: left?, by: Comparison::Equal, right: Term::Const(0) });
    }
    let (left, right) = (left?, (*terms.get(1)?)?);
    let (by, swapped) = match operator {
        Operator::Eq => (Comparison::Equal, false),
        Operator::Ne => (Comparison::Unequal, false),
        Operator::Lt => (Comparison::Less, false),
        Operator::Ge => (Comparison::NotLess, false),
        Operator::Gt => (Comparison::Less, true),
        Operator::Le => (Comparison::NotLess, true),
        Operator::Not | Operator::Other => return None,
    };
    Some(if swapped { Test { left: right, by, right: left } } else { Test { left, by, right } })
}
