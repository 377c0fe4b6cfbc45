//! MAP-coverage against its formula, against enumeration, and pruning against all schedules of small programs.

mod common;

use common::{runner, small};
use proptest::prelude::*;
use raddle_core::coverage::feasible::{Context, Facts, Held, Place};
use raddle_core::coverage::map::{Accesses, Report, Tally};
use raddle_core::pattern::{AccessKind, Instance, InstanceSet, PATTERNS, PatternId};
use raddle_core::{Access, Event, LockMode, NameId, Op, SiteId, Trace, VarId};
use raddle_lab::reference;
use std::cell::Cell;
use std::collections::BTreeSet;

const CASES: u32 = 10_000;

/// One to four variables, each with up to three reading and writing sites out of six.
fn accesses() -> impl Strategy<Value = Accesses> {
    let one = (0u32..4, prop::bool::ANY, 0u32..6);
    prop::collection::vec(one, 0..12).prop_map(|all| {
        let mut accesses = Accesses::default();
        for (name, write, site) in all {
            let kind = if write { AccessKind::Write } else { AccessKind::Read };
            accesses.add(NameId(name), kind, SiteId(site));
        }
        accesses
    })
}

/// T_C as the paper writes it, over ordered pairs.
fn formula(accesses: &Accesses) -> u128 {
    let sizes: Vec<(u128, u128)> =
        accesses.variables().values().map(|s| (s.reads.len() as u128, s.writes.len() as u128)).collect();
    let mut total = 0;
    for (i, &(r, w)) in sizes.iter().enumerate() {
        total += 2 * r * w + w * w + r * r * w + 3 * r * w * w + w * w * w;
        for (j, &(ry, wy)) in sizes.iter().enumerate() {
            if i != j {
                total += 3 * w * w * wy * wy + 6 * w * r * wy * ry;
            }
        }
    }
    total
}

#[test]
fn the_total_is_the_papers_formula_over_ordered_pairs_and_the_number_of_distinct_instances() {
    let result = runner(CASES).run(&accesses(), |accesses| {
        let all: Vec<Instance> = accesses.instances().collect();
        let distinct: BTreeSet<&Instance> = all.iter().collect();
        prop_assert_eq!(all.len() as u128, formula(&accesses));
        prop_assert_eq!(distinct.len(), all.len());
        prop_assert_eq!(accesses.total(), formula(&accesses));
        prop_assert!(all.iter().all(|i| accesses.contains(i)));
        Ok(())
    });
    result.unwrap();
}

#[test]
fn two_variables_give_twice_what_the_formula_yields_for_an_unordered_pair() {
    let mut accesses = Accesses::default();
    for (name, reads, writes) in [(0, 2, 1), (1, 3, 2)] {
        (0..reads).for_each(|s| accesses.add(NameId(name), AccessKind::Read, SiteId(s)));
        (10..10 + writes).for_each(|s| accesses.add(NameId(name), AccessKind::Write, SiteId(s)));
    }
    assert_eq!(accesses.instances().filter(|i| i.y().is_some()).count(), 168);
}

#[test]
fn everything_that_occurs_on_distinctly_named_variables_is_in_the_universe_and_is_counted() {
    let result = runner(CASES).run(&small(12), |trace| {
        let mut accesses = Accesses::default();
        accesses.observe(&trace);
        let found = reference::subsequences(&trace);
        let inside = found.iter().filter(|i| i.y() != Some(i.x())).count() as u128;
        let set: InstanceSet = found.iter().copied().collect();
        let report = Report::new(&accesses, &set, None);
        prop_assert_eq!(report.all.total, accesses.total());
        prop_assert_eq!(report.all.covered, inside);
        prop_assert_eq!(report.all.infeasible, 0);
        prop_assert_eq!(report.outside, found.len() as u128 - inside);
        for (p, tally) in report.per_pattern.iter().enumerate() {
            let of_pattern = |i: &&Instance| i.pattern().index() == p && i.y() != Some(i.x());
            prop_assert_eq!(tally.covered, found.iter().filter(of_pattern).count() as u128);
        }
        for (&name, tally) in &report.per_variable {
            let involved = |i: &Instance| i.x() == name || i.y() == Some(name);
            let covered = found.iter().filter(|i| involved(i) && i.y() != Some(i.x()));
            prop_assert_eq!(tally.covered, covered.count() as u128);
            prop_assert_eq!(tally.total, accesses.instances().filter(|i| involved(i)).count() as u128);
        }
        Ok(())
    });
    result.unwrap();
}

/// A data access of a small program: site, variable and kind (read, write, both).
type Step = (u32, u32, u8);

