//! Executions whose memory-access patterns are looked for when the reply is due.
//!
//! Nobody asks for patterns before the next test is made. An execution that is in doubt is told at once, and often ends the hunt;
//! then what the others showed is looked at only for the report.

use super::Hunt;
use crate::store::Store;
use raddle_core::{Event, Op, Trace};

/// More events than this are not kept.
const MOST: usize = 100_000;

/// What is to be looked at; persistent.
#[derive(Default)]
pub struct Later {
    /// With the number of the run. Of executions that went alike there is one. Only events that patterns are made of, and the
    /// calls that they belong to: memory that nobody has touched yet is dear.
    traces: Vec<(usize, Trace)>,
    events: usize,
}

impl Later {
    /// An execution of a run.
    pub fn add(&mut self, run: usize, trace: &Trace) {
        let kept = || trace.events.iter().filter(|e| matters(e));
        let went_alike = |known: &Trace| known.vars == trace.vars && known.events.iter().eq(kept());
        if self.traces.iter().any(|(_, known)| went_alike(known)) {
            return;
        }
        let mut events = Vec::with_capacity(kept().count());
        events.extend(kept());
        self.events += events.len();
        self.traces.push((run, Trace { events, vars: trace.vars.clone() }));
    }

    /// Whether it is time to look at them.
    pub fn is_full(&self) -> bool {
        self.events > MOST
    }
}

/// Whether patterns, or what methods do, can be told from an event.
fn matters(event: &Event) -> bool {
    event.access().is_some() || matches!(event.op, Op::Enter(_) | Op::Leave(_))
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

    #[test]
    fn executions_that_went_alike_are_looked_at_once() {
        let mut later = Later::default();
        let one = Trace::from_events([Event::read(1, 1, 0), Event::write(2, 2, 0)]);
        let other = Trace::from_events([Event::write(2, 2, 0), Event::read(1, 1, 0)]);
        let mut with_yield = one.clone();
        with_yield.events.insert(1, Event { op: Op::Yield, ..one.events[0] });
        for (run, trace) in [(0, &one), (0, &other), (1, &one), (1, &with_yield)] {
            later.add(run, trace);
        }
        assert_eq!(later.traces, [(0, one), (0, other)]);
        assert_eq!(later.events, 4);
    }
}
