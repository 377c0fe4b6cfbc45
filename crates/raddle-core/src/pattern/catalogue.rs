//! The 17 memory-access patterns, as data.
//!
//! A pattern is a short sequence of accesses by two threads, `a` and `b`, to one variable `x` or to two
//! variables `x` and `y`. The first step is always made by `a` on `x`. The list is that of MAP-coverage
//! (Table I); HARS prints the same list with two misprints (steps of 10 and 14).
//!
//! ```
//! use raddle_core::pattern::{AccessKind, PatternId, CATALOGUE};
//! assert_eq!(CATALOGUE.len(), 17);
//! let p4 = PatternId::new(4).unwrap();
//! assert_eq!(p4.to_string(), "P4");
//! assert_eq!(p4.pattern().to_string(), "Ra x, Wb x, Ra x");
//! assert_eq!(p4.pattern().steps[1].kind, AccessKind::Write);
//! ```

use serde::{Deserialize, Serialize};
use std::fmt;

/// What a step does to its variable.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AccessKind {
    /// It reads.
    Read = 0,
    /// It writes.
    Write = 1,
}

/// Which of a pattern's two threads makes a step.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Who {
    /// The thread of the first step.
    A,
    /// The other thread.
    B,
}

/// Which of a pattern's variables a step touches.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Which {
    /// The variable of the first step.
    X,
    /// The other variable.
    Y,
}

/// One step of a pattern.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Step {
    /// By whom.
    pub who: Who,
    /// What.
    pub kind: AccessKind,
    /// On which variable.
    pub var: Which,
}

/// A pattern of the catalogue.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Pattern {
    /// Its number.
    pub id: PatternId,
    /// Two to four steps, in trace order.
    pub steps: &'static [Step],
}

/// The number of a pattern, 1 to 17.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[serde(try_from = "u8", into = "u8")]
pub struct PatternId(u8);

/// How many patterns there are.
pub const PATTERNS: usize = 17;

macro_rules! catalogue {
    ($($id:literal: $($k:ident $w:ident $v:ident),+;)*) => {
        [$(Pattern { id: PatternId($id), steps: &[$(step!($k $w $v)),+] }),*]
    };
}

macro_rules! step {
    ($k:ident $w:ident $v:ident) => {
        Step { who: who!($w), kind: kind!($k), var: var!($v) }
    };
}

macro_rules! who {
    (a) => {
        Who::A
    };
    (b) => {
        Who::B
    };
}

macro_rules! kind {
    (R) => {
        AccessKind::Read
    };
    (W) => {
        AccessKind::Write
    };
}

macro_rules! var {
    (x) => {
        Which::X
    };
    (y) => {
        Which::Y
    };
}

/// All patterns, by ascending number.
pub static CATALOGUE: [Pattern; PATTERNS] = catalogue! {
    1: R a x, W b x;
    2: W a x, R b x;
    3: W a x, W b x;
    4: R a x, W b x, R a x;
    5: W a x, W b x, R a x;
    6: W a x, R b x, W a x;
    7: R a x, W b x, W a x;
    8: W a x, W b x, W a x;
    9: W a x, W b x, W b y, W a y;
    10: W a x, W b y, W b x, W a y;
    11: W a x, W b y, W a y, W b x;
    12: W a x, R b x, R b y, W a y;
    13: W a x, R b y, R b x, W a y;
    14: R a x, W b x, W b y, R a y;
    15: R a x, W b y, W b x, R a y;
    16: R a x, W b y, R a y, W b x;
    17: W a x, R b y, W a y, R b x;
};

impl PatternId {
    /// The pattern with this number, if there is one.
    pub fn new(number: u8) -> Option<Self> {
        (1..=PATTERNS as u8).contains(&number).then_some(PatternId(number))
    }

    /// Its number, 1 to 17.
    pub fn number(self) -> u8 {
        self.0
    }

    /// Its place in [`CATALOGUE`] and in arrays with one element per pattern.
    pub fn index(self) -> usize {
        usize::from(self.0 - 1)
    }

    /// Its steps.
    pub fn pattern(self) -> &'static Pattern {
        &CATALOGUE[self.index()]
    }

    /// All numbers.
    pub fn all() -> impl Iterator<Item = PatternId> {
        CATALOGUE.iter().map(|p| p.id)
    }
}

impl Pattern {
    /// Whether it needs a second variable.
    pub fn has_y(&self) -> bool {
        self.steps.iter().any(|s| s.var == Which::Y)
    }
}

