//! The rules of an execution: who decides, what may end early, and how long it may take.

use raddle_core::Transfer;
use raddle_core::protocol::Timeouts;

/// Raw events without a decision after which a thread is made to yield: it may be spinning on memory that
/// is not known to be shared yet.
pub const PATIENCE: u64 = 2_000;
/// [`PATIENCE`] where calls are not to be interrupted: one that does much must not be taken for one that waits.
pub const LONG_PATIENCE: u64 = 200_000;
/// [`PATIENCE`] where accesses are not counted.
pub const ENDLESS_PATIENCE: u64 = u64::MAX / 2;
/// For how long a thread may be kept from running, in virtual nanoseconds.
const LONGEST: u64 = 60 * SECOND;
/// For how long in an execution of a search that is not told otherwise.
const PLAUSIBLE: u64 = SECOND;
const SECOND: u64 = 1_000_000_000;
/// Waits that may end early in an execution of a search that is not told otherwise.
const FEW: u32 = 2;

/// How many times as many steps as asked for an execution may take in the end, if everybody gets a turn in the rest of
/// them: a test that is merely long comes to its end.
pub const FAIR_LIMIT: u64 = 10;

/// How the execution is steered.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Mode {
    /// The strategy decides.
    Search,
    /// A recorded schedule decides.
    Replay,
    /// One thread, before the first execution: nothing to decide.
    Prelude,
}

/// The rules of an execution.
#[derive(Clone, Debug)]
pub struct Rules {
    /// How it is steered.
    pub mode: Mode,
    /// The schedule to follow in a replay.
    pub transfers: Vec<Transfer>,
    /// How many of those transfers happened before the execution began.
    pub followed: usize,
    /// Whether the schedule is written down. What is not recorded is not judged either: it is given up when it takes too long.
    pub recorded: bool,
    /// A call is not to be interrupted unless it waits: the strategy runs sequential orders.
    pub patient: bool,
    /// Raw events without a decision after which a thread is made to yield.
    pub patience: u64,
    /// Which waits may end although threads could run.
    pub early_ends: EarlyEnds,
    /// How long it may take.
    pub limits: Limits,
}

impl Rules {
    /// The rules of the prelude, the one thread before the first execution.
    pub fn prelude() -> Rules {
        Rules {
            mode: Mode::Prelude,
            transfers: Vec::new(),
            followed: 0,
            recorded: true,
            patient: false,
            patience: PATIENCE,
            early_ends: EarlyEnds::NONE,
            limits: Limits::default(),
        }
    }
}

/// Which waits may end early in the rest of an execution.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct EarlyEnds {
    /// Any at all.
    pub(crate) allowed: bool,
    /// So many of those that have not nearly ended.
    pub(crate) left: u32,
    /// Of those, the ones that are no longer than this.
    pub(crate) longest: u64,
}

impl EarlyEnds {
    /// No wait ends early.
    pub const NONE: EarlyEnds = EarlyEnds { allowed: false, left: 0, longest: 0 };
    /// Any wait may: the rule where an execution has to be able to do what any other one did, as a sequential order and a replay.
    pub const ALL: EarlyEnds = EarlyEnds { allowed: true, left: u32::MAX, longest: LONGEST };

    /// The rules of a search, for an execution that is one of its `late` ones or not.
    pub fn of(timeouts: Timeouts, late: bool) -> EarlyEnds {
        match timeouts {
            Timeouts::Never => EarlyEnds::NONE,
            Timeouts::Late => {
                EarlyEnds { allowed: true, left: if late { FEW } else { 0 }, longest: PLAUSIBLE }
            }
            Timeouts::Any => EarlyEnds::ALL,
        }
    }
}

/// How long an execution may take.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Steps that were asked for.
    pub most: u64,
    /// Steps after which chance decides instead of the strategy.
    pub chance_after: u64,
    /// So many times as many steps as make a livelock may be taken by an execution that gets somewhere.
    pub for_long: u64,
    /// Other executions came to their end: one that the time of the search ends began too late.
    pub others_ended: bool,
}

impl Default for Limits {
    fn default() -> Self {
        Limits { most: u64::MAX, chance_after: u64::MAX, for_long: 1, others_ended: false }
    }
}

impl Limits {
    /// Steps after which an execution with fair turns is judged.
    pub(crate) fn fair(&self) -> u64 {
        self.most.saturating_mul(FAIR_LIMIT)
    }
}

/// A place in an execution.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Mark {
    /// Events before it.
    pub events: usize,
    /// Transfers before it.
    pub transfers: usize,
    /// Where the running thread stands, as a schedule says it.
    pub position: u64,
}
