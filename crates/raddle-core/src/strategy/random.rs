//! Uniform random walk.

use super::{Choice, Dice, Strategy, View};

/// Chooses uniformly among the enabled threads at every decision; the SR of the HARS paper.
#[derive(Debug)]
pub struct Random {
    seed: u64,
    dice: Dice,
}

impl Random {
    /// From a seed.
    pub fn new(seed: u64) -> Self {
        Random { seed, dice: Dice::new(seed) }
    }
}

impl Strategy for Random {
    fn begin(&mut self) -> bool {
        true
    }

    fn is_settled(&self) -> bool {
        true
    }

    fn begin_apart(&mut self, execution: u64) {
        self.dice = Dice::new(Dice::seed_of_execution(self.seed, execution));
    }

    fn choose(&mut self, view: &View<'_>) -> Choice {
        Choice::Run(self.dice.below(view.enabled.len()))
    }

    fn dice(&mut self) -> Option<&mut Dice> {
        Some(&mut self.dice)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::{Event, ThreadId};

    #[test]
    fn it_chooses_the_same_whether_it_looks_or_not() {
        let enabled = [Event::read(0, 0, 0), Event::read(1, 0, 0), Event::read(2, 0, 0)];
        let (mut a, mut b) = (Random::new(3), Random::new(3));
        for n in [2, 3, 1, 3, 2, 3] {
            let view =
                View { enabled: &enabled[..n], last: ThreadId(0), events: &[], vars: &[], decision: 0 };
            assert_eq!(a.choose(&view), Choice::Run(b.choose_blindly(n).unwrap()));
        }
    }

    #[test]
    fn every_enabled_thread_is_chosen_about_equally_often() {
        let enabled = [Event::read(0, 0, 0), Event::read(1, 0, 0), Event::read(2, 0, 0)];
        let view = View { enabled: &enabled, last: ThreadId(0), events: &[], vars: &[], decision: 0 };
        let mut counts = [0u32; 3];
        let mut s = Random::new(7);
        for _ in 0..30_000 {
            let Choice::Run(i) = s.choose(&view) else { panic!() };
            counts[i] += 1;
        }
        for c in counts {
            assert!((9_500..10_500).contains(&c), "{counts:?}");
        }
    }
}
