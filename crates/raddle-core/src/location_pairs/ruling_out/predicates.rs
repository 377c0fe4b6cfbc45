//! The predicates of a pair of methods, and what each step makes of them.
//!
//! The paper has three kinds. `lockheld` is kept by the search itself. Here are the other two: one for each branch condition, and
//! the equality of two locals, one of each method. Conditions are closed under what assignments make of them: if a
//! branch asks for `_4`, and `_4` was set to `_3 == 0` and `_3` to the field `len`, then the predicates are `_4 == 1`, `_3 == 0`
//! and `len == 0`. That is the condition of the paper, which has no temporaries; an intermediate language does.
//!
//! The paper keeps a condition only if the branch is passed holding the locks of all globals that it depends on. Without that, a
//! condition on locals still is what it was when it was asked before: [`Beyond::locals`](super::Beyond).

use super::facts::{ComponentFacts, Writes};
use super::program::{Action, Base, Change, Comparison, Component, Object, Term, Test, Value};
use super::scenario::{Alias, Scenario, alias};
use std::collections::{BTreeMap, BTreeSet};

/// More predicates than this are not kept; what they would tell is then unknown.
const MOST: usize = 60;

/// Something that has a value.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Var {
    /// A constant.
    Const(i64),
    /// A local of a side.
    Local(usize, usize),
    /// A single object as a side calls it.
    Global(usize, Object),
}

/// Equality, or else less-than, of two values.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Predicate {
    pub left: Var,
    pub less: bool,
    pub right: Var,
}

/// What is known of a predicate after a step, in terms of before.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Literal {
    /// This.
    Known(bool),
    /// What another one was, or its opposite.
    Of(usize, bool),
    /// If it had this value it still has.
    Still(bool),
    /// Nothing.
    Unknown,
}

/// What a step does to the predicates that it changes.
pub type Updates = Vec<(usize, Literal)>;

/// The predicates of a pair of methods.
#[derive(Default)]
pub struct Predicates {
    pub list: Vec<Predicate>,
    numbers: BTreeMap<Predicate, usize>,
    /// By predicate and value: the predicates that then hold, and those that do not.
    pub implied: Vec<[(u64, u64); 2]>,
}

/// The pair whose predicates are wanted.
pub struct Pair<'a> {
    pub component: &'a Component,
    pub facts: &'a ComponentFacts,
    pub methods: [usize; 2],
    pub scenario: &'a Scenario,
    /// Conditions on locals count, whatever they depend on.
    pub locals: bool,
    /// Flags that are only set and numbers that only grow count.
    pub stable: bool,
}

/// A predicate and whether it is meant negated; or what it certainly is.
fn canonical(left: Var, by: Comparison, right: Var) -> Result<(Predicate, bool), bool> {
    let (less, negated) = match by {
        Comparison::Equal => (false, false),
        Comparison::Unequal => (false, true),
        Comparison::Less => (true, false),
        Comparison::NotLess => (true, true),
    };
    let certain = match (left, right) {
        (Var::Const(a), Var::Const(b)) => Some(if less { a < b } else { a == b }),
        _ if left == right => Some(!less),
        _ => None,
    };
    if let Some(value) = certain {
        return Err(value != negated);
    }
    let (left, right) = if !less && right < left { (right, left) } else { (left, right) };
    Ok((Predicate { left, less, right }, negated))
}

impl Predicates {
    pub fn new(pair: &Pair<'_>) -> Predicates {
        let lasting = |p: &Predicate| {
            [p.left, p.right].iter().all(|v| match v {
                Var::Global(_, object) => {
                    let facts = &pair.facts.fields[object.field];
                    !facts.protected.is_empty() || pair.stable && facts.writes != Writes::Any
                }
                _ => true,
            })
        };
        let mut all = Predicates { list: vec![], numbers: BTreeMap::new(), implied: vec![] };
        for side in 0..2 {
            for (n, node) in pair.method(side).nodes.iter().enumerate() {
                if let Action::Branch(test) = &node.action
                    && (pair.locals || pair.is_guarded(side, n, test))
                {
                    all.add_test(side, test);
                }
            }
        }
        for (a, b) in pair.indices() {
            let _ = canonical(a, Comparison::Equal, b).map(|(p, _)| all.add(p));
        }
        let mut next = 0;
        while next < all.list.len() {
            let predicate = all.list[next];
            next += 1;
            for side in 0..2 {
                for node in &pair.method(side).nodes {
                    for taken in 0..2 {
                        if let Some(Ok((p, _))) = pair.after(side, &node.action, taken, predicate)
                            && lasting(&p)
                        {
                            all.add(p);
                        }
                    }
                }
            }
        }
        all.implied = all.list.iter().map(|p| [false, true].map(|v| all.implied_by(*p, v))).collect();
        all
    }

