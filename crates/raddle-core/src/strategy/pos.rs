//! Partial order sampling.

use super::{Choice, Strategy, View};
use crate::event::Event;
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64Mcg;

/// POS (Yuan, Yang and Gu, CAV 2018): every pending event has a random priority and the highest enabled one
/// runs. Then the events that race with it get fresh priorities, as does the next event of its thread; so the
/// outcome of one race says nothing about the next, and every partial order has a fair chance.
///
/// Deviations: priorities have 64 bits, so that ties do not matter; a pending event gets its priority when it is
/// first seen enabled, which has the same distribution; two operations on one lock, condition or semaphore
/// race unless both only observe it.
#[derive(Debug)]
pub struct Pos {
    rng: Pcg64Mcg,
    priorities: Priorities,
}

impl Pos {
    /// From a seed.
    pub fn new(seed: u64) -> Self {
        Pos { rng: Pcg64Mcg::seed_from_u64(seed), priorities: Priorities::new(true) }
    }

    /// Without fresh priorities for racing events: the paper's BasicPOS, whose chance for an order of n events
    /// can be as low as 1/n!.
    pub fn basic(seed: u64) -> Self {
        Pos { rng: Pcg64Mcg::seed_from_u64(seed), priorities: Priorities::new(false) }
    }

    /// Draws from another seed from now on.
    pub(super) fn draw_anew(&mut self, seed: u64) {
        self.rng = Pcg64Mcg::seed_from_u64(seed);
    }
}

impl Strategy for Pos {
    fn begin(&mut self) -> bool {
        self.priorities.clear();
        true
    }

    fn choose(&mut self, view: &View<'_>) -> Choice {
        self.priorities.draw(view.enabled, &mut self.rng);
        let highest = (0..view.enabled.len()).max_by_key(|&i| self.priorities.of(&view.enabled[i]));
        let highest = highest.expect("at least one thread is enabled");
        self.priorities.executed(&view.enabled[highest]);
        Choice::Run(highest)
    }

    fn listens(&self) -> bool {
        true
    }

    fn happened(&mut self, event: &Event) {
        self.priorities.executed(event);
    }
}

/// The priorities of pending events.
#[derive(Debug)]
pub(super) struct Priorities {
    resample: bool,
    /// By thread: at most one pending event, enabled or not.
    pending: Vec<Option<(u64, Event)>>,
}

impl Priorities {
    /// With or without fresh priorities for events that race with an executed one.
    pub fn new(resample: bool) -> Self {
        Priorities { resample, pending: Vec::new() }
    }

    /// Forgets everything.
    pub fn clear(&mut self) {
        self.pending.clear();
    }

    /// Gives a priority to every event that has none.
    pub fn draw(&mut self, enabled: &[Event], rng: &mut Pcg64Mcg) {
        for e in enabled {
            let t = e.thread.0 as usize;
            if self.pending.len() <= t {
                self.pending.resize(t + 1, None);
            }
            self.pending[t].get_or_insert_with(|| (rng.random(), *e)).1 = *e;
        }
    }

    /// The priority of a pending event.
    pub fn of(&self, event: &Event) -> u64 {
        self.pending.get(event.thread.0 as usize).copied().flatten().map_or(0, |p| p.0)
    }

    /// The event happens: its thread's next event, and those that race, need fresh priorities.
    pub fn executed(&mut self, event: &Event) {
        if let Some(own) = self.pending.get_mut(event.thread.0 as usize) {
            *own = None;
        }
        if self.resample && event.object().is_some() {
            let races = |(_, p): &mut (u64, Event)| p.conflicts_with(event);
            for pending in &mut self.pending {
                pending.take_if(races);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{Do, Program};
    use super::*;

    /// How often the two threads' three writes of one variable alternate strictly, in 20,000 executions.
    fn alternations(mut s: Pos) -> usize {
        let program = Program::new(&[&[Do::Write(0); 3], &[Do::Write(0); 3]]);
        (0..20_000).filter(|_| program.run(&mut s).unwrap().order == [0, 1, 0, 1, 0, 1]).count()
    }

    #[test]
    fn fresh_priorities_raise_the_chance_of_alternation_from_1_in_720_to_1_in_32() {
        let (pos, basic) = (alternations(Pos::new(5)), alternations(Pos::basic(5)));
        // Expected 625 and 28, standard deviations 25 and 5.
        assert!((525..725).contains(&pos), "{pos}");
        assert!((8..48).contains(&basic), "{basic}");
    }

    #[test]
    fn events_that_do_not_race_keep_their_priorities() {
        let mut s = Pos::new(1);
        s.begin();
        let enabled = [Event::write(0, 0, 0), Event::write(1, 0, 1), Event::write(2, 0, 0)];
        s.priorities.draw(&enabled, &mut s.rng);
        let before = s.priorities.of(&enabled[1]);
        s.happened(&enabled[0]);
        assert_eq!(s.priorities.of(&enabled[1]), before);
        let kept = s.priorities.pending.iter().flatten().count();
        assert_eq!(kept, 1, "the racing event and the executed one need fresh priorities");
    }
}
