//! Which tests to make.
//!
//! A [`Generator`] makes one [`Plan`] after the other: a test, and under which schedules to run it. It may run calls
//! sequentially on the way, to see which of them are of use, and is told what came of each plan.

pub mod builder;
mod covcon;
mod kind;
mod known;
mod maptest;
mod pairs;
mod patterns;
mod plan;
mod random;
mod rehearse;

pub use builder::{Builder, Draft, Failing, Fault, NeverReturned, Sequence, Shop, Tries, values};
pub use builder::{drain_of, len_of, receiver, slots_in, slots_of};
pub use covcon::CovCon;
pub use kind::{GeneratorKind, UnknownGenerator};
pub use known::{HeldLock, Known, KnownAccess, Promise};
pub use maptest::MapTest;
pub use pairs::{PairCoverage, PairReport};
pub use patterns::PatternCoverage;
pub use plan::{Generator, Options, Plan};
pub use random::RandomTests;

#[cfg(test)]
mod tests;