    fn add(&mut self, predicate: Predicate) {
        if self.list.len() < MOST && !self.numbers.contains_key(&predicate) {
            self.numbers.insert(predicate, self.list.len());
            self.list.push(predicate);
        }
    }

    fn add_test(&mut self, side: usize, test: &Test) {
        if let Ok((p, _)) = canonical(var(side, test.left), test.by, var(side, test.right)) {
            self.add(p);
        }
    }

    fn literal(&self, of: Result<(Predicate, bool), bool>) -> Literal {
        match of {
            Err(value) => Literal::Known(value),
            Ok((p, negated)) => match self.numbers.get(&p) {
                Some(&number) => Literal::Of(number, negated),
                None => Literal::Unknown,
            },
        }
    }

    /// The predicates that are not about locals of one side only.
    pub fn always_live(&self, side: usize) -> u64 {
        let mine = |v: Var| matches!(v, Var::Local(s, _) if s == side);
        let own = |p: &Predicate| {
            (mine(p.left) || mine(p.right))
                && [p.left, p.right].iter().all(|v| mine(*v) || !is_other(*v, side))
        };
        let numbers = (0..self.list.len()).filter(|&i| !own(&self.list[i]));
        numbers.fold(0, |all, i| all | 1 << i)
    }

    /// What a test of a side means.
    pub fn test(&self, side: usize, test: &Test) -> Literal {
        self.literal(canonical(var(side, test.left), test.by, var(side, test.right)))
    }

    /// What the equality of a term of side 0 and a term of side 1 means.
    pub fn equality(&self, terms: [Term; 2]) -> Literal {
        self.literal(canonical(var(0, terms[0]), Comparison::Equal, var(1, terms[1])))
    }

    /// What a step of a side does. `taken` is whether an attempt to take a lock succeeds.
    pub fn updates(&self, pair: &Pair<'_>, side: usize, action: &Action, taken: usize) -> Updates {
        let mut updates = Updates::new();
        for (number, predicate) in self.list.iter().enumerate() {
            let mut literal = match pair.after(side, action, taken, *predicate) {
                Some(after) => self.literal(after),
                None if pair.is_touched(side, action, predicate) => Literal::Unknown,
                None => continue,
            };
            if let (Literal::Unknown, Action::Update { change, .. }) = (literal, action) {
                let stays = match change {
                    Change::Grows => growing(predicate),
                    Change::To(c) => with_value(predicate, *c),
                    Change::Any => None,
                };
                literal = stays.map_or(Literal::Unknown, Literal::Still);
            }
            updates.push((number, literal));
        }
        updates
    }

    fn implied_by(&self, p: Predicate, value: bool) -> (u64, u64) {
        let (mut yes, mut no) = (0, 0);
        for (number, q) in self.list.iter().enumerate() {
            match implies(p, value, *q) {
                Some(true) => yes |= 1 << number,
                Some(false) => no |= 1 << number,
                None => {}
            }
        }
        (yes, no)
    }
}

/// The value that a predicate keeps while a field grows.
pub fn growing(predicate: &Predicate) -> Option<bool> {
    match predicate {
        Predicate { left: Var::Const(_), less: true, right: Var::Global(..) } => Some(true),
        Predicate { left: Var::Global(..), less: true, right: Var::Const(_) } => Some(false),
        _ => None,
    }
}