impl TryFrom<u8> for PatternId {
    type Error = String;
    fn try_from(number: u8) -> Result<Self, String> {
        PatternId::new(number).ok_or_else(|| format!("there is no memory-access pattern {number}"))
    }
}

impl From<PatternId> for u8 {
    fn from(id: PatternId) -> u8 {
        id.0
    }
}

impl fmt::Display for PatternId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "P{}", self.0)
    }
}

impl fmt::Display for Pattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, s) in self.steps.iter().enumerate() {
            let comma = if i == 0 { "" } else { ", " };
            write!(f, "{comma}{s}")?;
        }
        Ok(())
    }
}

impl fmt::Display for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kind = if self.kind == AccessKind::Read { 'R' } else { 'W' };
        let who = if self.who == Who::A { 'a' } else { 'b' };
        let var = if self.var == Which::X { 'x' } else { 'y' };
        write!(f, "{kind}{who} {var}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    /// Two units of two accesses each: `a` touches x then y, `b` touches both in either order.
    fn interleavings(a: [(AccessKind, Which); 2], b: [(AccessKind, Which); 2]) -> Vec<Vec<Step>> {
        let mut all = Vec::new();
        for mask in 0u32..16 {
            if mask.count_ones() != 2 {
                continue;
            }
            let (mut i, mut j) = (0, 0);
            let mut steps = Vec::new();
            for bit in 0..4 {
                let (who, (kind, var)) = if mask >> bit & 1 == 1 {
                    i += 1;
                    (Who::A, a[i - 1])
                } else {
                    j += 1;
                    (Who::B, b[j - 1])
                };
                steps.push(Step { who, kind, var });
            }
            all.push(steps);
        }
        all
    }

    /// What each read sees and who writes last, which is all that view equivalence compares.
    fn view(steps: &[Step]) -> BTreeSet<(Who, AccessKind, Which, Option<Who>)> {
        let mut writer = [None, None];
        let mut seen = BTreeSet::new();
        for s in steps {
            let w = &mut writer[s.var as usize];
            match s.kind {
                AccessKind::Read => {
                    seen.insert((s.who, AccessKind::Read, s.var, *w));
                }
                AccessKind::Write => *w = Some(s.who),
            }
        }
        seen.insert((Who::A, AccessKind::Write, Which::X, writer[0]));
        seen.insert((Who::A, AccessKind::Write, Which::Y, writer[1]));
        seen
    }

    /// Renames threads and variables so that the first step is made by `a` on x.
    fn canonical(steps: &[Step]) -> Vec<Step> {
        let (who, var) = (steps[0].who, steps[0].var);
        steps
            .iter()
            .map(|s| Step {
                who: if s.who == who { Who::A } else { Who::B },
                kind: s.kind,
                var: if s.var == var { Which::X } else { Which::Y },
            })
            .collect()
    }

    #[test]
    fn the_two_variable_patterns_are_the_unserializable_interleavings_of_two_units() {
        use AccessKind::{Read, Write};
        use Which::{X, Y};
        let mut found = BTreeSet::new();
        for (ka, kb) in [(Write, Write), (Write, Read)] {
            for order in [[X, Y], [Y, X]] {
                let a = [(ka, X), (ka, Y)];
                let b = [(kb, order[0]), (kb, order[1])];
                for steps in interleavings(a, b) {
                    let serial_ab: Vec<Step> = [Who::A, Who::B]
                        .iter()
                        .flat_map(|w| steps.iter().filter(move |s| s.who == *w).copied())
                        .collect();
                    let serial_ba: Vec<Step> = [Who::B, Who::A]
                        .iter()
                        .flat_map(|w| steps.iter().filter(move |s| s.who == *w).copied())
                        .collect();
                    if view(&steps) != view(&serial_ab) && view(&steps) != view(&serial_ba) {
                        found.insert(canonical(&steps));
                    }
                }
            }
        }
        let listed: BTreeSet<Vec<Step>> =
            CATALOGUE.iter().filter(|p| p.has_y()).map(|p| p.steps.to_vec()).collect();
        assert_eq!(listed.len(), 9);
        assert_eq!(found, listed);
    }

    #[test]
    fn every_pattern_starts_with_a_on_x_and_its_number_is_its_place() {
        for (i, p) in CATALOGUE.iter().enumerate() {
            assert_eq!(p.id.index(), i);
            assert_eq!((p.steps[0].who, p.steps[0].var), (Who::A, Which::X));
            assert_eq!(p.steps[1].who, Who::B);
        }
        assert_eq!(PatternId::new(0), None);
        assert_eq!(PatternId::new(18), None);
    }
}
