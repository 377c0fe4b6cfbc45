//! Who runs next.
//!
//! A [`Strategy`] is asked at every decision: a moment at which every thread has been brought to its next
//! visible step and at least two of them can take it (or one, for a strategy that asks to see every step). It sees those pending steps, chooses one, and is told
//! about every event that happens. Strategies are seeded; they use no other source of chance.

mod adaptive;
mod ars;
mod auto;
mod coverage;
mod dfs;
mod dice;
mod dpor;
mod hars;
pub mod order;
mod pattern;
mod pct;
mod period;
mod pos;
mod random;
mod rff;
mod round_robin;
mod serial;
mod surw;
#[cfg(test)]
mod testing;
mod tree;
mod tsa;

pub use adaptive::{Adaptive, AdaptiveConfig, Selection};
pub use ars::ARS;
pub use auto::Auto;
pub use coverage::{Coverage, Plan};
pub use dfs::Dfs;
pub use dice::Dice;
pub use dpor::Dpor;
pub use hars::HARS;
pub use order::Order;
pub use pattern::{Kin, Pattern};
pub use pct::Pct;
pub use period::Period;
pub use pos::Pos;
pub use random::Random;
pub use rff::Rff;
pub use round_robin::RoundRobin;
pub use serial::Serial;
pub use surw::Surw;
pub use tsa::Tsa;

use crate::event::{Event, SiteId, ThreadId};
use crate::outcome::Outcome;
use crate::trace::{NameId, Site, Trace};

/// The state of an execution at a decision.
#[derive(Clone, Copy, Debug)]
pub struct View<'a> {
    /// The pending event of every enabled thread, by ascending thread; never empty. The event of a thread
    /// whose timed wait may end now is [`Op::Wait`](crate::Op::Wait) with `timed_out`.
    pub enabled: &'a [Event],
    /// The thread that took the last step.
    pub last: ThreadId,
    /// The events so far.
    pub events: &'a [Event],
    /// The stable name of each dynamic variable so far, those of the pending events included, as
    /// [`Trace::vars`] gives it.
    pub vars: &'a [NameId],
    /// Decisions taken in this execution before this one.
    pub decision: usize,
}

impl View<'_> {
    /// Whether the thread that took the last step can go on, so that choosing another is a preemption.
    pub fn last_enabled(&self) -> bool {
        self.enabled.iter().any(|e| e.thread == self.last)
    }
}

/// What to do at a decision.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Choice {
    /// The enabled event with this index goes on.
    Run(usize),
    /// Give this execution up; the next one starts from the beginning.
    Abandon,
}

/// A finished execution, as a strategy sees it.
#[derive(Clone, Copy, Debug)]
pub struct Finished<'a> {
    /// What happened.
    pub trace: &'a Trace,
    /// How it ended.
    pub outcome: &'a Outcome,
    /// Steps became scheduling points during this execution that were none before: the tree of decisions
    /// has changed shape.
    pub learned: bool,
}

