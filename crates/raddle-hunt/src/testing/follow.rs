//! What a worker says about patterns, simulated.

use crate::{MethodAccess, RunReply};
use raddle_core::Trace;
use raddle_core::coverage::magnitudes::Magnitudes;
use raddle_core::pattern::{FullMatcher, Matcher, roles};
use raddle_core::{Op, ThreadId};
use std::collections::{BTreeMap, BTreeSet};

/// What has been told so far.
#[derive(Debug, Default)]
pub struct Follower {
    matcher: FullMatcher,
    told: BTreeSet<MethodAccess>,
    magnitudes: Magnitudes,
}

impl Follower {
    /// Adds what is new in an execution.
    pub fn follow(&mut self, trace: &Trace, reply: &mut RunReply) {
        self.matcher.begin();
        let mut new = Vec::new();
        let mut inside: BTreeMap<ThreadId, u32> = BTreeMap::new();
        for event in &trace.events {
            self.matcher.push(event, &trace.vars, &mut new);
            match event.op {
                Op::Enter(m) => _ = inside.insert(event.thread, m.0),
                Op::Leave(_) => _ = inside.remove(&event.thread),
                op => {
                    let Some((a, &thunk)) = event.access().zip(inside.get(&event.thread)) else { continue };
                    if event.thread.0 > 0 {
                        reply.values += self.magnitudes.note(trace.name(a.var), a);
                    }
                    for &kind in roles(&op) {
                        let access = MethodAccess { thunk, kind, site: event.site, name: trace.name(a.var) };
                        if event.thread.0 > 0 && self.told.insert(access) {
                            reply.accesses.push(access);
                        }
                    }
                }
            }
        }
        reply.patterns.extend(new.iter().map(|m| m.instance));
    }
}
