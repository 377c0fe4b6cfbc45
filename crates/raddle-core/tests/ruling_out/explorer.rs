//! All executions of two methods beside a third thread, with values: what location pairs they cover.
//!
//! This is the program as it runs, not as the analysis abstracts it. Nothing is shared with the analysis but the program
//! itself and the list of atomic blocks, which the measuring side would be given, too.

use super::programs::{Dice, FIELDS, LOCALS, LOCKS};
use raddle_core::location_pairs::ruling_out::*;
use raddle_core::location_pairs::{Block, Location, Place, Target};
use raddle_core::{LockMode, MethodId, SiteId};
use std::collections::{BTreeSet, HashSet};

/// Objects that exist.
const OBJECTS: usize = 2;
/// Values are below this.
const VALUES: u8 = 3;
const CELLS: usize = OBJECTS * FIELDS * VALUES as usize;

/// What an action did: cell, whether it read, and what it left there; 255 stands for a state that differs from thread to thread.
type Effect = (usize, bool, Option<u8>);

#[derive(Clone, PartialEq, Eq, Hash)]
struct Thread {
    method: usize,
    node: usize,
    locals: [u8; LOCALS],
    running: bool,
    /// Inside an atomic block: what was done so far.
    block: Option<Vec<Effect>>,
}

#[derive(Clone, PartialEq, Eq, Hash)]
struct World {
    cells: [u8; CELLS],
    /// By object and lock: 0, or 1 + the thread that has it, or 16 + a bit for each thread that shares it.
    locks: [u8; OBJECTS * LOCKS.len()],
    threads: [Thread; 3],
    /// The last action of one of the two methods: side, location, effects.
    last: Option<(usize, SiteId, Vec<Effect>)>,
    /// Calls the third thread may still make.
    calls: u8,
}

/// An exploration.
pub struct Explorer<'a> {
    component: &'a Component,
    methods: [usize; 2],
    pub blocks: &'a [Block],
    pub covered: BTreeSet<Target>,
    /// Whether nothing was left out.
    pub complete: bool,
}

impl<'a> Explorer<'a> {
    pub fn new(component: &'a Component, methods: [usize; 2], blocks: &'a [Block]) -> Self {
        Explorer { component, methods, blocks, covered: BTreeSet::new(), complete: true }
    }

    /// Explores up to so many states.
    pub fn run(&mut self, most: usize, dice: &mut Dice) {
        let mut work = self.beginnings();
        let mut seen: HashSet<World> = work.iter().cloned().collect();
        while !work.is_empty() {
            // In no particular order, so that a limit cuts off nothing in particular.
            let at = work.len() - 1 - dice.below(work.len().min(64));
            let world = work.swap_remove(at);
            // To set a local commutes with whatever others do, so it need not wait for them.
            let assigns = |t: &usize| {
                let Thread { method, node, running, .. } = &world.threads[*t];
                *running
                    && matches!(self.component.methods[*method].nodes[*node].action, Action::Assign { .. })
            };
            let threads = (0..3).find(assigns).map_or(0..3, |t| t..t + 1);
            for thread in threads {
                for next in self.steps(&world, thread) {
                    if seen.len() >= most {
                        self.complete = false;
                        return;
                    }
                    if seen.insert(next.clone()) {
                        work.push(next);
                    }
                }
            }
        }
    }

    fn beginnings(&self) -> Vec<World> {
        let idle = Thread { method: 0, node: 0, locals: [0; LOCALS], running: false, block: None };
        let mut all = Vec::new();
        for choice in 0..32u8 {
            let bit = |i: u8| choice >> i & 1;
            let mut cells = [0; CELLS];
            for object in 0..OBJECTS {
                cells[self.cell(object, 0, 0)] = bit(3);
                cells[self.cell(object, 1, 0)] = bit(4);
            }
            let side = |method, objects: [u8; 2]| {
                let mut locals = [0; LOCALS];
                locals[..2].copy_from_slice(&objects);
                Thread { method, node: 0, locals, running: true, block: None }
            };
            let threads =
                [side(self.methods[0], [0, bit(0)]), side(self.methods[1], [bit(1), bit(2)]), idle.clone()];
            let world = World { cells, locks: [0; 4], threads, last: None, calls: 1 };
            if (0..2).all(|t| !self.intrudes(&world, t)) {
                all.push(world);
            }
        }
        all
    }

    /// Whether a thread has, or has exclusively, what another has to itself.
    fn intrudes(&self, world: &World, thread: usize) -> bool {
        let exclusive = |t: &Thread| self.component.methods[t.method].exclusive.then_some(t.locals[0]);
        let me = &world.threads[thread];
        (0..3).filter(|&t| t != thread && world.threads[t].running).any(|t| {
            let other = &world.threads[t];
            exclusive(me).is_some_and(|o| other.locals[..2].contains(&o))
                || exclusive(other).is_some_and(|o| me.locals[..2].contains(&o))
        })
    }