/// A search over schedules.
pub trait Strategy: std::fmt::Debug + Send {
    /// Prepares the next execution; `false` when there is nothing left to try.
    fn begin(&mut self) -> bool;
    /// Decides.
    fn choose(&mut self, view: &View<'_>) -> Choice;
    /// Decides without looking, given only how many threads are enabled; `None`, and nothing else happened, for a
    /// strategy that wants to look. Asked before every [`choose`](Strategy::choose), because not having to show
    /// anything is faster.
    fn choose_blindly(&mut self, enabled: usize) -> Option<usize> {
        self.dice().map(|dice| dice.below(enabled))
    }
    /// The dice that alone decide the execution in progress, if it does nothing at a decision but throw them, and looks neither at
    /// what threads are about to do nor at what happened. Then the execution need not be recorded, and nobody need ask.
    fn dice(&mut self) -> Option<&mut Dice> {
        None
    }
    /// Whether it can do without what further executions would tell it, so that they may be begun apart.
    fn is_settled(&self) -> bool {
        false
    }
    /// Prepares, in place of [`begin`](Strategy::begin), the execution with this number, which depends on nothing that happens in
    /// others that are begun so: several processes may run them, in any order. Only for a strategy that is settled, and only
    /// as long as nothing is learned.
    fn begin_apart(&mut self, _execution: u64) {}
    /// Whether [`Strategy::happened`] is of use to it.
    fn listens(&self) -> bool {
        false
    }
    /// An event happened; told only to strategies that listen.
    fn happened(&mut self, _event: &Event) {}
    /// Whether it wants to know where a site is, before it is shown an event there or told of one.
    fn wants_place(&self, _site: SiteId) -> bool {
        false
    }
    /// Where a site is: the functions around it, innermost first.
    fn place(&mut self, _site: SiteId, _frames: &[Site]) {}
    /// Whether to be asked at every visible step, also when only one thread is enabled.
    fn every_step(&self) -> bool {
        false
    }
    /// Whether it relies on each execution going as those before it did as long as the same choices are made: with the same random
    /// numbers, and with time passing by the same rules.
    fn is_systematic(&self) -> bool {
        false
    }
    /// Whether a thread that has done nothing visible for long should be made to give way late rather than soon.
    fn is_patient(&self) -> bool {
        false
    }
    /// Whether it has interrupted, in the execution in progress, what may not have needed it, so that it cannot be sure to have run
    /// what it stands for.
    fn guessed(&self) -> bool {
        false
    }
    /// No thread is enabled, but these are still waiting, for ever: their pending events, by ascending thread.
    /// Called before [`end`](Strategy::end), if at all.
    fn stuck(&mut self, _pending: &[Event]) {}
    /// The execution ended.
    fn end(&mut self, _run: &Finished<'_>) {}
    /// Figures for evaluations, in an order that the strategy's own documentation gives; empty for most.
    fn notes(&self) -> Vec<f64> {
        Vec::new()
    }
}

pub use crate::protocol::DEFAULT_STRATEGY as DEFAULT;

/// The strategies that can be asked for by name, with what may follow a colon.
pub const NAMES: &[(&str, &str)] = &[
    ("auto", ""),
    ("random", ""),
    ("pct", "depth, default 3"),
    ("pos", ""),
    ("surw", "`locks` to order acquisitions instead of data accesses"),
    ("rff", ""),
    ("period", "depth, one less than the most periods, default 3"),
    ("ars", "queue length, default 5"),
    ("hars", "queue length, default 4"),
    ("round-robin", "steps per turn, default 1"),
    ("tsa", "executions without a new pair after which it ends, default 100"),
    ("pattern", "the instance to produce, such as `P4(s4 s9 s5; n0)`; it has to be given"),
    ("order", "turns of threads, such as `1@src/lib.rs:22:30 2@src/lib.rs:23:9*2`; they have to be given"),
    ("dfs", "most preemptions, default no bound"),
    ("dpor", ""),
    ("serial", "the threads of the first calls in order, such as `1,2,1`, default all orders"),
];

/// What evaluations ask for by name beside [`NAMES`], and nobody who looks for bugs: the searches of the papers with something switched on
/// or off ([`AdaptiveConfig::with`]), and measurements that are no searches.
pub const EVALUATIONS: &[(&str, &str)] = &[
    ("ars", "any of p8, no-names, no-repeats, prune, drain, besides, first, lots, settle200, look"),
    (
        "hars",
        "any of p8, no-names, no-repeats, no-prune, drain, besides, first, no-lots, settle200, look, published",
    ),
    (
        "coverage",
        "traces of a random walk, traces and seeds per strategy, and their names, as in `9000,500,3,pos,hars`",
    ),
];

/// A name that means no strategy.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct UnknownStrategy(pub String);

impl std::fmt::Display for UnknownStrategy {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "no strategy is called `{}`; there are ", self.0)?;
        for (i, (name, parameter)) in NAMES.iter().enumerate() {
            let comma = if i == 0 { "" } else { ", " };
            match *parameter {
                "" => write!(f, "{comma}{name}")?,
                p => write!(f, "{comma}{name}[:N] (N = {p})")?,
            }
        }
        Ok(())
    }
}

impl std::error::Error for UnknownStrategy {}

