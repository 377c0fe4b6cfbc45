//! Virtual time.
//!
//! Time passes when nobody can run, when a time-out is chosen to fire, and a little with every look at the
//! clock, so that a loop that waits for a moment to come reaches it. It is counted in nanoseconds from the beginning of the
//! execution; what the clocks of a program show for that is the front-end's affair.

/// What time it is in an execution.
#[derive(Debug, Default)]
pub struct Clock {
    now: u64,
    glances: u32,
}

impl Clock {
    /// Nanoseconds since the start of the execution.
    pub fn now(&self) -> u64 {
        self.now
    }

    /// The program looks at a clock. Looks cost more and more time, until time passes otherwise.
    pub fn glance(&mut self) -> u64 {
        self.glances = (self.glances + 1).min(20);
        self.now += 50 << (self.glances.saturating_sub(4) / 2);
        self.now
    }

    /// Time passes, never backwards.
    pub fn advance_to(&mut self, at: u64) {
        if at > self.now {
            self.now = at;
            self.glances = 0;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_loop_that_waits_for_a_moment_reaches_it_in_few_looks() {
        let mut clock = Clock::default();
        let looks = (0..).find(|_| clock.glance() > 1_000_000).unwrap();
        assert!(looks < 200, "{looks}");
    }

    #[test]
    fn time_never_goes_back() {
        let mut clock = Clock::default();
        clock.advance_to(10);
        clock.advance_to(5);
        assert_eq!(clock.now(), 10);
    }
}
