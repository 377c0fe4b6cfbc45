//! Schedules as one line of text, short enough to be copied from a message into a test.

use raddle_model::{Schedule, ThreadId, Transfer};

/// Begins the word that names the stream of random numbers.
const STREAM: &str = "random:";

/// Text that is not a schedule.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct BadSchedule(String);

impl std::fmt::Display for BadSchedule {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(
            f,
            "`{}` is not a transfer of control; expected `EVENTS>THREAD`, as in `14>2`, or `14>2t`",
            self.0
        )
    }
}

impl std::error::Error for BadSchedule {}

/// A schedule as text: `EVENTS>THREAD` for each transfer, with a `t` where a wait times out; before them `random:N` if the
/// execution draws from another stream of random numbers than the first.
pub fn schedule_text(schedule: &Schedule) -> String {
    let transfer = |t: &Transfer| format!("{}>{}{}", t.at, t.to.0, if t.timeout { "t" } else { "" });
    let stream = (schedule.stream > 0).then(|| format!("{STREAM}{}", schedule.stream));
    stream.into_iter().chain(schedule.transfers.iter().map(transfer)).collect::<Vec<_>>().join(" ")
}

/// Reads what [`schedule_text`] writes.
///
/// ```
/// let schedule = raddle::parse_schedule("14>2 3>1t").unwrap();
/// assert_eq!(raddle::schedule_text(&schedule), "14>2 3>1t");
/// ```
pub fn parse_schedule(text: &str) -> Result<Schedule, BadSchedule> {
    let transfer = |word: &str| {
        let (at, to) = word.split_once('>')?;
        let timeout = to.ends_with('t');
        let to = to.strip_suffix('t').unwrap_or(to);
        Some(Transfer { at: at.parse().ok()?, to: ThreadId(to.parse().ok()?), timeout })
    };
    let word = |word: &str| transfer(word).ok_or_else(|| BadSchedule(word.to_owned()));
    let mut words = text.split_whitespace().peekable();
    let stream = words.peek().and_then(|word| word.strip_prefix(STREAM)?.parse().ok());
    let transfers = words.skip(usize::from(stream.is_some())).map(word).collect::<Result<_, _>>()?;
    Ok(Schedule { transfers, stream: stream.unwrap_or(0), early: Vec::new() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_schedule_survives_the_way_through_text() {
        for text in ["", "1>0", "17>3t 0>12", "random:7", "random:7 1>0"] {
            assert_eq!(schedule_text(&parse_schedule(text).unwrap()), text);
        }
    }

    #[test]
    fn what_is_no_schedule_is_refused_with_the_word_that_is_wrong() {
        for wrong in ["x", "random:7", "1", "1>", ">1", "1>-1", "1>1tt"] {
            assert_eq!(parse_schedule(&format!("1>1 {wrong}")), Err(BadSchedule(wrong.to_owned())));
        }
    }
}
