//! What a static analysis says about the methods of a type, and which pairs of them are worth a test.
//!
//! Two calls can only disturb each other through a variable that both touch and one writes. Worse is a call that
//! touches variables twice, while no lock keeps the other call out in between: then one of the patterns 4 to 17 is
//! possible between just these two calls. Locks make such pairs rare, and bugs sit there: in MAPTest's terms these are
//! the open instances that two single calls allow.

use crate::harness::ThunkId;
use raddle_core::event::LockMode;
use raddle_core::pattern::{AccessKind, CATALOGUE, Step, Which, Who};
use std::collections::{BTreeMap, BTreeSet};

/// A lock that is held at an access: which, how, and in which continuous holding of its call.
pub type HeldLock = (u32, LockMode, Option<u32>);

/// An access that a method may make.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct KnownAccess {
    /// What it does. A read-modify-write is two.
    pub kind: AccessKind,
    /// To which variable.
    pub variable: u32,
    /// At which instruction.
    pub site: u32,
    /// The instruction may run more than once in a call: in a loop, or in a function that the method calls more than once.
    pub again: bool,
    /// Holding what.
    pub locks: BTreeSet<HeldLock>,
}

/// What the methods may do to variables that threads share (R_m and W_m), with locks.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Known {
    methods: BTreeMap<ThunkId, BTreeSet<KnownAccess>>,
}

/// How promising a pair of methods is.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Default)]
pub struct Promise {
    /// Variables on which one call of each allows a pattern of three steps.
    pub torn: u32,
    /// Further ones, if an instruction runs twice in a call.
    pub perhaps: u32,
    /// Pairs of variables on which one call of each allows a pattern of four steps.
    pub mixed: u32,
    /// Variables that both touch and one writes.
    pub conflicts: u32,
    /// Instances of patterns of three steps, on all variables, that one call of each allows.
    pub instances: u32,
}

/// More variables than this make a pair no more promising.
const MANY: u32 = 4;
/// What a variable or a conflict weighs in comparison with twice as many instances, which decide only between pairs that have
/// the same of those.
const VARIABLES: u64 = 32;
/// Pairs of accesses of one method at most.
const LARGE: usize = 4_000;

impl Promise {
    /// One number; 0 if the methods cannot disturb each other. A conflict alone counts little, since most pairs of methods of
    /// a type that locks well have one. Among equals those come first that allow more instances: a test for them covers more, and a
    /// call that comes back to a variable more often has more places where it can be disturbed.
    pub fn weight(self) -> u64 {
        let steps = 32 * self.torn.min(MANY) + 12 * self.perhaps.min(MANY) + 16 * self.mixed.min(MANY);
        VARIABLES * u64::from(steps + self.conflicts.min(1))
            + u64::from(self.instances.saturating_add(1).ilog2())
    }
}

/// Two accesses of one call, and the locks that the call holds from one to the other.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
struct Span {
    /// One instruction twice.
    again: bool,
    ends: [(AccessKind, u32); 2],
    /// The locks that are held at the ends, and throughout.
    at: [BTreeSet<(u32, LockMode)>; 2],
    throughout: BTreeSet<(u32, LockMode)>,
}

impl Known {
    /// A method may make an access.
    pub fn add(&mut self, method: ThunkId, access: KnownAccess) {
        self.methods.entry(method).or_default().insert(access);
    }

    /// Whether nothing is known.
    pub fn is_empty(&self) -> bool {
        self.methods.is_empty()
    }

    /// The methods that write a variable which the calls of two threads contest, that is, which both touch and one writes: they bring
    /// about the states in which these disturb each other.
    pub fn feeders(&self, a: &[ThunkId], b: &[ThunkId]) -> Vec<ThunkId> {
        let contested = self.contested(a, b);
        let feeds = |m: &&ThunkId| !self.variables(&[**m], true).is_disjoint(&contested);
        self.methods.keys().filter(feeds).copied().collect()
    }

    /// The methods that only look, at a variable which one of these writes: what these do shows in what they return.
    pub fn observers(&self, of: &[ThunkId]) -> Vec<ThunkId> {
        let written = self.variables(of, true);
        let looks = |m: &&ThunkId| {
            self.variables(&[**m], true).is_empty() && !self.variables(&[**m], false).is_disjoint(&written)
        };
        self.methods.keys().filter(looks).copied().collect()
    }

