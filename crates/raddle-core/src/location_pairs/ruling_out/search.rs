//! The reachability search over the boolean program of a pair of methods.
//!
//! A state has a node for each side, what locks each side holds, and what is known of each predicate: that it holds, that it does
//! not, or nothing. To know nothing stands for both; a state is split only where a copy of an unknown predicate would
//! forget that the two are the same. The environment, the paper's third component, may run at any moment, so after
//! every step it takes away what it could change: all predicates about a global that no lock held by either side
//! protects.
//!
//! A step runs on through method-local actions to the next action that others can see. They depend on nothing and
//! nothing depends on them, so no location pair is lost.

use super::effects::{Touch, touches};
use super::facts::{ComponentFacts, Writes};
use super::predicates::{Literal, Pair, Predicate, Predicates, Updates, Var, growing, with_value};
use super::program::{Action, Object};
use super::scenario::{Alias, alias};
use super::side::{GONE, Hold, Side};
use std::collections::{BTreeSet, HashSet, VecDeque};

/// A search that meets more states than this is given up, and everything it was to decide taken to be reachable.
const STATES: usize = 10_000;
/// A step with more outcomes than this as well.
const OUTCOMES: usize = 4_096;

/// A pair of locations in order: the side that goes first, its location, and the other's.
pub type Found = (usize, usize, usize);

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
struct State {
    at: [usize; 2],
    /// Two bits for each lock.
    held: [u64; 2],
    known: u64,
    value: u64,
}

/// What is taken away from a predicate by the environment.
struct Havoc {
    predicate: usize,
    /// For each global in it: the locks, by side and number, that keep the environment away.
    guards: Vec<Vec<(usize, usize)>>,
    /// The value that stays, whatever the environment does.
    stays: Option<bool>,
}

/// The search over one pair of methods in one scenario.
pub struct Search<'a> {
    pair: &'a Pair<'a>,
    predicates: &'a Predicates,
    sides: [Side<'a>; 2],
    touches: [Vec<Vec<Touch>>; 2],
    /// By side and lock: the locks of the other side that are the same.
    same_locks: [Vec<Vec<usize>>; 2],
    havoc: Vec<Havoc>,
}

/// Too much to search.
pub struct TooMuch;

impl<'a> Search<'a> {
    /// Prepares a search.
    pub fn new(pair: &'a Pair<'a>, predicates: &'a Predicates) -> Search<'a> {
        let sides = [0, 1].map(|side| Side::new(pair, predicates, side));
        let touch = |side: &Side<'_>| {
            (0..side.method.nodes.len()).map(|n| touches(side.method, &side.blocks, n)).collect()
        };
        let touches = [touch(&sides[0]), touch(&sides[1])];
        let same = |a: usize| {
            let is_same = |x: &Object, y: &Object| {
                alias(pair.component, pair.scenario, (a, x), (1 - a, y)) == Alias::Always
            };
            let of = |x: &Object| {
                let others = sides[1 - a].locks.iter().enumerate();
                others.filter(|(_, y)| is_same(x, y)).map(|(i, _)| i).collect()
            };
            sides[a].locks.iter().map(of).collect()
        };
        let same_locks = [same(0), same(1)];
        let mut search = Search { pair, predicates, sides, touches, same_locks, havoc: vec![] };
        search.havoc = search.environment();
        search
    }

    fn environment(&self) -> Vec<Havoc> {
        let mut all = Vec::new();
        for (number, predicate) in self.predicates.list.iter().enumerate() {
            let globals = [predicate.left, predicate.right].into_iter().filter_map(|v| match v {
                Var::Global(side, object) if !self.pair.facts.is_constant(object.field) => {
                    Some((side, object))
                }
                _ => None,
            });
            let globals: Vec<_> = globals.collect();
            if !globals.is_empty() {
                let guards = globals.iter().map(|global| self.guards(global)).collect();
                let stays = if self.pair.stable { stays(self.pair.facts, predicate) } else { None };
                all.push(Havoc { predicate: number, guards, stays });
            }
        }
        all
    }