/// What a predicate that compares a global with a constant is if the global has this value.
pub fn with_value(predicate: &Predicate, value: i64) -> Option<bool> {
    let (a, b) = match (predicate.left, predicate.right) {
        (Var::Global(..), Var::Const(c)) => (value, c),
        (Var::Const(c), Var::Global(..)) => (c, value),
        _ => return None,
    };
    Some(if predicate.less { a < b } else { a == b })
}

fn is_other(v: Var, side: usize) -> bool {
    matches!(v, Var::Local(s, _) if s != side)
}

fn var(side: usize, term: Term) -> Var {
    match term {
        Term::Const(c) => Var::Const(c),
        Term::Local(local) => Var::Local(side, local),
    }
}

/// A comparison of one value with a constant: the value, and which numbers fit.
fn range(p: Predicate, value: bool) -> Option<(Var, Range)> {
    Some(match (p.left, p.less, p.right) {
        (Var::Const(_), _, Var::Const(_)) => return None,
        (Var::Const(c), false, v) | (v, false, Var::Const(c)) if value => (v, Range::Between(c, c)),
        (Var::Const(c), false, v) | (v, false, Var::Const(c)) => (v, Range::Not(c)),
        (Var::Const(c), true, v) if value => (v, Range::Between(c.saturating_add(1), i64::MAX)),
        (Var::Const(c), true, v) => (v, Range::Between(i64::MIN, c)),
        (v, true, Var::Const(c)) if value => (v, Range::Between(i64::MIN, c.saturating_sub(1))),
        (v, true, Var::Const(c)) => (v, Range::Between(c, i64::MAX)),
        _ => return None,
    })
}

enum Range {
    Between(i64, i64),
    Not(i64),
}

impl Range {
    fn contains(&self, other: &Range) -> bool {
        match (self, other) {
            (Range::Between(a, b), Range::Between(c, d)) => a <= c && d <= b,
            (Range::Not(x), Range::Between(c, d)) => x < c || d < x,
            (Range::Between(a, b), Range::Not(_)) => *a == i64::MIN && *b == i64::MAX,
            (Range::Not(x), Range::Not(y)) => x == y,
        }
    }
}

fn implies(p: Predicate, value: bool, q: Predicate) -> Option<bool> {
    let (v, given) = range(p, value)?;
    [true, false]
        .into_iter()
        .find(|&asked| range(q, asked).is_some_and(|(w, asked)| v == w && asked.contains(&given)))
}

