//! Tests and schedules for patterns that have not occurred.

use super::builder::NeverReturned;
use super::builder::values::one_of;
use super::builder::{Builder, Draft, Sequence};
use super::covcon::CovCon;
use super::known::Known;
use super::pairs::PairCoverage;
use super::patterns::{PatternCoverage, Point};
use super::plan::{Generator, Options, Plan};
use super::rehearse::{self, Rehearsals, Rehearses};
use crate::harness::{Harness, ThunkId};
use crate::protocol::{Executor, ExecutorError, RunReply};
use crate::search::{BoundedSearch, Search};
use raddle_core::coverage::method_pairs::{MethodPair, score};
use raddle_core::event::MethodId;
use raddle_core::pattern::{CATALOGUE, Instance, PATTERNS, Pattern, PatternId, Which, Who};
use raddle_core::{NameId, SiteId};
use rand::RngExt;
use rand_pcg::Pcg64Mcg;
use std::collections::BTreeMap;
use std::rc::Rc;

/// One test in so many is CovCon's.
const CYCLE: u64 = 8;
/// Draws of an instance before it is said that none is open.
const DRAWS: usize = 60;
/// After so many runs in vain an instance is taken for impossible, as long as others are left.
const IN_VAIN: u32 = 3;
/// How schedules that follow no instance are searched instead of by a random walk: POS needs fewer executions for most
/// bugs, see the table of the 45 programs.
const UNGUIDED: &str = "pos";
/// The share of tests for pairs of methods among those that are not CovCon's; the others are for open instances.
const PAIRS: f64 = 0.8;
/// The share of tests for pairs of methods after the first [`FIRST`] tests.
const PAIRS_LATER: f64 = 0.3;
/// The first tests are small, since those are judged and understood more easily; from then on a test can be for several open
/// instances at once.
const FIRST: u64 = 40;
/// After so many tests they can be for twice as many.
const LARGER: u64 = 400;
/// How many open instances a test is for, at most.
const AT_ONCE: usize = 4;
/// Calls that a suffix has for them, about: the orders in which calls can come have to be looked at when a test is judged.
const CALLS: usize = 4;
/// How much two methods promise that each take a second object: threads can use two objects crosswise, and lock them so.
const CROSSWISE: u64 = 12_800;
/// Prefixes that showed something new and are used again.
const KEPT: usize = 24;
/// How many of those are changed a little before.
const MUTATED: f64 = 0.5;
/// How bug-prone the patterns are to begin with: in MAPTest's evaluation (Fig. 4) the third triggers more than half
/// of the bugs, and those on two variables few.
const PRIOR: [u64; PATTERNS] = [6, 6, 10, 8, 5, 5, 8, 4, 1, 1, 1, 1, 1, 1, 1, 1, 1];

/// MAPTest's generator (Algorithm 2). An instance of a memory-access pattern that has not occurred is chosen, and for
/// each of its steps a method that makes it (Algorithm 4); the methods of `a`'s steps make one suffix and those of
/// `b`'s the other. The test is run once for each of the open instances that its methods allow, scheduled
/// towards it by the strategy `pattern`.
///
/// Departures. Methods are given to suffixes by the letter of the step, not in turn, because otherwise the patterns
/// a-b-b-a are out of reach. Instances are made of accesses that were seen, since only those can be steered to. What a
/// static analysis knows ([`Known`]) says which two methods allow patterns at all: pairs of methods are tried in
/// proportion to that, in most of the first tests, after prefixes of methods that write what these contest. Tests end with
/// methods that look at what their calls write. Later a test is made for several open instances at once. Without a static analysis
/// the first tests are CovCon's, until every method has run. One test in eight is always CovCon's, to meet what
/// nobody knows. Where one method makes all steps of a thread, it is usually called once. An instance that was run for in
/// vain a few times is left alone as long as there are others. Patterns that broke something weigh more from then on.
/// Prefixes that led to an instance, or to a magnitude of a variable, that had not been seen are used again, often with another
/// argument, call or number of repetitions. Some schedules of every test follow no instance.
#[derive(Clone, Debug)]
pub struct MapTest {
    /// Shared with copies that rehearse, as long as they make no test of its.
    covcon: Rc<CovCon>,
    builder: Builder,
    options: Options,
    /// The strategy of schedules that follow no instance, and how many schedules a test has in all.
    unguided: BoundedSearch,
    /// How many of them follow instances, at most.
    guided: usize,
    /// Methods at random instead of CovCon's ranking: the paper's ablation.
    at_random: bool,
    /// Shared with copies that rehearse, which only read it.
    patterns: Rc<PatternCoverage>,
    weights: [u64; PATTERNS],
    in_vain: Rc<BTreeMap<Instance, u32>>,
    kept: Rc<Vec<Sequence>>,
    /// Pairs of methods that can disturb each other: how promising they are, and how often they were tried.
    promising: Vec<(ThunkId, ThunkId, u64, u64)>,
    /// What a static analysis says about the methods.
    known: Rc<Known>,
    rehearsals: Rehearsals,
    /// The prefix and the targets of plans that have not come back.
    pending: Vec<(String, Sequence)>,
    made: u64,
}