    /// The locks of both sides that protect a global.
    fn guards(&self, (side, object): &(usize, Object)) -> Vec<(usize, usize)> {
        let protected = &self.pair.facts.fields[object.field].protected;
        let mut found = Vec::new();
        for (s, of) in self.sides.iter().enumerate() {
            for (l, lock) in of.locks.iter().enumerate() {
                let same = self.pair.scenario.same_base((*side, object.base), (s, lock.base));
                if same == Some(true) && protected.contains(&lock.field) {
                    found.push((s, l));
                }
            }
        }
        found
    }

    /// All pairs of dependent locations, in both orders.
    pub fn all(&self) -> BTreeSet<Found> {
        let mut all = BTreeSet::new();
        let locations = [self.sides[0].locations(), self.sides[1].locations()];
        for &a in &locations[0] {
            for &b in &locations[1] {
                if self.dependent([a, b], None) {
                    all.extend([(0, a, b), (1, b, a)]);
                }
            }
        }
        all
    }

    /// Those of `wanted` that can be covered, and the number of states met. The search ends when all are.
    pub fn run(&self, wanted: &BTreeSet<Found>) -> Result<(BTreeSet<Found>, usize), TooMuch> {
        let mut found = BTreeSet::new();
        let mut seen: HashSet<State> = HashSet::new();
        let mut queue: VecDeque<State> = self.begin()?.into();
        seen.extend(&queue);
        while let Some(state) = queue.pop_front() {
            if found.len() == wanted.len() {
                break;
            }
            let after = [self.steps(&state, 0)?, self.steps(&state, 1)?];
            self.cover(&state, &after, wanted, &mut found)?;
            for next in after.into_iter().flatten() {
                if seen.insert(next) {
                    queue.push_back(next);
                }
            }
            if seen.len() > STATES {
                return Err(TooMuch);
            }
        }
        Ok((found, seen.len()))
    }

    /// Notes what the steps from a state cover: one side moves, then the other, and the two depend on each other.
    fn cover(
        &self,
        state: &State,
        after: &[Vec<State>; 2],
        wanted: &BTreeSet<Found>,
        found: &mut BTreeSet<Found>,
    ) -> Result<(), TooMuch> {
        if state.at.contains(&GONE) {
            return Ok(());
        }
        let at = [0, 1].map(|side| self.sides[side].location(state.at[side]));
        for first in 0..2 {
            let pair = (first, at[first], at[1 - first]);
            if !wanted.contains(&pair) || found.contains(&pair) || !self.dependent(state.at, Some(state)) {
                continue;
            }
            for next in &after[first] {
                if !self.steps(next, 1 - first)?.is_empty() {
                    found.insert(pair);
                    break;
                }
            }
        }
        Ok(())
    }

    /// Whether the steps at two nodes may depend on each other.
    fn dependent(&self, at: [usize; 2], state: Option<&State>) -> bool {
        let meet = |a: &Touch, b: &Touch| {
            a.conflicts_with(b)
                && alias(self.pair.component, self.pair.scenario, (0, &a.object), (1, &b.object))
                    != Alias::Never
                && !self.are_different_elements(&a.object, &b.object, state)
        };
        self.touches[0][at[0]].iter().any(|a| self.touches[1][at[1]].iter().any(|b| meet(a, b)))
    }

    fn are_different_elements(&self, a: &Object, b: &Object, state: Option<&State>) -> bool {
        let (Some(i), Some(j)) = (a.index, b.index) else { return false };
        if a.field != b.field || !a.single || !b.single {
            return false;
        }
        let equal = match self.predicates.equality([i, j]) {
            Literal::Of(p, negated) => state.and_then(|s| s.get(p)).map(|v| v != negated),
            Literal::Known(v) => Some(v),
            _ => None,
        };
        equal == Some(false)
    }

    fn begin(&self) -> Result<Vec<State>, TooMuch> {
        let start = State { at: [0, 0], held: [0, 0], known: 0, value: 0 };
        let mut all = vec![];
        for state in self.settle(0, vec![(0, start, None)])? {
            all.extend(self.settle(1, vec![(0, state, None)])?);
        }
        Ok(all)
    }

    /// The states after the next action of a side; none if it cannot move.
    fn steps(&self, state: &State, side: usize) -> Result<Vec<State>, TooMuch> {
        let n = state.at[side];
        if n == GONE {
            return Ok(vec![]);
        }
        let block = self.sides[side].blocks[n];
        let after = self.execute(state, side, n);
        let ends = matches!(self.sides[side].method.nodes[n].action, Action::Release { .. });
        let inside = block.filter(|_| !ends);
        self.settle(side, after.into_iter().map(|(m, s)| (m, s, inside)).collect())
    }

