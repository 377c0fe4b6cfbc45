//! Adaptive randomised search: what ARS and HARS share.
//!
//! The search grows *subtraces*, prefixes of executions. One that was reached is expanded by every enabled
//! thread's pending step; all these extensions go into a queue, and the queue's best element is taken next.
//! The best is the one whose memory-access patterns are farthest from those of the passed traces: the distance
//! is the least number, over the passed traces, of patterns of the subtrace that the trace lacks. HARS breaks
//! ties by three heuristics, ARS by chance.
//!
//! The authors' model checker restores the state of any subtrace. We extend the live execution as long as the
//! best subtrace continues it; a jump to another one abandons the execution and starts a new one that
//! follows the recorded choices. A subtrace is a path of choices in a tree of those visited, which also knows
//! what has been explored completely.
//!
//! Where the papers and the published code disagree the code is the default, see [`AdaptiveConfig`]. Deviations
//! of our own: an extension is judged by its pending step alone, since what the thread does after it, up to the
//! next decision, is not known before it ran; an end is noticed when a subtrace has been taken and ran to its end,
//! not when it enters the queue; a failing trace counts as explored but not as passed, so that the search can go
//! on; when new scheduling points were learned the tree is dropped, but not the passed traces.

mod passed;

use super::tree::{Edge, Tree};
use super::{Choice, Finished, View};
use crate::event::{Event, SiteId, ThreadId, VarId};
use crate::outcome::Outcome;
use crate::pattern::{CutConfig, CutMatcher, Instance, PatternRange};
use crate::trace::NameId;
use passed::{Bits, Passed};
use rand::seq::SliceRandom;
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64Mcg;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// So many degrees are kept for evaluations.
const DEGREES: usize = 50;

/// The variants of the search.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct AdaptiveConfig {
    /// How many subtraces the queue keeps, the papers' N.
    pub queue: usize,
    /// Which patterns make up the distance; the code uses 1 to 8, the papers describe 17.
    pub patterns: PatternRange,
    /// Repeated accesses are dropped before patterns and heuristics are computed.
    pub drop_repeated: bool,
    /// Ties are broken by thread switches, writes and shared variables, whichever tells the first two
    /// apart best (HARS).
    pub heuristics: bool,
    /// Subtraces below which everything was explored leave the queue.
    pub prune: bool,
    /// After a passed trace go on with the queue until it is empty, and only then learn from the traces passed
    /// (Algorithm 2 of the HARS paper). Otherwise the queue is emptied and the search starts again at once.
    pub drain: bool,
    /// Keep N subtraces besides the chosen one (Algorithm 2), not including it.
    pub keep_besides: bool,
    /// The first, random execution counts as explored (the worked example of the HARS paper).
    pub enter_first: bool,
    /// Among equals prefer a subtrace that continues the live execution, where the authors let chance decide:
    /// their model checker goes back to a state at no cost, we have to execute its prefix again.
    pub stay: bool,
    /// Among equals prefer a subtrace that the fewest traces begin with, before any heuristic is asked.
    ///
    /// The heuristics do not depend on what has been tried. Once the distances are 0, as they are when the passed
    /// traces have seen most patterns, they send every descent down the same path and pruning moves the search
    /// forward only at its very end, one leaf at a time. The authors notice less of it because their model checker executes every
    /// extension of every subtrace it takes and sees all that fail, where we see one.
    pub spread: bool,
    /// A descent that ended in a trace without a single new pattern is followed by a random execution, like the first
    /// one. Distances are to single traces, so the search can go on for ever to combine known patterns in new ways.
    pub walk: bool,
}

impl AdaptiveConfig {
    /// As the published HARS code has it, with the paper's queue of 4, but spread and with walks.
    pub const HARS: Self = AdaptiveConfig {
        queue: 4,
        patterns: PatternRange::OneVariable,
        drop_repeated: true,
        heuristics: true,
        prune: true,
        drain: false,
        keep_besides: false,
        enter_first: false,
        stay: false,
        spread: true,
        walk: true,
    };