impl MapTest {
    /// A generator for a harness.
    pub fn new(harness: &Harness, seed: u64, options: Options, at_random: bool) -> Self {
        // Of the schedules of a test, three in five follow instances; the others find what no one looks for.
        let mut unguided = options.runs.first().cloned().unwrap_or(Search::random().most(20));
        if unguided.search.is_random() {
            unguided.search = UNGUIDED.into();
        }
        let guided = unguided.executions as usize * 3 / 5;
        let learning = Options { runs: vec![unguided.clone()], ..options.clone() };
        let covcon = CovCon::new(harness, seed, learning);
        let mut builder = Builder::new(harness, seed.wrapping_add(1));
        builder.tries.remember_with(covcon.tries());
        MapTest {
            covcon: Rc::new(covcon),
            builder,
            options,
            unguided,
            guided,
            at_random,
            patterns: Rc::default(),
            weights: PRIOR,
            in_vain: Rc::default(),
            kept: Rc::default(),
            promising: Vec::new(),
            known: Rc::default(),
            rehearsals: Rehearsals::default(),
            pending: Vec::new(),
            made: 0,
        }
    }

    /// Whether every method that can run at all has been part of a test.
    fn learned(&self) -> bool {
        let pairs = self.covcon.coverage().counts.pairs();
        let mut tried: BTreeMap<MethodId, bool> = BTreeMap::new();
        for (pair, counts) in pairs {
            let (a, b) = pair.methods();
            for m in [a, b] {
                *tried.entry(m).or_default() |= counts.tried > 0;
            }
        }
        tried.values().all(|t| *t)
    }

    /// Whether it knows enough to make tests of its own.
    fn chases(&self) -> bool {
        !self.promising.is_empty() || self.learned()
    }

    fn is_open(&self, instance: &Instance) -> bool {
        !self.patterns.is_covered(instance) && self.in_vain.get(instance).is_none_or(|n| *n < IN_VAIN)
    }

    /// An open instance whose steps are among the given accesses of `a` and of `b`.
    fn draw(&mut self, by: [&Sites; 2]) -> Option<Instance> {
        let total: u64 = self.weights.iter().sum();
        for _ in 0..DRAWS {
            let mut at = self.builder.rng.random_range(0..total);
            let heavy = self.weights.iter().position(|w| {
                at < *w || {
                    at -= w;
                    false
                }
            });
            let pattern = &CATALOGUE[heavy.unwrap_or(0)];
            if let Some(i) = instance(&mut self.builder.rng, pattern, by).filter(|i| self.is_open(i)) {
                return Some(i);
            }
        }
        None
    }

    /// The calls for the steps of one letter.
    fn calls(&mut self, instance: &Instance, who: Who, others: &[ThunkId]) -> Vec<ThunkId> {
        let steps = instance.pattern().pattern().steps.iter().zip(instance.steps());
        let points: Vec<Point> = steps.filter(|(s, _)| s.who == who).map(|(_, p)| p).collect();
        let makers: Vec<Vec<ThunkId>> = points.iter().map(|p| self.patterns.methods(*p).collect()).collect();
        let Some(first) = makers.first() else { return Vec::new() };
        let all: Vec<ThunkId> =
            first.iter().copied().filter(|m| makers.iter().all(|others| others.contains(m))).collect();
        // One call cannot make steps in another order than its code has them.
        let failed = self.in_vain.contains_key(instance);
        if !all.is_empty() && (makers.len() == 1 || !failed && self.builder.rng.random_ratio(3, 4)) {
            return self.choose(&all, others).into_iter().collect();
        }
        makers.iter().filter_map(|m| self.choose(m, others)).collect()
    }

