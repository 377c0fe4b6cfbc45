//! The default: several searches take turns and never repeat each other.

use super::tree::{Edge, Tree};
use super::{Choice, Dice, Finished, Period, Pos, Random, Rff, Strategy, Surw, View};
use crate::event::Event;
use crate::outcome::Outcome;
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64Mcg;

/// Most decisions remembered. A program with more is too large to be run into the same schedule twice.
const REMEMBERED: usize = 100_000;
/// Who goes first.
const OPENING: [Member; 3] = [Member::Pos, Member::Rff, Member::Period];
/// Who takes turns after [`OPENING`].
const ROUND: [Member; 6] = [Member::Random, Member::Pos, Member::Rff, Member::Surw, Member::Pos, Member::Rff];

/// Whose turn it is in a settled search, in one execution of [`SHARE`]; all others are left to chance.
const SETTLED_ROUND: [Member; 5] = [Member::Pos, Member::Rff, Member::Surw, Member::Pos, Member::Rff];
/// A prime, so that the turns do not fall together with other things that happen in one execution of so many.
const SHARE: u64 = 17;

/// From this decision of an execution on, everybody gets a turn: a member that prefers one thread for ever would make a
/// livelock of every loop that waits for another thread.
const FAIR_FROM: usize = 1000;

/// Our own default, a portfolio: no single strategy is good at everything, and what the members are bad at differs.
///
/// [`Pos`], [`Rff`], [`Random`] and [`Surw`] take turns, the first two twice as often; once, near the beginning, it is
/// [`Period`]'s, which interrupts a thread after a single step. Partial order sampling finds what needs one order of few racing
/// steps among many that do not matter; reads-from fuzzing goes after reads that have not seen some write yet; chance
/// finds what fails often, and what needs many switches; the selectively uniform walk gives every order of the accesses to one
/// variable its share, also those that are far from an even progress of all threads. All share what the runtime learns about
/// the program.
///
/// Besides, no sequence of choices is executed twice: a tree of the choices so far knows below which everything has been
/// executed, as HARS prunes, and where a member would go there, a random other thread is taken. So a search of a small
/// program ends when all has been tried. When new scheduling points were learned the tree is dropped, and when it
/// gets too large it is no longer kept.
///
/// From then on the search is *settled*: it will not come to an end, and what the members have learned of the program changes
/// little any more. As long as the runtime learns nothing either, it has executions begun apart: nearly all are left to chance
/// alone, which is many times faster because nobody need look; one in [`SHARE`] is a member's, which draws from the number of the
/// execution and learns nothing.
///
/// The members and the shares of their turns come from measurements of the members alone on the 45 programs of the HARS paper:
/// the table `hars45` of the benchmarks shows what came of it.
#[derive(Debug)]
pub struct Auto {
    seed: u64,
    rng: Pcg64Mcg,
    period: Period,
    pos: Pos,
    random: Random,
    rff: Rff,
    surw: Surw,
    member: Member,
    /// Executions begun.
    begun: usize,
    tree: Tree,
    /// The last choice of the execution under way.
    edge: Option<Edge>,
    memory: Memory,
    /// The execution under way was begun apart.
    apart: bool,
}

/// Whose turn it is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Member {
    Period,
    Pos,
    Random,
    Rff,
    Surw,
}

/// Whether the tree knows where the execution is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Memory {
    Kept,
    /// Not in this execution, which did not go where it went before.
    Lost,
    /// Never again: there is too much.
    Full,
}

impl Auto {
    /// From a seed.
    pub fn new(seed: u64) -> Self {
        Auto {
            seed,
            rng: Pcg64Mcg::seed_from_u64(seed ^ 0x6175_746f),
            period: Period::new(1),
            pos: Pos::new(seed),
            random: Random::new(seed),
            rff: Rff::new(seed),
            surw: Surw::new(seed),
            member: OPENING[0],
            begun: 0,
            tree: Tree::default(),
            edge: None,
            memory: Memory::Kept,
            apart: false,
        }
    }

    /// Makes what is drawn from here on depend on a number, whatever has been drawn before.
    fn draw_anew(&mut self, number: u64) {
        let seed = Dice::seed_of_execution(self.seed, number);
        self.rng = Pcg64Mcg::seed_from_u64(seed);
        self.pos.draw_anew(seed);
        self.rff.draw_anew(seed);
        self.surw.draw_anew(seed);
        self.random.begin_apart(number);
    }

    fn current(&mut self) -> &mut dyn Strategy {
        match self.member {
            Member::Period => &mut self.period,
            Member::Pos => &mut self.pos,
            Member::Random => &mut self.random,
            Member::Rff => &mut self.rff,
            Member::Surw => &mut self.surw,
        }
    }

    /// Gives the turn to the next member.
    fn next(&mut self) {
        let later = || ROUND[(self.begun - OPENING.len()) % ROUND.len()];
        self.member = OPENING.get(self.begun).copied().unwrap_or_else(later);
        self.begun += 1;
    }

