//! The science of raddle: what an execution is, what it covers, and which one to try next.
//!
//! This crate is pure. It does no I/O, starts no thread, reads no clock and contains no `unsafe`; the
//! same inputs always give the same outputs. The runtime feeds it events and asks it for decisions.
//!
//! Where to start reading:
//! - [`event`] and [`trace`]: what happened. One [`Event`] is one step of one thread; a [`Trace`] is the
//!   events of one execution.
//! - [`pattern`]: the 17 memory-access patterns, the shapes in which two threads get into each other's way,
//!   and how to find them in a trace.
//! - [`coverage::map`]: which patterns were seen, of all that the program's accesses allow (MAP-coverage), and
//!   [`coverage::feasible`]: which of the missing ones no schedule can produce.
//! - [`coverage::method_pairs`]: which methods ran at the same time (CovCon).
//! - [`location_pairs`]: which pairs of places in two methods were passed in both orders (Location Pairs).
//! - [`strategy`]: who runs next.
//! - [`hunt`]: tests made for a type, as data, and what comes of running them.
//! - [`stats`]: the statistics of the papers' evaluations.
//! - [`schedule`], [`outcome`], [`protocol`]: how an execution is repeated, how it ended, and what the command
//!   and its workers say to each other.
#![forbid(unsafe_code)]

pub mod coverage;
pub mod event;
pub mod hunt;
pub mod location_pairs;
pub mod outcome;
pub mod pattern;
pub mod protocol;
pub mod schedule;
pub mod stats;
pub mod strategy;
pub mod trace;

pub use event::{Access, Content, Event, LockMode, MethodId, Op, Ordering, SiteId, ThreadId, Value, VarId};
pub use outcome::{Kind, Outcome};
pub use schedule::{Early, Schedule, Transfer};
pub use trace::{NameId, Site, Symbols, Trace};
