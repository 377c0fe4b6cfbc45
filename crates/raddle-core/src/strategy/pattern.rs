//! One memory-access pattern on purpose.

use super::{Choice, Finished, Strategy, View};
use crate::event::{Event, SiteId, ThreadId, VarId};
use crate::pattern::{Instance, Which, Who, roles};
use crate::trace::NameId;
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64Mcg;
use std::collections::BTreeMap;

/// The scheduler of MAPTest: a step that continues the given instance of a memory-access pattern is run as
/// soon as its thread is about to take it; otherwise a random thread runs.
///
/// Deviations. A step that the instance needs later is held back as long as another one can run. All beginnings
/// of the instance that have occurred are kept, and the longest is continued first, so that an early one
/// that leads nowhere does no harm. And because the first thread to come by may be the wrong one, in every
/// execution but the first a thread may take either role of the pattern only if a coin says so.
#[derive(Debug)]
pub struct Pattern {
    rng: Pcg64Mcg,
    instance: Instance,
    /// Of what the steps of the instance can be made, if that is not just what it says.
    kin: Option<Kin>,
    /// The beginnings of the instance in the execution under way, without the empty one.
    partial: Vec<Partial>,
    /// Which threads may be `a` and `b`.
    roles: BTreeMap<ThreadId, [bool; 2]>,
    first: bool,
    /// Events accounted for.
    seen: usize,
    hits: u64,
}

/// What belongs to the sites and variables of an instance that speaks of the source, where instructions and words are many: each
/// place was compiled several times, each variable has several words.
#[derive(Clone, Debug)]
pub struct Kin {
    /// The sites of each step, and the names of x and y; ascending.
    sites: Vec<Vec<SiteId>>,
    names: [Vec<NameId>; 2],
}

impl Kin {
    /// Of an instance, given what belongs to each of its sites and names, ascending.
    pub fn new(
        instance: &Instance,
        sites: impl Fn(SiteId) -> Vec<SiteId>,
        names: impl Fn(NameId) -> Vec<NameId>,
    ) -> Self {
        let [x, y] = [Some(instance.x()), instance.y()].map(|n| n.map(&names).unwrap_or_default());
        Kin { sites: instance.sites().iter().map(|s| sites(*s)).collect(), names: [x, y] }
    }

    fn contains(&self, step: usize, which: Which, site: SiteId, name: NameId) -> bool {
        self.sites[step].binary_search(&site).is_ok()
            && self.names[usize::from(which == Which::Y)].binary_search(&name).is_ok()
    }
}

/// The first steps of the instance have happened.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Default)]
struct Partial {
    steps: usize,
    threads: [Option<ThreadId>; 2],
    vars: [Option<VarId>; 2],
}

impl Pattern {
    /// From a seed, for one instance.
    pub fn new(seed: u64, instance: Instance) -> Self {
        Pattern {
            rng: Pcg64Mcg::seed_from_u64(seed),
            instance,
            kin: None,
            partial: Vec::new(),
            roles: BTreeMap::new(),
            first: true,
            seen: 0,
            hits: 0,
        }
    }

    /// A search for an instance whose steps can be made of any of its kin.
    pub fn of_kin(seed: u64, instance: Instance, kin: Kin) -> Self {
        Pattern { kin: Some(kin), ..Pattern::new(seed, instance) }
    }

    /// Executions that contained the instance.
    pub fn hits(&self) -> u64 {
        self.hits
    }

    fn catch_up(&mut self, events: &[Event], vars: &[NameId]) {
        for e in &events[self.seen..] {
            let mut more = Vec::new();
            for p in self.partial.iter().chain([&Partial::default()]) {
                more.extend(self.extend(p, e, vars));
            }
            for p in more {
                if !self.partial.contains(&p) {
                    self.partial.push(p);
                }
            }
        }
        self.seen = events.len();
    }

    /// The beginning with one step more, if the event is that step.
    fn extend(&self, p: &Partial, e: &Event, vars: &[NameId]) -> Option<Partial> {
        let step = self.instance.pattern().pattern().steps.get(p.steps)?;
        if !self.is_step(p.steps, e, vars) {
            return None;
        }
        let var = e.access()?.var;
        let (mut next, who, which) = (*p, usize::from(step.who == Who::B), usize::from(step.var == Which::Y));
        next.steps += 1;
        let fits = next.threads[1 - who] != Some(e.thread)
            && *next.threads[who].get_or_insert(e.thread) == e.thread
            && next.vars[1 - which] != Some(var)
            && *next.vars[which].get_or_insert(var) == var;
        fits.then_some(next)
    }

    /// Whether an event can be this step of the instance.
    fn is_step(&self, i: usize, e: &Event, vars: &[NameId]) -> bool {
        let Some((kind, site, name)) = self.instance.steps().nth(i) else { return false };
        let Some(var) = e.access().map(|a| vars[a.var.0 as usize]) else { return false };
        let fits = match &self.kin {
            Some(kin) => kin.contains(i, self.instance.pattern().pattern().steps[i].var, e.site, var),
            None => e.site == site && var == name,
        };
        fits && roles(&e.op).contains(&kind)
    }

    /// Steps of the longest beginning that the event would continue, counting it; 0 if there is none.
    fn reach(&mut self, e: &Event, vars: &[NameId]) -> usize {
        let (first, rng) = (self.first, &mut self.rng);
        self.roles
            .entry(e.thread)
            .or_insert_with(|| if first { [true; 2] } else { [rng.random(), rng.random()] });
        let may = |p: &Partial| {
            let allowed = |who: usize| match p.threads[who] {
                Some(t) => self.roles.get(&t).is_none_or(|coins| coins[who]),
                None => true,
            };
            allowed(0) && allowed(1)
        };
        let empty = Partial::default();
        let from = self.partial.iter().chain([&empty]);
        from.filter_map(|p| self.extend(p, e, vars)).filter(may).map(|p| p.steps).max().unwrap_or(0)
    }
}