    /// Goes on to where the side's next step is one that others can see.
    fn settle(
        &self,
        side: usize,
        mut work: Vec<(usize, State, Option<usize>)>,
    ) -> Result<Vec<State>, TooMuch> {
        let this = &self.sides[side];
        let mut seen: HashSet<(usize, State, Option<usize>)> = HashSet::new();
        let mut all = Vec::new();
        while let Some((n, mut state, inside)) = work.pop() {
            state.at[side] = n;
            if n == GONE {
                self.disturb(&mut state);
                all.push(state);
                continue;
            }
            state.forget(!this.live[n][0]);
            if !seen.insert((n, state, inside)) {
                continue;
            }
            if seen.len() > OUTCOMES {
                return Err(TooMuch);
            }
            if !this.is_silent(n, inside) {
                self.disturb(&mut state);
                all.push(state);
                continue;
            }
            if inside.is_none() && this.circles[n] {
                let mut for_ever = state;
                for_ever.at[side] = GONE;
                self.disturb(&mut for_ever);
                all.push(for_ever);
            }
            let ends = matches!(this.method.nodes[n].action, Action::Release { .. });
            let next = self.execute(&state, side, n);
            work.extend(next.into_iter().map(|(m, s)| (m, s, inside.filter(|_| !ends))));
        }
        Ok(all)
    }

    /// The environment takes away what it could change.
    fn disturb(&self, state: &mut State) {
        for havoc in &self.havoc {
            let locked = |guards: &Vec<(usize, usize)>| {
                guards.iter().any(|&(side, lock)| state.hold(side, lock) != Hold::None)
            };
            let safe = havoc.guards.iter().all(locked);
            if !safe && (havoc.stays.is_none() || state.get(havoc.predicate) != havoc.stays) {
                state.forget(1 << havoc.predicate);
            }
        }
    }

    /// What the node of a side does.
    fn execute(&self, state: &State, side: usize, n: usize) -> Vec<(usize, State)> {
        let node = &self.sides[side].method.nodes[n];
        let ways = &self.sides[side].next[n];
        let [updates, if_taken] = &self.sides[side].updates[n];
        match &node.action {
            Action::Return => vec![],
            Action::Branch(_) => self.branch(state, side, n),
            Action::Acquire { lock, mode } => match self.take(state, side, lock, Hold::of(*mode)) {
                Some(taken) => ways.iter().map(|&m| (m, taken)).collect(),
                None => vec![],
            },
            Action::TryAcquire { lock, mode, .. } => {
                let mut all = self.apply(state, side, n, updates);
                if let Some(taken) = self.take(state, side, lock, Hold::of(*mode)) {
                    all.extend(self.apply(&taken, side, n, if_taken));
                }
                all
            }
            Action::Release { lock } => {
                let mut given = *state;
                self.give(&mut given, side, lock);
                ways.iter().map(|&m| (m, given)).collect()
            }
            _ => self.apply(state, side, n, updates),
        }
    }

    fn branch(&self, state: &State, side: usize, n: usize) -> Vec<(usize, State)> {
        let next = &self.sides[side].next[n];
        let mut all = Vec::new();
        for (way, &m) in next.iter().enumerate() {
            let holds = way == 0;
            match self.sides[side].branch[n] {
                Literal::Known(value) if value == holds => all.push((m, *state)),
                Literal::Of(p, negated) => {
                    let mut after = *state;
                    if self.learn(&mut after, p, holds != negated) {
                        all.push((m, after));
                    }
                }
                Literal::Unknown => all.push((m, *state)),
                _ => {}
            }
        }
        all
    }

    fn take(&self, state: &State, side: usize, lock: &Object, how: Hold) -> Option<State> {
        let Some(number) = self.sides[side].lock(lock) else { return Some(*state) };
        let others = &self.same_locks[side][number];
        let free = others.iter().all(|&other| how.goes_with(state.hold(1 - side, other)))
            && how.goes_with(state.hold(side, number));
        let mut taken = *state;
        taken.set_hold(side, number, how);
        free.then_some(taken)
    }

