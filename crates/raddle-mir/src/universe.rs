//! T_C: the pattern instances that the methods of a type could produce, in the terms of `raddle-core`.
//!
//! The universe has the accesses to V that shared methods make, as [`Accesses`], and what is known about them as
//! [`Facts`]. Accesses that only constructors and methods with exclusive access make happen before the value is shared, or
//! after; they take part in no pattern and are left out (happens-before from construction). Locks rule out what
//! one continuous holding keeps apart: how much that is depends on how often a thread calls the type ([`Calls`]).
//!
//! # Assumptions
//! All threads use one value of the type. A lock counts only if it is a part of that value, or a static: other
//! locks with the same name can be several objects.

use crate::class::{Role, TypeAccesses};
use crate::effects::Kind;
use crate::meet::same_file;
use raddle_core::coverage::feasible::{Context, Facts, Held};
use raddle_core::coverage::map::Accesses;
use raddle_core::pattern::{AccessKind, Instance, Step, Who};
use raddle_core::{LockMode, NameId, SiteId, Symbols, Trace};
use std::collections::{BTreeMap, BTreeSet};

/// How often one thread of a test calls the type.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Calls {
    /// Once: all steps of a thread are made in one call. Locks then rule out much.
    Once,
    /// As often as it likes. Two critical sections of one thread can always be two calls with another thread's between
    /// them, so common locks rule out nothing: this is T_C for tests with several calls per thread.
    Repeatedly,
}

/// The possible instances of a type.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Universe {
    /// What the numbers mean.
    pub symbols: Symbols,
    /// The accesses that instances are made of.
    pub accesses: Accesses,
    /// What rules instances out.
    pub facts: Facts,
    /// Accesses to V that are left out because they happen before the value is shared or afterwards.
    pub unshared: usize,
    /// The methods that each access may be made by.
    methods: BTreeMap<(NameId, AccessKind, SiteId), BTreeSet<String>>,
}

/// The locks of a context, without sections.
type Locks = BTreeSet<(u32, LockMode)>;

impl Universe {
    /// Of the methods of a type.
    pub fn new(ty: &TypeAccesses, calls: Calls) -> Universe {
        let mut universe = Universe::default();
        for name in &ty.variables {
            universe.symbols.names.push(name.clone());
        }
        let shared: Vec<_> = ty.methods.iter().filter(|m| m.role == Role::Shared).collect();
        let mut builder = Builder { calls, ..Builder::default() };
        for (number, method) in shared.iter().enumerate() {
            for access in &method.accesses {
                let Some(name) = universe.name(&access.variable) else { continue };
                let site = universe.add_site(&access.site);
                let locks = access.locks.iter().filter(|l| l.single);
                let held = locks.map(|l| (builder.lock(&l.lock), l.mode, l.section)).collect::<BTreeSet<_>>();
                for &kind in kinds(access.kind) {
                    universe.accesses.add(name, kind, site);
                    universe.methods.entry((name, kind, site)).or_default().insert(method.name.clone());
                    builder
                        .contexts
                        .entry((name, kind, site))
                        .or_default()
                        .insert((number as u32, held.clone()));
                }
            }
        }
        let others = ty.methods.iter().filter(|m| m.role != Role::Shared).flat_map(|m| &m.accesses);
        let left_out: BTreeSet<_> = others
            .filter(|a| ty.variables.contains(&a.variable))
            .filter(|a| !universe.contains(&a.variable, a.kind, &a.site))
            .map(|a| (&a.variable, a.kind, &a.site))
            .collect();
        universe.unshared = left_out.len();
        builder.facts(&mut universe.facts, shared.len() as u32);
        universe
    }

    /// The number of a variable.
    pub fn name(&self, variable: &str) -> Option<NameId> {
        self.symbols.names.iter().position(|n| n == variable).map(|i| NameId(i as u32))
    }

    /// The variable that a run names: the same without generic arguments, or the one of which that is a part.
    pub fn name_at_run_time(&self, name: &str) -> Option<NameId> {
        let plain = crate::items::without_generics(name);
        let inside = |n: &&String| {
            plain.strip_prefix(n.as_str()).is_some_and(|rest| rest.is_empty() || rest.starts_with(['.', '[']))
        };
        let found = self.symbols.names.iter().filter(inside).max_by_key(|n| n.len())?;
        self.name(found)
    }

