//! Random components: structured methods with locks, attempts to lock, branches, loops, elements and aliases, and now and then
//! code that no compiler would let pass.

use raddle_core::location_pairs::ruling_out::*;
use raddle_core::{LockMode, SiteId};
use std::collections::BTreeSet;

/// Chance that can be repeated.
pub struct Dice(pub u64);

impl Dice {
    /// A number below `n`.
    pub fn below(&mut self, n: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((self.0 >> 33) as usize) % n
    }

    fn one_in(&mut self, n: usize) -> bool {
        self.below(n) == 0
    }
}

/// Fields 0 and 1 are numbers, 2 has elements, 3 overlaps 1; the others are locks and a condition variable.
pub const LOCKS: [usize; 2] = [4, 5];
pub const CONDITION: usize = 6;
pub const FIELDS: usize = 7;
/// Two objects, then numbers.
pub const LOCALS: usize = 5;

struct Builder<'d> {
    dice: &'d mut Dice,
    nodes: Vec<Node>,
    first_site: u32,
    /// Whether the accesses of this method keep to the lock of the field.
    careful: bool,
}

/// A component of three methods.
pub fn component(dice: &mut Dice) -> Component {
    let careful = dice.below(3);
    let mut methods = Vec::new();
    for number in 0..3 {
        let careful = careful > 0 && !dice.one_in(6);
        methods.push(method(dice, number, careful));
    }
    let field = |f: usize| Field {
        name: format!("f{f}"),
        overlaps: if f == 3 { BTreeSet::from([1]) } else { BTreeSet::new() },
        open: false,
    };
    Component { methods, fields: (0..FIELDS).map(field).collect() }
}

fn method(dice: &mut Dice, number: usize, careful: bool) -> Method {
    let exclusive = dice.one_in(10);
    let mut builder = Builder { dice, nodes: vec![], first_site: 100 * number as u32, careful };
    for local in 2..LOCALS {
        builder.push(Action::Assign { local, value: Value::Term(Term::Const(0)) }, None);
    }
    let length = 1 + builder.dice.below(3);
    builder.statements(length, 2);
    builder.push(Action::Return, vec![]);
    Method { name: format!("m{number}"), params: 2, exclusive, nodes: builder.nodes }
}

