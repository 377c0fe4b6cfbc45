//! Whether threads go round in circles, or only do the same to shared memory again and again on their way.
//!
//! A loop that pushes and pops ten thousand times leaves shared memory as it was after each round. What tells it from one
//! that never ends is its counter, which nobody else sees: it lies in a register or on the stack. So after very many
//! steps the threads' own states are compared, each with the earlier ones of the same thread, at each of its steps: digests that
//! the front-end makes of registers and stack. A thread that keeps coming to new states gets somewhere. What it
//! keeps on the heap alone is not seen.
//!
//! The digests also tell a call that waits from one that reads the same many times while it does something: see [`Circle`].

/// Steps that are looked at.
const STEPS: usize = 8_000;
/// New states among the last quarter of them that are no coincidence.
const NEW: usize = STEPS / 400;

/// States of threads, in the order of their steps.
#[derive(Default, Debug)]
pub struct Rounds {
    states: Vec<u64>,
}

impl Rounds {
    /// Notes the state of the running thread; tells, once there are enough of them, whether the threads still come to new
    /// ones.
    pub fn look(&mut self, state: u64) -> Option<bool> {
        self.states.push(state);
        (self.states.len() >= STEPS).then(|| comes_to_new(&self.states))
    }

    /// Nothing has been noted.
    pub fn is_empty(&self) -> bool {
        self.states.is_empty()
    }

    /// Forgets everything.
    pub fn clear(&mut self) {
        self.states.clear();
    }
}

/// Looks at one thread after which nothing more is expected of them.
const LOOKS: u32 = 1_000;

/// Whether one thread, which writes nothing and reads nothing new, comes back to a state that it was in before. Then it will do so for
/// ever, unless somebody else writes what it reads. Whoever changes anything begins with a new one.
///
/// Brent's algorithm: the state is compared with one that is remembered, at every power of two a later one, so that
/// what a thread does before it enters the circle does not matter.
#[derive(Clone, Copy, Default, Debug)]
pub struct Circle {
    remembered: u64,
    looks: u32,
}

impl Circle {
    /// Another look at the thread; `None` after too many of them that told nothing.
    pub fn look(&mut self, state: u64) -> Option<bool> {
        self.looks += 1;
        if self.looks > 1 && state == self.remembered {
            return Some(true);
        }
        if self.looks.is_power_of_two() {
            self.remembered = state;
        }
        (self.looks < LOOKS).then_some(false)
    }
}

fn comes_to_new(states: &[u64]) -> bool {
    let (before, last) = states.split_at(states.len() / 4 * 3);
    let mut before = before.to_vec();
    before.sort_unstable();
    let mut new: Vec<u64> = last.iter().copied().filter(|s| before.binary_search(s).is_err()).collect();
    new.sort_unstable();
    new.dedup();
    new.len() >= NEW
}

/// Spreads the bits of a number.
#[inline]
pub fn mix(key: u64) -> u64 {
    let h = key.wrapping_mul(0x9E37_79B9_7F4A_7C15);
    h ^ (h >> 29)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What the looks at a thread with these states tell, up to the first that tells something.
    fn looks(states: impl Iterator<Item = u64>) -> (usize, Option<bool>) {
        let mut circle = Circle::default();
        let told = states.map(|s| circle.look(s)).enumerate();
        told.into_iter().find(|(_, told)| *told != Some(false)).expect("looks enough")
    }

    #[test]
    fn a_circle_is_recognised_whatever_comes_before_it() {
        assert_eq!(looks(std::iter::repeat(7)), (1, Some(true)));
        for (before, around) in [(0, 3), (10, 1), (10, 7), (100, 30)] {
            let (at, told) = looks((0..before).chain((0..).map(|i| 1_000 + i % around)));
            assert_eq!(told, Some(true));
            assert!(at <= 3 * (before + around) as usize, "{at} looks for {before} and {around}");
        }
    }

    #[test]
    fn a_thread_that_counts_is_in_no_circle_and_is_not_looked_at_for_ever() {
        assert_eq!(looks(0..), (LOOKS as usize - 1, None));
    }

    #[test]
    fn rounds_tell_those_who_count_from_those_who_go_round() {
        let ask = |state: fn(u64) -> u64| {
            let mut rounds = Rounds::default();
            (0..).find_map(|i| rounds.look(mix(state(i))))
        };
        assert_eq!(ask(|i| i), Some(true));
        assert_eq!(ask(|i| i % 40), Some(false));
        assert_eq!(ask(|i| i % 3_000), Some(false));
    }
}
