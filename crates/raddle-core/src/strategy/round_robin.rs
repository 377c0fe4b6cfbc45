//! Round robin.

use super::{Choice, Strategy, View};

/// Lets each thread take a fixed number of decisions' worth of steps before the next one. It is one
/// deterministic schedule, so the search ends after one execution that taught nothing new.
#[derive(Debug)]
pub struct RoundRobin {
    turn: u32,
    left: u32,
    done: bool,
}

impl RoundRobin {
    /// With so many steps per turn.
    pub fn new(turn: u32) -> Self {
        RoundRobin { turn, left: turn, done: false }
    }
}

impl Strategy for RoundRobin {
    fn begin(&mut self) -> bool {
        self.left = self.turn;
        !self.done
    }

    fn choose(&mut self, view: &View<'_>) -> Choice {
        let here = view.enabled.iter().position(|e| e.thread == view.last);
        if let Some(i) = here
            && self.left > 0
        {
            self.left -= 1;
            return Choice::Run(i);
        }
        self.left = self.turn - 1;
        Choice::Run(view.enabled.iter().position(|e| e.thread > view.last).unwrap_or(0))
    }

    fn end(&mut self, run: &super::Finished<'_>) {
        self.done = !run.learned;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::{Event, ThreadId};

    #[test]
    fn threads_take_turns_in_order() {
        let enabled = [Event::read(0, 0, 0), Event::read(1, 0, 0), Event::read(2, 0, 0)];
        let mut s = RoundRobin::new(2);
        let mut last = ThreadId(0);
        let mut order = Vec::new();
        for decision in 0..8 {
            let view = View { enabled: &enabled, last, events: &[], vars: &[], decision };
            let Choice::Run(i) = s.choose(&view) else { panic!() };
            last = enabled[i].thread;
            order.push(last.0);
        }
        assert_eq!(order, [0, 0, 1, 1, 2, 2, 0, 0]);
    }
}