impl Strategy for Pattern {
    fn begin(&mut self) -> bool {
        self.partial.clear();
        self.roles.clear();
        self.seen = 0;
        true
    }

    fn choose(&mut self, view: &View<'_>) -> Choice {
        self.catch_up(view.events, view.vars);
        let steps = self.instance.sites().len();
        let complete = self.partial.iter().any(|p| p.steps == steps);
        let mut rank = Vec::with_capacity(view.enabled.len());
        for e in view.enabled {
            let reach = if complete { 0 } else { self.reach(e, view.vars) };
            let later = !complete && (1..steps).any(|i| self.is_step(i, e, view.vars));
            rank.push(match reach {
                0 if later => 0,
                n => 1 + n,
            });
        }
        let best = rank.iter().max();
        let equals: Vec<usize> = (0..rank.len()).filter(|&i| Some(&rank[i]) == best).collect();
        Choice::Run(equals[self.rng.random_range(0..equals.len())])
    }

    fn end(&mut self, run: &Finished<'_>) {
        self.catch_up(&run.trace.events, &run.trace.vars);
        let steps = self.instance.sites().len();
        self.hits += u64::from(self.partial.iter().any(|p| p.steps == steps));
        self.first = false;
    }
}

#[cfg(test)]
mod tests {
    use super::super::Dfs;
    use super::super::testing::{Do, Program};
    use super::*;
    use crate::pattern::{FullMatcher, PatternId, patterns_of};
    use std::collections::BTreeSet;

    /// Every instance that some execution contains is produced; how many executions each took.
    fn produce_all(program: &Program) -> (usize, usize) {
        let mut matcher = FullMatcher::new();
        let mut feasible = BTreeSet::new();
        for run in program.run_all(&mut Dfs::new(None), 100_000) {
            feasible.extend(patterns_of(&mut matcher, &run.trace));
        }
        let mut executions = 0;
        for &instance in &feasible {
            let mut s = Pattern::new(1, instance);
            let n = (1..=200).find(|_| {
                let run = program.run(&mut s).unwrap();
                let produced = patterns_of(&mut matcher, &run.trace).contains(&instance);
                assert_eq!(produced, s.hits() > 0, "{instance}");
                produced
            });
            executions += n.unwrap_or_else(|| panic!("{instance} is not produced"));
        }
        (feasible.len(), executions)
    }

    #[test]
    fn every_feasible_instance_is_produced_at_once_when_threads_differ() {
        let program = Program::new(&[
            &[Do::Write(0), Do::Read(1), Do::Write(1), Do::Read(0)],
            &[Do::Read(0), Do::Write(1), Do::Write(0), Do::Read(1)],
        ]);
        let (instances, executions) = produce_all(&program);
        assert!(instances > 20, "{instances}");
        assert_eq!(instances, executions);
    }

    #[test]
    fn every_feasible_instance_is_produced_when_threads_run_the_same_code() {
        let code = [Do::Read(0), Do::Write(1), Do::Write(0), Do::Read(1), Do::Read(0)];
        for (threads, steps, least) in [(3, 3, 6), (2, 5, 15)] {
            let (instances, executions) = produce_all(&Program::same_code(threads, &code[..steps]));
            assert!(instances >= least, "{instances}");
            assert!(executions <= 3 * instances, "{executions} executions for {instances} instances");
        }
    }

    #[test]
    fn a_step_is_made_of_any_of_its_kin() {
        let (r, w) = (Do::Read(0), Do::Write(0));
        let program = Program::at(&[&[(1, r), (5, r)], &[(7, w)]]);
        let sites = [SiteId(0), SiteId(1), SiteId(2)];
        let instance = Instance::new(PatternId::new(4).unwrap(), &sites, NameId(9), None);
        let members = [vec![SiteId(1), SiteId(3)], vec![SiteId(7)], vec![SiteId(4), SiteId(5)]];
        let kin = Kin::new(&instance, |s| members[s.0 as usize].clone(), |_| vec![NameId(0), NameId(4)]);
        let mut s = Pattern::of_kin(1, instance, kin.clone());
        program.run(&mut s).unwrap();
        assert_eq!(s.hits(), 1);
        let others = Kin { names: [vec![NameId(4)], vec![]], ..kin };
        let mut s = Pattern::of_kin(1, instance, others);
        program.run(&mut s).unwrap();
        assert_eq!(s.hits(), 0, "of another variable");
    }

    #[test]
    fn sections_under_a_lock_do_not_stop_it() {
        let code = [Do::Write(1), Do::Lock(2), Do::Read(0), Do::Write(0), Do::Unlock(2), Do::Read(1)];
        let (instances, executions) = produce_all(&Program::new(&[&code, &code]));
        assert!(executions <= 3 * instances, "{executions} executions for {instances} instances");
    }

    #[test]
    fn a_thread_that_comes_first_and_cannot_finish_is_not_waited_for_for_ever() {
        let (r, w, p) = (Do::Read(0), Do::Write(0), Do::Write(1));
        let program = Program::at(&[&[(1, r)], &[(7, p), (8, p), (1, r), (3, r)], &[(2, w)]]);
        let sites = [SiteId(1), SiteId(2), SiteId(3)];
        let instance = Instance::new(PatternId::new(4).unwrap(), &sites, NameId(0), None);
        let mut s = Pattern::new(1, instance);
        program.run(&mut s).unwrap();
        assert_eq!(s.hits(), 0, "the first execution is eager");
        (0..20).for_each(|_| drop(program.run(&mut s)));
        assert!(s.hits() > 3, "{}", s.hits());
    }
}