/// Accesses made one after the other, holding a lock from the first to the last.
#[derive(Clone, Debug)]
struct Block {
    lock: Option<(u32, LockMode)>,
    steps: Vec<Step>,
}

/// The main thread's prefix; threads that it spawns then; its suffix after it has joined them.
#[derive(Clone, Debug)]
struct Program {
    prefix: Vec<Step>,
    threads: Vec<Vec<Block>>,
    suffix: Vec<Step>,
    /// Facts have one place per access and not one per thread.
    fine: bool,
}

fn programs() -> impl Strategy<Value = Program> {
    let step = || (0u32..4, 0u32..2, prop::sample::select(vec![0u8, 0, 0, 1, 1, 1, 2]));
    let mode = prop::sample::select(vec![LockMode::Exclusive, LockMode::Exclusive, LockMode::Shared]);
    let lock = prop::option::weighted(0.75, (prop::sample::select(vec![0u32, 0, 0, 1]), mode));
    let block = (lock, prop::collection::vec(step(), 1..=2)).prop_map(|(lock, steps)| Block { lock, steps });
    let two = prop::collection::vec(prop::collection::vec(block.clone(), 1..=2), 2);
    let three = prop::collection::vec(block.prop_map(|b| vec![b]), 3);
    let threads = prop_oneof![8 => two, 1 => three];
    let edge = || prop::collection::vec(step(), 0..=1);
    (edge(), threads, edge(), prop::bool::ANY).prop_map(|(prefix, threads, suffix, fine)| Program {
        prefix,
        threads,
        suffix,
        fine,
    })
}

fn event(thread: u32, (site, var, kind): Step) -> Event {
    let access = Access::plain(VarId(var), 8);
    Event::new(thread, site, [Op::Read, Op::Write, Op::Rmw][kind as usize](access))
}

impl Program {
    /// The data accesses of every schedule.
    fn schedules(&self) -> Vec<Vec<Event>> {
        let mut all = Vec::new();
        let start = self.prefix.iter().map(|&s| event(0, s)).collect();
        self.continue_from(start, &mut vec![(0, 0); self.threads.len()], &mut all);
        all
    }

    fn continue_from(&self, events: Vec<Event>, at: &mut Vec<(usize, usize)>, all: &mut Vec<Vec<Event>>) {
        let mut ended = true;
        for t in 0..self.threads.len() {
            let (b, s) = at[t];
            let Some(block) = self.threads[t].get(b) else { continue };
            ended = false;
            if s == 0 && block.lock.is_some_and(|wanted| self.is_taken(t, wanted, at)) {
                continue;
            }
            at[t] = if s + 1 == block.steps.len() { (b + 1, 0) } else { (b, s + 1) };
            let mut more = events.clone();
            more.push(event(t as u32 + 1, block.steps[s]));
            self.continue_from(more, at, all);
            at[t] = (b, s);
        }
        if ended {
            let suffix = self.suffix.iter().map(|&s| event(0, s));
            all.push(events.into_iter().chain(suffix).collect());
        }
    }

    /// Whether another thread, inside a block, holds the lock in a mode that excludes the wanted one.
    fn is_taken(&self, me: usize, (lock, mode): (u32, LockMode), at: &[(usize, usize)]) -> bool {
        (0..at.len()).filter(|&t| t != me && at[t].1 > 0).any(|t| {
            let held = self.threads[t][at[t].0].lock;
            held.is_some_and(|(l, m)| l == lock && (m == LockMode::Exclusive || mode == LockMode::Exclusive))
        })
    }

    fn facts(&self) -> Facts {
        let mut facts = Facts::default();
        let mut section = 0;
        let first = self.places(&mut facts, 0, self.prefix.len());
        for &(step, place) in &zip(&self.prefix, &first) {
            add(&mut facts, step, place, None, 0);
        }
        let mut last = Vec::new();
        for (t, blocks) in self.threads.iter().enumerate() {
            let count = blocks.iter().map(|b| b.steps.len()).sum();
            let places = self.places(&mut facts, t as u32 + 1, count);
            first.iter().for_each(|&p| places.iter().for_each(|&q| facts.order(p, q)));
            let mut next = places.iter();
            for block in blocks {
                section += 1;
                for &step in &block.steps {
                    add(&mut facts, step, *next.next().expect("a place per step"), block.lock, section);
                }
            }
            last.extend(places);
        }
        let end = self.places(&mut facts, 0, self.suffix.len());
        last.iter().for_each(|&p| end.iter().for_each(|&q| facts.order(p, q)));
        for &(step, place) in &zip(&self.suffix, &end) {
            add(&mut facts, step, place, None, 0);
        }
        facts
    }