    /// The variables that these touch, or write.
    fn variables(&self, of: &[ThunkId], writes: bool) -> BTreeSet<u32> {
        let fits = |k: &&KnownAccess| !writes || k.kind == AccessKind::Write;
        let accesses = of.iter().filter_map(|m| self.methods.get(m)).flatten();
        accesses.filter(fits).map(|k| k.variable).collect()
    }

    /// The variables that both touch and one writes.
    fn contested(&self, a: &[ThunkId], b: &[ThunkId]) -> BTreeSet<u32> {
        let mut contested: BTreeSet<u32> =
            self.variables(a, true).intersection(&self.variables(b, false)).copied().collect();
        contested.extend(self.variables(a, false).intersection(&self.variables(b, true)));
        contested
    }

    /// The pairs of methods that can disturb each other; the first is the one that is disturbed.
    pub fn promises(&self) -> BTreeMap<(ThunkId, ThunkId), Promise> {
        let spans: BTreeMap<ThunkId, Spans> =
            self.methods.iter().map(|(m, accesses)| (*m, spans(accesses))).collect();
        let by_variables: BTreeMap<ThunkId, ByVariables<'_>> =
            spans.iter().map(|(m, spans)| (*m, by_variables(spans))).collect();
        let crossings = crossings();
        let mut all = BTreeMap::new();
        for a in self.methods.keys() {
            for b in self.methods.keys() {
                let promise = self.promise(*a, *b, &spans[a], &by_variables[b], &crossings);
                if promise != Promise::default() {
                    all.insert((*a, *b), promise);
                }
            }
        }
        all
    }

    fn promise(
        &self,
        a: ThunkId,
        b: ThunkId,
        of_a: &Spans,
        of_b: &ByVariables<'_>,
        crossings: &[Crossing],
    ) -> Promise {
        let conflicts = self.contested(&[a], &[b]);
        if conflicts.is_empty() {
            return Promise::default();
        }
        let (mut torn, mut perhaps, mut mixed) = (BTreeSet::new(), BTreeSet::new(), BTreeSet::new());
        let mut instances = 0u32;
        for (span, pairs) in of_a {
            let [(first, x), (second, y)] = span.ends;
            if !conflicts.contains(&x) || !conflicts.contains(&y) {
                continue;
            }
            if x == y {
                let three = CATALOGUE.iter().filter(|p| p.steps.len() == 3);
                let fits = |k: &KnownAccess| {
                    k.variable == x
                        && three.clone().any(|p| {
                            [p.steps[0].kind, p.steps[1].kind, p.steps[2].kind] == [first, k.kind, second]
                        })
                        && !shut_out(&span.throughout, &plain(&k.locks))
                };
                let between = self.methods[&b].iter().filter(|k| fits(k)).count() as u32;
                if between > 0 {
                    if span.again { &mut perhaps } else { &mut torn }.insert(x);
                    instances = instances.saturating_add(pairs.saturating_mul(between));
                }
            } else if (mixed.len() as u32) < MANY {
                let variables = (x.min(y), x.max(y));
                let mut others = of_b.get(&variables).into_iter().flatten();
                if !mixed.contains(&variables) && others.any(|other| mixes(crossings, span, other)) {
                    mixed.insert(variables);
                }
            }
        }
        Promise {
            torn: torn.len() as u32,
            perhaps: perhaps.difference(&torn).count() as u32,
            mixed: mixed.len() as u32,
            conflicts: conflicts.len() as u32,
            instances,
        }
    }
}

/// The spans of a method, and how many pairs of its accesses are such a one.
type Spans = BTreeMap<Span, u32>;

/// The spans of a method over two variables, by those, the smaller first.
type ByVariables<'s> = BTreeMap<(u32, u32), Vec<&'s Span>>;

fn by_variables(spans: &Spans) -> ByVariables<'_> {
    let mut by = ByVariables::new();
    for span in spans.keys() {
        let [(_, x), (_, y)] = span.ends;
        if x != y {
            by.entry((x.min(y), x.max(y))).or_default().push(span);
        }
    }
    by
}

/// A pattern of four steps: what each thread does, and whether both steps of `b` come between those of `a`.
#[derive(Debug)]
struct Crossing {
    a: [(AccessKind, Which); 2],
    b: [(AccessKind, Which); 2],
    enclosed: bool,
}

