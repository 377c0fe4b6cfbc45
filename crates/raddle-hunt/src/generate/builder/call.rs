//! Adding one call to a sequence, with everything that it needs.

use super::scope::Scope;
use super::shop::Shop;
use super::values::{Slots, draw, one_of};
use crate::harness::{Pass, Role, Sharing, ThunkId, TypeId};
use crate::test::Step;
use rand::RngExt;
use rand_pcg::Pcg64Mcg;
use std::collections::BTreeMap;

/// Calls that only make arguments for calls that only make arguments, and so on.
const DEPTH: u32 = 4;
/// Attempts at making one slot.
const ATTEMPTS: usize = 3;

/// A sequence of calls of one thread, under construction.
#[derive(Clone, Debug, Default)]
pub struct Sequence {
    /// The calls.
    pub steps: Vec<Step>,
    /// What is in the slots after them.
    pub scope: Scope,
}

/// Who may call what, besides ownership.
#[derive(Clone, Debug, Default)]
pub struct Rules {
    /// Which suffix calls the thunks of an exclusive group.
    pub groups: BTreeMap<String, usize>,
    /// The suffix being built; `None` for the setup, whose calls are alone and must leave something to test.
    pub suffix: Option<usize>,
    /// Most steps of a sequence.
    pub longest: usize,
}

struct Maker<'a> {
    shop: &'a Shop,
    rules: &'a Rules,
    sequence: &'a mut Sequence,
    depth: u32,
    /// What the call has been given so far.
    used: Vec<(u32, Pass)>,
    /// Nothing has been drawn yet: the slot asked for is the object whose method is called.
    receiver: bool,
}

impl Rules {
    fn allow(&self, shop: &Shop, thunk: ThunkId) -> bool {
        match (&shop.thunk(thunk).exclusive, self.suffix) {
            (Some(group), Some(me)) => self.groups.get(group).is_none_or(|other| *other == me),
            _ => true,
        }
    }

    /// The suffix being built has these calls: others may no longer make calls of the same groups.
    pub fn claim(&mut self, shop: &Shop, steps: &[Step]) {
        let Some(me) = self.suffix else { return };
        for step in steps {
            if let Some(group) = &shop.thunk(step.thunk).exclusive {
                self.groups.insert(group.clone(), me);
            }
        }
    }
}

impl Sequence {
    /// Adds a call of the thunk with drawn arguments, after the calls that make them. If that is impossible,
    /// nothing is added.
    pub fn call(&mut self, rng: &mut Pcg64Mcg, shop: &Shop, rules: &Rules, thunk: ThunkId) -> bool {
        let primary = self.steps.is_empty() && rules.suffix.is_none();
        self.call_at(rng, shop, rules, thunk, 0, primary).is_some()
    }

    /// The number of the first slot that the call fills.
    fn call_at(
        &mut self,
        rng: &mut Pcg64Mcg,
        shop: &Shop,
        rules: &Rules,
        thunk: ThunkId,
        depth: u32,
        primary: bool,
    ) -> Option<u32> {
        if !rules.allow(shop, thunk) {
            return None;
        }
        let before = self.clone();
        let mut maker = Maker { shop, rules, sequence: self, depth, used: Vec::new(), receiver: true };
        let mut args = Vec::new();
        for domain in &shop.thunk(thunk).params {
            let Some(value) = draw(rng, domain, &mut maker) else { break };
            maker.receiver = false;
            args.push(value);
        }
        if args.len() < shop.thunk(thunk).params.len() || self.steps.len() >= rules.longest {
            *self = before;
            return None;
        }
        let step = Step::new(thunk, args);
        let first = self.scope.len() as u32;
        self.scope.called(shop, &step, primary);
        self.steps.push(step);
        Some(first)
    }

    /// Does something with a slot that this thread made and still has: the next call of an iterator, the end of a
    /// guard.
    pub fn follow_up(&mut self, rng: &mut Pcg64Mcg, shop: &Shop, rules: &Rules) -> bool {
        let held: Vec<TypeId> = self.scope.own().map(|(_, s)| s.ty).collect();
        let thunks: Vec<ThunkId> = held.iter().flat_map(|ty| shop.follow_ups(*ty)).copied().collect();
        !thunks.is_empty() && {
            let thunk = one_of(rng, &thunks);
            self.call(rng, shop, rules, thunk)
        }
    }
}