    /// What the member wants, or another choice if everything after that one has been executed.
    fn open(&mut self, view: &View<'_>, wanted: usize) -> usize {
        if self.memory != Memory::Kept {
            return wanted;
        }
        let Some(node) = self.tree.enter(self.edge, view.enabled) else {
            self.memory = Memory::Lost;
            return wanted;
        };
        let edge = |slot: usize| Edge { node, slot: slot as u32 };
        let mut slot = wanted;
        if self.tree.is_closed(edge(slot)) {
            let open: Vec<usize> =
                (0..view.enabled.len()).filter(|&i| !self.tree.is_closed(edge(i))).collect();
            // At least one is, or the choice before this one would be closed.
            slot = open[self.rng.random_range(0..open.len())];
        }
        self.edge = Some(edge(slot));
        slot
    }
}

impl Strategy for Auto {
    fn begin(&mut self) -> bool {
        if std::mem::take(&mut self.apart) {
            self.draw_anew(self.begun as u64);
        }
        if self.tree.is_explored() {
            return false;
        }
        if self.memory == Memory::Lost {
            self.memory = Memory::Kept;
            self.tree.clear();
        }
        self.edge = None;
        self.next();
        // None of them ever comes to an end of its own; the first schedule of a period search is always there.
        self.current().begin()
    }

    fn is_settled(&self) -> bool {
        self.memory == Memory::Full
    }

    fn begin_apart(&mut self, execution: u64) {
        self.apart = true;
        self.draw_anew(execution);
        if !execution.is_multiple_of(SHARE) {
            self.member = Member::Random;
            return;
        }
        self.member = SETTLED_ROUND[(execution / SHARE) as usize % SETTLED_ROUND.len()];
        match self.member {
            Member::Rff => self.rff.begin_with_any(),
            _ => drop(self.current().begin()),
        }
    }

    fn dice(&mut self) -> Option<&mut Dice> {
        if self.apart && self.member == Member::Random { self.random.dice() } else { None }
    }

    fn choose(&mut self, view: &View<'_>) -> Choice {
        if view.decision >= FAIR_FROM {
            let wanted = self.rng.random_range(0..view.enabled.len());
            return Choice::Run(self.open(view, wanted));
        }
        match self.current().choose(view) {
            Choice::Run(wanted) => Choice::Run(self.open(view, wanted)),
            Choice::Abandon => Choice::Abandon,
        }
    }

    fn listens(&self) -> bool {
        true
    }

    fn happened(&mut self, event: &Event) {
        match self.member {
            Member::Pos => self.pos.happened(event),
            Member::Rff => self.rff.happened(event),
            Member::Surw => self.surw.happened(event),
            Member::Period | Member::Random => {}
        }
    }