impl Pair<'_> {
    fn method(&self, side: usize) -> &super::program::Method {
        &self.component.methods[self.methods[side]]
    }

    /// Elements of one field that the two methods access, by their indices.
    fn indices(&self) -> BTreeSet<(Var, Var)> {
        let of = |side: usize| {
            let objects = self.method(side).nodes.iter().filter_map(|node| node.action.object());
            objects.filter_map(|o| Some((o.field, o.index?))).collect::<BTreeSet<_>>()
        };
        let mut all = BTreeSet::new();
        for (f, a) in of(0) {
            for (g, b) in of(1) {
                if f == g {
                    all.insert((var(0, a), var(1, b)));
                }
            }
        }
        all
    }

    /// Whether all globals that a condition depends on are protected where it is asked.
    fn is_guarded(&self, side: usize, n: usize, test: &Test) -> bool {
        let method = self.method(side);
        let held = &self.facts.held[self.methods[side]][n];
        let mut known: BTreeSet<usize> = BTreeSet::new();
        let local = |term: &Term| if let Term::Local(local) = term { Some(*local) } else { None };
        let mut work: Vec<usize> = [test.left, test.right].iter().filter_map(local).collect();
        while let Some(at) = work.pop() {
            if !known.insert(at) {
                continue;
            }
            for node in method.nodes.iter().filter(|node| node.action.sets() == Some(at)) {
                match &node.action {
                    Action::Assign { value: Value::Term(term), .. } => work.extend(local(term)),
                    Action::Assign { value: Value::Test(test), .. } => {
                        work.extend([test.left, test.right].iter().filter_map(local));
                    }
                    Action::Read { object, .. } | Action::Update { object, .. } => {
                        let locked = held.keys().any(|lock| self.facts.protects(lock, object));
                        if !locked && !self.facts.is_constant(object.field) {
                            return false;
                        }
                    }
                    _ => {}
                }
            }
        }
        true
    }

    /// The predicate that has to hold before a step for this one to hold after it; `None` if the step does not
    /// change it, or nobody knows how.
    fn after(
        &self,
        side: usize,
        action: &Action,
        taken: usize,
        predicate: Predicate,
    ) -> Option<Result<(Predicate, bool), bool>> {
        let is_local = |v: Var, local: usize| v == Var::Local(side, local);
        match action {
            Action::Assign { local, value } => self.replaced(predicate, |v| is_local(v, *local), side, value),
            Action::TryAcquire { into: Some(into), .. } => {
                let value = Value::Term(Term::Const(taken as i64));
                self.replaced(predicate, |v| is_local(v, *into), side, &value)
            }
            Action::Read { object, into: Some(into) } if self.is_steady(side, object) => {
                let read = Var::Global(side, *object);
                substitute(predicate, |v| is_local(v, *into), read)
            }
            Action::Update { object, into: Some(into), .. }
                if self.is_steady(side, object)
                    && [predicate.left, predicate.right]
                        .iter()
                        .all(|v| self.written(side, object, *v) == Alias::Never) =>
            {
                let read = Var::Global(side, *object);
                substitute(predicate, |v| is_local(v, *into), read)
            }
            Action::Write { object, value } => {
                let fits = |v: Var| self.written(side, object, v) == Alias::Always;
                if self.is_maybe_touched(side, object, &predicate) {
                    return None;
                }
                self.replaced(predicate, fits, side, value)
            }
            _ => None,
        }
    }

    fn replaced(
        &self,
        p: Predicate,
        fits: impl Fn(Var) -> bool,
        side: usize,
        value: &Value,
    ) -> Option<Result<(Predicate, bool), bool>> {
        match value {
            Value::Term(term) => substitute(p, fits, var(side, *term)),
            Value::Test(test) => {
                // Of a comparison with 0 or 1 only, as the value is 0 or 1.
                let asked = match (fits(p.left), fits(p.right)) {
                    (true, false) => p.right,
                    (false, true) => p.left,
                    _ => return None,
                };
                let Var::Const(c) = asked else { return None };
                if p.less || !(0..2).contains(&c) {
                    return None;
                }
                let meant = canonical(var(side, test.left), test.by, var(side, test.right));
                Some(match meant {
                    Ok((q, negated)) => Ok((q, negated != (c == 0))),
                    Err(value) => Err(value != (c == 0)),
                })
            }
            Value::Unknown => None,
        }
    }

    /// Whether a step changes something that a predicate is about.
    fn is_touched(&self, side: usize, action: &Action, p: &Predicate) -> bool {
        let local = action.sets().map(|local| Var::Local(side, local));
        let data = action.access().filter(|(_, writes)| *writes).map(|(object, _)| object);
        [p.left, p.right].into_iter().any(|v| {
            Some(v) == local || data.is_some_and(|object| self.written(side, object, v) != Alias::Never)
        })
    }

    fn is_maybe_touched(&self, side: usize, object: &Object, p: &Predicate) -> bool {
        [p.left, p.right].into_iter().any(|v| self.written(side, object, v) == Alias::Maybe)
    }

    /// Whether a write of an object is one of a variable.
    fn written(&self, side: usize, object: &Object, v: Var) -> Alias {
        match v {
            Var::Global(other, known) => {
                alias(self.component, self.scenario, (side, object), (other, &known))
            }
            _ => Alias::Never,
        }
    }

    /// Whether an object is one that a predicate can be about.
    fn is_steady(&self, side: usize, object: &Object) -> bool {
        let base = match object.base {
            Base::Local(local) => self.method(side).is_constant(local),
            Base::Static => true,
            Base::Any => false,
        };
        object.single && object.index.is_none() && base
    }
}

fn substitute(p: Predicate, fits: impl Fn(Var) -> bool, by: Var) -> Option<Result<(Predicate, bool), bool>> {
    if !fits(p.left) && !fits(p.right) {
        return None;
    }
    let [left, right] = [p.left, p.right].map(|v| if fits(v) { by } else { v });
    let how = if p.less { Comparison::Less } else { Comparison::Equal };
    Some(canonical(left, how, right))
}