    fn cell(&self, object: usize, field: usize, element: usize) -> usize {
        // Field 3 is field 1 under another name.
        let field = if field == 3 { 1 } else { field };
        (object * FIELDS + field) * VALUES as usize + element
    }

    fn steps(&mut self, world: &World, thread: usize) -> Vec<World> {
        if !world.threads[thread].running {
            return self.calls(world, thread);
        }
        let me = &world.threads[thread];
        let node = &self.component.methods[me.method].nodes[me.node];
        let mut all = Vec::new();
        for (mut next, effect, way) in self.execute(world, thread, &node.action) {
            if matches!(node.action, Action::Return) {
                next.threads[thread].running = false;
                next.threads[thread].node = 0;
                if thread < 2 {
                    // The pair is over when either ends.
                    continue;
                }
                all.push(next);
                continue;
            }
            self.note(&mut next, thread, node, effect);
            let ways = match way {
                Some(way) => &node.next[way..=way],
                None => &node.next[..],
            };
            for &m in ways {
                let mut one = next.clone();
                one.threads[thread].node = m;
                all.push(one);
            }
        }
        all
    }

    /// The third thread begins a call.
    fn calls(&self, world: &World, thread: usize) -> Vec<World> {
        let mut all = Vec::new();
        if thread < 2 || world.calls == 0 {
            return all;
        }
        for method in 0..self.component.methods.len() {
            for objects in 0..4u8 {
                let mut next = world.clone();
                let mut locals = [0; LOCALS];
                (locals[0], locals[1]) = (objects & 1, objects >> 1);
                next.threads[thread] = Thread { method, node: 0, locals, running: true, block: None };
                next.calls -= 1;
                if !self.intrudes(&next, thread) {
                    all.push(next);
                }
            }
        }
        all
    }

    /// Adds an action to the machine of the two methods.
    fn note(&mut self, world: &mut World, thread: usize, node: &Node, effect: Option<Effect>) {
        let Some(effect) = effect.filter(|_| thread < 2) else { return };
        let me = &mut world.threads[thread];
        if let Some(done) = &mut me.block {
            done.push(effect);
            if !matches!(node.action, Action::Release { .. }) {
                return;
            }
            let done = me.block.take().unwrap_or_default();
            return self.complete(world, thread, node.site, done);
        }
        if self.blocks.iter().any(|b| b.begin == node.site) {
            me.block = Some(vec![]);
        }
        self.complete(world, thread, node.site, vec![effect]);
    }

    fn complete(&mut self, world: &mut World, side: usize, site: SiteId, done: Vec<Effect>) {
        if let Some((other, before, effects)) = &world.last
            && *other != side
            && effects.iter().any(|a| done.iter().any(|b| conflict(a, b)))
        {
            let place = |side: usize, site| {
                let method = MethodId(self.methods[side] as u32);
                Place { method, at: Location::At(site) }
            };
            self.covered.insert(Target { first: place(*other, *before), second: place(side, site) });
        }
        world.last = Some((side, site, done));
    }

    fn term(&self, thread: &Thread, term: Term) -> u8 {
        match term {
            Term::Const(c) => c as u8,
            Term::Local(local) => thread.locals[local],
        }
    }

    fn test(&self, thread: &Thread, test: &Test) -> bool {
        let (a, b) = (self.term(thread, test.left), self.term(thread, test.right));
        match test.by {
            Comparison::Equal => a == b,
            Comparison::Unequal => a != b,
            Comparison::Less => a < b,
            Comparison::NotLess => a >= b,
        }
    }

    fn values(&self, thread: &Thread, value: &Value) -> Vec<u8> {
        match value {
            Value::Term(term) => vec![self.term(thread, *term)],
            Value::Test(test) => vec![u8::from(self.test(thread, test))],
            Value::Unknown => vec![0, 1],
        }
    }

    fn objects(&self, thread: &Thread, base: Base) -> Vec<usize> {
        match base {
            Base::Local(local) => vec![thread.locals[local] as usize],
            Base::Static | Base::Any => (0..OBJECTS).collect(),
        }
    }

    fn cells(&self, thread: &Thread, object: &Object) -> Vec<usize> {
        let elements = match object.index {
            _ if !object.single => vec![0, 1],
            Some(term) => vec![self.term(thread, term) as usize],
            None => vec![0],
        };
        let base = if object.owned { object.base } else { Base::Any };
        let objects = self.objects(thread, base);
        let all = objects.iter().flat_map(|&o| elements.iter().map(move |&e| (o, e)));
        all.map(|(o, e)| self.cell(o, object.field, e)).collect()
    }