    /// One of the methods: the one that CovCon would rather see beside the others, or any.
    fn choose(&mut self, methods: &[ThunkId], others: &[ThunkId]) -> Option<ThunkId> {
        if methods.is_empty() {
            return None;
        }
        if self.at_random || others.is_empty() {
            return Some(one_of(&mut self.builder.rng, methods));
        }
        let counts = &self.covcon.coverage().counts;
        let rank = |m: &ThunkId| {
            let pairs = others.iter().map(|o| MethodPair::new(MethodId(m.0), MethodId(o.0)));
            pairs.filter_map(|p| counts.counts(p)).map(|c| score(c.tried, c.covered)).min()
        };
        let best = methods.iter().map(rank).min();
        let equals: Vec<ThunkId> = methods.iter().copied().filter(|m| Some(rank(m)) == best).collect();
        Some(one_of(&mut self.builder.rng, &equals))
    }

    fn prefix(&mut self, exec: &mut dyn Executor) -> Result<Option<Sequence>, ExecutorError> {
        let again = if self.builder.favoured.is_empty() { 0.5 } else { 0.25 };
        if !self.kept.is_empty() && !self.builder.two_objects && self.builder.rng.random_bool(again) {
            let which = self.builder.rng.random_range(0..self.kept.len());
            if self.builder.rng.random_bool(MUTATED) {
                return self.builder.mutated(exec, &self.kept[which]).map(Some);
            }
            return Ok(Some(self.kept[which].clone()));
        }
        // What feeds the methods gives them something to work on; otherwise half of the tests do without. So does the first one of
        // all: what is made on first use can only go wrong then.
        let none = if self.builder.favoured.is_empty() { 0.5 } else { 0.25 };
        let bare = self.made == 1 || self.builder.rng.random_bool(none);
        let calls = if bare { 0 } else { self.options.prefix };
        self.builder.prefix(exec, calls)
    }

    /// The most promising pair of methods, given how often each was tried.
    fn promising(&mut self) -> Option<(ThunkId, ThunkId)> {
        let better = |a: &(ThunkId, ThunkId, u64, u64), b: &(ThunkId, ThunkId, u64, u64)| {
            (a.2 * (1 + b.3)).cmp(&(b.2 * (1 + a.3)))
        };
        let best = *self.promising.iter().max_by(|a, b| better(a, b))?;
        let equals: Vec<usize> =
            (0..self.promising.len()).filter(|i| better(&self.promising[*i], &best).is_eq()).collect();
        let chosen = &mut self.promising[one_of(&mut self.builder.rng, &equals)];
        chosen.3 += 1;
        Some((chosen.0, chosen.1))
    }

    /// A test for two promising methods: one call each, the second more often, or both in turn as CovCon has them.
    fn plan_pair(&mut self, exec: &mut dyn Executor) -> Result<Option<Plan>, ExecutorError> {
        let Some((a, b)) = self.promising() else { return Ok(None) };
        let calls = match self.builder.rng.random_range(0..4) {
            0 => [vec![a], vec![b]],
            1 => [vec![a], vec![b, b]],
            2 => [vec![b, a], vec![b]],
            _ => [vec![a, b], vec![b, a]],
        };
        self.build(exec, vec![], calls)
    }

    /// A test for an open instance, later for several at once: what threads do for one goes with what they do for another, so
    /// that the instances of a test grow with the square of its calls and more.
    fn plan(&mut self, exec: &mut dyn Executor) -> Result<Option<Plan>, ExecutorError> {
        let everything = sites(self.patterns.all_points());
        let (at_once, enough) = if self.made <= LARGER { (AT_ONCE, CALLS) } else { (2 * AT_ONCE, 2 * CALLS) };
        let most = if self.made <= FIRST { 1 } else { self.builder.rng.random_range(1..=at_once) };
        let (mut targets, mut calls) = (vec![], [vec![], vec![]]);
        for _ in 0..most {
            let Some(target) = self.draw([&everything, &everything]) else { break };
            let a = self.calls(&target, Who::A, &calls[1]);
            let b = self.calls(&target, Who::B, &a);
            calls[0].extend(a);
            calls[1].extend(b);
            targets.push(target);
            if calls.iter().any(|c| c.len() >= enough) {
                break;
            }
        }
        if targets.is_empty() { Ok(None) } else { self.build(exec, targets, calls) }
    }

