//! Building tests: a constructor and a prefix, handles for the threads, suffixes.

use super::call::{Rules, Sequence};
use super::shop::{Shop, receiver};
use super::tries::{Fault, NeverReturned, Tries};
use super::values::one_of;
use crate::edit;
use crate::harness::{Domain, Harness, Pass, Role, Sharing, ThunkId, TypeId};
use crate::protocol::{Executor, ExecutorError};
use crate::test::{Step, Test};
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64Mcg;
use std::collections::BTreeMap;
use std::rc::Rc;

/// Attempts at a call before it is left out (ConTeGe's number).
const TRIES: usize = 10;
/// Failures of a call that never worked, by weight, after which it is rarely tried again.
const HOPELESS: u64 = 50;
/// Steps of a sequence at most, calls that make arguments included (CovCon's code).
const LONGEST: usize = 10;
/// How often a call of the prefix may be repeated: around powers of two, where segments end and tables grow.
pub(super) const REPEATS: [u32; 12] = [2, 3, 4, 7, 8, 9, 16, 31, 32, 33, 63, 64];

/// Builds tests of one harness; the seed decides them.
#[derive(Clone, Debug)]
pub struct Builder {
    /// What there is to call.
    pub shop: Rc<Shop>,
    /// For everything that is drawn.
    pub rng: Pcg64Mcg,
    /// Methods that half of the calls of a prefix are taken from, if there are any.
    pub favoured: Vec<ThunkId>,
    /// Methods that tests should end with rather than with others, if they can be called for their result alone.
    pub observers: Vec<ThunkId>,
    /// Every prefix makes two objects under test; otherwise half of them do, if some call takes two.
    pub two_objects: bool,
    /// What sequential runs have shown.
    pub tries: Tries,
    /// How often each thunk worked and failed when it was tried.
    record: BTreeMap<ThunkId, (u64, u64)>,
    seed: u64,
}

/// A test before its suffixes are built.
#[derive(Clone, Debug)]
pub struct Draft {
    setup: Sequence,
    give: Vec<(u32, u32)>,
    rules: Rules,
    suffixes: Vec<Vec<Step>>,
    /// One suffix has a call that blocks when it is alone.
    blocks: bool,
}

impl Builder {
    /// A builder for a harness.
    pub fn new(harness: &Harness, seed: u64) -> Self {
        Builder {
            shop: Rc::new(Shop::new(harness)),
            rng: Pcg64Mcg::seed_from_u64(seed),
            favoured: Vec::new(),
            observers: Vec::new(),
            two_objects: false,
            tries: Tries::default(),
            record: BTreeMap::new(),
            seed,
        }
    }

    /// From here on everything is drawn anew, whatever was drawn before: what becomes of one test does not decide
    /// the next.
    pub fn begin(&mut self, number: u64) {
        self.rng = Pcg64Mcg::seed_from_u64(self.seed ^ number.wrapping_mul(0x9E37_79B9_7F4A_7C15));
    }

    /// The seed.
    pub fn seed(&self) -> u64 {
        self.seed
    }

    /// A constructor and at most `calls` calls; `None` when no constructor works.
    pub fn prefix(
        &mut self,
        exec: &mut dyn Executor,
        calls: usize,
    ) -> Result<Option<Sequence>, ExecutorError> {
        let Some(mut prefix) = self.construct(exec)? else { return Ok(None) };
        if self.two_objects || self.shop.pairs_objects && self.rng.random_bool(0.5) {
            self.second_object(exec, &mut prefix)?;
        }
        let n = if calls == 0 { 0 } else { self.rng.random_range(1..=calls) };
        let mut tries = 0;
        let mut made = 0;
        while made < n && tries < TRIES * n {
            tries += 1;
            let mut longer = prefix.clone();
            let added = match self.rng.random_ratio(1, 16) {
                true => self.fill_and_empty(&mut longer),
                false => self.prefix_call(&mut longer),
            };
            if added && self.works(exec, &longer)? {
                prefix = longer;
                made += 1;
            }
        }
        Ok(Some(prefix))
    }

    /// Methods and constructors that never returned when nothing ran beside them.
    pub fn never_returned(&self) -> Vec<NeverReturned> {
        let all = self.shop.constructors.iter().chain(&self.shop.methods);
        self.tries.never_returned(all.map(|t| self.shop.thunk(*t)))
    }

    fn construct(&mut self, exec: &mut dyn Executor) -> Result<Option<Sequence>, ExecutorError> {
        if self.shop.constructors.is_empty() {
            return Ok(None);
        }
        for _ in 0..TRIES {
            let constructor = one_of(&mut self.rng, &self.shop.constructors);
            let mut sequence = Sequence::default();
            let rules = setup_rules();
            if !sequence.call(&mut self.rng, &self.shop, &rules, constructor) {
                continue;
            }
            if self.works(exec, &sequence)? {
                return Ok(Some(sequence));
            }
        }
        Ok(None)
    }

