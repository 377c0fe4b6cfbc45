//! Memory-access patterns and traces of executions, over numbers that hold for the whole life of the worker.

use crate::export::{self, Numbers};
use crate::runtime::rt;
use crate::store::Store;
use raddle_core::hunt::{MethodAccess, RunReply};
use raddle_core::pattern::{FullMatcher, Match, Matcher, roles};
use raddle_core::{Op, Trace};
use std::collections::BTreeSet;

/// Events of an execution that are searched for patterns. An execution that copies long buffers has millions, each on a
/// variable of its own, and the search takes time and memory by the square of those.
const SEARCHED: usize = 20_000;

/// What the worker has seen and told so far; persistent. It finds instances as MAPTest means them: every
/// subsequence of a trace counts.
#[derive(Default)]
pub struct Follower {
    matcher: FullMatcher,
    numbers: Numbers,
    new: Vec<Match>,
    /// What methods are known to do, over the runtime's own numbers.
    seen: BTreeSet<MethodAccess>,
    /// The method each thread is inside of.
    running: Vec<Option<u32>>,
    sent: (u32, u32),
}

impl Follower {
    /// Adds the instances of the execution in the store that have not occurred before.
    pub fn patterns(&mut self, store: &Store, reply: &mut RunReply) {
        self.matcher.begin();
        self.new.clear();
        for event in store.trace.events.iter().take(SEARCHED) {
            self.matcher.push(event, &store.trace.vars, &mut self.new);
        }
        for found in &self.new {
            reply.patterns.push(self.numbers.instance(&found.instance));
        }
        self.accesses(store, reply);
    }

    /// Adds what methods did in suffixes that none of them has done before.
    fn accesses(&mut self, store: &Store, reply: &mut RunReply) {
        self.running.clear();
        for event in &store.trace.events {
            let thread = event.thread.0 as usize;
            match event.op {
                _ if thread == 0 => {}
                Op::Enter(method) => {
                    let threads = self.running.len().max(thread + 1);
                    self.running.resize(threads, None);
                    self.running[thread] = Some(method.0);
                }
                Op::Leave(_) => {
                    if let Some(running) = self.running.get_mut(thread) {
                        *running = None;
                    }
                }
                op => {
                    let Some(access) = event.access() else { continue };
                    let Some(Some(thunk)) = self.running.get(thread).copied() else { continue };
                    let name = store.trace.name(access.var);
                    for &kind in roles(&op) {
                        if self.seen.insert(MethodAccess { thunk, kind, site: event.site, name }) {
                            let (site, name) = (self.numbers.site(event.site), self.numbers.name(name));
                            reply.accesses.push(MethodAccess { thunk, kind, site, name });
                        }
                    }
                }
            }
        }
    }

    /// The strategy that is meant by a name over the numbers that were sent.
    pub fn strategy(&self, name: &str) -> Option<String> {
        let Some(instance) = name.strip_prefix("pattern:") else { return Some(name.to_owned()) };
        let meant = self.numbers.meant(&instance.parse().ok()?)?;
        Some(format!("pattern:{meant}"))
    }

    /// The trace of the execution in the store.
    pub fn trace(&mut self) -> Trace {
        export::renumbered(rt(), &mut self.numbers)
    }

    /// Adds the meaning of numbers that were not sent before.
    pub fn symbols(&mut self, store: &mut Store, reply: &mut RunReply) {
        reply.symbols_from = self.sent;
        if self.numbers.len() != self.sent {
            reply.symbols = self.numbers.symbols(store, self.sent);
            self.sent = self.numbers.len();
        }
    }
}