fn crossings() -> Vec<Crossing> {
    let four = CATALOGUE.iter().filter(|p| p.steps.len() == 4);
    let crossing = |steps: &[Step]| {
        let of = |who: Who| -> Option<[(AccessKind, Which); 2]> {
            let mine: Vec<_> = steps.iter().filter(|s| s.who == who).map(|s| (s.kind, s.var)).collect();
            mine.try_into().ok()
        };
        Some(Crossing { a: of(Who::A)?, b: of(Who::B)?, enclosed: steps[3].who == Who::A })
    };
    four.filter_map(|p| crossing(p.steps)).collect()
}

/// Whether a pattern of four steps is made of these accesses of `a` and those of `b`, and no lock prevents it.
fn mixes(crossings: &[Crossing], a: &Span, b: &Span) -> bool {
    let [(_, x), (_, y)] = a.ends;
    let fits = |span: &Span, steps: &[(AccessKind, Which); 2]| {
        let named = |(kind, which): (AccessKind, Which)| (kind, if which == Which::X { x } else { y });
        steps.map(named) == span.ends
    };
    crossings.iter().any(|p| {
        if !fits(a, &p.a) || !fits(b, &p.b) {
            return false;
        }
        // a b b a: both accesses of `b` come while `a` is between its own; a b a b: one of each does.
        let second =
            if p.enclosed { shut_out(&a.throughout, &b.at[1]) } else { shut_out(&b.throughout, &a.at[1]) };
        !shut_out(&a.throughout, &b.at[0]) && !second
    })
}

fn spans(accesses: &BTreeSet<KnownAccess>) -> Spans {
    let mut spans = Spans::new();
    for first in accesses {
        // A read-modify-write is one step, so an instruction pairs with itself only for the same kind of access.
        let fits = |s: &&KnownAccess| s.site != first.site || first.again && *s == first;
        for second in accesses.iter().filter(fits) {
            let continuous =
                first.locks.intersection(&second.locks).filter(|(_, _, section)| section.is_some());
            let span = Span {
                again: first.site == second.site,
                ends: [(first.kind, first.variable), (second.kind, second.variable)],
                at: [plain(&first.locks), plain(&second.locks)],
                throughout: continuous.map(|(lock, mode, _)| (*lock, *mode)).collect(),
            };
            *spans.entry(span).or_default() += 1;
            if spans.len() >= LARGE {
                return spans;
            }
        }
    }
    spans
}

fn plain(locks: &BTreeSet<HeldLock>) -> BTreeSet<(u32, LockMode)> {
    locks.iter().map(|(lock, mode, _)| (*lock, *mode)).collect()
}

