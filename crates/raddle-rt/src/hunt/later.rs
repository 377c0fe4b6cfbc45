//! Executions whose memory-access patterns are looked for when the reply is due.
//!
//! Nobody asks for patterns before the next test is made. An execution that is in doubt is told at once, and often ends the hunt;
//! then what the others showed is looked at only for the report.

use super::Hunt;
use crate::store::Store;
use raddle_core::Trace;

/// More events than this are not kept.
const MOST: usize = 100_000;

/// What is to be looked at; persistent.
#[derive(Default)]
pub struct Later {
    /// With the number of the run. Of executions that went alike there is one.
    traces: Vec<(usize, Trace)>,
    events: usize,
}

impl Later {
    /// An execution of a run.
    pub fn add(&mut self, run: usize, trace: &Trace) {
        if self.traces.iter().any(|(_, known)| known == trace) {
            return;
        }
        self.events += trace.events.len();
        self.traces.push((run, trace.clone()));
    }

    /// Whether it is time to look at them.
    pub fn is_full(&self) -> bool {
        self.events > MOST
    }
}

/// Adds the patterns of all executions that were kept to the replies to their runs.
pub fn look(store: &mut Store, hunt: &mut Hunt) {
    let later = std::mem::take(&mut hunt.later);
    for (run, trace) in later.traces {
        let Some(reply) = hunt.replies.get_mut(run).or(hunt.reply.as_mut()) else { continue };
        // The execution that is recorded next goes to where this one was recorded.
        let now = std::mem::replace(&mut store.trace, trace);
        hunt.follower.patterns(store, reply);
        store.trace = now;
    }
}

/// Completes the replies to all runs of the request.
pub fn catch_up(store: &mut Store, hunt: &mut Hunt) {
    look(store, hunt);
    for reply in &mut hunt.replies {
        hunt.follower.symbols(store, reply);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use raddle_core::Event;

    #[test]
    fn executions_that_went_alike_are_looked_at_once() {
        let mut later = Later::default();
        let one = Trace::from_events([Event::read(1, 1, 0), Event::write(2, 2, 0)]);
        let other = Trace::from_events([Event::write(2, 2, 0), Event::read(1, 1, 0)]);
        for (run, trace) in [(0, &one), (0, &other), (1, &one)] {
            later.add(run, trace);
        }
        assert_eq!(later.traces, [(0, one), (0, other)]);
        assert_eq!(later.events, 4);
    }
}