    /// Another object of the same type beside the first, for calls that take two.
    fn second_object(&mut self, exec: &mut dyn Executor, prefix: &mut Sequence) -> Result<(), ExecutorError> {
        let types: Vec<TypeId> = prefix.scope.slots().filter(|(_, s)| s.primary).map(|(_, s)| s.ty).collect();
        let makes = |c: &ThunkId| self.shop.thunk(*c).output.slots.iter().any(|ty| types.contains(ty));
        let makers: Vec<ThunkId> = self.shop.constructors.iter().copied().filter(makes).collect();
        for _ in 0..TRIES.min(3 * makers.len()) {
            let maker = one_of(&mut self.rng, &makers);
            let mut longer = prefix.clone();
            if longer.call(&mut self.rng, &self.shop, &setup_rules(), maker) && self.works(exec, &longer)? {
                // The test is about both, so the prefix may use up neither.
                longer.scope.add_primary(prefix.scope.len(), &types);
                *prefix = longer;
                break;
            }
        }
        Ok(())
    }

    /// The first step of the setup that fails on its own.
    pub(super) fn first_fault(
        &mut self,
        exec: &mut dyn Executor,
        test: &Test,
    ) -> Result<Option<usize>, ExecutorError> {
        let fault = self.tries.first_fault(exec, self.seed, test)?;
        Ok(fault.filter(|(_, fault)| *fault != Fault::Long).map(|(step, _)| step))
    }

    pub(super) fn works(&mut self, exec: &mut dyn Executor, setup: &Sequence) -> Result<bool, ExecutorError> {
        let test = Test { setup: setup.steps.clone(), ..Test::default() };
        let fault = self.tries.first_fault(exec, self.seed, &test)?;
        if let Some((step, fault)) = fault
            && let Some(step) = setup.steps.get(step)
        {
            self.record.entry(step.thunk).or_default().1 += fault.weight();
        }
        Ok(fault.is_none())
    }

    pub(super) fn prefix_call(&mut self, to: &mut Sequence) -> bool {
        if self.shop.methods.is_empty() {
            return false;
        }
        let any = self.favoured.is_empty() || self.rng.random_bool(0.5);
        let method = one_of(&mut self.rng, if any { &self.shop.methods } else { &self.favoured });
        if !self.promising(method) || !to.call(&mut self.rng, &self.shop, &setup_rules(), method) {
            return false;
        }
        if self.rng.random_ratio(1, 8) && self.repeatable(method) {
            to.steps.last_mut().expect("just added").repeat = one_of(&mut self.rng, &REPEATS);
        }
        while self.rng.random_bool(0.5) && to.follow_up(&mut self.rng, &self.shop, &setup_rules()) {}
        true
    }

    /// One call many times, another as often or less, the first again.
    fn fill_and_empty(&mut self, to: &mut Sequence) -> bool {
        let repeatable: Vec<ThunkId> =
            self.shop.methods.iter().copied().filter(|m| self.repeatable(*m)).collect();
        if repeatable.is_empty() {
            return false;
        }
        let fill = one_of(&mut self.rng, &repeatable);
        let empty = one_of(&mut self.rng, &repeatable);
        let n = one_of(&mut self.rng, &REPEATS);
        let again = self.rng.random_range(1..=n);
        [(fill, n), (empty, n), (fill, again)].into_iter().all(|(thunk, n)| {
            let added = to.call(&mut self.rng, &self.shop, &setup_rules(), thunk);
            if added {
                to.steps.last_mut().expect("just added").repeat = n;
            }
            added
        })
    }

    /// A call that uses up no slot and fills none.
    pub(super) fn repeatable(&self, id: ThunkId) -> bool {
        let thunk = self.shop.thunk(id);
        let keeps = |d: &Domain| super::shop::slots_of(d).iter().all(|(_, pass)| *pass != Pass::Move);
        thunk.role == Role::Method && thunk.output.slots.is_empty() && thunk.params.iter().all(keeps)
    }

    /// What has failed often and never worked is tried only now and then.
    fn promising(&mut self, thunk: ThunkId) -> bool {
        let (worked, failed) = self.record.get(&thunk).copied().unwrap_or_default();
        worked > 0 || failed < HOPELESS || self.rng.random_ratio(1, 16)
    }