/// Makes the strategy with this name, for example `random`, `pct:3` or `dfs:2`.
pub fn by_name(name: &str, seed: u64) -> Result<Box<dyn Strategy>, UnknownStrategy> {
    make(name, seed).ok_or_else(|| UnknownStrategy(name.to_owned()))
}

fn make(name: &str, seed: u64) -> Option<Box<dyn Strategy>> {
    let (base, parameter) = match name.split_once(':') {
        Some((base, p)) => (base, Some(p)),
        None => (name, None),
    };
    let number = |default: u32| parameter.map_or(Some(default), |p| p.parse::<u32>().ok());
    let positive = |default: u32| number(default).filter(|&n| n > 0);
    Some(match (base, parameter) {
        ("auto", None) => Box::new(Auto::new(seed)),
        ("random", None) => Box::new(Random::new(seed)),
        ("pct", _) => Box::new(Pct::new(seed, positive(3)?)),
        ("pos", None) => Box::new(Pos::new(seed)),
        ("surw", None) => Box::new(Surw::new(seed)),
        ("surw", Some("locks")) => Box::new(Surw::for_locks(seed)),
        ("rff", None) => Box::new(Rff::new(seed)),
        ("period", _) => Box::new(Period::new(positive(3)?)),
        ("ars", None) => Box::new(Adaptive::new(seed, ARS)),
        ("ars", Some(p)) => Box::new(Adaptive::new(seed, ARS.with(p)?)),
        ("hars", None) => Box::new(Adaptive::new(seed, HARS)),
        ("hars", Some(p)) => Box::new(Adaptive::new(seed, HARS.with(p)?)),
        ("round-robin", _) => Box::new(RoundRobin::new(positive(1)?)),
        ("tsa", _) => Box::new(Tsa::new(seed, positive(100)?)),
        ("pattern", Some(p)) => Box::new(Pattern::new(seed, p.parse().ok()?)),
        ("order", Some(p)) => Box::new(Order::parse(p)?),
        ("serial", None) => Box::new(Serial::new()),
        ("serial", Some(p)) => Box::new(Serial::parse(p)?),
        ("coverage", Some(p)) => Box::new(Coverage::new(seed, Plan::parse(p)?)),
        ("dpor", None) => Box::new(Dpor::new()),
        ("dfs", None) => Box::new(Dfs::new(None)),
        ("dfs", _) => Box::new(Dfs::new(Some(number(0)?))),
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_listed_name_makes_a_strategy_and_others_are_refused() {
        for (name, _) in NAMES {
            assert_eq!(by_name(name, 0).is_ok(), !["pattern", "order"].contains(name), "{name}");
        }
        let with = [
            "tsa:5",
            "pattern:P1(s1 s2; n0)",
            "pct:2",
            "surw:locks",
            "period:2",
            "ars:6",
            "hars:5",
            "round-robin:2",
            "dfs:0",
            "serial:1,2,1",
            "order:1@a.rs:2:3*4",
        ];
        for name in with {
            assert!(by_name(name, 0).is_ok(), "{name}");
        }
        let listed: Vec<&str> = NAMES.iter().filter(|(_, p)| !p.is_empty()).map(|(n, _)| *n).collect();
        for name in listed {
            assert!(with.iter().any(|w| w.split_once(':').unwrap().0 == name), "{name} takes a parameter");
        }
        for name in ["coverage:9,5,3,pos,pct:2", "ars:6,drain", "hars:4,p17,drain"] {
            assert!(by_name(name, 0).is_ok(), "{name}");
            let base = name.split_once(':').unwrap().0;
            assert!(EVALUATIONS.iter().any(|(n, _)| *n == base), "{name}");
        }
        let bad = [
            "",
            "Random",
            "random:2",
            "auto:1",
            "pct:",
            "pct:0",
            "pct:x",
            "pos:1",
            "surw:x",
            "rff:1",
            "period:0",
            "hars:",
            "pattern:P1",
            "dpor:1",
            "serial:1,0",
            "order:1,2",
            "dfs:-1",
            "round-robin:0",
        ];
        for name in bad {
            assert!(by_name(name, 0).is_err(), "{name}");
        }
    }
}