    /// The worlds after an action, with what it did and, of a branch, which way it goes.
    fn execute(
        &self,
        world: &World,
        t: usize,
        action: &Action,
    ) -> Vec<(World, Option<Effect>, Option<usize>)> {
        let me = &world.threads[t];
        let set = |mut w: World, local: Option<usize>, value: u8| {
            if let Some(local) = local {
                w.threads[t].locals[local] = value;
            }
            w
        };
        match action {
            Action::Return | Action::Choose => vec![(world.clone(), None, None)],
            Action::Assign { local, value } => {
                let values = self.values(me, value).into_iter();
                values.map(|v| (set(world.clone(), Some(*local), v), None, None)).collect()
            }
            Action::Branch(test) => {
                vec![(world.clone(), None, Some(usize::from(!self.test(me, test))))]
            }
            Action::Signal(object) => {
                let cells = self.cells(me, object).into_iter();
                cells.map(|c| (world.clone(), Some((c, true, Some(255))), None)).collect()
            }
            Action::Acquire { .. } | Action::TryAcquire { .. } | Action::Release { .. } => {
                self.synchronise(world, t, action)
            }
            Action::Read { object, into } => {
                let read =
                    |c: usize| (set(world.clone(), *into, world.cells[c]), Some((c, true, None)), None);
                self.cells(me, object).into_iter().map(read).collect()
            }
            Action::Write { object, value } => {
                let mut all = Vec::new();
                for c in self.cells(me, object) {
                    for v in self.values(me, value) {
                        let mut next = world.clone();
                        next.cells[c] = v;
                        all.push((next, Some((c, false, Some(v))), None));
                    }
                }
                all
            }
            Action::Update { object, into, change } => {
                let mut all = Vec::new();
                for c in self.cells(me, object) {
                    let old = world.cells[c];
                    let new = match change {
                        Change::Grows => vec![(old + 1).min(VALUES - 1)],
                        Change::To(c) => vec![old, *c as u8],
                        Change::Any => vec![0, 1],
                    };
                    for v in new {
                        let mut next = set(world.clone(), *into, old);
                        next.cells[c] = v;
                        all.push((next, Some((c, true, Some(v))), None));
                    }
                }
                all
            }
        }
    }

    fn synchronise(
        &self,
        world: &World,
        t: usize,
        action: &Action,
    ) -> Vec<(World, Option<Effect>, Option<usize>)> {
        let Some(lock) = action.object() else { return vec![] };
        let me = &world.threads[t];
        let mut all = Vec::new();
        for object in self.objects(me, lock.base) {
            let Some(number) = LOCKS.iter().position(|&l| l == lock.field) else { continue };
            let number = object * LOCKS.len() + number;
            let cell = self.cell(object, lock.field, 0);
            let now = world.locks[number];
            let mut next = world.clone();
            let exclusive = |mode: &LockMode| *mode == LockMode::Exclusive;
            match action {
                Action::Acquire { mode, .. } => {
                    if let Some(taken) = take(now, t, exclusive(mode)) {
                        next.locks[number] = taken;
                        all.push((next, Some((cell, true, exclusive(mode).then_some(255))), None));
                    }
                }
                Action::TryAcquire { mode, into, .. } => {
                    let taken = take(now, t, exclusive(mode));
                    let written = taken.filter(|_| exclusive(mode)).map(|_| 255);
                    next.locks[number] = taken.unwrap_or(now);
                    if let Some(into) = into {
                        next.threads[t].locals[*into] = u8::from(taken.is_some());
                    }
                    all.push((next, Some((cell, true, written)), None));
                }
                _ => {
                    let (given, was_exclusive) = give(now, t);
                    next.locks[number] = given;
                    // To give back what one does not have is no action.
                    let effect = (given != now).then_some((cell, true, was_exclusive.then_some(255)));
                    all.push((next, effect, None));
                }
            }
        }
        all
    }
}

fn take(now: u8, thread: usize, exclusive: bool) -> Option<u8> {
    match (now, exclusive) {
        (0, true) => Some(1 + thread as u8),
        (0, false) => Some(16 | 1 << thread),
        (shared, false) if shared >= 16 => Some(shared | 1 << thread),
        _ => None,
    }
}

fn give(now: u8, thread: usize) -> (u8, bool) {
    if now == 1 + thread as u8 {
        return (0, true);
    }
    if now >= 16 && now >> thread & 1 == 1 {
        let left = now & !(1 << thread);
        return (if left == 16 { 0 } else { left }, false);
    }
    (now, false)
}

fn conflict(a: &Effect, b: &Effect) -> bool {
    a.0 == b.0
        && match (a.2, b.2) {
            (None, None) => false,
            (Some(_), None) => b.1,
            (None, Some(_)) => a.1,
            (Some(x), Some(y)) => a.1 || b.1 || x != y || x == 255,
        }
}