    fn end(&mut self, run: &Finished<'_>) {
        if self.apart && !run.learned {
            return;
        }
        self.current().end(run);
        if self.member != Member::Rff {
            // Its corpus profits from all executions.
            self.rff.end(run);
        }
        if self.member != Member::Surw {
            // So does its profile.
            self.surw.end(run);
        }
        if *run.outcome == Outcome::Abandoned || self.memory == Memory::Full {
            return;
        }
        match self.edge {
            _ if run.learned => self.memory = Memory::Lost,
            _ if self.memory == Memory::Lost => {}
            Some(edge) => {
                let closed = self.tree.close(edge);
                self.tree.recycle(closed);
            }
            None => self.tree.close_root(),
        }
        if self.tree.len() > REMEMBERED {
            self.tree.clear();
            self.memory = Memory::Full;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{Do, Program, Run};
    use super::*;
    use crate::event::ThreadId;
    use crate::trace::{NameId, Trace};
    use std::collections::BTreeSet;

    #[test]
    fn every_order_is_executed_once_and_then_it_ends() {
        let program =
            Program::new(&[&[Do::Read(0), Do::Write(0), Do::Write(1)], &[Do::Write(0), Do::Read(1)]]);
        for seed in 0..20 {
            let runs = program.run_all(&mut Auto::new(seed), 1000);
            let orders: BTreeSet<&[u32]> = runs.iter().map(|r| &r.order[..]).collect();
            assert_eq!((runs.len(), orders.len()), (10, 10), "seed {seed}");
        }
    }

    #[test]
    fn a_rare_order_is_found_sooner_than_by_chance() {
        let mut program = Program::same_code(2, &[Do::Read(0), Do::Write(0), Do::Read(0), Do::Write(0)]);
        program.fails = |run: &Run| run.order == [0, 0, 1, 1, 1, 0, 1, 0];
        let first = |s: &mut dyn Strategy| {
            (1..).find(|_| program.run(s).unwrap().outcome != Outcome::Passed).expect("it is found")
        };
        let auto: u32 = (0..50).map(|seed| first(&mut Auto::new(seed))).sum();
        let random: u32 = (0..50).map(|seed| first(&mut Random::new(seed))).sum();
        assert!(2 * auto < random, "{auto} and {random}");
    }

    #[test]
    fn all_members_have_their_turns() {
        let program = Program::same_code(3, &[Do::Read(0), Do::Write(0), Do::Read(1)]);
        let mut s = Auto::new(3);
        let turns: Vec<Member> = (0..15).map(|_| (program.run(&mut s), s.member).1).collect();
        assert_eq!(turns, [&OPENING[..], &ROUND, &ROUND].concat());
    }

    #[test]
    fn one_seed_gives_one_search() {
        let program = Program::same_code(3, &[Do::Read(0), Do::Write(0), Do::Read(1)]);
        let search = |seed| -> Vec<Vec<u32>> {
            let mut s = Auto::new(seed);
            (0..50).map(|_| program.run(&mut s).unwrap().order).collect()
        };
        assert_eq!(search(4), search(4));
        assert_ne!(search(4), search(5));
    }

    #[test]
    fn what_was_executed_before_new_points_were_learned_is_executed_again() {
        let program = Program::same_code(2, &[Do::Write(0)]);
        let mut s = Auto::new(0);
        for _ in 0..5 {
            program.run(&mut s).unwrap();
            s.end(&Finished { trace: &Trace::default(), outcome: &Outcome::Passed, learned: true });
        }
        assert_eq!(program.run_all(&mut s, 10).len(), 2);
    }

    /// Three threads with more orders than anybody remembers.
    fn large() -> Program {
        Program::same_code(
            3,
            &[Do::Read(0), Do::Write(0), Do::Read(1), Do::Write(1), Do::Read(0), Do::Write(1)],
        )
    }

    /// After so many executions, in which it has learned what it could.
    fn settled(seed: u64) -> Auto {
        let mut s = Auto::new(seed);
        (0..60).for_each(|_| drop(large().run(&mut s)));
        s.memory = Memory::Full;
        s
    }

    #[test]
    fn it_is_settled_once_there_is_more_than_it_remembers() {
        let mut s = Auto::new(2);
        let long = Program::same_code(3, &[Do::Write(0); 300]);
        let settled: Vec<bool> = (0..130).map(|_| (long.run(&mut s), s.is_settled()).1).collect();
        assert!(!settled[99] && settled[129], "{settled:?}");
    }

    #[test]
    fn an_execution_that_is_begun_apart_depends_on_its_number_alone() {
        let (mut forwards, mut backwards) = (settled(6), settled(6));
        let numbers: Vec<u64> = (2000..2200).collect();
        let orders = |s: &mut Auto, n: &mut dyn Iterator<Item = &u64>| -> Vec<Vec<u32>> {
            n.map(|&n| large().run_apart(s, n).order).collect()
        };
        let some = orders(&mut forwards, &mut numbers.iter());
        let mut same = orders(&mut backwards, &mut numbers.iter().rev());
        same.reverse();
        assert_eq!(some, same);
        let different: BTreeSet<&Vec<u32>> = some.iter().collect();
        assert!(different.len() > 190, "{}", different.len());
    }

    #[test]
    fn what_follows_after_something_was_learned_does_not_depend_on_executions_begun_apart() {
        let (mut few, mut many) = (settled(8), settled(8));
        (2000..2010).for_each(|n| drop(large().run_apart(&mut few, n)));
        (2000..2345).for_each(|n| drop(large().run_apart(&mut many, n)));
        let after = |s: &mut Auto| -> Vec<Vec<u32>> {
            large().run_apart(s, 2345);
            s.end(&Finished { trace: &Trace::default(), outcome: &Outcome::Passed, learned: true });
            (0..50).map(|_| large().run(s).unwrap().order).collect()
        };
        assert_eq!(after(&mut few), after(&mut many));
    }

    #[test]
    fn chance_alone_decides_most_executions_that_are_begun_apart_and_all_members_the_others() {
        let mut s = settled(1);
        let (mut chance, mut members) = (0, Vec::new());
        for n in 2000..2000 + SHARE * SETTLED_ROUND.len() as u64 {
            s.begin_apart(n);
            match s.dice() {
                Some(_) => chance += 1,
                None => members.push(s.member),
            }
        }
        assert_eq!(chance, (SHARE - 1) * SETTLED_ROUND.len() as u64);
        let first = SETTLED_ROUND.len() - 2000_u64.div_ceil(SHARE) as usize % SETTLED_ROUND.len();
        members.rotate_left(first % SETTLED_ROUND.len());
        assert_eq!(members, SETTLED_ROUND);
    }

    #[test]
    fn executions_that_are_not_begun_apart_are_not_left_to_chance_alone() {
        let mut s = settled(1);
        for _ in 0..ROUND.len() {
            assert!(s.begin());
            assert!(s.dice().is_none(), "{:?}", s.member);
        }
    }

    #[test]
    fn nobody_starves_in_a_long_execution() {
        let enabled = [Event::write(0, 1, 0), Event::write(1, 2, 0)];
        let mut auto = Auto::new(1);
        for _ in 0..8 {
            assert!(auto.begin());
            let mut turns = [0; 2];
            for decision in FAIR_FROM..FAIR_FROM + 100 {
                let view =
                    View { enabled: &enabled, last: ThreadId(0), events: &[], vars: &[NameId(0)], decision };
                let Choice::Run(i) = auto.choose(&view) else { panic!("it gave up") };
                turns[i] += 1;
            }
            assert!(turns.iter().all(|n| *n > 20), "{turns:?}");
        }
    }
}
