//! Random traces, the same in every run.
#![allow(dead_code)]

use proptest::prelude::*;
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};
use raddle_core::{Access, Event, LockMode, NameId, Op, Trace, VarId};

/// A runner whose cases depend on nothing but their number.
pub fn runner(cases: u32) -> TestRunner {
    let config = Config { cases, failure_persistence: None, ..Config::default() };
    TestRunner::new_with_rng(config, TestRng::deterministic_rng(RngAlgorithm::ChaCha))
}

/// The size of a random trace.
#[derive(Clone, Copy, Debug)]
pub struct Size {
    pub threads: u32,
    pub vars: u32,
    pub sites: u32,
    pub events: usize,
}

/// Two to four threads, one to four variables, up to five sites.
pub fn small(events: usize) -> impl Strategy<Value = Trace> {
    (2u32..=4, 1u32..=4, 1u32..=5)
        .prop_flat_map(move |(threads, vars, sites)| traces(Size { threads, vars, sites, events }))
}

/// Traces of at most the given size; variables can share names, and some events are not data accesses.
pub fn traces(size: Size) -> impl Strategy<Value = Trace> {
    let event = (0..size.threads, 0..size.sites, 0..size.vars, 0u8..24)
        .prop_map(|(t, s, v, kind)| event(t, s, v, kind));
    let names = prop::collection::vec(0..size.vars.max(2), size.vars as usize);
    (prop::collection::vec(event, 0..=size.events), names)
        .prop_map(|(events, names)| Trace { events, vars: names.into_iter().map(NameId).collect() })
}

fn event(thread: u32, site: u32, var: u32, kind: u8) -> Event {
    let access = Access::plain(VarId(var), 8);
    let op = match kind {
        0..9 => Op::Read(access),
        9..19 => Op::Write(access),
        19..22 => Op::Rmw(access),
        22 => Op::Acquire { lock: VarId(var), mode: LockMode::Exclusive },
        _ => Op::Yield,
    };
    Event::new(thread, site, op)
}