impl Builder<'_> {
    /// Adds a node; a missing list of what comes next means the node after it.
    fn push(&mut self, action: Action, next: impl Into<Option<Vec<usize>>>) -> usize {
        let n = self.nodes.len();
        let ends = matches!(action, Action::Return);
        let next = next.into().filter(|next| ends || !next.is_empty()).unwrap_or_else(|| vec![n + 1]);
        self.nodes.push(Node { action, next, site: SiteId(self.first_site + n as u32) });
        n
    }

    fn statements(&mut self, many: usize, depth: usize) {
        for _ in 0..many {
            self.statement(depth);
        }
    }

    fn statement(&mut self, depth: usize) {
        match self.dice.below(if depth == 0 { 8 } else { 16 }) {
            0 | 1 => self.assignment(),
            2..=4 => self.access(),
            5 | 6 => self.access(),
            7 if self.dice.one_in(4) => self.odd(),
            7 => self.access(),
            8..=11 => self.locked(depth - 1),
            12 => self.attempted(depth - 1),
            13 | 14 => self.branch(depth - 1),
            _ => self.repeated(depth - 1),
        }
    }

    fn number(&mut self) -> usize {
        2 + self.dice.below(LOCALS - 2)
    }

    fn term(&mut self) -> Term {
        if self.dice.one_in(3) { Term::Local(self.number()) } else { Term::Const(self.dice.below(3) as i64) }
    }

    fn test(&mut self) -> Test {
        use Comparison::*;
        let by = [Equal, Equal, Unequal, Less, NotLess][self.dice.below(5)];
        let left = Term::Local(self.number());
        Test { left, by, right: self.term() }
    }

    fn value(&mut self) -> Value {
        match self.dice.below(8) {
            0 => Value::Unknown,
            1 => Value::Test(self.test()),
            _ => Value::Term(self.term()),
        }
    }

    fn base(&mut self) -> Base {
        match self.dice.below(12) {
            0 => Base::Local(1),
            1 if self.dice.one_in(3) => Base::Any,
            _ => Base::Local(0),
        }
    }

    fn data(&mut self, base: Base) -> Object {
        let field = [0, 0, 1, 1, 2, 2, 3][self.dice.below(7)];
        let index = (field == 2).then(|| self.term());
        let single = base != Base::Any && !self.dice.one_in(12);
        Object { base, field, single, owned: single || self.dice.one_in(2), index }
    }

    fn lock(&mut self, base: Base, of: usize) -> Object {
        Object { base, field: LOCKS[of], single: base != Base::Any, owned: base != Base::Any, index: None }
    }

    fn assignment(&mut self) {
        let (local, value) = (self.number(), self.value());
        self.push(Action::Assign { local, value }, None);
    }

    fn access(&mut self) {
        let base = self.base();
        let object = self.data(base);
        let lock = self.lock(base, object.field % 2);
        let guarded = self.careful && base != Base::Any;
        if guarded {
            self.push(Action::Acquire { lock, mode: LockMode::Exclusive }, None);
        }
        self.access_to(object);
        if guarded {
            self.push(Action::Release { lock }, None);
        }
    }

    fn access_to(&mut self, object: Object) {
        let into = (!self.dice.one_in(4)).then(|| self.number());
        let action = match self.dice.below(8) {
            0 => Action::Update { object, into, change: Change::Grows },
            1 => Action::Update { object, into, change: Change::Any },
            2 => Action::Update { object, into, change: Change::To(self.dice.below(2) as i64) },
            3 | 4 => Action::Write { object, value: self.value() },
            _ => Action::Read { object, into },
        };
        self.push(action, None);
    }

    fn locked(&mut self, depth: usize) {
        let base = self.base();
        let which = self.dice.below(2);
        let lock = self.lock(base, which);
        let mode = if self.dice.one_in(4) { LockMode::Shared } else { LockMode::Exclusive };
        self.push(Action::Acquire { lock, mode }, None);
        self.inside(base, which, depth);
        if !self.dice.one_in(30) {
            self.push(Action::Release { lock }, None);
        }
    }

    /// What a critical section is made of: accesses to fields of its lock, tests of what was read.
    fn inside(&mut self, base: Base, which: usize, depth: usize) {
        for _ in 0..1 + self.dice.below(3) {
            let object = Object { field: [[0, 2], [1, 3]][which][self.dice.below(2)], ..self.data(base) };
            let index = if object.field == 2 { Some(self.term()) } else { None };
            match self.dice.below(6) {
                0 => self.statement(0),
                1 if depth > 0 => self.branch(depth - 1),
                _ => self.access_to(Object { index, ..object }),
            }
        }
    }

    fn attempted(&mut self, depth: usize) {
        let base = self.base();
        let which = self.dice.below(2);
        let lock = self.lock(base, which);
        let into = self.number();
        self.push(Action::TryAcquire { lock, mode: LockMode::Exclusive, into: Some(into) }, None);
        let test = Test { left: Term::Local(into), by: Comparison::Equal, right: Term::Const(1) };
        let branch = self.push(Action::Branch(test), None);
        self.inside(base, which, depth);
        let end = self.push(Action::Release { lock }, None);
        self.nodes[branch].next = vec![branch + 1, end + 1];
    }

    fn branch(&mut self, depth: usize) {
        let action = if self.dice.one_in(6) { Action::Choose } else { Action::Branch(self.test()) };
        let branch = self.push(action, None);
        let (many, more) = (1 + self.dice.below(2), self.dice.below(2));
        self.statements(many, depth);
        let skip = self.push(Action::Choose, None);
        self.statements(more, depth);
        let end = self.nodes.len();
        self.nodes[branch].next = vec![branch + 1, skip + 1];
        self.nodes[skip].next = vec![end];
    }

    fn repeated(&mut self, depth: usize) {
        let test = self.test();
        let head = self.push(Action::Branch(test), None);
        self.statements(1, depth);
        let back = self.push(Action::Choose, vec![head]);
        self.nodes[head].next = vec![head + 1, back + 1];
    }

    /// A lock that is taken and kept, or given back without having been taken, or a condition variable.
    fn odd(&mut self) {
        let base = self.base();
        let which = self.dice.below(2);
        let lock = self.lock(base, which);
        let condition = Object { base, field: CONDITION, single: true, owned: true, index: None };
        let action = match self.dice.below(3) {
            0 => Action::Acquire { lock, mode: LockMode::Exclusive },
            1 => Action::Release { lock },
            _ => Action::Signal(condition),
        };
        self.push(action, None);
    }
}