    /// As the published HARS code has its baseline, but without pruning, which the paper claims as new.
    pub const ARS: Self = AdaptiveConfig {
        queue: 5,
        heuristics: false,
        prune: false,
        spread: false,
        walk: false,
        ..Self::HARS
    };

    /// Applies words separated by commas: a number for the queue, `p8` or `p17`, `repeats`, `prune` or
    /// `no-prune`, `drain`, `besides`, `first`, `stay`, `spread`, `walk` or
    /// `no-walk`, `published` (neither of the last two).
    pub fn with(mut self, words: &str) -> Option<Self> {
        for word in words.split(',') {
            match word {
                "p8" => self.patterns = PatternRange::OneVariable,
                "p17" => self.patterns = PatternRange::All,
                "repeats" => self.drop_repeated = false,
                "prune" => self.prune = true,
                "no-prune" => self.prune = false,
                "drain" => self.drain = true,
                "besides" => self.keep_besides = true,
                "first" => self.enter_first = true,
                "stay" => self.stay = true,
                "spread" => self.spread = true,
                "walk" => self.walk = true,
                "no-walk" => self.walk = false,
                "published" => (self.spread, self.walk) = (false, false),
                n => self.queue = n.parse().ok().filter(|&n| n > 0)?,
            }
        }
        Some(self)
    }
}

/// How the last subtrace was chosen.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Selection {
    /// Its distance.
    pub distance: u32,
    /// How many in the queue had this distance.
    pub tied: usize,
    /// The distinguishable degree of the heuristic that was used, as a fraction; 1/1 without one
    /// or when it does not tell the first two apart.
    pub degree: (u32, u32),
}

/// The search behind ARS and HARS.
#[derive(Debug)]
pub struct Adaptive {
    config: AdaptiveConfig,
    rng: Pcg64Mcg,
    passed: Passed,
    /// Patterns of the traces passed since the queue was last empty; only when draining.
    undrained: Vec<Bits>,
    /// The number of each instance in [`Bits`].
    numbers: BTreeMap<Instance, u32>,
    tree: Tree,
    queue: Vec<Subtrace>,
    /// Choices that lead to the subtrace to be extended, last one first.
    follow: Vec<ThreadId>,
    /// What is known about the subtrace without its last choice, when there are choices to follow.
    resume: Option<Arc<Known>>,
    /// The random execution at the start.
    first: bool,
    /// The patterns of all passed traces.
    seen: Bits,
    /// The last descent found none that was new.
    stale: bool,
    /// A random execution is under way.
    walking: bool,
    live: Live,
    completed: u64,
    executions: u64,
    selection: Option<Selection>,
    /// Of the first choices.
    degrees: Vec<f64>,
}

/// An element of the queue.
#[derive(Clone, Debug)]
struct Subtrace {
    edge: Edge,
    distance: u32,
    /// Thread switches, write accesses, shared variables.
    heuristics: [u32; 3],
    /// What was known at the last choice.
    from: Arc<Known>,
}

/// The execution under way.
#[derive(Debug)]
struct Live {
    /// Shared with the subtraces in the queue that begin like it.
    known: Arc<Known>,
    switches: u32,
    last: Option<ThreadId>,
    /// The last choice, if the tree knows the execution.
    edge: Option<Edge>,
    decided: bool,
    /// It did not go where it went before; chance decides the rest.
    lost: bool,
}

/// What the events of an execution amount to.
#[derive(Clone, Debug)]
struct Known {
    matcher: CutMatcher,
    patterns: Bits,
    /// By passed trace: how many of `patterns` it lacks. No trace passes while this is in use: the queue is
    /// empty when the search learns of one.
    missing: Vec<u32>,
    /// Events accounted for.
    seen: usize,
    writes: BTreeSet<(ThreadId, SiteId, VarId)>,
    /// With repeated accesses all writes count.
    write_count: u32,
    variables: BTreeSet<VarId>,
}

