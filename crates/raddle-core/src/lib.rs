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
//! - [`schedule`], [`outcome`], [`protocol`]: how an execution is repeated, how it ended, and what the command
//!   and its workers say to each other.
#![forbid(unsafe_code)]

pub mod coverage;
pub mod location_pairs;
pub mod pattern;
pub mod strategy;

pub use raddle_model::*;