    fn give(&self, state: &mut State, side: usize, lock: &Object) {
        let number = self.sides[side].lock(lock);
        if let Some(number) = number.filter(|&l| state.hold(side, l) != Hold::None) {
            state.set_hold(side, number, Hold::None);
            return;
        }
        for (other, known) in self.sides[side].locks.iter().enumerate() {
            let same = alias(self.pair.component, self.pair.scenario, (side, lock), (side, known));
            if same != Alias::Never {
                state.set_hold(side, other, Hold::None);
            }
        }
    }

    /// The states after a node with these updates.
    fn apply(&self, state: &State, side: usize, n: usize, updates: &Updates) -> Vec<(usize, State)> {
        let live = self.sides[side].live[n][1];
        let mut before = vec![*state];
        for (i, (p, literal)) in updates.iter().enumerate() {
            // A predicate that nobody asks for any more, and that has no other copy, need not be decided now.
            let copied = |q: usize| {
                live >> q & 1 == 1 && !updates.iter().any(|(p, _)| *p == q)
                    || updates[..i]
                        .iter()
                        .chain(&updates[i + 1..])
                        .any(|(p, l)| live >> p & 1 == 1 && matches!(l, Literal::Of(other, _) if *other == q))
            };
            if let Literal::Of(q, _) = literal
                && live >> p & 1 == 1
                && copied(*q)
            {
                let split = |s: State| {
                    let both = if s.get(*q).is_some() { vec![None] } else { vec![Some(true), Some(false)] };
                    both.into_iter().filter_map(move |v| {
                        let mut s = s;
                        v.is_none_or(|v| self.learn(&mut s, *q, v)).then_some(s)
                    })
                };
                before = before.into_iter().flat_map(split).collect();
            }
        }
        let after: Vec<State> = before.iter().filter_map(|s| self.updated(s, live, updates)).collect();
        let next = &self.sides[side].next[n];
        next.iter().flat_map(|&m| after.iter().map(move |s| (m, *s))).collect()
    }

    fn updated(&self, before: &State, live: u64, updates: &Updates) -> Option<State> {
        let mut after = *before;
        updates.iter().for_each(|(p, _)| after.forget(1 << p));
        for (p, literal) in updates.iter().filter(|(p, _)| live >> p & 1 == 1) {
            let value = match literal {
                Literal::Known(value) => Some(*value),
                Literal::Of(q, negated) => before.get(*q).map(|v| v != *negated),
                Literal::Still(value) => before.get(*p).filter(|v| v == value),
                Literal::Unknown => None,
            };
            if let Some(value) = value
                && !self.learn(&mut after, *p, value)
            {
                return None;
            }
        }
        Some(after)
    }

    /// Adds what is known; false if that contradicts what is known already.
    fn learn(&self, state: &mut State, p: usize, value: bool) -> bool {
        let (yes, no) = self.predicates.implied[p][usize::from(value)];
        let (yes, no) = if value { (yes | 1 << p, no) } else { (yes, no | 1 << p) };
        let wrong = state.known & ((yes & !state.value) | (no & state.value));
        state.known |= yes | no;
        state.value = (state.value | yes) & !no;
        wrong == 0
    }
}

/// The value of a predicate that no write can change.
fn stays(facts: &ComponentFacts, predicate: &Predicate) -> Option<bool> {
    let global = [predicate.left, predicate.right].into_iter().find_map(|v| match v {
        Var::Global(_, object) => Some(object),
        _ => None,
    })?;
    match facts.fields[global.field].writes {
        Writes::Constant(c) => with_value(predicate, c),
        Writes::Grow => growing(predicate),
        Writes::None | Writes::Any => None,
    }
}

impl State {
    fn get(&self, p: usize) -> Option<bool> {
        (self.known >> p & 1 == 1).then_some(self.value >> p & 1 == 1)
    }

    fn forget(&mut self, which: u64) {
        self.known &= !which;
        self.value &= !which;
    }

    fn hold(&self, side: usize, lock: usize) -> Hold {
        match self.held[side] >> (2 * lock) & 3 {
            0 => Hold::None,
            1 => Hold::Shared,
            _ => Hold::Exclusive,
        }
    }

    fn set_hold(&mut self, side: usize, lock: usize, hold: Hold) {
        self.held[side] = self.held[side] & !(3 << (2 * lock)) | (hold as u64) << (2 * lock);
    }
}
