//! Instances that no schedule can produce.
//!
//! The universe of MAP-coverage combines all sites that touch a variable, whether or not they can run in that
//! order. [`Facts`] say where each access can run and which locks it then holds, and [`Facts::is_feasible`] rules
//! out what contradicts them. It is sound: an instance is ruled out only if no execution that obeys the facts contains it.
//! It is not complete: what remains may still be impossible for reasons that the facts do not express.
//!
//! # Facts
//!
//! A [`Place`] is a stretch of one thread: the prefix of a test, a suffix, one call, down to a single instruction. Places
//! are ordered by spawning, joining and program order: `before(p, q)` says that in every execution everything in `p`
//! happens before everything in `q`. Each access (name, kind, site) has *contexts*. A [`Context`] is a place and the locks that are
//! held there, each with its mode and, if known, the critical section: two accesses of one thread with the same
//! lock and section are made without giving the lock back in between. A lock number stands for one lock object.
//!
//! Whoever fills in facts promises that **every** execution of the access, under **every** schedule, happens in
//! one of its contexts. A static analysis can promise that; a run of the program can confirm it but not establish it.
//! A method that is called twice has two contexts with different sections. A section inside a loop can be
//! entered again by the same thread: it has no number (`None`). An access without contexts can run anywhere
//! and is never ruled out.
//!
//! # Why it is sound
//!
//! Take an occurrence of an instance in an execution. Each of its events was made in one of the contexts of its access;
//! choose that one for its step. Then
//! 1. steps of the same thread letter have places of one thread, and the two letters have different threads;
//! 2. for steps i < j, the place of j is not before the place of i, since j's event happened after i's;
//! 3. if steps i < j < k are made by one thread, another, and the first again, and i and k lie in one
//!    section of a lock, then j's event happened while that thread held the lock, so j's context does not hold it
//!    in a mode that excludes the other's.
//!
//! So whenever an instance occurs, some choice of contexts passes these three tests. `is_feasible` tries all choices and
//! rules the instance out if none passes.
//!
//! ```
//! use raddle_core::coverage::feasible::{Context, Facts, Held};
//! use raddle_core::pattern::{AccessKind, Instance, PatternId};
//! use raddle_core::{LockMode, NameId, SiteId};
//!
//! // One thread reads twice inside one critical section, another writes under the same lock.
//! let (x, lock) = (NameId(0), 0);
//! let mut facts = Facts::default();
//! let (reader, writer) = (facts.place(1), facts.place(2));
//! let held = |section| vec![Held { lock, mode: LockMode::Exclusive, section: Some(section) }];
//! for site in [4, 5] {
//!     facts.add(x, AccessKind::Read, SiteId(site), Context { place: reader, held: held(0) });
//! }
//! facts.add(x, AccessKind::Write, SiteId(9), Context { place: writer, held: held(1) });
//!
//! let instance = |p, sites: &[u32]| {
//!     let sites: Vec<SiteId> = sites.iter().map(|&s| SiteId(s)).collect();
//!     Instance::new(PatternId::new(p).unwrap(), &sites, x, None)
//! };
//! assert!(!facts.is_feasible(&instance(4, &[4, 9, 5])));
//! assert!(facts.is_feasible(&instance(1, &[4, 9])));
//! assert!(facts.is_feasible(&instance(2, &[9, 5])));
//! ```

use crate::event::{LockMode, SiteId};
use crate::pattern::{AccessKind, Instance, Pattern, Step, Who};
use crate::trace::NameId;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

/// A stretch of one thread, numbered by [`Facts::place`].
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Place(u32);

/// A lock that is held.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
pub struct Held {
    /// Which lock object.
    pub lock: u32,
    /// How.
    pub mode: LockMode,
    /// Accesses of one thread with the same lock and section are made in one continuous holding of the lock.
    pub section: Option<u32>,
}

/// Where an access can run, and the locks it then holds for certain.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
pub struct Context {
    /// Where.
    pub place: Place,
    /// Holding what.
    pub held: Vec<Held>,
}

/// What holds in every execution.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Facts {
    /// The thread of each place.
    threads: Vec<u32>,
    /// Transitively closed.
    before: BTreeSet<(Place, Place)>,
    contexts: BTreeMap<Access, BTreeSet<Context>>,
}

/// A name, a kind and a site.
type Access = (NameId, AccessKind, SiteId);