    /// Gives every suffix its handles. `wants` has the calls that each is meant to make.
    pub fn equip(&mut self, prefix: &Sequence, wants: &[Vec<ThunkId>]) -> Draft {
        let mut draft = Draft {
            setup: prefix.clone(),
            give: Vec::new(),
            rules: Rules { longest: LONGEST, ..Rules::default() },
            suffixes: Vec::new(),
            blocks: false,
        };
        let subjects: Vec<(u32, TypeId)> = prefix
            .scope
            .slots()
            .filter(|(_, s)| s.primary && self.shop.harness.type_info(s.ty).subject)
            .map(|(i, s)| (i, s.ty))
            .collect();
        let alone = subjects.iter().all(|(_, ty)| *ty == subjects[0].1);
        for (slot, ty) in subjects {
            if prefix.scope.may(slot, Pass::Move) {
                self.hand_out(&mut draft, slot, ty, wants, alone);
            } else if prefix.scope.may(slot, Pass::Shared) && self.shop.clone_of(ty).is_some() {
                let all: Vec<usize> = (0..wants.len()).collect();
                self.give_clones(&mut draft, slot, ty, &all);
            }
        }
        self.hand_out_further(&mut draft, prefix, wants);
        draft
    }

    /// Handles under test that a call of the prefix has made, as a reader is made by its bus, belong to threads like those of
    /// the constructor: what only one thread may have is of use to nobody before.
    fn hand_out_further(&mut self, draft: &mut Draft, prefix: &Sequence, wants: &[Vec<ThunkId>]) {
        let further: Vec<(u32, TypeId)> = prefix
            .scope
            .slots()
            .filter(|(i, s)| !s.primary && prefix.scope.may(*i, Pass::Move))
            .map(|(i, s)| (i, s.ty))
            .collect();
        for (slot, ty) in further {
            let may_own = self.shop.harness.type_info(ty).subject && self.shop.sharing(ty) != Sharing::Local;
            let (users, owners) = (self.wanting(ty, wants, false), self.wanting(ty, wants, true));
            let among = if self.shop.sharing(ty) == Sharing::Owned { users } else { owners };
            if may_own && !among.is_empty() {
                draft.give.push((slot, one_of(&mut self.rng, &among) as u32));
            }
        }
    }

    /// The suffixes that are meant to call a method of the type; if `owning`, one that needs an object of one's own.
    fn wanting(&self, ty: TypeId, wants: &[Vec<ThunkId>], owning: bool) -> Vec<usize> {
        let takes = |thunk: &ThunkId| {
            receiver(self.shop.thunk(*thunk))
                .is_some_and(|(t, pass)| t == ty && (!owning || pass != Pass::Shared))
        };
        (0..wants.len()).filter(|i| wants[*i].iter().any(takes)).collect()
    }

    fn hand_out(&mut self, draft: &mut Draft, slot: u32, ty: TypeId, wants: &[Vec<ThunkId>], alone: bool) {
        let (users, owners) = (self.wanting(ty, wants, false), self.wanting(ty, wants, true));
        let cloneable = self.shop.clone_of(ty).is_some();
        match self.shop.sharing(ty) {
            Sharing::Local => {}
            Sharing::Owned => {
                let all: Vec<usize> = (0..wants.len()).collect();
                let owner = one_of(&mut self.rng, if users.is_empty() { &all } else { &users });
                draft.give.push((slot, owner as u32));
                if cloneable {
                    let others: Vec<usize> = all.into_iter().filter(|i| *i != owner).collect();
                    self.give_clones(draft, slot, ty, &others);
                }
            }
            Sharing::Shared if cloneable => {
                let coin: Vec<usize> =
                    (0..wants.len()).filter(|i| owners.contains(i) || self.rng.random_bool(0.5)).collect();
                // An original that stays behind outlives all threads: nobody would ever drop the last handle. One that is given
                // away cannot be looked at in the end.
                let away = !coin.is_empty() && self.rng.random_ratio(1, 4);
                let keeper = away.then(|| one_of(&mut self.rng, &coin));
                let needs = |i: &usize| coin.contains(i) || keeper.is_some() && users.contains(i);
                let clones: Vec<usize> =
                    (0..wants.len()).filter(|i| Some(*i) != keeper && needs(i)).collect();
                self.give_clones(draft, slot, ty, &clones);
                draft.give.extend(keeper.map(|keeper| (slot, keeper as u32)));
            }
            Sharing::Shared => {
                // A handle that only its owner can use fully; the others keep the other handles.
                if !alone && !owners.is_empty() && (users == owners || self.rng.random_bool(0.5)) {
                    draft.give.push((slot, one_of(&mut self.rng, &owners) as u32));
                }
            }
        }
    }