impl Adaptive {
    /// From a seed.
    pub fn new(seed: u64, config: AdaptiveConfig) -> Self {
        Adaptive {
            config,
            rng: Pcg64Mcg::seed_from_u64(seed),
            passed: Passed::default(),
            undrained: Vec::new(),
            numbers: BTreeMap::new(),
            tree: Tree::default(),
            queue: Vec::new(),
            follow: Vec::new(),
            resume: None,
            first: true,
            seen: Bits::default(),
            stale: false,
            walking: false,
            live: Live::new(config, &Passed::default()),
            completed: 0,
            executions: 0,
            selection: None,
            degrees: Vec::new(),
        }
    }

    /// Executions that ran to their end: the papers' P when the last one failed.
    pub fn completed(&self) -> u64 {
        self.completed
    }

    /// Executions begun, those included that were given up for another subtrace.
    pub fn executions(&self) -> u64 {
        self.executions
    }

    /// How the last subtrace was chosen.
    pub fn selection(&self) -> Option<Selection> {
        self.selection
    }

    /// The distinguishable degrees of the first 50 choices, as the paper measures them for its RQ1: how much the
    /// distance or, where it ties and there are heuristics, the best heuristic sets the first subtrace apart from the
    /// second; 1 when it does not, 0 when there is no second.
    pub fn degrees(&self) -> Vec<f64> {
        self.degrees.clone()
    }

    /// The patterns of the last execution.
    #[cfg(test)]
    pub(super) fn known_patterns(&self) -> BTreeSet<Instance> {
        let has = |n: u32| self.live.known.patterns.contains(n);
        self.numbers.iter().filter(|(_, n)| has(**n)).map(|(i, _)| *i).collect()
    }

    #[cfg(test)]
    pub(super) fn walking(&self) -> bool {
        self.walking
    }

    pub(super) fn begin(&mut self) -> bool {
        self.walking = false;
        if self.follow.is_empty() && !self.first {
            if self.tree.is_explored() {
                return false;
            }
            self.walking = self.config.walk && std::mem::take(&mut self.stale) && self.queue.is_empty();
        }
        if self.follow.is_empty() && !self.first && !self.walking {
            match self.select(None) {
                Some(next) => self.head_for(next),
                None => {
                    for patterns in self.undrained.drain(..) {
                        self.passed.insert(patterns);
                    }
                    if !self.config.prune {
                        self.tree.clear();
                    }
                }
            }
        }
        self.live = Live::new(self.config, &self.passed);
        if let Some(known) = self.resume.take() {
            self.live.known = known;
        }
        self.executions += 1;
        true
    }

    pub(super) fn choose(&mut self, view: &View<'_>) -> Choice {
        self.live.decided = true;
        if self.live.lost || self.walking || self.first && !self.config.enter_first {
            return self.any(view);
        }
        let Some(node) = self.tree.enter(self.live.edge, view.enabled) else {
            self.lose();
            return self.any(view);
        };
        if let Some(thread) = self.follow.pop() {
            return match view.enabled.iter().position(|e| e.thread == thread) {
                Some(i) => self.run(Edge { node, slot: i as u32 }, view),
                None => {
                    self.lose();
                    self.any(view)
                }
            };
        }
        if self.first {
            let slot = self.rng.random_range(0..view.enabled.len()) as u32;
            return self.run(Edge { node, slot }, view);
        }
        self.catch_up(view.events, view.vars);
        self.expand(node, view);
        match self.select(Some(node)) {
            Some(next) if next.edge.node == node => self.run(next.edge, view),
            Some(next) => {
                self.head_for(next);
                Choice::Abandon
            }
            None => {
                self.lose();
                self.any(view)
            }
        }
    }

