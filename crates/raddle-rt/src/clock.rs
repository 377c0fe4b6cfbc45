//! What the clocks of the program show in virtual time (see [`raddle_sched::Clock`]).

/// Nanoseconds between the epoch and the start of virtual time: 1 January 2024.
const EPOCH: u64 = 1_704_067_200 * 1_000_000_000;
/// The monotonic clock starts here, so that subtracting a little from it is possible.
const BOOT: u64 = 1_000_000_000_000;

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

/// A relative time in nanoseconds, saturating.
pub fn duration(t: libc::timespec) -> u64 {
    (t.tv_sec.max(0) as u64).saturating_mul(1_000_000_000).saturating_add(t.tv_nsec.max(0) as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reading_of_a_clock_means_the_time_at_which_it_was_made() {
        for clock in [libc::CLOCK_REALTIME, libc::CLOCK_MONOTONIC] {
            assert_eq!(at(clock, reading(clock, 1_234_567_890_123)), 1_234_567_890_123);
        }
    }

    #[test]
    fn times_that_nobody_can_wait_for_do_not_overflow() {
        let longest = libc::timespec { tv_sec: i64::MAX, tv_nsec: 999_999_999 };
        assert_eq!(duration(longest), u64::MAX);
        assert_eq!(duration(libc::timespec { tv_sec: -1, tv_nsec: 0 }), 0);
    }
}