    /// The number of the site at a place.
    pub fn site(&self, file: &str, line: u32, column: u32) -> Option<SiteId> {
        let here =
            |s: &raddle_core::trace::Site| s.line == line && s.column == column && same_file(&s.file, file);
        self.symbols.sites.iter().position(here).map(|i| SiteId(i as u32))
    }

    /// A trace in the numbers of this universe. What it does not have is added to its symbols, so that instances outside
    /// of the universe are seen as such.
    pub fn translate(&mut self, trace: &Trace, symbols: &Symbols) -> Trace {
        let sites: Vec<SiteId> = symbols
            .sites
            .iter()
            .map(|s| {
                self.site(&s.file, s.line, s.column).unwrap_or_else(|| {
                    self.symbols.sites.push(s.clone());
                    SiteId(self.symbols.sites.len() as u32 - 1)
                })
            })
            .collect();
        let mut events = trace.events.clone();
        for event in &mut events {
            event.site = sites.get(event.site.0 as usize).copied().unwrap_or(event.site);
        }
        let mut vars: Vec<Option<NameId>> = Vec::new();
        for name in &trace.vars {
            vars.push(symbols.names.get(name.0 as usize).and_then(|n| self.name_at_run_time(n)));
        }
        // Memory that has no name at run time (the elements of a `Vec<u8>`) is known by who uses it.
        for event in &events {
            if let Some(access) = event.access()
                && let Some(slot @ None) = vars.get_mut(access.var.0 as usize)
            {
                *slot = self.contents_used_at(event.site);
            }
        }
        let mut added: BTreeMap<NameId, NameId> = BTreeMap::new();
        let vars = vars.into_iter().zip(&trace.vars).map(|(known, old)| {
            known.unwrap_or_else(|| {
                *added.entry(*old).or_insert_with(|| {
                    let name = symbols.names.get(old.0 as usize).cloned().unwrap_or_default();
                    self.symbols.names.push(name);
                    NameId(self.symbols.names.len() as u32 - 1)
                })
            })
        });
        let vars = vars.collect();
        Trace { events, vars }
    }

    /// The only variable with a name of its contents (`Queue.items[..]`) that a site uses.
    fn contents_used_at(&self, site: SiteId) -> Option<NameId> {
        let here = self.methods.keys().filter(|(_, _, s)| *s == site).map(|(name, _, _)| *name);
        let mut contents: Vec<NameId> = here
            .filter(|n| {
                let name = &self.symbols.names[n.0 as usize];
                name.ends_with(".*") || name.ends_with("[..]")
            })
            .collect();
        contents.dedup();
        contents.first().copied().filter(|_| contents.len() == 1)
    }

    /// The methods that may make an access.
    pub fn methods(&self, name: NameId, kind: AccessKind, site: SiteId) -> impl Iterator<Item = &str> {
        self.methods.get(&(name, kind, site)).into_iter().flatten().map(String::as_str)
    }

    /// An instance in source terms: `push` at queue.rs:41 writes `Queue.tail`, then in another thread ...
    pub fn describe(&self, instance: &Instance) -> String {
        let steps = instance.pattern().pattern().steps;
        let mut text = String::new();
        for (i, (kind, site, name)) in instance.steps().enumerate() {
            let here = self.symbols.sites.get(site.0 as usize);
            let function = here.map_or("?", |s| s.function.as_str());
            let file = here.map_or("?", |s| s.file.rsplit('/').next().unwrap_or("?"));
            let line = here.map_or(0, |s| s.line);
            let variable = self.symbols.names.get(name.0 as usize).map_or("?", String::as_str);
            let does = if kind == AccessKind::Read { "reads" } else { "writes" };
            text.push_str(if i == 0 { "" } else { between(&steps[i - 1], &steps[i]) });
            text.push_str(&format!("`{function}` at {file}:{line} {does} `{variable}`"));
        }
        text
    }