    /// A test in which the suffixes make these calls, with runs for the targets and for other open instances that the
    /// methods allow.
    fn build(
        &mut self,
        exec: &mut dyn Executor,
        mut targets: Vec<Instance>,
        [a, b]: [Vec<ThunkId>; 2],
    ) -> Result<Option<Plan>, ExecutorError> {
        let all = [a.as_slice(), b.as_slice()].concat();
        self.builder.favoured = self.known.feeders(&a, &b);
        self.builder.two_objects = all.iter().all(|m| self.builder.shop.takes_another(*m));
        let Some(prefix) = self.prefix(exec)? else { return Ok(None) };
        let mut wants = vec![a, b];
        for i in 2..self.options.suffixes.clamp(2, 4) {
            wants.push(wants[i % 2].clone());
        }
        let mut draft = self.builder.equip(&prefix, &wants);
        let calls = [self.suffix(exec, &mut draft, &wants[0])?, self.suffix(exec, &mut draft, &wants[1])?];
        if calls.iter().any(Vec::is_empty) {
            for target in targets {
                *Rc::make_mut(&mut self.in_vain).entry(target).or_default() += 1;
            }
            return Ok(None);
        }
        for more in &wants[2..] {
            self.suffix(exec, &mut draft, more)?;
        }
        let allowed = calls
            .map(|c| sites(c.iter().flat_map(|m| self.patterns.points(*m)).collect::<Vec<_>>().into_iter()));
        for _ in targets.len()..self.guided {
            let swap = self.builder.rng.random_bool(0.5);
            let by = if swap { [&allowed[1], &allowed[0]] } else { [&allowed[0], &allowed[1]] };
            match self.draw(by) {
                Some(i) if !targets.contains(&i) => targets.push(i),
                Some(_) => {}
                None => break,
            }
        }
        self.builder.observers = self.known.observers(&draft.calls().collect::<Vec<_>>());
        let finally = if self.options.checks { self.builder.checks(exec, &draft)? } else { Vec::new() };
        let mut runs: Vec<BoundedSearch> = targets.iter().map(|i| Search::Towards(*i).most(1)).collect();
        let BoundedSearch { search, executions } = &self.unguided;
        runs.push(search.clone().most(executions.saturating_sub(targets.len() as u64).max(1)));
        let Some(test) = draft.finish(finally) else { return Ok(None) };
        self.pending.push((crate::wire::encode(&test), prefix));
        Ok(Some(Plan { test, runs, pair: None }))
    }

    fn suffix(
        &mut self,
        exec: &mut dyn Executor,
        draft: &mut Draft,
        calls: &[ThunkId],
    ) -> Result<Vec<ThunkId>, ExecutorError> {
        if calls.is_empty() {
            return Ok(Vec::new());
        }
        // A call or two more bring instances along that nobody asked for, and sequential orders: not in most tests.
        let more = one_of(&mut self.builder.rng, &[0, 0, 0, 1, 2]);
        let any = self.builder.favoured.is_empty() || self.builder.rng.random_ratio(1, 4);
        let methods = if any { self.builder.shop.methods.clone() } else { self.builder.favoured.clone() };
        let mut turn =
            |rng: &mut Pcg64Mcg, i: usize| calls.get(i).copied().unwrap_or_else(|| one_of(rng, &methods));
        self.builder.suffix(exec, draft, calls.len() + more, &mut turn)
    }

    /// Whether something went wrong in an execution, at first sight.
    fn looks_broken(reply: &RunReply) -> bool {
        reply.distinct.iter().any(|e| !e.is_quiet())
    }
}

impl Rehearses for MapTest {
    fn parts(&mut self) -> (&mut Builder, &mut Rehearsals) {
        (&mut self.builder, &mut self.rehearsals)
    }
}

