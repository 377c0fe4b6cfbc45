//! How far a trace is from what has been tried.

use super::instance::Instance;
use std::collections::BTreeSet;

/// The distance of a (sub)trace with instances `s` from the passed traces: the least number, over the passed
/// traces, of instances of `s` that the passed trace lacks. It is a minimum over traces and not the difference
/// to their union. Without passed traces it is the number of instances of `s`.
///
/// This is the rule of the published ARS and HARS code; the HARS paper prints the difference the other way round
/// (see [`crate::pattern`] for the worked example).
///
/// ```
/// use raddle_core::pattern::{distance, Instance, PatternId};
/// use raddle_core::{NameId, SiteId};
/// use std::collections::BTreeSet;
/// let pair = |s1, s2| Instance::new(PatternId::new(1).unwrap(), &[SiteId(s1), SiteId(s2)], NameId(0), None);
/// let s = BTreeSet::from([pair(1, 2), pair(3, 4)]);
/// let passed = [BTreeSet::from([pair(1, 2)]), BTreeSet::from([pair(3, 4), pair(5, 6)])];
/// assert_eq!(distance(&s, &passed), 1);
/// assert_eq!(distance(&s, []), 2);
/// ```
pub fn distance<'t>(
    s: &BTreeSet<Instance>,
    passed: impl IntoIterator<Item = &'t BTreeSet<Instance>>,
) -> usize {
    passed.into_iter().map(|t| s.difference(t).count()).min().unwrap_or(s.len())
}
