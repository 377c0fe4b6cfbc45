//! What is needed to repeat an execution exactly.
//!
//! A schedule does not list decisions: which steps are scheduling points is learned and changes. It lists
//! the transfers of control, each placed by the number of raw events (every instrumented access and every
//! intercepted call) that the running thread had begun, which depends on the program alone, and by whether it
//! stood before or after the effect of the last one. Besides, it says which random numbers the execution drew.

use crate::event::ThreadId;
use crate::json::{Deserialize, Serialize};
use std::fmt;

/// The running thread stops and another goes on.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
pub struct Transfer {
    /// Twice the raw events that the running thread had begun, plus one if the last of them had taken effect.
    pub at: u64,
    /// Who runs next.
    pub to: ThreadId,
    /// The next thread's wait ends because its time runs out.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub timeout: bool,
}

impl Transfer {
    /// In place of a thread: from here on chance decides, with fair turns for everybody. So end the schedules of livelocks.
    pub const BY_CHANCE: ThreadId = ThreadId(u32::MAX);
}

/// Every transfer of control of one execution, in order, starting with thread 0 running, and the random numbers it draws.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default, Serialize, Deserialize)]
pub struct Schedule {
    /// The transfers.
    pub transfers: Vec<Transfer>,
    /// Which of the streams of random numbers that a seed gives the execution draws from.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub stream: u64,
    /// The waits that time ended although a thread could run. A replay does not need them: it finds the same ones.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub early: Vec<Early>,
}

#[cfg(feature = "json")]
fn is_zero(n: &u64) -> bool {
    *n == 0
}

/// A wait that time ended although a thread could run.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
pub struct Early {
    /// Who waited.
    pub thread: ThreadId,
    /// One that could run.
    pub able: ThreadId,
    /// The wait was a sleep, otherwise one with a time-out.
    pub sleep: bool,
    /// How long it was to last, in nanoseconds.
    pub ns: u64,
}

impl Schedule {
    /// What to say first about an execution in which waits ended early: `a time-out of 30 s ended although thread 2 could run`.
    pub fn early_note(&self) -> Option<String> {
        let first = self.early.first()?;
        let more = match self.early.len() - 1 {
            0 => String::new(),
            n => format!(" (and {n} more)"),
        };
        Some(format!("{first}{more}"))
    }
}

impl fmt::Display for Early {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let what = if self.sleep { "a sleep" } else { "a time-out" };
        write!(f, "{what} of {} ended although thread {} could run", duration(self.ns), self.able.0)
    }
}

/// A time in its largest unit, with two decimals below a hundred.
fn duration(ns: u64) -> String {
    let units = [(1_000_000_000, "s"), (1_000_000, "ms"), (1_000, "us")];
    // The looks at the clock that made a deadline of it have cost a little.
    let (unit, name) = units.into_iter().find(|(unit, _)| ns + unit / 2_000 >= *unit).unwrap_or((1, "ns"));
    let number = ns as f64 / unit as f64;
    let text = if number < 100.0 { format!("{number:.2}") } else { format!("{number:.0}.") };
    format!("{} {name}", text.trim_end_matches('0').trim_end_matches('.'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_length_of_a_wait_is_told_in_its_largest_unit() {
        let told =
            [29_999_999_900, 1_500_000_000, 999_990_000, 499_999_500, 99_999_950, 20_000, 7].map(duration);
        assert_eq!(told, ["30 s", "1.5 s", "1 s", "500 ms", "100 ms", "20 us", "7 ns"]);
    }
}
