//! Virtual time.
//!
//! Time passes when nobody can run, when a time-out is chosen to fire, and a little with every look at the
//! clock, so that a loop that waits for a moment to come reaches it.

/// What the clocks of the program show.
#[derive(Debug)]
pub struct Clock {
    now: u64,
    glances: u32,
}

/// Nanoseconds between the epoch and the start of virtual time: 1 January 2024.
const EPOCH: u64 = 1_704_067_200 * 1_000_000_000;
/// The monotonic clock starts here, so that subtracting a little from it is possible.
const BOOT: u64 = 1_000_000_000_000;

impl Clock {
    /// Time zero.
    pub fn new() -> Self {
        Clock { now: 0, glances: 0 }
    }

    /// Back to time zero.
    pub fn reset(&mut self) {
        *self = Self::new();
    }

    /// Nanoseconds since the start of the execution.
    pub fn now(&self) -> u64 {
        self.now
    }

    /// The program looks at a clock. Looks cost more and more time, until time passes otherwise.
    pub fn glance(&mut self) -> u64 {
        self.glances = (self.glances + 1).min(20);
        self.now += 50 << (self.glances.saturating_sub(4) / 2);
        self.now
    }

    /// Time passes, never backwards.
    pub fn advance_to(&mut self, at: u64) {
        if at > self.now {
            self.now = at;
            self.glances = 0;
        }
    }

    /// Virtual time as a reading of a system clock.
    pub fn reading(clock: libc::clockid_t, now: u64) -> libc::timespec {
        let ns = now
            + match clock {
                libc::CLOCK_REALTIME | libc::CLOCK_REALTIME_COARSE => EPOCH,
                libc::CLOCK_PROCESS_CPUTIME_ID | libc::CLOCK_THREAD_CPUTIME_ID => 0,
                _ => BOOT,
            };
        libc::timespec { tv_sec: (ns / 1_000_000_000) as i64, tv_nsec: (ns % 1_000_000_000) as i64 }
    }

    /// An absolute reading of a system clock as virtual time.
    pub fn at(clock: libc::clockid_t, t: libc::timespec) -> u64 {
        duration(t).saturating_sub(if clock == libc::CLOCK_REALTIME { EPOCH } else { BOOT })
    }
}

/// A relative time in nanoseconds, saturating.
pub fn duration(t: libc::timespec) -> u64 {
    (t.tv_sec.max(0) as u64).saturating_mul(1_000_000_000).saturating_add(t.tv_nsec.max(0) as u64)
}