    /// A place for each of `count` steps.
    fn places(&self, facts: &mut Facts, thread: u32, count: usize) -> Vec<Place> {
        if self.fine {
            return (0..count).map(|_| facts.place(thread)).collect();
        }
        let place = facts.place(thread);
        vec![place; count]
    }
}

fn zip(steps: &[Step], places: &[Place]) -> Vec<(Step, Place)> {
    steps.iter().copied().zip(places.iter().copied()).collect()
}

fn add(
    facts: &mut Facts,
    (site, var, kind): Step,
    place: Place,
    lock: Option<(u32, LockMode)>,
    section: u32,
) {
    let held: Vec<Held> =
        lock.iter().map(|&(lock, mode)| Held { lock, mode, section: Some(section) }).collect();
    let kinds: &[AccessKind] = match kind {
        0 => &[AccessKind::Read],
        1 => &[AccessKind::Write],
        _ => &[AccessKind::Read, AccessKind::Write],
    };
    for &k in kinds {
        facts.add(NameId(var), k, SiteId(site), Context { place, held: held.clone() });
    }
}

#[test]
fn no_schedule_of_a_small_program_shows_an_instance_that_was_ruled_out() {
    let (ruled_out, missing) = (Cell::new(0u64), Cell::new(0u64));
    let result = runner(CASES).run(&programs(), |program| {
        let vars = vec![NameId(0), NameId(1)];
        let mut occurred = BTreeSet::new();
        let mut accesses = Accesses::default();
        for events in program.schedules() {
            let trace = Trace { events, vars: vars.clone() };
            accesses.observe(&trace);
            occurred.extend(reference::subsequences(&trace));
        }
        let facts = program.facts();
        for i in &occurred {
            prop_assert!(facts.is_feasible(i), "{} occurs", i);
        }
        let infeasible: Vec<Instance> = accesses.instances().filter(|i| !facts.is_feasible(i)).collect();
        let report = Report::new(&accesses, &occurred.iter().copied().collect(), Some(&facts));
        prop_assert_eq!(report.all.infeasible, infeasible.len() as u128);
        prop_assert_eq!(report.all.covered, occurred.len() as u128);
        prop_assert!(report.contradictions.is_empty());
        for (p, tally) in report.per_pattern.iter().enumerate() {
            let of_pattern = infeasible.iter().filter(|i| i.pattern().index() == p).count();
            prop_assert_eq!(tally.infeasible, of_pattern as u128);
        }
        ruled_out.set(ruled_out.get() + infeasible.len() as u64);
        missing.set(missing.get() + (report.all.total - report.all.covered) as u64);
        Ok(())
    });
    result.unwrap();
    let share = ruled_out.get() as f64 / missing.get() as f64;
    println!(
        "{} of {} instances that no schedule shows were ruled out ({share:.3})",
        ruled_out.get(),
        missing.get()
    );
    assert!(share > 0.5, "the rules find most of what cannot occur: {share}");
}

#[test]
fn an_instance_that_occurs_against_the_facts_is_covered_and_reported() {
    let mut facts = Facts::default();
    let [first, second] = [facts.place(0), facts.place(1)];
    facts.order(first, second);
    let mut accesses = Accesses::default();
    for (kind, site, place) in [(AccessKind::Write, 9, second), (AccessKind::Read, 4, first)] {
        accesses.add(NameId(0), kind, SiteId(site));
        facts.add(NameId(0), kind, SiteId(site), Context { place, held: Vec::new() });
    }
    let backwards =
        Instance::new(PatternId::new(2).expect("a pattern"), &[SiteId(9), SiteId(4)], NameId(0), None);
    let none = Report::new(&accesses, &InstanceSet::default(), Some(&facts));
    assert!(none.per_pattern[1] == Tally { total: 1, covered: 0, infeasible: 1 });
    let some = Report::new(&accesses, &[backwards].into_iter().collect(), Some(&facts));
    assert!(some.per_pattern[1] == Tally { total: 1, covered: 1, infeasible: 0 });
    assert_eq!(some.contradictions, [backwards]);
    assert_eq!(some.per_pattern.len(), PATTERNS);
}

#[test]
fn what_is_known_from_several_places_adds_up() {
    let mut one = Accesses::default();
    one.add(NameId(0), AccessKind::Read, SiteId(4));
    let mut two = Accesses::default();
    two.add(NameId(0), AccessKind::Write, SiteId(9));
    two.add(NameId(0), AccessKind::Read, SiteId(5));
    one.merge(&two);
    assert_eq!(one.total(), 16);
}