    fn contains(&self, variable: &str, kind: Kind, site: &crate::SiteKey) -> bool {
        let (Some(name), Some(site)) = (self.name(variable), self.site(&site.file, site.line, site.column))
        else {
            return false;
        };
        kinds(kind).iter().all(|&k| self.methods.contains_key(&(name, k, site)))
    }

    fn add_site(&mut self, site: &crate::SiteKey) -> SiteId {
        self.site(&site.file, site.line, site.column).unwrap_or_else(|| {
            self.symbols.sites.push(site.to_site());
            SiteId(self.symbols.sites.len() as u32 - 1)
        })
    }
}

fn between(before: &Step, after: &Step) -> &'static str {
    match (before.who == after.who, after.who) {
        (true, _) => ", then ",
        (false, Who::B) => ", then in another thread ",
        (false, Who::A) => ", then in the first thread ",
    }
}

fn kinds(kind: Kind) -> &'static [AccessKind] {
    match kind {
        Kind::Read => &[AccessKind::Read],
        Kind::Write => &[AccessKind::Write],
        Kind::Rmw => &[AccessKind::Read, AccessKind::Write],
    }
}

/// What the facts are made of.
struct Builder {
    calls: Calls,
    locks: BTreeMap<String, u32>,
    /// By access: the methods that make it, each with the locks it then holds.
    contexts: BTreeMap<(NameId, AccessKind, SiteId), BTreeSet<(u32, HeldLocks)>>,
}

/// Locks with mode and section.
type HeldLocks = BTreeSet<(u32, LockMode, Option<u32>)>;

impl Default for Builder {
    fn default() -> Self {
        Builder { calls: Calls::Once, locks: BTreeMap::new(), contexts: BTreeMap::new() }
    }
}

impl Builder {
    fn lock(&mut self, name: &str) -> u32 {
        let next = self.locks.len() as u32;
        *self.locks.entry(name.to_owned()).or_insert(next)
    }

    fn facts(self, facts: &mut Facts, methods: u32) {
        // A thread per method and letter if a thread calls once, else a thread per letter.
        let threads = if self.calls == Calls::Once { methods * 2 } else { 2 };
        let places: Vec<_> = (0..threads).map(|t| facts.place(t + 1)).collect();
        let mut sections: BTreeMap<(u32, u32, u32, u32), u32> = BTreeMap::new();
        for (&(name, kind, site), contexts) in &self.contexts {
            let contexts = self.weakest(contexts);
            for letter in 0..2 {
                for (method, held) in &contexts {
                    let calls = if self.calls == Calls::Once { 1 } else { 2 };
                    for call in 0..calls {
                        let thread = if self.calls == Calls::Once { method * 2 + letter } else { letter };
                        let held = held.iter().map(|&(lock, mode, section)| {
                            let next = sections.len() as u32;
                            let number = |s| *sections.entry((thread, *method, call, s)).or_insert(next);
                            Held { lock, mode, section: section.map(number) }
                        });
                        let context = Context { place: places[thread as usize], held: held.collect() };
                        facts.add(name, kind, site, context);
                    }
                }
            }
        }
    }

    /// Contexts that others do not make superfluous: whatever is possible with some locks is possible with fewer. If
    /// methods are called repeatedly the method does not matter either, and one context per set of locks will do.
    fn weakest(&self, contexts: &BTreeSet<(u32, HeldLocks)>) -> Vec<(u32, HeldLocks)> {
        let names = |held: &HeldLocks| held.iter().map(|(lock, mode, _)| (*lock, *mode)).collect::<Locks>();
        let mut kept: Vec<(u32, HeldLocks)> = Vec::new();
        for (method, held) in contexts {
            let comparable = |m: &u32| self.calls == Calls::Repeatedly || m == method;
            let weaker = |m: &u32, other: &HeldLocks| match self.calls {
                Calls::Once => comparable(m) && other.is_subset(held) && other != held,
                Calls::Repeatedly => names(other).is_subset(&names(held)) && names(other) != names(held),
            };
            let repeated =
                self.calls == Calls::Repeatedly && kept.iter().any(|(_, k)| names(k) == names(held));
            if !repeated && !contexts.iter().any(|(m, other)| weaker(m, other)) {
                kept.push((*method, held.clone()));
            }
        }
        kept
    }
}