impl Generator for MapTest {
    fn next(&mut self, exec: &mut dyn Executor) -> Result<Option<Plan>, ExecutorError> {
        if let Some(plan) = self.rehearsals.ready.pop_front() {
            return Ok(Some(plan));
        }
        self.made += 1;
        if !self.made.is_multiple_of(CYCLE) && self.chases() {
            for _ in 0..DRAWS {
                let share = if self.made <= FIRST { PAIRS } else { PAIRS_LATER };
                let pair = !self.promising.is_empty() && self.builder.rng.random_bool(share);
                let plan = if pair { self.plan_pair(exec)? } else { self.plan(exec)? };
                if plan.is_some() {
                    return Ok(plan);
                }
            }
        }
        Rc::make_mut(&mut self.covcon).next(exec)
    }

    fn prepare(&mut self, tests: usize, exec: &mut dyn Executor) -> Result<(), ExecutorError> {
        // CovCon's tests ask for themselves.
        let own = (CYCLE - 1 - self.made % CYCLE) as usize;
        if own == 0 || !self.chases() {
            return Ok(());
        }
        rehearse::prepare(self, tests.min(own), exec)
    }

    fn feedback(&mut self, plan: &Plan, replies: &[RunReply]) {
        let new = Rc::make_mut(&mut self.patterns).tested(replies);
        for (run, reply) in plan.runs.iter().zip(replies) {
            let Some(target) = run.search.target() else { continue };
            if reply.executions > 0 && !self.patterns.is_covered(target) {
                *Rc::make_mut(&mut self.in_vain).entry(*target).or_default() += 1;
            }
            if Self::looks_broken(reply) {
                self.weights[target.pattern().index()] += 1;
            }
        }
        Rc::make_mut(&mut self.covcon).feedback(plan, replies);
        let text = crate::wire::encode(&plan.test);
        if let Some(i) = self.pending.iter().position(|(t, _)| *t == text) {
            let (_, prefix) = self.pending.swap_remove(i);
            if new > 0 || replies.iter().any(|r| r.values > 0) {
                let kept = Rc::make_mut(&mut self.kept);
                if kept.len() == KEPT {
                    kept.remove(0);
                }
                kept.push(prefix);
            }
        }
    }

    fn never_returned(&self) -> Vec<NeverReturned> {
        self.builder.never_returned()
    }

    fn coverage(&self) -> &PairCoverage {
        self.covcon.coverage()
    }

    fn patterns(&self) -> Option<&PatternCoverage> {
        Some(&self.patterns)
    }

    fn inform(&mut self, known: &Known) {
        if self.at_random || known.is_empty() {
            return;
        }
        let promises = known.promises();
        let shop = &self.builder.shop;
        for a in &shop.methods {
            for b in &shop.methods {
                let crosswise = if shop.takes_another(*a) && shop.takes_another(*b) { CROSSWISE } else { 0 };
                let weight = promises.get(&(*a, *b)).map_or(0, |p| p.weight()) + crosswise;
                if weight > 0 {
                    self.promising.push((*a, *b, weight, 0));
                }
            }
        }
        self.known = Rc::new(known.clone());
    }
}

/// The sites of each variable that are read and written.
type Sites = BTreeMap<NameId, [Vec<SiteId>; 2]>;

fn sites(points: impl Iterator<Item = Point>) -> Sites {
    let mut sites = Sites::new();
    for (kind, site, name) in points {
        let of = &mut sites.entry(name).or_default()[kind as usize];
        if !of.contains(&site) {
            of.push(site);
        }
    }
    sites
}

/// A random instance of a pattern whose steps are accesses that `a` and `b` make.
fn instance(rng: &mut Pcg64Mcg, pattern: &Pattern, by: [&Sites; 2]) -> Option<Instance> {
    let names: Vec<NameId> = by[0].keys().copied().filter(|n| by[1].contains_key(n)).collect();
    if names.is_empty() {
        return None;
    }
    let x = one_of(rng, &names);
    let y = one_of(rng, &names);
    if pattern.has_y() && x == y {
        return None;
    }
    let mut steps = Vec::with_capacity(pattern.steps.len());
    for step in pattern.steps {
        let name = if step.var == Which::X { x } else { y };
        let of = by[usize::from(step.who == Who::B)].get(&name)?;
        let sites = &of[step.kind as usize];
        if sites.is_empty() {
            return None;
        }
        steps.push(one_of(rng, sites));
    }
    let id: PatternId = pattern.id;
    Some(Instance::new(id, &steps, x, pattern.has_y().then_some(y)))
}