    pub(super) fn end(&mut self, run: &Finished<'_>) {
        if *run.outcome != Outcome::Abandoned {
            if !self.follow.is_empty() {
                // It ended before it came to where it had been.
                self.lose();
            }
            self.completed += 1;
            if *run.outcome == Outcome::Passed {
                self.catch_up(&run.trace.events, &run.trace.vars);
                let patterns = self.live.known.patterns.clone();
                self.stale = !self.walking && !self.first && patterns.without(&self.seen) == 0;
                self.seen.extend(&patterns);
                if self.config.drain && !self.first {
                    self.undrained.push(patterns);
                } else {
                    self.passed.insert(patterns);
                }
            }
            if let Some(edge) = self.live.edge.filter(|_| self.config.spread && !self.live.lost) {
                self.tree.visit(edge);
            }
            match self.live.edge {
                Some(edge) if self.config.prune && !self.live.lost => {
                    let closed = self.tree.close(edge);
                    let open = |s: &Subtrace| !closed.contains(&s.edge.node) && !self.tree.is_closed(s.edge);
                    self.queue.retain(open);
                    self.tree.recycle(closed);
                }
                None if !self.live.decided => self.tree.close_root(),
                _ => {}
            }
            self.first = false;
            if !self.config.drain {
                self.queue.clear();
                if !self.config.prune && self.live.decided {
                    self.tree.clear();
                }
            }
        }
        if run.learned || self.live.lost {
            self.tree.clear();
            self.queue.clear();
            self.follow.clear();
            self.resume = None;
        }
    }

    /// The next execution is to extend this subtrace.
    fn head_for(&mut self, next: Subtrace) {
        self.follow = self.tree.path(next.edge);
        self.resume = Some(next.from);
    }

    /// The execution does not go where it went before, so nothing is known about it.
    fn lose(&mut self) {
        self.live.lost = true;
        self.live.known = Arc::new(Known::new(self.config, &self.passed));
    }

    fn any(&mut self, view: &View<'_>) -> Choice {
        Choice::Run(self.rng.random_range(0..view.enabled.len()))
    }

    fn run(&mut self, edge: Edge, view: &View<'_>) -> Choice {
        let thread = view.enabled[edge.slot as usize].thread;
        let live = &mut self.live;
        live.switches += u32::from(live.last.is_some_and(|t| t != thread));
        live.last = Some(thread);
        live.edge = Some(edge);
        Choice::Run(edge.slot as usize)
    }

    /// Accounts for the events that have happened.
    fn catch_up(&mut self, events: &[Event], vars: &[NameId]) {
        let known = Arc::make_mut(&mut self.live.known);
        let mut instances = Vec::new();
        for e in &events[known.seen..] {
            let Some(access) = e.access() else { continue };
            instances.clear();
            if known.matcher.advance(e, vars, &mut instances) {
                known.patterns.clear();
                known.missing.fill(0);
            }
            for i in &instances {
                let n = number(&mut self.numbers, i);
                if known.patterns.insert(n) {
                    self.passed.count_missing(n, &mut known.missing);
                }
            }
            known.variables.insert(access.var);
            if e.is_write() {
                known.writes.insert((e.thread, e.site, access.var));
                known.write_count += 1;
            }
        }
        known.seen = events.len();
    }

    /// Puts every extension of the live subtrace into the queue.
    fn expand(&mut self, node: u32, view: &View<'_>) {
        let drop_repeated = self.config.drop_repeated;
        let live = &self.live;
        let known = &live.known;
        let (mut instances, mut new) = (Vec::new(), Vec::new());
        for (slot, e) in view.enabled.iter().enumerate() {
            let edge = Edge { node, slot: slot as u32 };
            if self.config.prune && self.tree.is_closed(edge) {
                continue;
            }
            let mut writes = if drop_repeated { known.writes.len() as u32 } else { known.write_count };
            let mut variables = known.variables.len() as u32;
            new.clear();
            let mut replaced = None;
            if let Some(access) = e.access() {
                let again = drop_repeated && known.writes.contains(&(e.thread, e.site, access.var));
                writes += u32::from(e.is_write() && !again);
                variables += u32::from(!known.variables.contains(&access.var));
                instances.clear();
                let replaces = known.matcher.foresee(e, view.vars, &mut instances);
                let numbers = instances.iter().map(|i| number(&mut self.numbers, i));
                if replaces {
                    replaced = Some(numbers.collect::<Bits>());
                } else {
                    new.extend(numbers.filter(|&n| !known.patterns.contains(n)));
                    new.sort_unstable();
                    new.dedup();
                }
            }
            let distance = match &replaced {
                Some(patterns) => self.passed.distance(patterns),
                None => self.passed.distance_with(&known.patterns, &known.missing, &new),
            };
            let switches = live.switches + u32::from(live.last.is_some_and(|t| t != e.thread));
            let heuristics = [switches, writes, variables];
            self.queue.push(Subtrace { edge, distance, heuristics, from: known.clone() });
        }
    }