    fn give_clones(&mut self, draft: &mut Draft, slot: u32, ty: TypeId, to: &[usize]) {
        let Some(thunk) = self.shop.clone_of(ty) else { return };
        for suffix in to {
            let made = draft.setup.scope.len() as u32;
            let step = Step::new(thunk, vec![crate::Value::Slot(slot)]);
            draft.setup.scope.called(&self.shop, &step, true);
            draft.setup.steps.push(step);
            draft.give.push((made, *suffix as u32));
        }
    }

    /// Adds a suffix of at most `length` calls, each as `pick` says, given how many there are
    /// already. Calls that fail when they are alone are tried again with other arguments, then left out.
    /// Returns the calls that it makes.
    pub fn suffix(
        &mut self,
        exec: &mut dyn Executor,
        draft: &mut Draft,
        length: usize,
        pick: &mut dyn FnMut(&mut Pcg64Mcg, usize) -> ThunkId,
    ) -> Result<Vec<ThunkId>, ExecutorError> {
        let me = draft.suffixes.len();
        draft.rules.suffix = Some(me);
        let scope = draft.setup.scope.for_suffix(&self.shop, &draft.give, me as u32);
        // What stands before each call, and the call.
        let mut made: Vec<(Sequence, ThunkId)> = Vec::new();
        let mut now = Sequence { steps: Vec::new(), scope };
        // How often the call at each place was tried.
        let mut tries = vec![0; length + 1];
        let mut blocked: Option<(Sequence, Vec<ThunkId>)> = None;
        loop {
            while made.len() < length && tries[made.len()] < TRIES {
                let thunk = pick(&mut self.rng, made.len());
                let before = now.clone();
                if self.promising(thunk) && now.call(&mut self.rng, &self.shop, &draft.rules, thunk) {
                    made.push((before, thunk));
                    while self.rng.random_bool(0.5) && now.follow_up(&mut self.rng, &self.shop, &draft.rules)
                    {
                    }
                } else {
                    tries[made.len()] += 1;
                }
            }
            if now.steps.is_empty() {
                break;
            }
            let Some((step, fault)) = self.tries.first_fault(exec, self.seed, &draft.alone(&now.steps))?
            else {
                break;
            };
            let call = made.iter().rposition(|(before, _)| before.steps.len() <= step).unwrap_or(0);
            self.record.entry(made[call].1).or_default().1 += fault.weight();
            if fault == Fault::Blocked && !draft.blocks {
                let mut sequence = now.clone();
                sequence.steps.truncate(step + 1);
                blocked = Some((sequence, made[..=call].iter().map(|(_, t)| *t).collect()));
            }
            tries[call] += 1;
            now = made[call].0.clone();
            made.truncate(call);
        }
        let mut calls: Vec<ThunkId> = made.iter().map(|(_, t)| *t).collect();
        if let Some((sequence, with)) = blocked.filter(|_| calls.len() < length) {
            (now, calls) = (sequence, with);
            draft.blocks = true;
        }
        for thunk in &calls {
            self.record.entry(*thunk).or_default().0 += 1;
        }
        draft.rules.claim(&self.shop, &now.steps);
        draft.suffixes.push(now.steps);
        Ok(calls)
    }
}

fn setup_rules() -> Rules {
    Rules { longest: usize::MAX, ..Rules::default() }
}

impl Draft {
    /// The last suffix, if nothing ran beside it.
    fn alone(&self, steps: &[Step]) -> Test {
        let me = self.suffixes.len() as u32;
        let mine = self.give.iter().filter(|(_, owner)| *owner == me);
        Test {
            setup: self.setup.steps.clone(),
            give: mine.map(|(slot, _)| (*slot, 0)).collect(),
            suffixes: vec![steps.to_vec()],
            finally: Vec::new(),
        }
    }

    /// No call puts in more than one item, or so it is hoped; what is left over is only not looked at.
    pub(super) fn most_items(&self) -> u32 {
        let calls = self.suffixes.iter().map(|s| s.len() as u32).sum::<u32>();
        calls + self.setup.steps.iter().map(|s| s.repeat).sum::<u32>()
    }

    /// The calls of all suffixes.
    pub fn calls(&self) -> impl Iterator<Item = ThunkId> + '_ {
        self.suffixes.iter().flatten().map(|step| step.thunk)
    }

    /// The setup so far.
    pub fn setup(&self) -> &Sequence {
        &self.setup
    }

    /// Slots that suffixes own.
    pub fn give(&self) -> &[(u32, u32)] {
        &self.give
    }

    /// The test, without suffixes that do nothing; `None` when nothing concurrent is left.
    pub fn finish(self, finally: Vec<Step>) -> Option<Test> {
        edit::tidy(Test { setup: self.setup.steps, give: self.give, suffixes: self.suffixes, finally })
    }
}
