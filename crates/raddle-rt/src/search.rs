//! What decides in the next execution.
//!
//! By default waits may end early only in few executions, late in a search (see [`EarlyEnds`]). A strategy that remembers what
//! it has tried would be confused if the rules changed from one execution to the next, so it is made twice: for these
//! executions, and for the others.

use crate::fast;
use crate::heap;
use crate::store::Store;
use raddle_core::protocol::{Timeouts, Unexplored};
use raddle_core::{Schedule, strategy};
use raddle_sched::{EarlyEnds, LONG_PATIENCE, Limits, Mode, PATIENCE, Rules};

/// So many executions come before the first in which waits may end early.
const PUNCTUAL: u64 = 100;
/// Waits may end early in one of so many executions after [`PUNCTUAL`].
const RARELY: u64 = 8;
/// One in so many executions of a test of a hunt, which are few.
const RARELY_IN_HUNTS: u64 = 16;
/// A search whose executions draw random numbers has so many at least, also where fewer show all schedules.
const DRAWS: u64 = 100;
/// Makes the other strategy choose differently.
const LATE: u64 = 0x6c61_7465;

impl Store {
    /// Prepares the execution with this number, from 1; `false` when there is nothing left to try.
    pub fn begin_search(&mut self, number: u64) -> bool {
        let possible = self.may_be_late();
        self.turn_to(possible && number > PUNCTUAL && number.is_multiple_of(RARELY));
        self.apart = fast::is_apart(self, number);
        if self.apart {
            self.strategy.begin_apart(number);
            return true;
        }
        if self.strategy.begin() {
            return true;
        }
        if possible {
            self.turn_to(!self.late);
            if self.strategy.begin() {
                return true;
            }
        }
        self.draw_more(number)
    }

    /// Begins again, if executions draw random numbers and there have been too few for many to have been seen.
    fn draw_more(&mut self, number: u64) -> bool {
        if !self.draws || number > DRAWS || self.strategy.is_systematic() {
            return false;
        }
        match strategy::by_name(&self.job.strategy, self.job.seed ^ number) {
            Ok(strategy) => self.strategy = strategy,
            Err(_) => return false,
        }
        self.strategy.begin()
    }

    /// Prepares the execution with this number of a test of a hunt, whose search has one strategy.
    pub fn begin_hunted(&mut self, number: u64) {
        let late = self.job.timeouts == Timeouts::Late && !self.strategy.is_systematic();
        self.late = late && number.is_multiple_of(RARELY_IN_HUNTS);
    }

    /// The rules of the execution that is about to begin, as it is recorded and looked at.
    pub fn rules(&self) -> Rules {
        let patient = self.strategy.is_patient();
        Rules {
            mode: if self.replay.is_some() { Mode::Replay } else { Mode::Search },
            transfers: self.replay.as_ref().map_or_else(Vec::new, |schedule| schedule.transfers.clone()),
            followed: 0,
            recorded: true,
            patient,
            patience: if patient { LONG_PATIENCE } else { PATIENCE },
            // A sequential order has to explain what happened in any other execution; and in a replay the schedule decides.
            early_ends: match self.replay {
                Some(_) => EarlyEnds::ALL,
                None if patient => EarlyEnds::ALL,
                None => EarlyEnds::of(self.job.timeouts, self.late),
            },
            limits: Limits {
                most: self.job.max_steps,
                chance_after: self.chance_after(),
                for_long: self.patience_for_long(),
                others_ended: self.stats.completed > 0,
            },
        }
    }

    /// How to repeat the execution in progress.
    pub fn how_to_repeat(&self) -> Schedule {
        let schedule = self.replay.as_ref().unwrap_or(&self.schedule);
        Schedule { early: self.schedule.early.clone(), ..schedule.clone() }
    }

    /// Which stream of random numbers an execution draws from. Another one each time, unless the strategy relies on its being
    /// the same.
    pub fn stream(&self) -> u64 {
        match &self.replay {
            Some(schedule) => schedule.stream,
            None if self.strategy.is_systematic() => 0,
            None => self.stats.executions,
        }
    }

    /// Whether there is a wait that could end early in executions in which it may.
    fn may_be_late(&self) -> bool {
        let waits = [Unexplored::EarlyTimeouts, Unexplored::EarlySleeps];
        self.job.timeouts == Timeouts::Late
            && !self.strategy.is_systematic()
            && self.stats.unexplored.iter().any(|u| waits.contains(u))
    }

    fn turn_to(&mut self, late: bool) {
        // What a settled strategy remembers does not confuse it.
        if std::mem::replace(&mut self.late, late) == late || self.strategy.is_settled() {
            return;
        }
        let other = self.other.take();
        let make = || strategy::by_name(&self.job.strategy, self.job.seed ^ LATE).ok();
        if let Some(other) = other.or_else(make) {
            self.other = Some(std::mem::replace(&mut self.strategy, other));
        }
    }

    /// The test makes use of something that the search does not try in all ways.
    pub fn leave_out(&mut self, what: Unexplored) {
        let known = &mut self.stats.unexplored;
        if let Err(at) = known.binary_search(&what) {
            heap::persistent(|| known.insert(at, what));
        }
    }
}
