//! Memory-access patterns: which interleavings of accesses an execution contained.
//!
//! A concurrency bug nearly always needs only a few accesses of two threads in an unlucky order: a value is
//! checked, another thread overwrites it, and the first thread uses it (read, write, read: pattern 4). The
//! [`CATALOGUE`] lists the 17 such orders of MAP-coverage. An [`Instance`] is a pattern together with the
//! program sites of its steps and the names of its variables, so it means the same in every execution. The
//! instances found so far measure how well the schedules of a test have been explored
//! ([`crate::coverage::map`]); those of a single execution tell how different it was from others
//! ([`distance()`]).
//!
//! # From a trace to instances
//!
//! This is the example of MAP-coverage: one thread reads `th` at lines 4 and 5 and another writes it at line 9
//! in between.
//!
//! ```
//! use raddle_core::pattern::{patterns_of, FullMatcher};
//! use raddle_core::{Event, Trace};
//!
//! let trace = Trace::from_events([Event::read(1, 4, 0), Event::write(2, 9, 0), Event::read(1, 5, 0)]);
//! let found = patterns_of(&mut FullMatcher::new(), &trace);
//! let found: Vec<String> = found.iter().map(|i| i.to_string()).collect();
//! assert_eq!(found, ["P1(s4 s9; n0)", "P2(s9 s5; n0)", "P4(s4 s9 s5; n0)"]);
//! ```
//!
//! # Two readings of "contains"
//!
//! A [`Matcher`] takes events one by one and says which instances are new. [`FullMatcher`] follows MAP-coverage:
//! every subsequence of the trace counts. [`CutMatcher`] follows the code of ARS and HARS: a write hides what came
//! before it. The crate `raddle-lab` has both definitions in their plainest form, for tests and as a baseline.
//!
//! Both matchers agree on the rest. Only reads, writes and read-modify-writes of data take part. Inside an execution,
//! variables are told apart by identity ([`VarId`](crate::VarId)); instances carry their stable names
//! ([`NameId`]). A read-modify-write is one event that can be a read step or a write step of an occurrence
//! (never two steps of one occurrence), so its site counts among the reading and among the writing sites.
//!
//! # Choosing what to run next
//!
//! A scheduler asks [`Matcher::preview`] what a pending event would add, without executing it. HARS prefers the
//! subtrace that is farthest from all passed traces. Its example, two threads that each read (site 4) and write
//! (site 5) one variable, with the distance rule of its code:
//!
//! ```
//! use raddle_core::pattern::{distance, patterns_of, CutConfig, CutMatcher};
//! use raddle_core::{Event, Trace};
//!
//! let run = |steps: &[(u32, u32)]| {
//!     let event = |&(t, s): &(u32, u32)| if s == 4 { Event::read(t, s, 0) } else { Event::write(t, s, 0) };
//!     patterns_of(&mut CutMatcher::new(CutConfig::default()), &Trace::from_events(steps.iter().map(event)))
//! };
//! let passed = [run(&[(1, 4), (1, 5), (2, 4), (2, 5)])];
//! let far = |steps| distance(&run(steps), &passed);
//! assert_eq!([far(&[(1, 4)]), far(&[(2, 4)])], [0, 0]);
//! let third = [far(&[(1, 4), (2, 4), (1, 5)]), far(&[(1, 4), (2, 4), (2, 5)]), far(&[(2, 4)])];
//! assert_eq!(third, [1, 1, 0]);
//! ```

mod catalogue;
mod cut;
mod distance;
pub(crate) mod fixed;
mod full;
mod instance;
mod set;
mod settled;
mod shape;
mod table;

pub use catalogue::{AccessKind, CATALOGUE, PATTERNS, Pattern, PatternId, Step, Which, Who};
pub use cut::{CutConfig, CutMatcher, PatternRange};
pub use distance::distance;
pub use full::FullMatcher;
pub use instance::{Instance, Match, NotAnInstance, Witness, flat};
pub use set::InstanceSet;

use crate::event::{Event, Op};
use crate::trace::{NameId, Trace};
use std::collections::BTreeSet;

/// Finds instances while an execution runs, and remembers them over executions.
///
/// An instance is *new* when it is not in [`found`](Matcher::found). [`begin`](Matcher::begin) starts another
/// execution and keeps what was found, so new means new to all executions; [`clear`](Matcher::clear) also
/// forgets what was found, so new means new to this execution. Either keeps memory for reuse.
///
/// `vars` gives the stable name of each dynamic variable, as [`Trace::vars`] does.
pub trait Matcher: std::fmt::Debug + Send {
    /// Starts another execution and keeps what was found.
    fn begin(&mut self);

    /// Starts another execution and forgets what was found.
    fn clear(&mut self);

    /// The event happened. Appends the new instances, each with the events that form it.
    ///
    /// # Panics
    /// When `vars` has no name for the event's variable.
    fn push(&mut self, event: &Event, vars: &[NameId], new: &mut Vec<Match>);

    /// The event happened. Like [`push`](Matcher::push), but only counts the new instances.
    ///
    /// # Panics
    /// When `vars` has no name for the event's variable.
    fn count(&mut self, event: &Event, vars: &[NameId]) -> u64;

    /// Appends, in ascending order, the instances that [`push`](Matcher::push) would report if the event
    /// happened next.
    ///
    /// # Panics
    /// When `vars` has no name for the event's variable.
    fn preview(&self, event: &Event, vars: &[NameId], new: &mut Vec<Instance>);

    /// What has been found.
    fn found(&self) -> &InstanceSet;

    /// The instances of the execution under way, provided that the matcher was cleared before it. This differs
    /// from [`found`](Matcher::found) only for a [`CutMatcher`] that drops repeated accesses, whose instances
    /// can disappear as the trace grows.
    fn patterns(&self) -> BTreeSet<Instance> {
        self.found().iter().collect()
    }
}

/// The instances of one trace; the matcher is cleared first.
pub fn patterns_of(matcher: &mut impl Matcher, trace: &Trace) -> BTreeSet<Instance> {
    matcher.clear();
    for event in &trace.events {
        matcher.count(event, &trace.vars);
    }
    matcher.patterns()
}

/// The roles in which an event can take part in a pattern.
pub fn roles(op: &Op) -> &'static [AccessKind] {
    match op {
        Op::Read(_) => &[AccessKind::Read],
        Op::Write(_) => &[AccessKind::Write],
        Op::Rmw(_) => &[AccessKind::Read, AccessKind::Write],
        _ => &[],
    }
}
