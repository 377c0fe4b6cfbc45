//! Memory-access patterns and traces of executions, over numbers that hold for the whole life of the worker.

use crate::export::{self, Numbers};
use crate::names::NameKey;
use crate::runtime::rt;
use crate::store::Store;
use raddle_core::coverage::magnitudes::Magnitudes;
use raddle_core::hunt::{MethodAccess, RunReply};
use raddle_core::pattern::{FullMatcher, Match, Matcher, roles};
use raddle_core::{NameId, Op, Trace};
use std::collections::{BTreeMap, BTreeSet};

/// Events of an execution that are searched for patterns. An execution that copies long buffers has millions, each on a
/// variable of its own, and the search takes time and memory by the square of those.
const SEARCHED: usize = 20_000;

/// Words of the heap blocks of one size from one place, by offset, that are searched in an execution, the first ones touched:
/// elements of an array have one name, and what is found on some of them is nothing new on the others.
const WORDS: u32 = 64;

/// What the worker has seen and told so far; persistent. It finds instances as MAPTest means them: every
/// subsequence of a trace counts.
#[derive(Default)]
pub struct Follower {
    matcher: FullMatcher,
    numbers: Numbers,
    new: Vec<Match>,
    /// What methods are known to do, over the runtime's own numbers.
    seen: BTreeSet<MethodAccess>,
    /// What values variables are known to have had, over the runtime's own numbers.
    magnitudes: Magnitudes,
    words: Words,
    /// The method each thread is inside of.
    running: Vec<Option<u32>>,
    sent: (u32, u32),
}

impl Follower {
    /// Adds the instances of the execution in the store that have not occurred before.
    pub fn patterns(&mut self, store: &Store, reply: &mut RunReply) {
        self.matcher.begin();
        self.new.clear();
        self.words.begin();
        for event in store.trace.events.iter().take(SEARCHED) {
            if event.access().is_some_and(|a| !self.words.searched(store.trace.name(a.var), store)) {
                continue;
            }
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
                    reply.values += self.magnitudes.note(name, access);
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

/// Which words are searched in this execution.
#[derive(Default)]
struct Words {
    /// The number of this execution.
    now: u32,
    /// By name: the last execution that it occurred in, and whether it was searched there.
    names: Vec<(u32, bool)>,
    /// How many words of blocks of a place and a size are searched.
    blocks: BTreeMap<(u32, usize), u32>,
}

impl Words {
    fn begin(&mut self) {
        self.now += 1;
        self.blocks.clear();
    }

    fn searched(&mut self, name: NameId, store: &Store) -> bool {
        let at = name.0 as usize;
        if self.names.len() <= at {
            self.names.resize(at + 1, (0, false));
        }
        let (last, searched) = self.names[at];
        if last == self.now {
            return searched;
        }
        let searched = match store.names.keys.get(at) {
            Some(&NameKey::Heap(place, size, _)) => {
                let words = self.blocks.entry((place, size)).or_default();
                *words += 1;
                *words <= WORDS
            }
            _ => true,
        };
        self.names[at] = (self.now, searched);
        searched
    }
}