impl Maker<'_> {
    /// Whether the call has been given the slot already.
    fn has(&self, slot: u32) -> bool {
        self.used.iter().any(|(used, _)| *used == slot)
    }

    fn reusable(&self, ty: TypeId, pass: Pass) -> Vec<u32> {
        let free = |slot: &u32| {
            let shared = |(s, p): &(u32, Pass)| s != slot || (*p == Pass::Shared && pass == Pass::Shared);
            self.used.iter().all(shared)
        };
        let keeps = |slot: &u32| {
            pass != Pass::Move || self.rules.suffix.is_some() || !self.sequence.scope.slot(*slot).primary
        };
        self.sequence.scope.usable(ty, pass).filter(free).filter(keeps).collect()
    }

    /// Prefers what the test is about, and what the call does not have yet. Where calls take two objects, all objects that
    /// threads share are what the test is about.
    fn choose(&self, rng: &mut Pcg64Mcg, slots: &[u32]) -> u32 {
        let scope = &self.sequence.scope;
        let primary = |s: &u32| scope.slot(*s).primary || self.shop.pairs_objects && scope.is_setup(*s);
        let primary: Vec<u32> = slots.iter().copied().filter(primary).collect();
        let from = if !primary.is_empty() && rng.random_ratio(7, 8) { &primary } else { slots };
        let others: Vec<u32> = from.iter().copied().filter(|s| !self.has(*s)).collect();
        if others.is_empty() || others.len() == from.len() || rng.random_ratio(1, 8) {
            return one_of(rng, from);
        }
        one_of(rng, &others)
    }

    fn make(&mut self, rng: &mut Pcg64Mcg, ty: TypeId, pass: Pass) -> Option<u32> {
        let shop = self.shop;
        let makers = if shop.makers(ty).is_empty() { shop.returners(ty) } else { shop.makers(ty) };
        if self.depth >= DEPTH || makers.is_empty() {
            return None;
        }
        let protected: Vec<(u32, Pass)> = self.used.clone();
        for _ in 0..ATTEMPTS {
            let maker = one_of(rng, makers);
            if shop.thunk(maker).role == Role::Drop {
                continue;
            }
            let before = self.sequence.clone();
            let made = self.sequence.call_at(rng, shop, self.rules, maker, self.depth + 1, false);
            let outputs = &shop.thunk(maker).output.slots;
            let at = outputs.iter().position(|t| *t == ty);
            if let (Some(first), Some(at)) = (made, at) {
                let slot = first + at as u32;
                let kept = protected.iter().all(|(s, p)| self.sequence.scope.may(*s, *p));
                if kept && self.sequence.scope.may(slot, pass) {
                    return Some(slot);
                }
            }
            *self.sequence = before;
        }
        None
    }
}

impl Slots for Maker<'_> {
    fn slot(&mut self, rng: &mut Pcg64Mcg, ty: TypeId, pass: Pass) -> Option<u32> {
        let receiver = std::mem::take(&mut self.receiver);
        let reusable = self.reusable(ty, pass);
        // An object of one's own is no object of a concurrent test, unless it is not one to share at all.
        let subject = self.shop.harness.type_info(ty).subject;
        let local = self.shop.sharing(ty) == Sharing::Local;
        // A second object that other threads see, too, is of more use than a new one.
        let shared = subject && reusable.iter().any(|s| !self.has(*s) && self.sequence.scope.is_setup(*s));
        let reuse = receiver && (subject || local) || rng.random_bool(if shared { 0.875 } else { 0.5 });
        let slot = match (reusable.is_empty(), reuse) {
            (false, true) => self.choose(rng, &reusable),
            (true, _) if receiver && subject => return None,
            (true, _) => self.make(rng, ty, pass)?,
            (false, false) => match self.make(rng, ty, pass) {
                Some(slot) => slot,
                None => self.choose(rng, &reusable),
            },
        };
        self.used.push((slot, pass));
        Some(slot)
    }
}
