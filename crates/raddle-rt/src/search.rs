//! What decides in the next execution.
//!
//! By default waits may end early only in few executions, late in a search (see `runtime::early`). A strategy that remembers what
//! it has tried would be confused if the rules changed from one execution to the next, so it is made twice: for these
//! executions, and for the others.

use crate::fast;
use crate::heap;
use crate::store::Store;
use raddle_core::protocol::{Timeouts, Unexplored};
use raddle_core::strategy;

/// So many executions come before the first in which waits may end early,
const PUNCTUAL: u64 = 100;
/// and then it is one in so many.
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

    /// The same for the executions of a test of a hunt, which have one strategy.
    pub fn begin_hunted(&mut self, number: u64) {
        let late = self.job.timeouts == Timeouts::Late && !self.strategy.is_systematic();
        self.late = late && number.is_multiple_of(RARELY_IN_HUNTS);
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
