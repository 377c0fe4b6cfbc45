//! Sets of locks held at an access, interned per execution.

use raddle_core::LockMode;

/// The sets seen so far; number 0 is the empty set.
#[derive(Debug)]
pub struct Locksets {
    sets: Vec<Vec<(usize, LockMode)>>,
}

impl Locksets {
    /// Only the empty set.
    pub fn new() -> Self {
        Locksets { sets: vec![Vec::new()] }
    }

    /// Forgets all but the empty set.
    pub fn clear(&mut self) {
        self.sets.truncate(1);
    }

    /// The number of a set of locks.
    pub fn intern(&mut self, locks: impl Iterator<Item = (usize, LockMode)> + Clone) -> u32 {
        let found = self.sets.iter().position(|s| s.iter().copied().eq(locks.clone()));
        found.unwrap_or_else(|| {
            self.sets.push(locks.collect());
            self.sets.len() - 1
        }) as u32
    }

    /// Whether two threads that hold these sets exclude each other.
    pub fn exclude(&self, a: u32, b: u32) -> bool {
        if a == 0 || b == 0 {
            return false;
        }
        let (a, b) = (&self.sets[a as usize], &self.sets[b as usize]);
        a.iter().any(|&(x, m)| {
            b.iter().any(|&(y, n)| x == y && (m == LockMode::Exclusive || n == LockMode::Exclusive))
        })
    }
}
