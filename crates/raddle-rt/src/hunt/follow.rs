//! Memory-access patterns and traces of executions, over numbers that hold for the whole life of the worker.

use super::source::Source;
use crate::export::{self, Numbers};
use crate::names::NameKey;
use crate::runtime::rt;
use crate::store::Store;
use raddle_core::coverage::magnitudes::Magnitudes;
use raddle_core::hunt::{MethodAccess, RunReply};
use raddle_core::pattern::{FullMatcher, Instance, Match, Matcher, roles};
use raddle_core::strategy::{self, Kin, Pattern, Strategy, UnknownStrategy};
use raddle_core::{Event, NameId, Op, Trace};
use std::collections::{BTreeMap, BTreeSet};

/// Events of an execution that are searched for patterns. An execution that copies long buffers has millions, each on a
/// variable of its own, and the search takes time and memory by the square of those.
const SEARCHED: usize = 20_000;

/// Words of the heap blocks of one size from one place, by offset, that are searched in an execution, the first ones touched:
/// elements of an array have one name, and what is found on some of them is nothing new on the others.
const WORDS: u32 = 64;

/// What the worker has seen and told so far; persistent. It finds instances as MAPTest means them: every
/// subsequence of a trace counts, and the two variables of a pattern are different ones of the [`Source`].
pub struct Follower {
    matcher: FullMatcher,
    numbers: Numbers,
    source: Source,
    new: Vec<Match>,
    /// The variables of the execution, by [`VarId`]; those that have not been met are any.
    variables: Vec<NameId>,
    /// What methods are known to do, over places and variables.
    seen: BTreeSet<MethodAccess>,
    /// What values variables are known to have had, over the runtime's own numbers.
    magnitudes: Magnitudes,
    words: Words,
    /// The method each thread is inside of.
    running: Vec<Option<u32>>,
    sent: (u32, u32),
}

impl Default for Follower {
    fn default() -> Self {
        Follower {
            matcher: FullMatcher::of_different_names(),
            numbers: Numbers::default(),
            source: Source::default(),
            new: Vec::new(),
            variables: Vec::new(),
            seen: BTreeSet::new(),
            magnitudes: Magnitudes::default(),
            words: Words::default(),
            running: Vec::new(),
            sent: (0, 0),
        }
    }
}

impl Follower {
    /// Adds the instances of the execution in the store that have not occurred before.
    pub fn patterns(&mut self, store: &mut Store, reply: &mut RunReply) {
        self.matcher.begin();
        self.new.clear();
        self.words.begin();
        self.variables.clear();
        self.variables.resize(store.trace.vars.len(), NameId::default());
        for at in 0..store.trace.events.len().min(SEARCHED) {
            let event = store.trace.events[at];
            let Some(access) = event.access() else { continue };
            if !self.words.searched(store.trace.name(access.var), store) {
                continue;
            }
            let variable = self.source.variable(access.var, store);
            self.variables[access.var.0 as usize] = variable;
            let event = Event { site: self.source.place(event.site, store), ..event };
            self.matcher.push(&event, &self.variables, &mut self.new);
        }
        for found in &self.new {
            reply.patterns.push(self.numbers.instance(&found.instance));
        }
        self.accesses(store, reply);
    }

    /// Adds what methods did in suffixes that none of them has done before.
    fn accesses(&mut self, store: &mut Store, reply: &mut RunReply) {
        self.running.clear();
        for at in 0..store.trace.events.len() {
            let event = store.trace.events[at];
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
                    reply.values += self.magnitudes.note(store.trace.name(access.var), access);
                    let (site, name) =
                        (self.source.place(event.site, store), self.source.variable(access.var, store));
                    for &kind in roles(&op) {
                        if self.seen.insert(MethodAccess { thunk, kind, site, name }) {
                            let (site, name) = (self.numbers.place(site), self.numbers.variable(name));
                            reply.accesses.push(MethodAccess { thunk, kind, site, name });
                        }
                    }
                }
            }
        }
    }

    /// The strategy that is meant by a name over the numbers that were sent.
    pub fn strategy(&self, name: &str, seed: u64) -> Result<Box<dyn Strategy>, UnknownStrategy> {
        let instance = name.strip_prefix("pattern:").and_then(|i| i.parse::<Instance>().ok());
        let Some(meant) = instance.and_then(|i| self.numbers.meant(&i)) else {
            return strategy::by_name(name, seed);
        };
        let kin = Kin::new(&meant, |place| self.source.instructions(place), |v| self.source.words(v));
        Ok(Box::new(Pattern::of_kin(seed, meant, kin)))
    }

    /// The trace of the execution in the store.
    pub fn trace(&mut self) -> Trace {
        export::renumbered(rt(), &mut self.numbers)
    }

    /// Adds the meaning of numbers that were not sent before.
    pub fn symbols(&mut self, store: &mut Store, reply: &mut RunReply) {
        reply.symbols_from = self.sent;
        if self.numbers.len() != self.sent {
            reply.symbols = self.numbers.symbols(store, &self.source, self.sent);
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
