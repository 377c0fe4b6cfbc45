//! Which values variables had, roughly.
//!
//! A counter that goes from 7 to 8, a list that is no longer empty, a flag that is set: the code may take another way then.
//! Exact values would be new all the time, and addresses mean nothing, so a value counts by the number of its bits.

use crate::event::{Access, Value};
use crate::trace::NameId;

/// The magnitudes that each variable had.
#[derive(Clone, Debug, Default)]
pub struct Magnitudes {
    /// By name: bit `n` for values of `n` bits.
    seen: Vec<u128>,
}

impl Magnitudes {
    /// Takes note of what an access read and wrote; how many magnitudes its variable had not had before.
    pub fn note(&mut self, name: NameId, access: &Access) -> u32 {
        let values = [access.read.get(), access.written.get()];
        values.into_iter().flatten().map(|value| u32::from(self.is_new(name, value))).sum()
    }

    fn is_new(&mut self, name: NameId, value: Value) -> bool {
        let at = name.0 as usize;
        if self.seen.len() <= at {
            self.seen.resize(at + 1, 0);
        }
        let bits = (Value::BITS - value.leading_zeros()).min(u128::BITS - 1);
        let before = self.seen[at];
        self.seen[at] |= 1 << bits;
        self.seen[at] != before
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::{Content, VarId};

    #[test]
    fn a_value_is_new_if_its_variable_had_none_of_so_many_bits() {
        let mut seen = Magnitudes::default();
        let none = Access::plain(VarId(0), 8);
        let mut wrote =
            |name, value: Value| seen.note(NameId(name), &Access { written: Content::of(value), ..none });
        assert_eq!([0, 1, 2, 3, 4, 7, 8].map(|v| wrote(5, v)), [1, 1, 1, 0, 1, 0, 1]);
        assert_eq!([wrote(0, 3), wrote(0, 2), wrote(0, Value::MAX), wrote(0, Value::MAX)], [1, 0, 1, 0]);
        let both = Access { read: Content::of(1 << 20), written: Content::of(1 << 30), ..none };
        assert_eq!([seen.note(NameId(5), &both), seen.note(NameId(5), &none)], [2, 0]);
    }
}