/// All that decides about an access: accesses with equal profiles are interchangeable.
pub(super) type Profile<'f> = Option<&'f BTreeSet<Context>>;

impl Facts {
    /// A new place of a thread, after all places of that thread so far.
    pub fn place(&mut self, thread: u32) -> Place {
        let place = Place(self.threads.len() as u32);
        let earlier: Vec<Place> = (0..place.0).map(Place).filter(|p| self.thread(*p) == thread).collect();
        self.threads.push(thread);
        for p in earlier {
            self.order(p, place);
        }
        place
    }

    /// Everything in one place happens before everything in another: the first place ends before the thread of the
    /// second is spawned, or the thread of the first is joined before the second begins.
    pub fn order(&mut self, first: Place, then: Place) {
        let and = |set: Vec<Place>, p: Place| set.into_iter().chain([p]).collect::<Vec<_>>();
        let sources = and(self.before.iter().filter(|(_, b)| *b == first).map(|(a, _)| *a).collect(), first);
        let targets = and(self.before.iter().filter(|(a, _)| *a == then).map(|(_, b)| *b).collect(), then);
        for &s in &sources {
            self.before.extend(targets.iter().map(|&t| (s, t)));
        }
    }

    /// An access can run in this context.
    pub fn add(&mut self, name: NameId, kind: AccessKind, site: SiteId, context: Context) {
        self.contexts.entry((name, kind, site)).or_default().insert(context);
    }

    /// Whether an execution that obeys the facts could contain the instance, as far as the facts tell.
    pub fn is_feasible(&self, instance: &Instance) -> bool {
        let profiles: Vec<Profile<'_>> = instance.steps().map(|(k, s, n)| self.profile(n, k, s)).collect();
        self.is_possible(instance.pattern().pattern(), &profiles)
    }

    /// What decides about an access.
    pub(super) fn profile(&self, name: NameId, kind: AccessKind, site: SiteId) -> Profile<'_> {
        self.contexts.get(&(name, kind, site))
    }

    /// Whether some choice of contexts passes the three tests.
    pub(super) fn is_possible(&self, pattern: &Pattern, profiles: &[Profile<'_>]) -> bool {
        self.can_extend(pattern.steps, profiles, &mut Vec::new())
    }

    fn can_extend<'f>(
        &self,
        steps: &[Step],
        profiles: &[Profile<'f>],
        chosen: &mut Vec<Option<&'f Context>>,
    ) -> bool {
        let Some(profile) = profiles.get(chosen.len()) else { return true };
        let options: Vec<Option<&Context>> = match profile {
            Some(contexts) => contexts.iter().map(Some).collect(),
            None => vec![None],
        };
        options.into_iter().any(|context| {
            chosen.push(context);
            let possible = self.passes(steps, chosen) && self.can_extend(steps, profiles, chosen);
            chosen.pop();
            possible
        })
    }

    /// Whether the context chosen last agrees with those before it.
    fn passes(&self, steps: &[Step], chosen: &[Option<&Context>]) -> bool {
        let last = chosen.len() - 1;
        let Some(context) = chosen[last] else { return true };
        let letter = |i: usize| steps[i].who == Who::A;
        let earlier = || (0..last).filter_map(|i| chosen[i].map(|c| (i, c)));
        let ordered = earlier().all(|(i, c)| {
            (self.thread(c.place) == self.thread(context.place)) == (letter(i) == letter(last))
                && !self.before.contains(&(context.place, c.place))
        });
        let interrupted = || {
            earlier().filter(|(i, _)| letter(*i) == letter(last)).any(|(i, first)| {
                let between = || earlier().filter(move |(j, _)| *j > i && letter(*j) != letter(last));
                between().any(|(_, middle)| shut_out(first, middle, context))
            })
        };
        ordered && !interrupted()
    }

    fn thread(&self, place: Place) -> u32 {
        self.threads[place.0 as usize]
    }
}

/// Whether a lock that is held from the first to the last access keeps the one in the middle out.
fn shut_out(first: &Context, middle: &Context, last: &Context) -> bool {
    first.held.iter().any(|h| {
        let continuous = h.section.is_some() && last.held.contains(h);
        let excludes = |m: &Held| m.lock == h.lock && [m.mode, h.mode].contains(&LockMode::Exclusive);
        continuous && middle.held.iter().any(excludes)
    })
}