    /// Takes the most promising subtrace out of the queue. The live execution, if there is one, is at a decision.
    fn select(&mut self, live: Option<u32>) -> Option<Subtrace> {
        self.queue.shuffle(&mut self.rng);
        let live = live.filter(|_| self.config.stay);
        let visits = |s: &Subtrace| if self.config.spread { self.tree.visits(s.edge) } else { 0 };
        let key = |s: &Subtrace| (std::cmp::Reverse(s.distance), visits(s), Some(s.edge.node) != live);
        self.queue.sort_by_cached_key(key);
        let first = self.queue.first()?;
        let (distance, begun) = (first.distance, visits(first));
        let equal = |s: &&Subtrace| s.distance == distance && visits(s) == begun;
        let tied = self.queue.iter().take_while(equal).count();
        let mut degree = (1, 1);
        let second = self.queue.get(1).map(|s| s.distance);
        if self.config.heuristics && tied > 1 {
            let (head, best) = self.most_distinguished(tied);
            self.queue[..=head].rotate_right(1);
            degree = best;
        }
        if !self.config.keep_besides {
            self.queue.truncate(self.config.queue);
        }
        let chosen = self.queue.remove(0);
        self.queue.truncate(self.config.queue);
        self.selection = Some(Selection { distance, tied, degree });
        if self.degrees.len() < DEGREES {
            self.degrees.push(match second {
                None => 0.0,
                Some(d) if d < distance => f64::from(1 + distance) / f64::from(1 + d),
                Some(_) => f64::from(degree.0) / f64::from(degree.1),
            });
        }
        Some(chosen)
    }

    /// Of the first subtraces, which tie, the one that a heuristic ranks first; of the heuristics the one with
    /// the largest degree (1 + v1)/(1 + v2) of its first two values, or a random one of those.
    fn most_distinguished(&mut self, tied: usize) -> (usize, (u32, u32)) {
        let mut best: Vec<(usize, (u32, u32))> = Vec::with_capacity(3);
        for h in 0..3 {
            let (mut head, mut v1, mut v2) = (0, None, None);
            for (i, s) in self.queue[..tied].iter().enumerate() {
                let v = Some(s.heuristics[h]);
                if v > v1 {
                    (head, v1, v2) = (i, v, v1);
                } else if v > v2 {
                    v2 = v;
                }
            }
            let degree = if v1 == v2 { (1, 1) } else { (1 + v1.unwrap_or(0), 1 + v2.unwrap_or(0)) };
            let order = best.first().map_or(std::cmp::Ordering::Greater, |(_, (n, d))| {
                (u64::from(degree.0) * u64::from(*d)).cmp(&(u64::from(*n) * u64::from(degree.1)))
            });
            match order {
                std::cmp::Ordering::Greater => best = vec![(head, degree)],
                std::cmp::Ordering::Equal => best.push((head, degree)),
                std::cmp::Ordering::Less => {}
            }
        }
        best[self.rng.random_range(0..best.len())]
    }
}

impl Live {
    fn new(config: AdaptiveConfig, passed: &Passed) -> Self {
        let known = Arc::new(Known::new(config, passed));
        Live { known, switches: 0, last: None, edge: None, decided: false, lost: false }
    }
}

impl Known {
    fn new(config: AdaptiveConfig, passed: &Passed) -> Self {
        let cut = CutConfig { patterns: config.patterns, drop_repeated: config.drop_repeated };
        Known {
            matcher: CutMatcher::new(cut),
            patterns: Bits::default(),
            missing: vec![0; passed.len()],
            seen: 0,
            writes: BTreeSet::new(),
            write_count: 0,
            variables: BTreeSet::new(),
        }
    }
}

fn number(numbers: &mut BTreeMap<Instance, u32>, instance: &Instance) -> u32 {
    let next = numbers.len() as u32;
    *numbers.entry(*instance).or_insert(next)
}
