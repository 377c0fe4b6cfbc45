//! Which objects of two calls are the same.
//!
//! The paper's predicate `equal(v1, v2)` is for every local of one method and every local of the other. For parameters that refer to
//! objects and never change it is a choice made once, before either call begins: each such choice is a [`Scenario`],
//! and the search is made for each. For numbers, such as indices, it is a predicate like others.

use super::program::{Base, Component, Object};
use std::collections::{BTreeMap, BTreeSet};

/// More pairs of parameters than this are not told apart.
const MOST: usize = 6;

/// One choice of which parameters of the two calls refer to the same object.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Scenario {
    equal: BTreeMap<(usize, usize), bool>,
    /// By side: the locals that keep what the caller gave them.
    constant: [BTreeSet<usize>; 2],
}

/// Whether two objects are one.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Alias {
    /// They are not.
    Never,
    /// That cannot be told.
    Maybe,
    /// They are.
    Always,
}

/// All scenarios of a pair of methods. With `ownership`, an object that a call has to itself is none of the other's.
pub fn scenarios(component: &Component, methods: [usize; 2], ownership: bool) -> Vec<Scenario> {
    let constant = methods.map(|m| {
        let method = &component.methods[m];
        (0..method.params).filter(|&local| method.is_constant(local)).collect::<BTreeSet<_>>()
    });
    let bases = methods.map(|m| {
        let objects = component.methods[m].nodes.iter().filter_map(|node| node.action.object());
        objects.map(|o| (o.base, o.field)).collect::<BTreeSet<_>>()
    });
    let mut pairs = BTreeSet::new();
    for (a, f) in &bases[0] {
        for (b, g) in &bases[1] {
            if let (Base::Local(a), Base::Local(b)) = (a, b)
                && f == g
                && constant[0].contains(a)
                && constant[1].contains(b)
            {
                pairs.insert((*a, *b));
            }
        }
    }
    let apart = |&(a, b): &(usize, usize)| {
        let owned = |side: usize, local| component.methods[methods[side]].exclusive && local == 0;
        ownership && (owned(0, a) || owned(1, b))
    };
    let (apart, open): (Vec<_>, Vec<_>) = pairs.into_iter().partition(apart);
    let open = &open[..open.len().min(MOST)];
    let all = (0..1u32 << open.len()).map(|choice| {
        let chosen = open.iter().enumerate().map(|(i, pair)| (*pair, choice >> i & 1 == 1));
        let equal = chosen.chain(apart.iter().map(|pair| (*pair, false))).collect();
        Scenario { equal, constant: constant.clone() }
    });
    all.filter(Scenario::is_possible).collect()
}

impl Scenario {
    /// If a and b are both c, then a is d if b is.
    fn is_possible(&self) -> bool {
        let same = |a, b| self.equal.get(&(a, b)).copied();
        self.equal.keys().all(|&(a, c)| {
            self.equal.keys().all(|&(b, d)| {
                !(same(a, c) == Some(true) && same(b, c) == Some(true) && same(b, d) == Some(true))
                    || same(a, d) != Some(false)
            })
        })
    }

    /// Whether two ways to objects begin with the same object, if that is known.
    pub fn same_base(&self, a: (usize, Base), b: (usize, Base)) -> Option<bool> {
        match (a, b) {
            ((_, Base::Static), (_, Base::Static)) => Some(true),
            ((s, Base::Local(x)), (t, Base::Local(y))) if s == t => {
                (x == y && self.constant[s].contains(&x)).then_some(true)
            }
            ((0, Base::Local(x)), (1, Base::Local(y))) | ((1, Base::Local(y)), (0, Base::Local(x))) => {
                self.equal.get(&(x, y)).copied()
            }
            _ => None,
        }
    }
}

/// Whether two objects, each as a side calls it, are one.
pub fn alias(component: &Component, scenario: &Scenario, a: (usize, &Object), b: (usize, &Object)) -> Alias {
    let (one, other) = (a.1, b.1);
    if !component.overlap(one.field, other.field) {
        return Alias::Never;
    }
    let exact = one.field == other.field && one.single && other.single;
    let inside = one.field == other.field && one.owned && other.owned;
    match scenario.same_base((a.0, one.base), (b.0, other.base)) {
        Some(false) if inside => Alias::Never,
        Some(true) if exact && one.index.is_none() && other.index.is_none() => Alias::Always,
        _ => Alias::Maybe,
    }
}
