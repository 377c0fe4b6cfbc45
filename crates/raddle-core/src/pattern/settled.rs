//! Which ends of two-variable instances need no more attention.
//!
//! The third and fourth step of a two-variable pattern are *settled* when every instance that ends with them is in
//! the set, whatever its first two steps. The full matcher passes over settled ends, so an execution that adds
//! nothing new costs little. A new site, or a name that two variables of one execution share for the first time,
//! makes new instances possible and unsettles everything.

/// Remembers settled ends; accesses are numbers given by the set of instances.
#[derive(Clone, Debug, Default)]
pub(super) struct Settled {
    /// Counts what unsettled everything.
    generation: u32,
    /// By fourth access.
    rows: Vec<Ends>,
}

#[derive(Clone, Debug, Default)]
struct Ends {
    generation: u32,
    /// How many third accesses are settled.
    count: u32,
    /// By third access: [`SETTLED`], or the size of the set when it was last found not to be.
    thirds: Vec<u64>,
}

const SETTLED: u64 = u64::MAX;
const UNKNOWN: u64 = u64::MAX - 1;

impl Settled {
    /// Forgets everything.
    pub fn unsettle(&mut self) {
        self.generation += 1;
    }

    /// How many third accesses are settled for a fourth one.
    pub fn count(&self, fourth: u32) -> u32 {
        self.ends(fourth).map_or(0, |e| e.count)
    }

    /// Whether an end is settled.
    pub fn get(&self, third: u32, fourth: u32) -> bool {
        self.ends(fourth).is_some_and(|e| e.thirds.get(third as usize) == Some(&SETTLED))
    }

    /// Whether it is worth finding out whether an end is settled: not if it was not when the set had this size.
    pub fn is_doubtful(&self, third: u32, fourth: u32, size: u64) -> bool {
        self.ends(fourth).is_none_or(|e| e.thirds.get(third as usize) != Some(&size))
    }

    /// Remembers what was found out.
    pub fn set(&mut self, third: u32, fourth: u32, settled: bool, size: u64) {
        let (fourth, third) = (fourth as usize, third as usize);
        if self.rows.len() <= fourth {
            self.rows.resize_with(fourth + 1, Ends::default);
        }
        let ends = &mut self.rows[fourth];
        if ends.generation != self.generation {
            *ends = Ends { generation: self.generation, count: 0, thirds: std::mem::take(&mut ends.thirds) };
            ends.thirds.fill(UNKNOWN);
        }
        if ends.thirds.len() <= third {
            ends.thirds.resize(third + 1, UNKNOWN);
        }
        if settled && ends.thirds[third] != SETTLED {
            ends.count += 1;
        }
        ends.thirds[third] = if settled { SETTLED } else { size };
    }

    fn ends(&self, fourth: u32) -> Option<&Ends> {
        self.rows.get(fourth as usize).filter(|e| e.generation == self.generation)
    }
}