/// Whether an access with these locks cannot happen while others are held.
fn shut_out(held: &BTreeSet<(u32, LockMode)>, wanted: &BTreeSet<(u32, LockMode)>) -> bool {
    let excludes = |(lock, mode): &(u32, LockMode), other: &(u32, LockMode)| {
        *lock == other.0 && [*mode, other.1].contains(&LockMode::Exclusive)
    };
    held.iter().any(|h| wanted.iter().any(|w| excludes(h, w)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use AccessKind::{Read, Write};

    fn access(kind: AccessKind, variable: u32, site: u32, section: Option<u32>) -> KnownAccess {
        let locks = section.map(|s| (0, LockMode::Exclusive, Some(s)));
        KnownAccess { kind, variable, site, again: false, locks: locks.into_iter().collect() }
    }

    fn promise(a: &[KnownAccess], b: &[KnownAccess]) -> Promise {
        let mut known = Known::default();
        a.iter().for_each(|k| known.add(ThunkId(0), k.clone()));
        b.iter().for_each(|k| known.add(ThunkId(1), k.clone()));
        known.promises().get(&(ThunkId(0), ThunkId(1))).copied().unwrap_or_default()
    }

    #[test]
    fn a_call_that_reads_twice_without_a_lock_can_be_torn_by_a_writer() {
        let reads = |first, second| [access(Read, 0, 1, first), access(Read, 0, 2, second)];
        let writer = |variable, section| [access(Write, variable, 3, section)];
        assert_eq!(promise(&reads(None, None), &writer(0, Some(1))).torn, 1);
        assert_eq!(promise(&reads(Some(1), Some(1)), &writer(0, Some(1))).torn, 0);
        assert_eq!(promise(&reads(Some(1), Some(1)), &writer(0, None)).torn, 1);
        assert_eq!(promise(&reads(Some(1), Some(2)), &writer(0, Some(1))).torn, 1, "the lock is given back");
        assert_eq!(promise(&reads(None, None), &[access(Read, 0, 3, None)]), Promise::default());
        assert_eq!(promise(&reads(None, None), &writer(1, None)), Promise::default());
    }

    #[test]
    fn of_equally_promising_pairs_the_one_that_allows_more_instances_comes_first() {
        let reads =
            |times: u32| -> Vec<KnownAccess> { (0..times).map(|n| access(Read, 0, n, None)).collect() };
        let writer = [access(Write, 0, 9, None)];
        let [twice, often] = [2, 4].map(|times| promise(&reads(times), &writer));
        assert_eq!((twice.torn, twice.instances, often.torn, often.instances), (1, 2, 1, 12));
        assert!(often.weight() > twice.weight());
        let more = Promise { torn: 1, conflicts: 1, instances: u32::MAX, ..Promise::default() };
        let mixed = Promise { mixed: 1, instances: 0, ..more };
        assert!(mixed.weight() > more.weight(), "instances only decide between equals");
    }

    #[test]
    fn writers_of_what_two_calls_contest_feed_them() {
        let mut known = Known::default();
        known.add(ThunkId(0), access(Read, 0, 1, None));
        known.add(ThunkId(0), access(Read, 1, 2, None));
        known.add(ThunkId(1), access(Write, 0, 3, None));
        known.add(ThunkId(2), access(Write, 0, 4, None));
        known.add(ThunkId(3), access(Write, 1, 5, None));
        let [looks, writes, other] = [0, 1, 3].map(|m| [ThunkId(m)]);
        assert_eq!(
            known.feeders(&looks, &writes),
            [ThunkId(1), ThunkId(2)],
            "nobody contests the other variable"
        );
        assert_eq!(known.feeders(&looks, &[writes, other].concat()), [1, 2, 3].map(ThunkId));
        assert!(known.feeders(&looks, &[ThunkId(0), ThunkId(7)]).is_empty());
    }

    #[test]
    fn those_who_only_look_at_what_calls_write_observe_them() {
        let mut known = Known::default();
        known.add(ThunkId(0), access(Write, 0, 1, None));
        known.add(ThunkId(1), access(Read, 0, 2, None));
        known.add(ThunkId(2), access(Read, 1, 3, None));
        known.add(ThunkId(3), access(Read, 0, 4, None));
        known.add(ThunkId(3), access(Write, 1, 5, None));
        assert_eq!(known.observers(&[ThunkId(0)]), [ThunkId(1)]);
        assert_eq!(known.observers(&[ThunkId(0), ThunkId(3)]), [ThunkId(1), ThunkId(2)]);
        assert!(known.observers(&[ThunkId(1), ThunkId(7)]).is_empty());
    }

    #[test]
    fn one_instruction_is_not_torn() {
        let counts = [access(Read, 0, 1, None), access(Write, 0, 1, None)];
        let promised = promise(&counts, &counts);
        assert_eq!((promised.torn, promised.perhaps, promised.conflicts), (0, 0, 1));
        let helper = KnownAccess { again: true, ..access(Read, 0, 1, None) };
        let promised = promise(&[helper], &[access(Write, 0, 2, None)]);
        assert_eq!((promised.torn, promised.perhaps), (0, 1), "a helper may be called twice");
    }

    #[test]
    fn two_variables_can_be_mixed_unless_a_lock_is_held_throughout() {
        let both = |kind, sections: [Option<u32>; 2]| {
            [access(kind, 0, 1, sections[0]), access(kind, 1, 2, sections[1])]
        };
        let writer = both(Write, [Some(1), Some(1)]);
        assert_eq!(promise(&both(Read, [None, Some(1)]), &writer).mixed, 1);
        assert_eq!(promise(&both(Read, [Some(1), Some(1)]), &writer).mixed, 0);
        assert_eq!(promise(&both(Read, [Some(1), Some(1)]), &writer).conflicts, 2);
    }

    #[test]
    fn large_methods_of_which_no_two_mix_are_compared_variable_by_variable() {
        // Every method reads hundreds of variables and writes one that nobody else touches twice: no pattern of four steps.
        let mut known = Known::default();
        for method in 0..12 {
            for n in 0..100 {
                known.add(ThunkId(method), access(Read, n, 1000 * method + n, None));
            }
            known.add(ThunkId(method), access(Write, method, 1000 * method + 999, Some(1)));
        }
        let promises = known.promises();
        assert_eq!(promises.len(), 144);
        assert!(promises.values().all(|p| p.conflicts > 0 && p.mixed <= MANY));
    }
}
