//! Memory-access patterns and traces of executions, over numbers that hold for the whole life of the worker.

use crate::export::{self, Numbers};
use crate::names::NameKey;
use crate::runtime::rt;
use crate::source::Source;
use crate::store::Store;
use raddle_core::coverage::magnitudes::Magnitudes;
use raddle_core::pattern::{FullMatcher, Match, Matcher, roles};
use raddle_core::strategy::{Kin, Pattern, Strategy, UnknownStrategy};
use raddle_core::{Event, NameId, Op, ThreadId, Trace, VarId};
use raddle_hunt::{MethodAccess, RunReply, Search};
use std::collections::{BTreeMap, BTreeSet};

/// Events of an execution on contested variables that are searched for patterns. An execution that copies long buffers has
/// millions, each on a variable of its own, and the search takes time and memory by the square of those.
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
    contested: Contested,
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
            contested: Contested::default(),
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
        self.contested.look(&store.trace);
        let mut searched = 0;
        for at in 0..store.trace.events.len() {
            let event = store.trace.events[at];
            let Some(access) = event.access().filter(|a| self.contested.get(a.var)) else { continue };
            searched += 1;
            if searched > SEARCHED {
                break;
            }
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

    /// The strategy of a search over the numbers that were sent.
    pub fn strategy(&self, search: &Search, seed: u64) -> Result<Box<dyn Strategy>, UnknownStrategy> {
        let Some(meant) = search.target().and_then(|i| self.numbers.meant(i)) else {
            return search.strategy(seed);
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

/// Which variables two threads touched, one of them to write. Patterns are made of these only, also those on two variables.
#[derive(Default)]
struct Contested {
    /// By [`VarId`]: the first thread, whether there was another one, and whether any wrote.
    by: Vec<(Option<ThreadId>, bool, bool)>,
}

impl Contested {
    fn look(&mut self, trace: &Trace) {
        self.by.clear();
        self.by.resize(trace.vars.len(), (None, false, false));
        for event in &trace.events {
            let Some(access) = event.access() else { continue };
            let (first, several, written) = &mut self.by[access.var.0 as usize];
            *several |= *first.get_or_insert(event.thread) != event.thread;
            *written |= event.is_write();
        }
    }

    fn get(&self, var: VarId) -> bool {
        let (_, several, written) = self.by[var.0 as usize];
        several && written
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_variable_is_contested_if_two_threads_touch_it_and_one_writes() {
        let events = [
            Event::read(1, 1, 0),
            Event::read(2, 1, 0),
            Event::write(1, 2, 1),
            Event::read(1, 3, 1),
            Event::read(2, 4, 2),
            Event::write(1, 5, 2),
        ];
        let mut contested = Contested::default();
        contested.look(&Trace::from_events(events));
        assert_eq!([0, 1, 2].map(|var| contested.get(VarId(var))), [false, false, true]);
        contested.look(&Trace::from_events(events[..5].iter().copied()));
        assert!(!contested.get(VarId(2)), "an execution says nothing about the next");
    }
}
